#!/usr/bin/env bash
# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The demo: an application whose operator is gone hangs in Terminating; one task frees it. On a real API server of its
# own, which ends with this script. Run it through: make demo
set -euo pipefail
cd "$(dirname "$0")"
demo=$(mktemp -d)
export SUNSET_KUBE_LAB="$demo/lab" ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false
trap 'python -m lab down >/dev/null 2>&1 || true; rm -rf "$demo"' EXIT

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '\033[2m$ %s\033[0m\n' "$*"; "$@"; }
domains() {
  show kubectl get domains -n shop -o \
    'custom-columns=NAME:.metadata.name,DELETED:.metadata.deletionTimestamp,HELD BY:.metadata.finalizers[*]'
}
domain() {
  printf -- '---\napiVersion: shop.example.com/v1\nkind: Domain\n'
  printf 'metadata: {name: %s, namespace: shop, finalizers: [shop.example.com/cleanup]}\n' "$1"
}

step "1. A Kubernetes API server on this machine"
python -m lab up >"$demo/up.txt"
eval "$(grep '^export' "$demo/up.txt")"
show kubectl get --raw /version | grep gitVersion

step "2. An application with 12 Domains. Its operator has been scaled to nothing."
kubectl apply -f shop.yml >/dev/null
kubectl wait --for=condition=Established crd/domains.shop.example.com --timeout=30s >/dev/null
for number in $(seq 1 12); do domain "shop-$number"; done | kubectl apply -f - >/dev/null
show kubectl get deployment -n shop shop-operator

step "3. Somebody deletes the namespace. It hangs: every Domain waits for the operator."
show kubectl delete namespace shop --wait=false
for _try in $(seq 1 60); do
  [ "$(kubectl get domains -n shop -o jsonpath='{.items[*].metadata.deletionTimestamp}' | wc -w)" -eq 12 ] && break
  sleep 0.5
done
domains
show kubectl get namespace shop

step "4. What would sunset.kube do? (check mode: the API server tries every patch and keeps none)"
show ansible-playbook free.yml -e evidence="$demo/evidence" --check

step "5. Do it"
show ansible-playbook free.yml -e evidence="$demo/evidence"

step "6. The proof: every write, as it happened"
show tail -n 2 "$(find "$demo/evidence" -name timeline.jsonl | sort | tail -n 1)"

step "7. Gone, and the namespace with them"
show kubectl wait --for=delete namespace/shop --timeout=60s
domains
show kubectl get namespace shop --ignore-not-found
step "Nothing hangs any more."
