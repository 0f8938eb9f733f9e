{{- /*
Copyright (c) 2026 sunset.kube contributors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/ -}}
{{- if .Values.webhook.enabled }}
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-webhook
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  selector:
    {{- include "shop.selector" . | nindent 4 }}
    app.kubernetes.io/component: operator
  ports:
    - {name: webhook, port: 443, targetPort: webhook}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: {{ include "shop.wide" . }}-orders
  labels: {{- include "shop.labels" . | nindent 4 }}
webhooks:
  - name: orders.shop.example.com
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Fail
    timeoutSeconds: 2
    # Every shop has a webhook of its own, which looks at its own namespace only.
    namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: {{ .Release.Namespace }}
    clientConfig:
      service:
        name: {{ .Release.Name }}-webhook
        namespace: {{ .Release.Namespace }}
        path: /validate
    rules:
      - apiGroups: [shop.example.com]
        apiVersions: ["*"]
        operations: [CREATE, UPDATE, DELETE]
        resources: ["*"]
{{- end }}
