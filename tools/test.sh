#!/usr/bin/env bash
# Everything that CI runs, in the order in which it fails soonest. Each runner's
# own closing lines are printed.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH" PYTHONPATH=python

began=$SECONDS
step() { printf '\n==== %s  (%d s so far)\n' "$*" $((SECONDS - began)); }

# Configures PRESET and builds it. A terminal sees the progress, a log only what
# went wrong: it is long.
build() {
  local log=build/$1.log
  mkdir -p build
  echo "building build/$1 ..."
  if [[ -t 1 ]]; then
    cmake --preset "$1" >"$log" && cmake --build --preset "$1"
    return
  fi
  if ! { cmake --preset "$1" && cmake --build --preset "$1"; } >"$log" 2>&1; then
    tail -n 60 "$log"
    return 1
  fi
}

# Quiet where all is well: the summary and whatever failed or was skipped.
tests() { ctest --preset "$1" --progress "${@:2}"; }

step "lint"
python tools/lint.py

step "compiled models (about five minutes the first time, then cached)"
python tests/models/make.py --out build/models

step "unit and model tests, counting lines"
build coverage
find build/coverage -name '*.gcda' -delete
tests coverage
gcovr --root . --object-directory build/coverage \
  --filter 'src/' --filter 'executorch/' --filter 'include/' \
  --exclude '.*_test\.cpp' --exclude '.*_fuzz\.cpp' --exclude '.*_testing\.h' \
  --exclude '.*_fakes\.h' --exclude '.*_bench\.cpp' --print-summary --output build/coverage.txt |
  sed -n 's/^lines:/line coverage of the core:/p'

step "the same under AddressSanitizer and UBSan"
build asan
# LeakSanitizer's notes on thread-local memory outlive the libraries that it was
# of: at exit it would follow the stale ones of what was closed, and crash.
ASAN_OPTIONS=detect_stack_use_after_return=1:intercept_tls_get_addr=0 tests asan

step "the same under ThreadSanitizer"
build tsan
# OpenMP's own run time is not instrumented; forked children are tested too.
OMP_NUM_THREADS=1 \
  TSAN_OPTIONS="die_after_fork=0 suppressions=$PWD/tests/tsan.supp" tests tsan

step "unit tests as clang compiles them"
build clang
tests clang --label-exclude models

step "release build: command, Python, an outside consumer"
build release
ln -sfn ../../build/release/lib python/berth/lib
python -m pytest -q -p no:cacheprovider python/tests tests

step "demo"
tools/demo.sh
printf '\nall of make test passed in %d s\n' $((SECONDS - began))
