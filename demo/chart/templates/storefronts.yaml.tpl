{{- /*
Copyright (c) 2026 sunset.kube contributors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/ -}}
{{- range .Values.storefronts }}
---
apiVersion: shop.example.com/v1
kind: Storefront
metadata:
  name: {{ . }}
  labels: {{- include "shop.labels" $ | nindent 4 }}
spec:
  host: {{ . }}.{{ $.Values.host }}
  theme: evening
{{- end }}
