#!/usr/bin/env bash
# Makes the plain manifests, the Kustomize files, deploy/monitoring and deploy/api.md from the chart, the one place where they are
# written.
#
#   deploy/render.sh           # after each change of deploy/helm/maniple
#   deploy/render.sh --check   # changes nothing; says which file is not what the chart makes
#
# Takes helm from the PATH, or builds it (test/controlplane/build.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly chart=deploy/helm/maniple namespace=kube-system
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

helm=$(command -v helm) || helm=$(test/controlplane/build.sh helm | tail -n 1)/helm

# Labels and annotations of helm's own are untrue of what it does not install.
render() {  # RELEASE FILE TEMPLATE… [-- FLAG…]: the templates in this order
  local release=$1 file=$2 template
  shift 2
  local templates=()
  while (($# > 0)) && [[ $1 != -- ]]; do
    templates+=("$1")
    shift
  done
  (($# == 0)) || shift
  mkdir -p "$out/$(dirname "$file")"
  {
    echo "# Rendered by deploy/render.sh from $chart: change it there."
    for template in "${templates[@]}"; do
      "$helm" template "$release" "$chart" --namespace "$namespace" --show-only "templates/$template" "$@"
    done | sed -e '/^# Source: /d' -e '/^ *helm.sh\/chart: /d' -e '/^ *app.kubernetes.io\/managed-by: /d' -e '/^ *helm.sh\/resource-policy: /d' | sed '1{/^---$/d}'
  } >"$out/$file"
}

crds=() scheduler=(configmap.yaml deployment.yaml service.yaml poddisruptionbudget.yaml networkpolicy.yaml)
for template in "$chart"/templates/crds/*.yaml; do
  crds+=("crds/${template##*/}")
  render maniple "deploy/crds/${template##*/}" "${crds[-1]}"
done
render maniple deploy/rbac/scheduler.yaml rbac/scheduler.yaml
render maniple deploy/rbac/producers.yaml rbac/producers.yaml
render maniple deploy/rbac/users.yaml rbac/users.yaml
render maniple deploy/rbac/optional/mig-reconfigure.yaml rbac/mig-reconfigure.yaml -- --set configuration.gpu.mig.reconfigure=on
render maniple deploy/rbac/optional/provisioning.yaml rbac/provisioning.yaml -- --set configuration.autoscaling.provisioningRequests.className=any
render maniple deploy/policy/tenants.yaml policies.yaml
render maniple deploy/manifests/scheduler.yaml "${scheduler[@]}"

deploy/reference.py "$out"/deploy/crds/{podgroups,queues,cohorts,resourceflavors,topologies}.yaml >"$out/deploy/api.md"

# Kustomize reads nothing outside of its own folder.
kustomize=deploy/kustomize
render maniple $kustomize/crds/crds.yaml "${crds[@]}"
render maniple $kustomize/base/rbac.yaml rbac/scheduler.yaml rbac/producers.yaml rbac/users.yaml
render maniple $kustomize/base/policies.yaml policies.yaml
render maniple $kustomize/base/scheduler.yaml "${scheduler[@]}"
monitoring=$kustomize/overlays/monitoring
render maniple $monitoring/podmonitor.yaml podmonitor.yaml scraper.yaml -- --set metrics.podMonitor.enabled=true
render maniple $monitoring/prometheusrule.yaml prometheusrule.yaml -- --set metrics.prometheusRule.enabled=true
render maniple $monitoring/dashboard.yaml dashboard.yaml -- --set metrics.dashboard.enabled=true
render gold $kustomize/overlays/pools/gold.yaml rbac/scheduler.yaml rbac/producers.yaml rbac/users.yaml policies.yaml "${scheduler[@]}" -- \
  --values $kustomize/overlays/pools/gold.values.yaml

# Without the Prometheus operator. JSON has no comments.
mkdir -p "$out/deploy/monitoring"
{
  echo "# Copied by deploy/render.sh from $chart/files: change it there."
  cat $chart/files/rules.yaml
} >"$out/deploy/monitoring/rules.yaml"
cp $chart/files/dashboard.json "$out/deploy/monitoring/dashboard.json"

stale=0
while IFS= read -r file; do
  cmp -s "$out/$file" "$file" && continue
  if [[ ${1:-} == --check ]]; then
    echo "render.sh: $file is not what $chart makes: run deploy/render.sh" >&2
    stale=1
  else
    mkdir -p "$(dirname "$file")"
    cp "$out/$file" "$file"
    echo "$file"
  fi
done < <(cd "$out" && find . -type f -printf '%P\n' | sort)
exit $stale
