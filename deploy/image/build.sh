#!/usr/bin/env bash
# Makes the image of maniple-scheduler and maniple, without a container daemon and without network. The same commit, programs and
# packages give the same bytes.
#
#   deploy/image/build.sh                  # builds the preset release first; the image is in build/image
#   deploy/image/build.sh --bin DIR --out DIR
#   deploy/image/build.sh --max-size 45    # fails if it is larger, in millions of bytes, compressed
#
# What it makes in the folder of --out:
#   maniple-scheduler.oci        an OCI layout, to copy to a registry: skopeo copy oci:DIR/maniple-scheduler.oci:VERSION docker://…
#   maniple-scheduler.tar        the same image for `docker load`, `podman load`, `ctr images import`, `kind load image-archive`
#   maniple-scheduler.spdx.json  what is in it (SPDX 2.3)
# Its time is the commit's, or SOURCE_DATE_EPOCH. Its architecture is this machine's.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
readonly name=maniple-scheduler
bin='' out=$root/build/image max_size=

fail() { echo "build.sh: $1" >&2; exit 1; }

usage() { echo "usage: deploy/image/build.sh [--bin DIR] [--out DIR] [--max-size MEGABYTES]" >&2; exit 2; }

while (($#)); do
  (($# > 1)) || usage
  case $1 in
    --bin) bin=$2 ;;
    --out) out=$2 ;;
    --max-size) max_size=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[[ -z $max_size || $max_size =~ ^[1-9][0-9]*$ ]] || fail "--max-size $max_size: not a number of megabytes"

for tool in dpkg-query ldd python3 strip tar umoci; do
  command -v "$tool" >/dev/null || fail "no $tool here; deploy/setup.sh installs it"
done

# The label names the commit, so that programs of an older one must not slip in. Of those given by --bin, their giver knows.
if [[ -z $bin ]]; then
  bin=$root/build/release/bin
  [[ -f $root/build/release/build.ninja ]] || (cd "$root" && cmake --preset release)
  (cd "$root" && cmake --build --preset release ${MANIPLE_BUILD_JOBS:+-j "$MANIPLE_BUILD_JOBS"} --target maniple-scheduler maniple)
fi

# Of a folder that is no checkout, nobody knows the commit. Of a checkout that git refuses to read, it says why.
revision=unknown
if [[ -e $root/.git ]]; then
  revision=$(git -C "$root" describe --always --abbrev=40 --exclude='*' --dirty) || fail "$root: git does not tell the commit"
  epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
else
  epoch=${SOURCE_DATE_EPOCH:-}
fi
[[ -n $epoch ]] || fail "$root: no commit to take the time from; set SOURCE_DATE_EPOCH"
[[ $epoch =~ ^[0-9]+$ ]] || fail "SOURCE_DATE_EPOCH $epoch: not a number of seconds"
created=$(date --utc --date="@$epoch" +%Y-%m-%dT%H:%M:%SZ)
architecture=$(dpkg --print-architecture)

mkdir -p "$out"
# Beside the result, so that it takes its place at once: a failed build leaves the image of before.
work=$(mktemp -d "$out/.building.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$here/rootfs.py" "$architecture" "$work/root" "$bin/maniple-scheduler" "$bin/maniple"

said() { "$bin/$1" --version | awk '{ print $NF }'; }
version=$(said maniple-scheduler)
[[ $version =~ ^[0-9]+(\.[0-9]+)+ ]] || fail "$bin/maniple-scheduler: its --version ends with \"$version\", which is no version"
[[ $(said maniple) == "$version" ]] || fail "$bin: of two versions: maniple is \"$(said maniple)\", maniple-scheduler is \"$version\""

LC_ALL=C tar --create --file "$work/layer.tar" --directory "$work/root" --format=gnu --sort=name --mtime="@$epoch" \
  --owner=0 --group=0 --numeric-owner .

layout=$work/$name.oci
image=$layout:$version
umoci init --layout "$layout"
umoci new --image "$image"
umoci raw add-layer --image "$image" --history.created "$created" --history.created_by deploy/image/build.sh "$work/layer.tar"
label=org.opencontainers.image
umoci config --image "$image" --no-history --created "$created" --os linux --architecture "$architecture" \
  --config.user 65532:65532 --config.env PATH=/usr/bin --config.entrypoint /usr/bin/maniple-scheduler \
  --config.label "$label.title=$name" \
  --config.label "$label.description=Gang-scheduling secondary scheduler for Kubernetes GPU clusters" \
  --config.label "$label.version=$version" \
  --config.label "$label.revision=$revision" \
  --config.label "$label.created=$created" \
  --config.label "$label.licenses=Apache-2.0"
umoci gc --layout "$layout"

blob() { echo "$layout/blobs/sha256/${1#sha256:}"; }
# umoci leaves the platform out of the index, where whoever joins images of several platforms to one looks for it.
read -r digest config layer < <(python3 - "$layout" "$architecture" <<'PYTHON'
import json, pathlib, sys
layout = pathlib.Path(sys.argv[1])
index = json.loads((layout / "index.json").read_text())
index["manifests"][0]["platform"] = {"architecture": sys.argv[2], "os": "linux"}
(layout / "index.json").write_text(json.dumps(index))
digest = index["manifests"][0]["digest"]
manifest = json.loads((layout / "blobs" / digest.replace(":", "/")).read_text())
print(digest, manifest["config"]["digest"], *(one["digest"] for one in manifest["layers"]))
PYTHON
)

# The form that every runtime loads with its name. The layer stays compressed, as all of them accept, and skopeo would not leave it.
docker=$work/docker
mkdir "$docker"
ln "$(blob "$config")" "$docker/${config#sha256:}.json"
ln "$(blob "$layer")" "$docker/${layer#sha256:}.tar.gz"
printf '[{"Config":"%s.json","RepoTags":["%s:%s"],"Layers":["%s.tar.gz"]}]\n' "${config#sha256:}" "$name" "$version" "${layer#sha256:}" \
  >"$docker/manifest.json"
LC_ALL=C tar --create --file "$work/$name.tar" --directory "$docker" --format=gnu --hard-dereference --sort=name \
  --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=0644 \
  manifest.json "${config#sha256:}.json" "${layer#sha256:}.tar.gz"

"$here/sbom.py" "$work/root" "$version" "$digest" "$epoch" >"$work/$name.spdx.json"

size=$(cat "$layout"/blobs/sha256/* | wc -c)
if [[ -n $max_size ]] && ((size > max_size * 1000000)); then
  fail "the image has $size bytes compressed, more than $max_size million"
fi

for one in "$name.oci" "$name.tar" "$name.spdx.json"; do
  chmod -R u=rwX,go=rX "$work/$one"
  find "$work/$one" -exec touch --date="@$epoch" {} +
  rm -rf "${out:?}/$one"
  mv "$work/$one" "$out/$one"
done
packages=$(find "$work/root/var/lib/dpkg/status.d" -name '*.md5sums' | wc -l)
printf '%s:%s %s\n  digest  %s\n  size    %s bytes compressed, %s packages\n  in      %s\n' \
  "$name" "$version" "$architecture" "$digest" "$size" "$packages" "$out"
