#!/bin/sh
# Installs svc from a network: SVC_NET={net_url} sh install.sh [--net URL] [--prefix DIR] [--version vX.Y.Z] [--force]
# The archive of this platform is checked by its SHA-256 and by the signature of the release before anything changes. Versions
# lie beside one another; `current` is a link to one of them, so that a version is put in place of another at one moment.
# Needs curl or wget, tar, gzip, sha256sum, and OpenSSL 3 or ssh-keygen of OpenSSH 8.2.
set -eu

# The key that signs releases, in the forms of OpenSSL and of OpenSSH, put in when a release is made.
public_key='@PUBLIC_KEY@'
ssh_key='@SSH_KEY@'
test_key='@TEST_KEY@'

fail() {
  printf 'Error: %s\n' "$1" >&2
  if [ -n "${2-}" ]; then printf 'Hint: %s\n' "$2" >&2; fi
  exit 1
}

usage() {
  printf 'Error: %s\n' "$1" >&2
  printf 'Usage: sh install.sh [--net URL] [--prefix DIR] [--version vX.Y.Z] [--force]\n' >&2
  exit 2
}

read_words() {
  net=${SVC_NET-} prefix='' wanted='' force=''
  while [ $# -gt 0 ]; do
    case $1 in
    --force) force=yes ;;
    --net | --prefix | --version)
      [ -n "${2-}" ] || usage "$1 needs a value"
      case $1 in --net) net=$2 ;; --prefix) prefix=$2 ;; *) wanted=$2 ;; esac
      shift
      ;;
    *) usage "there is no option $1" ;;
    esac
    shift
  done
  net=${net%/}
  case $net in
  http://?* | https://?*) ;;
  '') fail 'the network is not named' 'set SVC_NET to the address of its files, or use --net' ;;
  *) fail "$net is no address of a network" 'it begins with https:// or http://' ;;
  esac
}

is_version() {
  case $1 in *[!v0-9.]*) return 1 ;; esac
  printf '%s\n' "$1" | grep -Eqx 'v(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})'
}

find_platform() {
  case $(uname -s)-$(uname -m) in
  Linux-x86_64) platform=linux-x64 loader=/lib64/ld-linux-x86-64.so.2 ;;
  Linux-aarch64 | Linux-arm64) platform=linux-arm64 loader=/lib/ld-linux-aarch64.so.1 ;;
  *) fail "there is no svc for $(uname -s) on $(uname -m)" 'it runs on Linux on x86_64 and aarch64' ;;
  esac
  [ -e "$loader" ] ||
    fail "svc needs the GNU C library 2.28 or newer, and $loader is missing" 'on Alpine and other systems with musl, run its container image'
}

need_programs() {
  for each in tar gzip sha256sum sort; do
    command -v "$each" >/dev/null || fail "the program $each is missing" 'install it, then run this again'
  done
  if openssl pkeyutl -help 2>&1 | grep -q -e -rawin; then
    kind=sig
  elif ssh-keygen -Y verify 2>&1 | grep -q namespace; then
    kind=sshsig
  else
    fail 'nothing here can check the signature of the release' 'install OpenSSL 3, or ssh-keygen of OpenSSH 8.2 (on Debian 11: openssh-client)'
  fi
  if command -v curl >/dev/null; then
    fetcher=curl
  elif command -v wget >/dev/null; then
    fetcher=wget
  else
    fail 'neither curl nor wget is there' 'install one of them'
  fi
}

# Brings the file $1 of the network to the path $2, at most $3 KiB in $4 seconds. It says what went wrong.
get() (
  # A longer file is an error of the program that brings it, not the end of that program.
  trap '' XFSZ
  ulimit -f $(($3 * 2)) 2>/dev/null || true
  if [ $fetcher = curl ]; then
    curl -fsSL --connect-timeout 20 --speed-limit 1000 --speed-time 60 --max-time "$4" -o "$2" "$net/$1" && return
  else
    wget -q -t 3 -T 60 -O "$2" "$net/$1" && return
  fi
  fail "$net/$1 could not be brought to $2 (at most $3 KiB)" 'is the network reachable, does it have this release, is there room on the disk?'
)

# Whether the command in $bin is a link to this installation, whose folder may have been named in another way.
is_own() {
  [ "$(readlink "$bin/svc" || true)" = "$store/current/bin/svc" ] || [ "$bin/svc" -ef "$store/current/bin/svc" ]
}

choose_version() {
  version=$wanted
  if [ -z "$version" ]; then
    get version.txt "$checks/version.txt" 64 60
    version=$(head -c 100 "$checks/version.txt" | head -n 1)
  fi
  is_version "$version" || fail "${wanted:-what $net/version.txt holds} is no version" 'versions have the form v1.2.3'
  installed=$(readlink "$store/current" || true)
  [ -z "$installed" ] || is_version "$installed" || fail "$store/current was not made by this script" 'use another --prefix'
  if [ "$version" = "$installed" ] && [ -z "$force" ] && is_own && [ "$("$bin/svc" version 2>/dev/null)" = "$version" ]; then
    printf 'svc %s is installed in %s\n' "$version" "$bin"
    exit 0
  fi
  oldest=$(printf '%s\n' "$version" "${installed:-$version}" | sort -V | head -n 1)
  if [ "$oldest" = "$version" ] && [ "$version" != "${installed:-$version}" ] && [ -z "$force$wanted" ]; then
    fail "the network offers $version, which is older than the installed $installed" "to install it all the same, use --version $version"
  fi
}

# Checks $checks/SHA256SUMS.$kind, which is over $checks/SHA256SUMS.
has_right_signature() {
  if [ "$kind" = sig ]; then
    printf '%s\n' "$public_key" >"$checks/key.pem"
    openssl pkeyutl -verify -pubin -inkey "$checks/key.pem" -rawin -in "$checks/SHA256SUMS" -sigfile "$checks/SHA256SUMS.sig"
  else
    printf 'svc %s\n' "$ssh_key" >"$checks/keys"
    ssh-keygen -Y verify -f "$checks/keys" -I svc -n svc-release -s "$checks/SHA256SUMS.sshsig" <"$checks/SHA256SUMS"
  fi
}

# Puts the checked list of the release's files into $checks.
check_signature() {
  for each in SHA256SUMS "SHA256SUMS.$kind"; do get "releases/$version/$each" "$checks/$each" 64 60; done
  has_right_signature >/dev/null 2>&1 ||
    fail "the signature of $version at $net is wrong: its files are not from the makers of svc" 'nothing was installed'
}

# Makes $work, whose name has the process. The one of another process that still runs is in the middle of its own change.
begin() {
  mkdir -p "$store" || fail "cannot write in ${prefix:-$HOME}" 'name another folder with --prefix'
  rm -rf "$work"
  mkdir "$work" || fail "cannot write in $store" 'name another folder with --prefix'
  for each in "$store"/.incoming.*; do
    if [ "$each" = "$work" ]; then continue; fi
    [ ! -e "/proc/${each##*.}" ] ||
      fail "another installation in $store is going on, by the process ${each##*.}" "wait for its end; if there is none, remove $each"
    rm -rf "$each"
  done
}

check_places() {
  if [ -d "$bin/svc" ] && [ ! -h "$bin/svc" ]; then fail "$bin/svc is a folder" 'remove it'; fi
  if [ -e "$bin/svc" ] || [ -h "$bin/svc" ]; then
    is_own || [ -n "$force" ] || fail "$bin/svc was not made by this script" 'remove it, or use --force'
  fi
  begin
  [ ! -e "$bin" ] || [ -w "$bin" ] || fail "cannot write in $bin" 'name another folder with --prefix'
}

# Unpacks the archive into $work, after its bytes were compared with the list.
bring_archive() {
  archive=svc-${version#v}-$platform
  listed=$(grep -E "^[0-9a-f]{64}  $archive\.tar\.gz\$" "$checks/SHA256SUMS" | cut -d ' ' -f 1)
  [ -n "$listed" ] || fail "the release $version has no archive for $platform"
  printf 'bringing %s.tar.gz from %s ...\n' "$archive" "$net"
  get "releases/$version/$archive.tar.gz" "$work/archive" 524288 1800
  [ "$(sha256sum <"$work/archive" | cut -d ' ' -f 1)" = "$listed" ] ||
    fail "$archive.tar.gz is not the file that was signed: its SHA-256 differs" 'nothing was installed; try again later'
  tar -xzof "$work/archive" -C "$work" || fail "$archive.tar.gz could not be unpacked in $store" 'is there room on the disk?'
  told=$("$work/$archive/bin/svc" version) || fail "$archive does not run on this machine" 'nothing was installed'
  [ "$told" = "$version" ] || fail "$archive holds $told" 'nothing was installed'
}

# A link gets its new target at one moment.
point() {
  ln -s "$2" "$work/link" && mv -fT "$work/link" "$1" || fail "cannot write $1"
}

switch() {
  # A version that is replaced is missing for a moment.
  trap '' HUP INT TERM
  mkdir -p "$bin" || fail "cannot write in ${prefix:-$HOME}" 'name another folder with --prefix'
  if [ -e "$store/$version" ]; then mv -T "$store/$version" "$work/replaced"; fi
  mv -T "$work/$archive" "$store/$version" || fail "cannot write in $store"
  printf '%s\n' "$net" >"$work/net" && mv -fT "$work/net" "$store/net" || fail "cannot write in $store"
  if [ -n "$installed" ] && [ "$installed" != "$version" ]; then point "$store/previous" "$installed"; fi
  point "$store/current" "$version"
  point "$bin/svc" "$store/current/bin/svc"
}

tell() {
  printf 'svc %s is installed in %s\n' "$version" "$bin"
  if [ -n "$installed" ] && [ "$installed" != "$version" ]; then printf 'svc self rollback returns to %s\n' "$installed"; fi
  case :$PATH: in
  *:"$bin":*) ;;
  *)
    printf 'Put it into your PATH, and this line into ~/.profile:\n\n  export PATH="%s:$PATH"\n\n' "$bin"
    ;;
  esac
}

clean() {
  rm -rf "$checks" "$work"
  rmdir "$store" 2>/dev/null || true
}

main() {
  read_words "$@"
  [ -n "${HOME-}$prefix" ] || fail 'HOME is not set' 'name a folder with --prefix'
  store=${prefix:+$prefix/lib/svc}
  store=${store:-$HOME/.local/lib/svc}
  case $store in /*) ;; *) store=$PWD/$store prefix=$PWD/$prefix ;; esac
  bin=${prefix:-$HOME}/bin
  find_platform
  need_programs
  umask 022
  checks=$(mktemp -d) || fail 'no temporary folder can be made' 'is there room on the disk?'
  work=$store/.incoming.$$
  trap clean EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM PIPE
  choose_version
  check_signature
  [ -z "$test_key" ] || printf 'Warning: this release is signed by a test key, for trials alone\n' >&2
  check_places
  bring_archive
  switch
  tell
}

# Read as a whole before anything runs: a script that was cut does nothing.
main "$@"
