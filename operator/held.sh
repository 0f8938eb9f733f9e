#!/bin/sh
# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Says which objects wait for the operator when they are deleted: without it, nothing would take its finalizer off them.
# Ends with 1 if there are any, and with 2 if it could not look. Each comes with the command that takes the finalizer
# off, for one that is to go, or to stay, without the operator. Run: sh operator/held.sh
set -eu

# plural.group and the operator's finalizer on it
held='drains.sunset.dev sunset.dev/drain
maintenances.sunset.dev sunset.dev/maintenance
managedclusters.cluster.open-cluster-management.io sunset.dev/managed-cluster
nodenetworkconfigurationpolicies.nmstate.io sunset.dev/nncp-revert'

found=$(
  echo "$held" | while read -r kind finalizer; do
    served=$(kubectl get customresourcedefinition "$kind" --ignore-not-found --output name) || exit 2
    [ -n "$served" ] || continue
    # shellcheck disable=SC2016  # $meta, $place and $name are variables of the template
    kubectl get "$kind" --all-namespaces --output go-template='
{{- range .items }}{{ $meta := .metadata }}
{{- range $place, $name := .metadata.finalizers }}{{ if eq $name "'"$finalizer"'" -}}
'"$kind"'/{{ $meta.name }}{{ if $meta.namespace }} in {{ $meta.namespace }}{{ end }}
    kubectl patch '"$kind"' {{ $meta.name }}{{ if $meta.namespace }} --namespace {{ $meta.namespace }}{{ end }} --type json --patch '"\
'[{\"op\": \"test\", \"path\": \"/metadata/finalizers/{{ \$place }}\", \"value\": \"$finalizer\"}, \
{\"op\": \"remove\", \"path\": \"/metadata/finalizers/{{ \$place }}\"}]'"'
{{ end }}{{ end }}{{ end }}' || exit 2
  done
) || exit 2

[ -z "$found" ] && exit 0
cat >&2 <<END
These wait for the operator when they are deleted:

$found

Delete what is to go while the operator is still running. Where it must not do anything any more, take its finalizer off
with the command below the object.
END
exit 1
