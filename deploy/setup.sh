#!/usr/bin/env bash
# Installs what Maniple needs to build and run on Debian 12. Asks nothing; names what it installs; a second run does nothing.
#
#   deploy/setup.sh            # build, run, test
#   deploy/setup.sh --dev      # also clang 14 and clang-format 14
#   deploy/setup.sh --fuzz     # also clang 14 with libFuzzer and the address sanitizer
#   deploy/setup.sh --browser  # also a browser, in which the page is tested
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache mold git ca-certificates curl openssl procps
  libabsl-dev libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
  libcurl4-openssl-dev libssl-dev zlib1g-dev rapidjson-dev libyaml-cpp-dev prometheus-cpp-dev libboost-dev libcli11-dev
  libgoogle-perftools-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev
  esbuild
  python3 python3-yaml
  umoci libcap2-bin lua5.1
)
developing=
case ${1:-} in
  "") ;;
  --dev)
    developing=1
    packages+=(clang-14 clang-format-14 clang-tidy-14) ;;
  --fuzz)
    packages+=(clang-14 libclang-rt-14-dev) ;;
  --browser)
    packages+=(chromium chromium-driver fonts-dejavu-core python3-selenium) ;;
  *)
    echo "usage: deploy/setup.sh [--dev | --fuzz | --browser]" >&2
    exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "setup.sh: this system has no apt-get; install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${packages[@]}" 2>/dev/null | awk '$1 ~ /^.i$/ { print $2 }' || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done

if ((${#missing[@]} > 0)); then
  echo "setup.sh: installing, in a minute or two: ${missing[*]}"
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "setup.sh: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3)
  "${apt[@]}" update
  "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" >/dev/null
fi

if [[ -n $developing ]] && ! PATH=$PATH:/usr/local/go/bin command -v go >/dev/null && [[ -z ${KUBEBUILDER_ASSETS:-} ]]; then
  echo "setup.sh: no Go here (optional; Debian's is too old): tests against a real kube-apiserver will be SKIPPED" >&2
fi
