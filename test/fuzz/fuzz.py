#!/usr/bin/env python3
"""Runs the libFuzzer binaries, each for so long, as many at a time as there are cores.

  test/fuzz/fuzz.py                    # every target, 60 s each; test/run.sh --fuzz builds them first
  test/fuzz/fuzz.py 3600 json cost     # two of them, an hour each

The seeds are fresh. What a run finds is kept in build/fuzz/corpus/NAME and is where the next one begins. Bytes that broke an
oracle stay in build/fuzz/found/NAME-…; `build/fuzz/bin/maniple-fuzz-NAME FILE` runs them again. Once mended they belong into
test/fuzz/corpus/NAME, which an ordinary test replays. The last line is `N passed, M failed, K skipped`.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/fuzz"
PREFIX = "maniple-fuzz-"
# libFuzzer's words for what it kept.
FOUND = re.compile(r"Test unit written to (\S+)")
COVERAGE = re.compile(r"\bcov: (\d+)")
RUNS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
# The oracle's own words, or the first of a sanitizer's.
WHY = re.compile(r"^(?:the oracle does not hold: .*|.*runtime error: .*|==\d+== ?ERROR: .*)$", re.M)


def run_target(name, seconds):
    """Whether the oracle held, and a line that says how far it was asked."""
    kept, seeds = BUILD / "corpus" / name, ROOT / "test/fuzz/corpus" / name
    found = BUILD / "found"
    for folder in (kept, found):
        folder.mkdir(parents=True, exist_ok=True)
    command = [BUILD / "bin" / (PREFIX + name), f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=4096",
               f"-artifact_prefix={found}/{name}-", "-print_final_stats=1", kept, seeds]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = done.stdout.decode(errors="replace")
    (BUILD / "found" / f"{name}.log").write_text(output)
    runs, coverage = RUNS.search(output), COVERAGE.findall(output)
    line = f"{name:<14} {int(runs[1]) if runs else 0:>10} runs  {int(coverage[-1]) if coverage else 0:>6} edges"
    if done.returncode == 0:
        return True, line + "  holds"
    why, units = WHY.search(output), FOUND.findall(output)
    return False, f"{line}  BROKEN by {units[-1] if units else 'see the log'}\n    {why[0] if why else output[-500:]}"


def main(arguments):
    seconds = 60
    if arguments and arguments[0].isdigit():
        seconds = int(arguments.pop(0))
    built = sorted(path.name.removeprefix(PREFIX) for path in (BUILD / "bin").glob(PREFIX + "*"))
    unknown = [name for name in arguments if name not in built]
    if unknown:
        sys.exit(f"fuzz.py: no such target: {', '.join(unknown)}; there are: {', '.join(built)}")
    passed = failed = 0
    with ThreadPoolExecutor(int(os.environ.get("MANIPLE_BUILD_JOBS", os.cpu_count()))) as pool:
        for holds, line in pool.map(lambda name: run_target(name, seconds), arguments or built):
            passed, failed = passed + holds, failed + (not holds)
            print(line, flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
