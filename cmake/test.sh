#!/bin/bash
# Builds the test presets and runs their tests; stops at the first that fails. Usage: cmake/test.sh [preset...]
# Without presets: all, and last what is labelled long; with AYATORI_TEST_MINUTES none but the first begins after so many.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
((${#presets[@]})) || presets=(dev mpich asan fuzz simgrid long)

for preset in "${presets[@]}"; do
  started=$SECONDS
  if ((SECONDS > 60 * ${AYATORI_TEST_MINUTES:-1440})) && [[ $preset != "${presets[0]}" ]]; then
    echo "== $preset: left out after $((SECONDS / 60)) minutes"
    continue
  fi
  if [[ $preset != long ]]; then
    echo "== $preset: build"
    cmake --preset "$preset" --log-level=WARNING > /dev/null
    cmake --build --preset "$preset"
    echo "== $preset: built in $((SECONDS - started)) s; test"
    started=$SECONDS
  fi
  # Open MPI's launcher makes tests wait more than they compute; MPICH's ranks wait busily.
  waits=$([[ $preset == mpich ]] && echo 1 || echo 2)
  CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$((waits * $(nproc)))} ctest --preset "$preset"
  echo "== $preset: tested in $((SECONDS - started)) s"
done
