#!/usr/bin/env bash
# Bundles the page into OUTDIR: page-HASH.js, page-HASH.css and an index.html that names both under assets/.
# The same sources and the same esbuild give the same bytes.
#
#   scheduler/page/web/bundle.sh OUTDIR
set -euo pipefail
shopt -s inherit_errexit

out=${1:?usage: bundle.sh OUTDIR}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
most=$((150 * 1000))  # bytes in all, gzipped: what a page should weigh

if ! command -v esbuild >/dev/null; then
  echo "bundle.sh: esbuild is missing; install the Debian package esbuild" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here"

common=(--bundle --minify --target=es2020 --charset=utf8 --legal-comments=none --log-level=warning)
notice='/* With Preact, htm and Preact Signals; see licences.txt beside this file. */'
esbuild src/main.js "${common[@]}" --banner:js="$notice" --format=esm --resolve-extensions=.mjs --outfile="$work/page.js" \
  --alias:preact=./vendor/preact \
  --alias:htm=./vendor/htm \
  --alias:@preact/signals=./vendor/signals \
  --alias:@preact/signals-core=./vendor/signals-core
esbuild style.css "${common[@]}" --outfile="$work/page.css"

# Puts a file into OUTDIR under a name with the hash of its bytes, and prints that name.
place() {
  local name
  name="page-$(sha256sum "$1" | cut -c1-12).${1##*.}"
  cp "$1" "$out/$name"
  echo "$name"
}

rm -f "$out"/page-*.js "$out"/page-*.css
script=$(place "$work/page.js")
style=$(place "$work/page.css")
sed -e "s|src/main.js|assets/$script|" -e "s|style.css|assets/$style|" index.html >"$out/index.html"
for name in "assets/$script" "assets/$style"; do
  if ! grep -q "\"$name\"" "$out/index.html"; then
    echo "bundle.sh: index.html does not name $name" >&2
    exit 1
  fi
done

tail -n +1 vendor/*/LICENSE >"$out/licences.txt"

weight=$(cat "$out/$script" "$out/$style" "$out/index.html" | gzip -9 | wc -c)
if [ "$weight" -gt "$most" ]; then
  echo "bundle.sh: the page weighs $weight bytes gzipped, more than $most" >&2
  exit 1
fi
echo "bundle.sh: $script, $style, index.html: $weight bytes gzipped"
