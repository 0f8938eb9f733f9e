#!/usr/bin/env bash
# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The demo: two shops whose operators have died. Plain helm on one of them, our uninstall on the other, and the way back.
# On a real API server of its own, which ends with this script. Run it through: make demo
# make demo ARGS=--stay keeps the report to look at. DEMO_PAUSE=2 gives a camera time to read.
set -euo pipefail
home=$(cd "$(dirname "$0")" && pwd)
demo=$(mktemp -d)
operators=()
stay=${1:-}

finish() {
  for pid in "${operators[@]}"; do kill "$pid" 2>/dev/null || true; done
  python -m lab down >/dev/null 2>&1 || true
  if [ -z "$stay" ]; then rm -rf "$demo"; fi
}
trap finish EXIT

export SUNSET_KUBE_LAB="$demo/lab" HELM_CACHE_HOME="$demo/helm" HELM_CONFIG_HOME="$demo/helm" HELM_DATA_HOME="$demo/helm"
export ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false ANSIBLE_NOCOWS=1
# Only what says something: neither tasks that were skipped nor those that just went well, and no folded errors.
export ANSIBLE_DISPLAY_SKIPPED_HOSTS=false ANSIBLE_DISPLAY_OK_HOSTS=false ANSIBLE_CALLBACK_RESULT_FORMAT=yaml

pause() { sleep "${DEMO_PAUSE:-0}"; }
step() { pause; printf '\n\033[1m%s\033[0m\n' "$*"; pause; }
show() { printf '\033[36m$ %s\033[0m\n' "$*"; "$@"; }
helm() { "$program" "$@"; }
until_true() { # what is waited for, then a command that succeeds when it is there
  local what=$1
  shift
  for _try in $(seq 1 150); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  printf 'demo: waited in vain for %s\n' "$what" >&2
  exit 1
}
kinds() { printf 'storefronts.%s.example.com,orders.%s.example.com' "$1" "$1"; }
order() { # shop, number
  printf -- '---\napiVersion: %s.example.com/v1\nkind: Order\nmetadata: {name: order-%s, namespace: %s}\n' "$1" "$2" "$1"
  printf 'spec: {storefront: main, items: %s}\n' "$2"
}
is_adopted() { [ "$(kubectl get "$(kinds "$1")" -n "$1" -o jsonpath='{.items[*].status.state}' | wc -w)" -eq 5 ]; }
is_down() { [ -z "$(kubectl get deployment "$1-operator" -n "$1" -o jsonpath='{.status.availableReplicas}')" ]; }
left_of() { # shop
  local definitions looked=configmaps,leases,persistentvolumeclaims
  definitions=$(kubectl get crd -o name | grep "$1.example.com" || true)
  if [ "$definitions" ]; then looked="$(kinds "$1"),$looked"; fi
  printf '\033[90mleft in namespace %s, and of its definitions:\033[0m\n' "$1"
  kubectl get "$looked" -n "$1" --field-selector metadata.name!=kube-root-ca.crt -o \
    'custom-columns=KIND:.kind,NAME:.metadata.name,DELETED:.metadata.deletionTimestamp,HELD BY:.metadata.finalizers[*]'
  printf '%s\n' "${definitions:-no definition}"
}

step "1. Two shops on a real API server: web, database, an operator with kinds of its own, orders of customers"
program=$(python -m lab build helm 2>/dev/null | sed 's/^helm: //')
python -m lab up >"$demo/up.txt"
eval "$(grep '^export' "$demo/up.txt")"
cd "$demo"
for shop in outlet shop; do
  cp -r "$home/chart" "$shop-chart"
  # Kinds of its own, so that the two have nothing in common.
  grep -rl shop.example.com "$shop-chart" | xargs sed -i "s/shop\.example\.com/$shop.example.com/g"
  show helm install "$shop" "$shop-chart" --namespace "$shop" --create-namespace | grep -E '^(.*\$ |STATUS)'
  python -m lab.controllers.shop_operator "$KUBECONFIG" "$shop" "$shop" "$shop.example.com" &
  operators+=($!)
  for number in 1 2 3; do order "$shop" "$number"; done | kubectl apply -f - >/dev/null
done
for shop in outlet shop; do until_true "the operator of $shop" is_adopted "$shop"; done
show kubectl get "$(kinds shop)" -n shop

step "2. Both operators die. Nobody is left who would take their finalizers off."
kill "${operators[@]}"
wait "${operators[@]}" 2>/dev/null || true
operators=()
for shop in outlet shop; do until_true "the end of its operator" is_down "$shop"; done
show kubectl get deployments -n shop

step "3. Plain helm on the first shop: it gives up, its record is gone, and most of what matters is left"
show helm uninstall outlet --namespace outlet --wait --timeout 3s || true
left_of outlet

step "4. sunset.kube on the second: the plan first, and what there is to decide"
show ansible-playbook sunset.kube.uninstall -e release=shop --check || true

step "5. Decided: the orders go too, and so do finalizers that nobody answers for"
show ansible-playbook sunset.kube.uninstall -e release=shop -e instances=delete -e force=true -e force_after=2 \
  -e confirm=skip -e evidence_dir=reports -e undo_vault_password=sesame
left_of shop

step "6. The proof, and the way back"
show ls -C reports/latest/
show ansible-playbook sunset.kube.undo -e bundle=reports/latest -e undo_vault_password=sesame -e confirm=skip
show helm list --namespace shop
show kubectl get "$(kinds shop),deployments" -n shop

if [ "$stay" ]; then step "The report stays: $(readlink -f reports/latest)/report.html"; fi
