{{- /*
Copyright (c) 2026 sunset.kube contributors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/ -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-db
  labels: {{- include "shop.labels" . | nindent 4 }}
stringData:
  password: {{ .Values.database.password | quote }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-db
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  clusterIP: None
  selector:
    {{- include "shop.selector" . | nindent 4 }}
    app.kubernetes.io/component: database
  ports:
    - {name: postgres, port: 5432}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .Release.Name }}-db
  labels:
    {{- include "shop.labels" . | nindent 4 }}
    app.kubernetes.io/component: database
spec:
  serviceName: {{ .Release.Name }}-db
  replicas: 1
  selector:
    matchLabels:
      {{- include "shop.selector" . | nindent 6 }}
      app.kubernetes.io/component: database
  template:
    metadata:
      labels:
        {{- include "shop.selector" . | nindent 8 }}
        app.kubernetes.io/component: database
    spec:
      containers:
        - name: postgres
          image: {{ .Values.image.database }}
          env:
            - name: POSTGRES_PASSWORD
              valueFrom:
                secretKeyRef: {name: {{ .Release.Name }}-db, key: password}
          volumeMounts:
            - {name: data, mountPath: /var/lib/postgresql}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOnce]
        resources:
          requests:
            storage: {{ .Values.database.storage }}
---
# What the tax office wants to see for ten years stays, whoever uninstalls the shop.
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-tax-records
  labels: {{- include "shop.labels" . | nindent 4 }}
  annotations:
    helm.sh/resource-policy: keep
data:
  year-2025: "12 orders"
