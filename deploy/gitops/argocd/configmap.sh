#!/usr/bin/env bash
# Prints the part of Argo CD's ConfigMap that tells it the health of Maniple's kinds.
#
#   deploy/gitops/argocd/configmap.sh | kubectl -n argocd patch configmap argocd-cm --type merge --patch-file /dev/stdin
set -euo pipefail
cd "$(dirname "$0")"

echo "data:"
while read -r kind file; do
  echo "  resource.customizations.health.scheduling.maniple.dev_$kind: |"
  sed 's/^\(.\)/    \1/' "$file"
done <<'KINDS'
PodGroup PodGroup.lua
Queue Queue.lua
Cohort Queue.lua
KINDS
