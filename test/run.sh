#!/usr/bin/env bash
# Installs, builds and tests everything, with no question asked.
#
#   test/run.sh                # preset dev: every test, the layering test, conformance and end to end
#   PRESET=release test/run.sh # the same with other binaries
#   test/run.sh --sanitizers   # or only those named: asan on unit, scenario, sim and conformance tests, tsan on those with threads
#   test/run.sh --fuzz [SECONDS] [NAME…]  # every fuzzer, or those named, 60 s each unless told otherwise
#   MANIPLE_BUILD_JOBS=2 …     # with fewer cores
#   MANIPLE_SUITES=1 …         # end to end suites one after the other instead of four at once: where processors are slow
#   MANIPLE_HISTORIES=2000 …   # so many simulated histories instead of 500, as .ci/run plays: so many meet every fault in every state
#
# A control plane to compare with is built from Go modules at the first run, beside the compiler (see test/controlplane).
# The last line is `N passed, M failed, K skipped`; the status is 0 only if something ran and nothing failed.
set -euo pipefail

cd "$(dirname "$0")/.."
cores=${MANIPLE_BUILD_JOBS:-$(nproc)}
at_once=${MANIPLE_SUITES:-4}
passed=0 failed=0 skipped=0
failures=()  # told once more at the end, where whoever sees only the end of a long log finds them
logs=build/test-logs
declare -A suites=()  # that run now, by process
readonly closing='^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$'

say() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

finish() {
  trap - EXIT
  [[ -z ${sockets:-} ]] || rm -rf "$sockets"
  ((passed + failed > 0)) || failed=1
  ((${#failures[@]} == 0)) || printf 'failed: %s\n' "${failures[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0))
  exit
}

stopped() {
  failures+=("run.sh stopped early")
  [[ -z $(jobs -p) ]] || kill $(jobs -p) 2>/dev/null || true
  failed=$((failed + 1))
  finish
}
trap stopped EXIT

# Adds the last line of what it said to the sum. A suite that failed without saying so, or said nothing, counts as one failure.
add() {  # NAME STATUS FILE
  local line count=-1
  if [[ $(tail -n 1 "$3") =~ $closing ]]; then
    count=${BASH_REMATCH[2]}
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + count)) skipped=$((skipped + BASH_REMATCH[3]))
    (($2 == 0 && count == 0)) && return
  fi
  while IFS= read -r line; do failures+=("$1: $line"); done < <(grep -a '^FAIL' "$3" | head -n 20)
  ((count > 0)) && return
  failures+=("$1 ended with status $2 and no count of its failures")
  failed=$((failed + 1))
}

# A suite has a folder of its own for sockets at default addresses, so that suites may run at once.
start_suite() {  # SUITE [NICENESS]: in the background
  local log=$logs/$(basename "$1").log
  XDG_RUNTIME_DIR=$(mktemp -d "$sockets/XXXXXX") nice -n "${2:-0}" timeout 4500 "$1" >"$log" 2>&1 &
  suites[$!]=$1
}

# Waits for one of the suites to end; shows what it said, and adds its last line.
end_suite() {
  local pid status=0 name
  wait -n -p pid "${!suites[@]}" || status=$?
  name=${suites[$pid]}
  unset "suites[$pid]"
  say "$name, ended"
  cat "$logs/$(basename "$name").log"
  add "$name" "$status" "$logs/$(basename "$name").log"
}

run_suite() {  # SUITE: alone
  start_suite "$1"
  end_suite
}

build() {  # PRESET TARGET…
  local preset=$1
  shift
  say "building $preset"
  cmake --preset "$preset" >"$logs/configure-$preset.log" 2>&1 || { cat "$logs/configure-$preset.log"; return 1; }
  cmake --build --preset "$preset" -j "$cores" ${1:+--target "$@"}
}

run_ctest() {  # PRESET CTEST_COMMAND…
  local preset=$1 results=$PWD/build/$1/test-results status=0
  shift
  say "ctest, preset $preset"
  rm -rf "$results"
  mkdir -p "$results"
  GTEST_OUTPUT=json:$results/ "$@" --preset "$preset" -j "$cores" --output-junit "$results.xml" || status=$?
  test/support/tally.py "$results.xml" "$results" | tee "$logs/tally-$preset.log"
  add "ctest of $preset" "$status" "$logs/tally-$preset.log"
}

sanitizers() {
  local preset
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  # Of random worlds a fifth: each takes ten times as long, and it is memory that is looked at, not the answers.
  export MANIPLE_WORLDS_PERCENT=20
  (($#)) || set -- asan tsan
  deploy/setup.sh --fuzz
  for preset; do
    # clang compiles it in a quarter of the time of g++, and looks at warnings and locks in its own way.
    # One thread cannot race with itself: for tsan the rest would be built and run for nothing.
    if [[ $preset == tsan ]]; then
      build tsan threaded_tests
      run_ctest tsan ctest -L '^threads$'
    else
      build "$preset"
      run_ctest "$preset" ctest -L '^(unit|scenario|sim|conformance)$'
    fi
  done
}

everything() {
  export PRESET=${PRESET:-dev}
  sockets=$(mktemp -d)
  # The Go build takes minutes the first time: let it run beside the compiler, behind it in line.
  say "control plane: building in the background, log in $logs/controlplane.log"
  nice -n 19 test/controlplane/build.sh >"$logs/controlplane.log" 2>&1 &
  local control_plane=$! suite
  run_suite test/layering_test.py
  build "$PRESET"
  say "waiting for the control plane"
  wait "$control_plane" || tail -n 3 "$logs/controlplane.log"
  run_ctest "$PRESET" ctest
  run_suite test/hardening_test.py
  # A suite waits for most of its time, for leases and for servers that start: four at once, the longest first. What processors they
  # leave go to simulated histories. A suite that ctest runs already, so that the sanitizers see it too, is not executable by itself.
  start_suite test/sim/run_fresh_seeds.py 19
  local -A started=([test/sim/run_fresh_seeds.py]=1)
  local -r histories=$!
  while IFS= read -r suite; do
    [[ ! -v started[$suite] ]] || continue
    while ((${#suites[@]} >= at_once + 0${suites[$histories]:+1})); do end_suite; done
    started[$suite]=1
    start_suite "$suite"
  done < <(printf 'test/%s.py\n' e2e/run_{producers,tenants,faulty_server,install,rights,failover} toy/run_toy_filter && find test -name 'run_*.py' -perm -u+x | sort)
  while ((${#suites[@]} > 0)); do end_suite; done
}

# Needs clang, and the runtime that its libFuzzer is part of.
fuzz() {  # [SECONDS] [NAME…]
  deploy/setup.sh --fuzz
  build fuzz fuzzers
  say "fuzzing: what is found stays in build/fuzz"
  local log=$logs/fuzz.log status=0
  test/fuzz/fuzz.py "$@" 2>&1 | tee "$log" || status=${PIPESTATUS[0]}
  add fuzz.py "$status" "$log"
}

deploy/setup.sh
mkdir -p "$logs"
case ${1:-} in
  "")
    deploy/setup.sh --browser
    everything ;;
  --sanitizers)
    shift
    sanitizers "$@" ;;
  --fuzz)
    shift
    fuzz "$@" ;;
  *)
    trap - EXIT
    echo "usage: test/run.sh [--sanitizers [asan] [tsan] | --fuzz [SECONDS] [NAME…]]" >&2
    exit 2 ;;
esac
finish
