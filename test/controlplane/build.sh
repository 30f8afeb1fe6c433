#!/usr/bin/env bash
# Builds the real control plane of the tests once, into a cache folder outside the tree, and prints that folder as its last line.
#
#   test/controlplane/build.sh                    # kube-apiserver, etcd, kubectl, kubectl-1.32, helm, kubeconform, promtool
#   test/controlplane/build.sh kube-scheduler     # one program; also kube-controller-manager
#   test/controlplane/build.sh filter-oracle      # our own that asks kube-scheduler's plugins, see test/oracle
#   MANIPLE_KUBERNETES=1.37.2 test/controlplane/build.sh etcd kube-apiserver kube-controller-manager  # of that version
#
# A program whose go.mod did not change since it was built is left alone, so a warm run takes a moment. With KUBEBUILDER_ASSETS
# set (the convention of envtest) nothing is built and that folder is printed. MANIPLE_BUILD_JOBS limits the cores used.
# Exit 3: there is no Go here that can build it; one line says how to enable it.
set -euo pipefail

readonly kubernetes=${MANIPLE_KUBERNETES:-1.36.1} old_kubectl=1.32.9 helm=3.22.0
here=$(cd "$(dirname "$0")" && pwd)

case $kubernetes in
  1.36.1) module=kubernetes ;;
  1.37.2) module=kubernetes-1.37 ;;
  *)
    echo "build.sh: MANIPLE_KUBERNETES is $kubernetes, and there is a module for 1.36.1 and 1.37.2 only" >&2
    exit 2 ;;
esac

if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
  for program in kube-apiserver etcd; do
    [[ -x $KUBEBUILDER_ASSETS/$program ]] && continue
    echo "build.sh: KUBEBUILDER_ASSETS is set to $KUBEBUILDER_ASSETS, which has no executable $program" >&2
    exit 1
  done
  echo "$KUBEBUILDER_ASSETS"
  exit 0
fi

PATH=$PATH:/usr/local/go/bin
folder=${XDG_CACHE_HOME:-$HOME/.cache}/maniple/controlplane/$kubernetes
mkdir -p "$folder"

version_flags() {  # VERSION: what the program calls itself; without it, v0.0.0-master
  local package=k8s.io/component-base/version minor=${1#*.}
  echo "-s -w -X $package.gitVersion=v$1 -X $package.gitMajor=${1%%.*} -X $package.gitMinor=${minor%%.*}"
}

# Without the version of Kubernetes, helm takes the cluster that it renders for to be one of 1.20.
helm_flags() {
  local module=helm.sh/helm/v3 minor=${kubernetes#*.} package flags
  flags="-s -w -X $module/internal/version.version=v$helm"
  for package in pkg/chartutil pkg/lint/rules; do
    flags+=" -X $module/$package.k8sVersionMajor=${kubernetes%%.*} -X $module/$package.k8sVersionMinor=${minor%%.*}"
  done
  echo "$flags"
}

# What made the program: one line that changes when it must be built again.
stamp_of() {  # MODULE FLAGS SOURCE…
  local module=$1 flags=$2
  shift 2
  echo "$(cat "$here/$module/go.mod" "$here/$module"/*.go "$@" | sha256sum | cut -d' ' -f1) $flags"
}

require_go() {
  (cd "$here/$module" && go list -m) >/dev/null 2>&1 && return
  echo "build.sh: NO REAL CONTROL PLANE: install Go >= 1.26 (or >= 1.21 with GOTOOLCHAIN=auto) from https://go.dev/dl," \
       "or set KUBEBUILDER_ASSETS to a folder with kube-apiserver, etcd and kubectl; tests that need one are skipped" >&2
  exit 3
}

build() {  # PROGRAM MODULE FLAGS PACKAGE, or SOURCE… that are compiled as if they stood in the module
  local program=$1 module=$2 flags=$3 stamp sources=()
  shift 3
  [[ $1 != *.go ]] || sources=("$@")
  stamp=$(stamp_of "$module" "$flags" "${sources[@]}")
  if [[ -x $folder/$program && $(cat "$folder/.$program.stamp" 2>/dev/null) == "$stamp" ]]; then
    return
  fi
  require_go
  local started=$SECONDS
  echo "building $program (cold: a few minutes)" >&2
  # -v names each package as it is compiled; every 250th shows that the work goes on, anything else is an error text.
  (cd "$here/$module" && CGO_ENABLED=0 nice go build -v -p "${MANIPLE_BUILD_JOBS:-$(nproc)}" -ldflags "$flags" \
                              -o "$folder/.$program.new" "$@" 2>&1) |
    awk -v program="$program" '/^[^ :#]+$/ { if (++n % 250 == 0) print "  " program ": " n " packages"; fflush(); next } { print }' >&2
  mv "$folder/.$program.new" "$folder/$program"
  echo "$stamp" >"$folder/.$program.stamp"
  echo "built $program in $((SECONDS - started)) s" >&2
}

exec 9>"$folder/.lock"
flock 9

(($# > 0)) || set -- etcd kubectl-1.32 kube-apiserver kubectl helm kubeconform promtool
for program in "$@"; do
  case $program in
    kube-apiserver | kubectl | kube-controller-manager | kube-scheduler)
      build "$program" "$module" "$(version_flags "$kubernetes")" "k8s.io/kubernetes/cmd/$program" ;;
    etcd) build etcd etcd "-s -w" go.etcd.io/etcd/server/v3 ;;
    helm) build helm helm "$(helm_flags)" helm.sh/helm/v3/cmd/helm ;;
    kubeconform) build kubeconform kubeconform "-s -w" github.com/yannh/kubeconform/cmd/kubeconform ;;
    # Without the clients of clouds that a Prometheus finds its targets by.
    promtool) build promtool promtool "-s -w" -tags remove_all_sd github.com/prometheus/prometheus/cmd/promtool ;;
    kubectl-1.32) build kubectl-1.32 kubectl-1.32 "$(version_flags $old_kubectl)" . ;;
    filter-oracle) build filter-oracle kubernetes "-s -w" "$here"/../oracle/filter_oracle/*.go ;;
    *)
      echo "build.sh: unknown program $program" >&2
      exit 2 ;;
  esac
done
echo "$folder"
