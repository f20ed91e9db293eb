#!/bin/sh
# Builds a reference tool for the tests in test/interop/, once, and prints where it is:
#   tools/peers/build.sh simd42|simd53|ics23|light|grpcurl|schemathesis|keplr|kubernetes|kubernetes-node|containerd|kube-router|traefik|gateway-api|metallb|kwok|pebble|helm|cometbft|package-checks|nfpm|tmkms
# Go sources come through the Go module proxy, checked against Go's checksum database, packages of Python and Node.js from
# their registries at the versions listed. What is built is kept by the hash of the files it is made from; remove the cache
# to build anew. It needs Go 1.25 or newer, Python 3.11 with its venv module and, cold, some minutes.
# kubernetes is its API server, its storage and the pretence of a node, and by far the longest: some five minutes of one
# core. kubernetes-node, a minute and a half more, is what makes a cluster of it that runs pods, and kwok pretends many nodes.
# kube-router, a minute and a half more, enforces network policies on such a node, and traefik, some three minutes of one core,
# answers for Ingress objects and gateways there. metallb, a minute and a half, gives services their addresses; its kinds of objects
# lie in a folder beside it. tmkms needs Rust 1.85, and ten minutes of one core: a build without optimisation is quick enough for tests.
# Their hardware device is the one that their own tests pretend: always there, and of a known phrase.
set -eu
GRPCURL=v1.9.4
PEBBLE=v2.10.1
COMETBFT=v0.38.26
NFPM=v2.45.2
TMKMS=0.15.0
KUBERNETES=v1.34.4
GATEWAY_API=v1.6.1
here=$(cd "$(dirname "$0")" && pwd)
name=${1:?usage: build.sh simd42|simd53|ics23|light|grpcurl|schemathesis|keplr|kubernetes|kubernetes-node|containerd|kube-router|traefik|gateway-api|metallb|kwok|pebble|helm|cometbft|package-checks|nfpm|tmkms}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-peers

# kubernetes_version: the linker's words for the release, which the servers need to know.
kubernetes_version() {
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf ' -X %s.gitVersion=%s -X %s.gitMajor=1 -X %s.gitMinor=34 -X %s.gitTreeState=clean' \
      "$package" "$KUBERNETES" "$package" "$package" "$package"
  done
}

# go_tool: the build of a Go program, by its files or by its released version.
go_tool() {
  command -v go >/dev/null || { echo "build.sh: Go is missing: install Go 1.25 or newer" >&2; exit 3; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if [ "$name" = grpcurl ]; then
    GOBIN=$work go install -trimpath "github.com/fullstorydev/grpcurl/cmd/grpcurl@$GRPCURL" >&2
  elif [ "$name" = pebble ]; then
    GOBIN=$work go install -trimpath "github.com/letsencrypt/pebble/v2/cmd/pebble@$PEBBLE" >&2
  elif [ "$name" = cometbft ]; then
    GOBIN=$work CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" "github.com/cometbft/cometbft/cmd/cometbft@$COMETBFT" >&2
  elif [ "$name" = nfpm ]; then
    GOBIN=$work CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" "github.com/goreleaser/nfpm/v2/cmd/nfpm@$NFPM" >&2
  elif [ "$name" = helm ]; then
    cp "$module" "$work/"
    (cd "$work" && CGO_ENABLED=0 go build -mod=mod -trimpath -buildvcs=false -ldflags "-s -w" -o "$work/$name" helm.sh/helm/v3/cmd/helm) >&2
  elif [ "${name%-node}" = kubernetes ]; then
    cp "$module" "$here/$name"/*.go "$work/"
    cluster_tool .
  elif [ "$name" = kwok ]; then
    cp "$module" "$work/"
    cluster_tool sigs.k8s.io/kwok/cmd/kwok
  elif [ "$name" = kube-router ]; then
    # The sum of its own module stands beside it: Go's checksum database does not tell it everywhere.
    cp "$module" "$here/$name/go.sum" "$here/$name"/*.go "$work/"
    cluster_tool .
  elif [ "$name" = metallb ]; then
    cp "$module" "$work/"
    cluster_tool go.universe.tf/metallb/controller sigs.k8s.io
    copy_of go.universe.tf/metallb "$work/source"
    mkdir -p "$binary-definitions"
    cp "$work"/source/config/crd/bases/*.yaml "$binary-definitions/"
  elif [ "$name" = traefik ]; then
    cp "$module" "$work/"
    copy_of github.com/traefik/traefik/v3 "$work/source"
    copy_of github.com/go-acme/lego/v5 "$work/lego"
    "$here/$name/prune.sh" "$work/source" "$work/lego"
    cluster_tool github.com/traefik/traefik/v3/cmd/traefik github.com/traefik go.opentelemetry.io sigs.k8s.io google.golang.org \
      github.com/influxdata github.com/go-openapi github.com/redis github.com/klauspost github.com/quic-go
  else
    cp "$here/$name/go.mod" "$here/$name/main.go" "$work/"
    (cd "$work" && go build -mod=mod -trimpath -buildvcs=false -tags "netgo ledger test_ledger_mock" -o "$work/$name" .) >&2
  fi
  mv "$work/$name" "$binary.$$"
  mv "$binary.$$" "$binary"
}

# cluster_tool PACKAGE [PATH...]: the build of a part of a cluster. Unoptimised code of Kubernetes itself, and of what lies at the
# paths, takes a third less to compile, and runs quickly enough for tests; what it stands on stays as it is.
cluster_tool() {
  package=$1
  shift
  set -- k8s.io "$@"
  for path; do
    set -- "$@" "-gcflags=$path/...=-N -l -dwarf=false"
    shift
  done
  (cd "$work" && CGO_ENABLED=0 go build -mod=mod -trimpath -buildvcs=false -gcflags=all=-dwarf=false "$@" \
    -ldflags "-s -w$(kubernetes_version)" -o "$work/$name" "$package") >&2
}

# copy_of: a folder with the source of a module at the version that the tool's go.mod names, to be changed.
copy_of() {
  version=$(sed -n "s#^\t$1 \(v.*\)#\1#p" "$module")
  folder=$(cd "$cache" && go mod download -json "$1@$version" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
  cp -r "$folder" "$2"
  chmod -R u+w "$2"
}

# rust_tool: a program with the locked packages of its release.
rust_tool() {
  command -v cargo >/dev/null || { echo "build.sh: Rust is missing: install Rust 1.85 or newer" >&2; exit 3; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$work/target nice -n 19 cargo install --quiet --debug --locked \
    --root "$work" --version "$TMKMS" --features softsign "$name" >&2
  mv "$work/bin/$name" "$binary.$$"
  mv "$binary.$$" "$binary"
}

# python_tool: a folder with the tool and its packages, which it finds by the folder's path.
python_tool() {
  python3 -c 'import venv, ensurepip' 2>/dev/null ||
    { echo "build.sh: Python 3 with its venv module is missing: install python3-venv" >&2; exit 3; }
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$here/$name/requirements.txt" >&2
  touch "$folder/complete"
}

# node_tool: a folder with the packages of the tool.
node_tool() {
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$here/$name/package.json" "$here/$name/package-lock.json" "$folder/"
  (cd "$folder" && npm ci --ignore-scripts --loglevel=error) >&2
  touch "$folder/complete"
}

# definitions: a folder with the kinds of objects of the Gateway API, which its Go module holds.
definitions() {
  command -v go >/dev/null || { echo "build.sh: Go is missing: install Go 1.25 or newer" >&2; exit 3; }
  module=$(cd "$cache" && go mod download -json "sigs.k8s.io/gateway-api@$GATEWAY_API" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
  mkdir -p "$folder.$$"
  cp "$module"/config/crd/standard/*.yaml "$folder.$$/"
  chmod u+w "$folder.$$"/*
  mv "$folder.$$" "$folder"
}

# packages: a folder with the container engine and the plugins for networks that Debian has. Nothing is installed: other engines
# of the machine would take them for their own.
packages() {
  command -v dpkg >/dev/null || { echo "build.sh: Debian or Ubuntu is needed for containerd" >&2; exit 3; }
  rm -rf "$folder"
  mkdir -p "$folder"
  (
    cd "$folder"
    apt-get download containerd containernetworking-plugins || { apt-get update && apt-get download containerd containernetworking-plugins; }
    for package in *.deb; do dpkg -x "$package" .; done
    rm ./*.deb
  ) >&2
  touch "$folder/complete"
}

mkdir -p "$cache"
case $name in
  schemathesis)
    folder=$cache/$name-$(sha256sum "$here/$name/requirements.txt" | cut -c1-16)
    [ -e "$folder/complete" ] || python_tool
    echo "$folder/bin/$name"
    ;;
  containerd)
    folder=$cache/$name
    [ -e "$folder/complete" ] || packages
    echo "$folder"
    ;;
  gateway-api)
    folder=$cache/$name-$GATEWAY_API
    [ -e "$folder" ] || definitions
    echo "$folder"
    ;;
  tmkms)
    binary=$cache/$name-$TMKMS
    [ -x "$binary" ] || rust_tool
    echo "$binary"
    ;;
  keplr)
    folder=$cache/$name-$(sha256sum "$here/$name/package-lock.json" | cut -c1-16)
    [ -e "$folder/complete" ] || node_tool
    echo "$folder/node_modules/@keplr-wallet/chain-validator"
    ;;
  package-checks)
    folder=$cache/$name-$(sha256sum "$here/$name/package-lock.json" | cut -c1-16)
    [ -e "$folder/complete" ] || node_tool
    echo "$folder/node_modules/.bin"
    ;;
  *)
    if [ "$name" = grpcurl ]; then
      hash=$GRPCURL
    elif [ "$name" = pebble ]; then
      hash=$PEBBLE
    elif [ "$name" = cometbft ]; then
      hash=$COMETBFT
    elif [ "$name" = nfpm ]; then
      hash=$NFPM
    else
      # Both programs of Kubernetes are made of one release.
      module=$here/${name%-node}/go.mod
      hash=$(cat "$module" "$here/$name"/*.go "$here/$name"/*.sh 2>/dev/null | sha256sum | cut -c1-16)
    fi
    binary=$cache/$name-$hash
    [ -x "$binary" ] || go_tool
    echo "$binary"
    ;;
esac
