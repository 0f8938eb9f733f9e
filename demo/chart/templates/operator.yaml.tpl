{{- /*
Copyright (c) 2026 sunset.kube contributors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/ -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}-operator
  labels: {{- include "shop.labels" . | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "shop.wide" . }}-operator
  labels: {{- include "shop.labels" . | nindent 4 }}
rules:
  - apiGroups: [shop.example.com]
    resources: ["*"]
    verbs: ["*"]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [get, create, update, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "shop.wide" . }}-operator
  labels: {{- include "shop.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "shop.wide" . }}-operator
subjects:
  - kind: ServiceAccount
    name: {{ .Release.Name }}-operator
    namespace: {{ .Release.Namespace }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-operator
  labels:
    {{- include "shop.labels" . | nindent 4 }}
    app.kubernetes.io/component: operator
spec:
  replicas: 1
  selector:
    matchLabels:
      {{- include "shop.selector" . | nindent 6 }}
      app.kubernetes.io/component: operator
  template:
    metadata:
      labels:
        {{- include "shop.selector" . | nindent 8 }}
        app.kubernetes.io/component: operator
    spec:
      serviceAccountName: {{ .Release.Name }}-operator
      containers:
        - name: operator
          image: {{ .Values.image.operator }}
          args: ["--leader-elect", "--finalizer=shop.example.com/cleanup"]
          ports:
            - {name: webhook, containerPort: 9443}
