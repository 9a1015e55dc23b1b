#!/bin/sh
# setup.sh [--tests]: installs what is missing of cmake/debian-packages.txt, and with --tests, in .venv, what the tests of the
# Python package want and a compiler of device code. Silent when nothing is.
set -eu
list=$(dirname "$0")/debian-packages.txt
if [ "${1:-}" = --tests ]; then
  packages=$(grep -v '^#' "$list")
else
  packages=$(sed '/^# tests/,$d' "$list" | grep -v '^#')
fi

# Python's packages come from its index: Debian's are older than what the tests are those of. So does the compiler of device code.
make_venv() {
  folder=$(dirname "$0")/../.venv
  requirements=$(dirname "$0")/../python/tests/requirements.txt
  cmp -s "$requirements" "$folder/requirements.txt" && return 0
  echo "setup: installing Python packages in .venv" >&2
  if /usr/bin/python3 -m venv "$folder" &&
      "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"; then
    cp "$requirements" "$folder/requirements.txt"
  else
    echo "setup: that failed; the Python package, its tests and device code are left out" >&2
  fi
}

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
if [ -z "$missing" ]; then
  [ "${1:-}" != --tests ] || make_venv
  exit 0
fi

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
[ "${1:-}" != --tests ] || make_venv
