#!/bin/bash
# device.sh pack FOLDER: builds the benchmark of devices, with nvcc and without MPI, and puts all that it needs in FOLDER.
# device.sh run FOLDER [OUT]: runs it where the GPU is: every kernel and method against the reference, then figures, as tables and as
# JSON in the folder OUT (FOLDER). About three minutes. Exit status 1 where something is wrong.
set -euo pipefail
usage() {
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
}
(($# >= 2)) || usage

pack() {
  local folder=$1 root build
  root=$(cd "$(dirname "$0")/.." && pwd)
  build=$root/build/device
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-march=x86-64-v3 -DAYATORI_MPI=runtime \
    -DAYATORI_INTERFACES=OFF -DAYATORI_TESTS=OFF -DAYATORI_NATIVE=OFF -DAYATORI_UNITY=ON -DAYATORI_PRECOMPILE=ON -DAYATORI_CUDA=ON \
    --log-level=WARNING > /dev/null
  cmake --build "$build" --target bench_device
  rm -rf "$folder"
  mkdir -p "$folder/lib"
  cp "$build/bench/device/bench_device" "$0" "$folder"
  strip "$folder/bench_device"
  # All libraries but those of the system's C, which belong to its loader.
  ldd "$folder/bench_device" | awk '$3 ~ /^\// {print $3}' | grep -Ev '/lib(c|m|dl|rt|pthread)\.so' | xargs cp -L -t "$folder/lib"
  du -sh "$folder"
}

run() {
  local folder=$1 out=${2:-$1} status=0
  mkdir -p "$out"
  # cuSPARSE may be a package of Python there.
  local cusparse
  cusparse=$(ldconfig -p | awk '/libcusparse.so.12/ {print $NF; exit}')
  [[ -n $cusparse ]] || cusparse=$(find / -name 'libcusparse.so.12' -not -path '/proc/*' 2> /dev/null | head -1)
  export AYATORI_CUSPARSE=$cusparse AYATORI_MPI_LIBRARY=none
  export LD_LIBRARY_PATH=$folder/lib${cusparse:+:$(dirname "$cusparse")}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  "$folder/bench_device" --quick --json "$out/quick.json" > "$out/quick.txt" || status=$?
  grep -E 'WRONG|right|device' "$out/quick.txt" || true
  ((status == 0)) || return "$status"
  # Two threads of the processor beside the device.
  OMP_NUM_THREADS=2 OMP_WAIT_POLICY=active OMP_PROC_BIND=true "$folder/bench_device" --json "$out/device.json" | tee "$out/device.txt"
}

case $1 in
  pack) pack "$2" ;;
  run) run "$2" "${3:-$2}" ;;
  *) usage ;;
esac
