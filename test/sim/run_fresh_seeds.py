#!/usr/bin/env python3
"""Simulated histories: no promise may be broken, and every fault must meet every state of a member.

    test/sim/run_fresh_seeds.py                  # with the binaries of preset dev: always the same histories
    test/sim/run_fresh_seeds.py --fresh          # those that nobody has simulated before
    PRESET=release test/sim/run_fresh_seeds.py   # with the binaries of users
    test/sim/run_fresh_seeds.py --first 1790000000000  # certain histories again

A history that fails is told with the command that replays it: it shows a bug of the scheduler, or of the check. Fresh seeds are
chosen by the time of day. MANIPLE_HISTORIES is how many there are, 500 unless told otherwise. The last line is `N passed, M failed,
K skipped`; the cases are the two sentences above, the second one only of 2,000 histories or more, and that every kind of promise is
asked about, of 500 or more.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("PRESET", "dev")
MEET_EVERY_CELL = 2000  # the rarest is met once
MEET_EVERY_KIND = 500  # binds that are judged, quotas, divisions, held room, guests, gangs of others


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=60_000, help="the first seed")
    parser.add_argument("--fresh", action="store_true", help="the first seed is told by the time of day")
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("MANIPLE_HISTORIES", 500)))
    arguments = parser.parse_args()
    if arguments.fresh:
        arguments.first = int(time.time()) * 1000
    folder = f"build/{PRESET}/bin"
    print(f"seeds {arguments.first} to {arguments.first + arguments.seeds - 1}; again by: {sys.argv[0]} --first {arguments.first}", flush=True)
    command = [f"{folder}/maniple-sim", "--first", str(arguments.first), "--seeds", str(arguments.seeds), "--coverage"]
    command += ["--jobs", str(len(os.sched_getaffinity(0)))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).replace("replay: ", f"replay: {folder}/").splitlines()
    summary = re.search(r"^(\d+) seeds of .*, (\d+) judged, (\d+) held to quotas, (\d+) nodes divided, (\d+) seeds with held room, "
                        r"(\d+) with guests in it, (\d+) gangs of other projects, (\d+) violations$", done.stdout, re.MULTILINE)
    covered = re.search(r"^coverage: (\d+) of (\d+) cells$", done.stdout, re.MULTILINE)
    cases = {"no promise is broken": summary is not None and int(summary[1]) == arguments.seeds and summary[8] == "0"}
    if arguments.seeds >= MEET_EVERY_KIND:
        cases["every kind of promise is asked about"] = summary is not None and all(int(one) > 0 for one in summary.groups()[1:7])
    skipped = int(arguments.seeds < MEET_EVERY_CELL)
    if not skipped:
        cases["every fault meets every state"] = covered is not None and covered[1] == covered[2]
    whole = [line for line in lines if not re.search(r"( +\d+){10}$", line)]
    print("\n".join(whole if summary else lines[-40:]))
    told = [line for line in lines if line.startswith(("FAIL ", "empty: "))][:3]
    for case, holds in cases.items():
        print(f"ok    {case}" if holds else f"FAIL  {case}: {'; '.join(told)}")
    if skipped:
        print(f"SKIPPED, COVERAGE: {MEET_EVERY_CELL} histories meet every fault in every state: set MANIPLE_HISTORIES={MEET_EVERY_CELL}")
    print(f"{sum(cases.values())} passed, {len(cases) - sum(cases.values())} failed, {skipped} skipped")
    return 0 if all(cases.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
