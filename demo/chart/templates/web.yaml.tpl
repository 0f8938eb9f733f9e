{{- /*
Copyright (c) 2026 sunset.kube contributors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/ -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
  labels: {{- include "shop.labels" . | nindent 4 }}
data:
  currency: EUR
  theme: evening
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels:
    {{- include "shop.labels" . | nindent 4 }}
    app.kubernetes.io/component: web
spec:
  replicas: 2
  selector:
    matchLabels:
      {{- include "shop.selector" . | nindent 6 }}
      app.kubernetes.io/component: web
  template:
    metadata:
      labels:
        {{- include "shop.selector" . | nindent 8 }}
        app.kubernetes.io/component: web
    spec:
      containers:
        - name: web
          image: {{ .Values.image.web }}
          envFrom:
            - configMapRef: {name: {{ .Release.Name }}-settings}
          ports:
            - {name: http, containerPort: 8080}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-web
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  selector:
    {{- include "shop.selector" . | nindent 4 }}
    app.kubernetes.io/component: web
  ports:
    - {name: http, port: 80, targetPort: http}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .Release.Name }}
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  rules:
    - host: {{ .Values.host }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ .Release.Name }}-web
                port: {name: http}
