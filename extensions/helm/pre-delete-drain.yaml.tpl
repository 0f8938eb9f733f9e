# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

---
# A pre-delete hook for an operator's chart: drains before Helm deletes anything, and makes `helm uninstall` fail when the
# drain fails. Copy it to templates/pre-delete-drain.yaml of the chart, and set in values.yaml:
#
#   drain:
#     image: registry.example.com/sunset-kube:0.1.0   # an execution environment with this collection
#     profile: ngrok
#     policy: Retain
#     timeout: 300                                    # less than helm's own --timeout
#
# The ClusterRole is the one of profile ngrok; `ansible-doc sunset.kube.drain` tells which rights other profiles need.
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}-drain
  namespace: {{ .Release.Namespace }}
  annotations:
    helm.sh/hook: pre-delete
    helm.sh/hook-weight: "-5"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Namespace }}-{{ .Release.Name }}-drain
  annotations:
    helm.sh/hook: pre-delete
    helm.sh/hook-weight: "-5"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
rules:
  - apiGroups: [""]
    resources: [services]
    verbs: [get, list, watch, patch]
  - apiGroups: [networking.k8s.io]
    resources: [ingresses]
    verbs: [get, list, watch, patch]
  - apiGroups: [networking.k8s.io]
    resources: [ingressclasses]
    verbs: [get, list]
  - apiGroups: [gateway.networking.k8s.io]
    resources: [gatewayclasses, gateways, httproutes, tcproutes, tlsroutes]
    verbs: [get, list, watch, patch]
  - apiGroups: [ngrok.k8s.ngrok.com]
    resources: [agentendpoints, cloudendpoints, kubernetesoperators]
    verbs: [get, list, watch, patch, delete]
  - apiGroups: [ingress.k8s.ngrok.com]
    resources: [domains, ippolicies]
    verbs: [get, list, watch, patch, delete]
  - apiGroups: [bindings.k8s.ngrok.com]
    resources: [boundendpoints]
    verbs: [get, list, watch, patch, delete]
  # Kinds that a later release brings: found by their finalizer and set free.
  - apiGroups: [ngrok.k8s.ngrok.com, ingress.k8s.ngrok.com, bindings.k8s.ngrok.com]
    resources: ["*"]
    verbs: [get, list, watch, patch]
  # Is the operator running? Scaling it down when it has drained, and waiting for its last pod.
  - apiGroups: [apps]
    resources: [deployments, statefulsets]
    verbs: [get, list, patch]
  - apiGroups: [""]
    resources: [pods]
    verbs: [list]
  - apiGroups: [apps]
    resources: [daemonsets]
    verbs: [list]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [list]
  - apiGroups: [apiextensions.k8s.io]
    resources: [customresourcedefinitions]
    verbs: [get, list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .Release.Namespace }}-{{ .Release.Name }}-drain
  annotations:
    helm.sh/hook: pre-delete
    helm.sh/hook-weight: "-5"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .Release.Namespace }}-{{ .Release.Name }}-drain
subjects:
  - kind: ServiceAccount
    name: {{ .Release.Name }}-drain
    namespace: {{ .Release.Namespace }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-drain
  namespace: {{ .Release.Namespace }}
  annotations:
    helm.sh/hook: pre-delete
    helm.sh/hook-weight: "0"
    # Kept when it fails, so that its log can be read.
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  backoffLimit: 0  # a failed drain fails the uninstall; run it again after reading the log
  template:
    spec:
      serviceAccountName: {{ .Release.Name }}-drain
      restartPolicy: Never
      securityContext:
        runAsNonRoot: true
        seccompProfile: {type: RuntimeDefault}
      containers:
        - name: drain
          image: {{ .Values.drain.image }}
          command: [ansible-playbook, sunset.kube.drain]
          args:
            - --extra-vars
            - {{ dict "profile" .Values.drain.profile "policy" .Values.drain.policy "timeout" .Values.drain.timeout
                 "confirm" "skip" "anchor" (dict "name" .Release.Name "namespace" .Release.Namespace) | toJson | quote }}
          env:
            - {name: K8S_AUTH_IN_CLUSTER, value: "true"}
            - {name: HOME, value: /tmp}
            - {name: ANSIBLE_LOCAL_TEMP, value: /tmp/ansible}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
      volumes:
        - name: tmp
          emptyDir: {}
