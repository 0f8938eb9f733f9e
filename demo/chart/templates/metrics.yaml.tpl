{{- /*
Copyright (c) 2026 sunset.kube contributors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/ -}}
{{- if .Values.metricsApi.enabled }}
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-metrics
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  selector:
    {{- include "shop.selector" . | nindent 4 }}
    app.kubernetes.io/component: operator
  ports:
    - {name: metrics, port: 443, targetPort: 8443}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  name: v1.metrics.shop.example.com
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  group: metrics.shop.example.com
  version: v1
  service:
    name: {{ .Release.Name }}-metrics
    namespace: {{ .Release.Namespace }}
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
{{- end }}
