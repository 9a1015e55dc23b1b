#!/bin/sh
# setup.sh [--tests]: installs what is missing of cmake/debian-packages.txt. Silent when nothing is.
set -eu
list=$(dirname "$0")/debian-packages.txt
if [ "${1:-}" = --tests ]; then
  packages=$(grep -v '^#' "$list")
else
  packages=$(sed '/^# tests/,$d' "$list" | grep -v '^#')
fi

if ! command -v dpkg-query > /dev/null; then
  echo "setup: this is not Debian; the build needs what Debian calls:" $packages >&2
  exit 0
fi

missing=
for package in $packages; do
  case $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null) in
    installed) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo > /dev/null; then
  as_root=sudo
else
  echo "setup: packages are missing; as root, run: apt-get install --no-install-recommends$missing" >&2
  exit 3
fi
echo "setup: installing$missing" >&2
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $missing > /dev/null
