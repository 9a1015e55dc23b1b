#!/bin/sh
# install.sh PREFIX: builds the release from the sources it stands in and installs it, for packages and containers: for any
# processor of the kind, not only this one's. What it needs is installed before if apt is there (cmake/setup.sh).
set -eu
prefix=${1:?usage: install.sh PREFIX}
cd "$(dirname "$0")/.."
cmake/setup.sh
cmake --preset release -B build/package -DAYATORI_NATIVE=OFF -DAYATORI_PETSC=OFF
cmake --build build/package
cmake --install build/package --prefix "$prefix"
