#!/bin/sh
# Builds a reference tool for the tests in test/interop/, once, and prints where it is:
#   tools/peers/build.sh simd42|simd53|ics23
# The sources come through the Go module proxy, checked against Go's checksum database. What is built is kept by the hash
# of this folder's files; remove the cache to build anew. It needs Go 1.25 or newer and, cold, some minutes.
# Their hardware device is the one that their own tests pretend: always there, and of a known phrase.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=${1:?usage: build.sh simd42|simd53|ics23}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-peers
hash=$(cat "$0" "$here/$name/go.mod" "$here/$name/main.go" | sha256sum | cut -c1-16)
binary=$cache/$name-$hash
if [ ! -x "$binary" ]; then
  command -v go >/dev/null || { echo "build.sh: Go is missing: install Go 1.25 or newer" >&2; exit 3; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$cache"
  cp "$here/$name/go.mod" "$here/$name/main.go" "$work/"
  (cd "$work" && go build -mod=mod -trimpath -buildvcs=false -tags "netgo ledger test_ledger_mock" -o "$work/$name" .) >&2
  mv "$work/$name" "$binary.$$"
  mv "$binary.$$" "$binary"
fi
echo "$binary"
