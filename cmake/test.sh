#!/bin/bash
# Builds the test presets and runs their tests; stops at the first that fails. Usage: cmake/test.sh [--complete] [preset...]
# Without presets: all, and last what is labelled long. Each that was asked for runs, or the script fails and names it.
# --complete, for CI: a test skipped because something is not installed is a failure as well. So is a dev without device code, whose
# configuration then fails. And less is compiled, by the settings below.
# Tests that fail run once more, without others beside them; those that pass then are listed: the load of the machine
# decides about them, and they are to be mended.
set -euo pipefail
cd "$(dirname "$0")/.."
complete=()
declare -A quickly=()
if [[ ${1:-} == --complete ]]; then
  complete=(--complete)
  quickly=([dev]="-DAYATORI_UNITY=ON -DAYATORI_PRECOMPILE=ON -DAYATORI_CUDA=ON" [fuzz]="-DAYATORI_TEST_FOLDERS=io"
           [mpi-abi]="-DCMAKE_CXX_FLAGS_RELEASE=-O1")
  shift
fi
presets=("$@")
((${#presets[@]})) || presets=(dev mpich mpi-abi asan fuzz simgrid long)

declare -A built tested
sensitive=()
stage="" step="" failed=""
summary() {
  status=$?
  [[ -z $stage || -z $step ]] || failed="$stage: $step failed"
  printf '\n%-10s %9s %9s\n' stage "build, s" "test, s"
  for preset in "${presets[@]}"; do
    printf '%-10s %9s %9s\n' "$preset" "${built[$preset]:-not run}" "${tested[$preset]:-not run}"
  done
  printf '%-10s %19s\n' total "$SECONDS"
  ((!${#sensitive[@]})) || printf 'passed only alone: %s\n' "${sensitive[@]}"
  [[ -z $failed ]] || { echo "$failed"; ((status)) || status=1; }
  exit "$status"
}
trap summary EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

for stage in "${presets[@]}"; do
  step=build
  echo "== $stage: build"
  began=$SECONDS
  built[$stage]=failed
  preset=$stage
  [[ $stage != long ]] || preset=dev
  read -ra settings <<< "${quickly[$stage]:-}"
  cmake --preset "$preset" "${settings[@]}" --log-level=WARNING > /dev/null
  cmake --build --preset "$preset"
  built[$stage]=$((SECONDS - began))

  step=test
  echo "== $stage: built in ${built[$stage]} s; test"
  began=$SECONDS
  tested[$stage]=failed
  # Open MPI's launcher makes tests wait more than they compute; MPICH's ranks wait busily.
  waits=$([[ $stage == mpi* ]] && echo 1 || echo 3)
  passed=yes
  CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$((waits * $(nproc)))} ctest --preset "$stage" || passed=no
  python3 cmake/check_skips.py "${complete[@]}" "$stage" "build/$preset"
  if [[ $passed == no ]]; then
    mapfile -t once < "build/$preset/Testing/Temporary/LastTestsFailed.log"  # a number and a name in each line
    echo "== $stage: ${#once[@]} failed, and run again, alone"
    CTEST_PARALLEL_LEVEL=1 ctest --preset "$stage" --rerun-failed
    sensitive+=("${once[@]/#*:/$stage: }")
  fi
  tested[$stage]=$((SECONDS - began))
  echo "== $stage: tested in ${tested[$stage]} s"
  step=""
done
