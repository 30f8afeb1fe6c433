#!/usr/bin/env bash
# Prints what deploy/CHANGELOG.md says of one version.
#
#   deploy/release-notes.sh 0.1.0
#   deploy/release-notes.sh Unreleased
set -euo pipefail

(($# == 1)) || { echo "usage: deploy/release-notes.sh VERSION" >&2; exit 2; }
changelog=$(dirname "$0")/CHANGELOG.md
notes=$(awk -v wanted="## $1" '$0 == wanted { inside = 1; next } /^## / { inside = 0 } inside' "$changelog" | sed '/./,$!d')
[[ -n $notes ]] || { echo "release-notes.sh: $changelog has no version $1" >&2; exit 1; }
printf '%s\n' "$notes"
