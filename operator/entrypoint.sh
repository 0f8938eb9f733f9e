#!/bin/sh
# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# ansible-operator takes one watches file. This one is ours, and those of foreign kinds that are switched on:
# watches-ocm.yaml by WATCH_OCM=true, and so on. Everything else on the command line is ansible-operator's.
set -eu
cd /opt/ansible

# Resources that act on the whole cluster are taken from this namespace only. Without its name none could be refused.
if [ -z "${POD_NAMESPACE:-}" ]; then
  echo "POD_NAMESPACE is not set: the operator has to know its own namespace. Next: set it from metadata.namespace, as" \
    "operator/config/manager/deployment.yaml does." >&2
  exit 1
fi
# ansible-operator leaves ${NAME} in a watch as it is where there is no such variable.
export PAGE_IMAGE="${PAGE_IMAGE:-}"

# What a container before this one has left: ansible-runner trips over runs that were cut off.
rm -rf /tmp/ansible-operator/runner

all=${TMPDIR:-/tmp}/watches.yaml
# Each file is a list, so that all of them one after the other are a list. Only a second "---" would end it.
sed '/^---$/d' watches.yaml > "$all"
for file in watches-*.yaml; do
  [ -e "$file" ] || continue
  name=$(basename "${file#watches-}" .yaml | tr 'a-z-' 'A-Z_')
  if [ "$(printenv "WATCH_$name" || true)" = true ]; then
    echo "watching what is in $file, too"
    sed '/^---$/d' "$file" >> "$all"
  fi
done

exec /usr/local/bin/ansible-operator run --watches-file="$all" "$@"
