#!/bin/bash
# Builds the test presets and runs their tests; stops at the first that fails. Usage: cmake/test.sh [preset...]
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
((${#presets[@]})) || presets=(dev mpich asan simgrid fuzz)
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

for preset in "${presets[@]}"; do
  started=$SECONDS
  echo "== $preset: build"
  cmake --preset "$preset" --log-level=WARNING > /dev/null
  cmake --build --preset "$preset"
  echo "== $preset: built in $((SECONDS - started)) s; test"
  started=$SECONDS
  ctest --preset "$preset"
  echo "== $preset: tested in $((SECONDS - started)) s"
done
