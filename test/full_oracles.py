#!/usr/bin/env python3
"""The oracles at full size, from quota to filters; test/run.sh runs each of them at a small one.

    test/full_oracles.py                    # all, one process for each processor; builds first
    test/full_oracles.py --only economy     # those whose name contains the text
    PRESET=dev test/full_oracles.py         # with other binaries than those of users

Prints what each says of its cases, as parts end. Filters are compared with kube-scheduler's by a Go program (test/oracle); without Go
these are skipped. The last line is `N passed, M failed, K skipped`, in parts.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))
from oracle import run_filter_oracle  # noqa: E402

PRESET = os.environ.get("PRESET", "release")
# What gtest prints of itself; the rest are figures.
OF_GTEST = re.compile(r"^(\[ RUN|\[---|\[===|\[       OK|\[  PASSED|Running |Note: |$)")


@dataclass
class Oracle:
    name: str
    file: str  # ROOM_NAME_test, which is test/oracle/ROOM/NAME_test.cc or that in test/unit; or a program of that name
    test: str  # "*": all suites of the file
    size: str  # the environment variable that says how many cases
    cases: int
    first: str = ""  # … and which is the first, where there is one
    parts: int = 1
    asks_kube_scheduler: bool = False

    @property
    def source(self):
        room, _, name = self.file.partition("_")
        places = [ROOT / "test" / floor / room / f"{name}.cc" for floor in ("oracle", "unit")]
        return next((place for place in places if place.exists()), places[0])

    @property
    def binary(self):
        """The files of a room are one program."""
        return f"{self.file.split('_')[0]}_tests" if self.source.exists() else self.file

    @property
    def filter(self):
        if self.test != "*" or not self.source.exists():
            return self.test
        suites = set(re.findall(r"^TEST(?:_F|_P)?\((\w+),", self.source.read_text(), re.MULTILINE))
        return ":".join(pattern for suite in sorted(suites) for pattern in (f"{suite}.*", f"*/{suite}.*"))


@dataclass
class Part:
    oracle: Oracle
    number: int
    variables: dict = field(default_factory=dict)

    @property
    def name(self):
        return self.oracle.name if self.oracle.parts == 1 else f"{self.oracle.name}, part {self.number} of {self.oracle.parts}"


# The longest first, so that no processor is idle in the end.
ORACLES = [
    Oracle("backfill with wrong run times", "loop_reservation_oracle_test", "*WithWrongRunTimes*", "MANIPLE_RESERVATION_WORKLOADS", 5_000,
           "MANIPLE_RESERVATION_FIRST", 40),
    Oracle("backfill with exact run times", "loop_reservation_oracle_test", "*WithExactRunTimes*", "MANIPLE_RESERVATION_WORKLOADS", 5_000,
           "MANIPLE_RESERVATION_FIRST", 10),
    Oracle("proof of help", "advice_oracle_test", "*", "MANIPLE_HELP_WORLDS", 20_000, "MANIPLE_HELP_FIRST", 20),
    Oracle("replay goes on as it was", "replay_oracle_test", "*", "MANIPLE_WHAT_IF_WORLDS", 5_000, "MANIPLE_WHAT_IF_FIRST", 4),
    Oracle("what-if says what then happens", "replay_what_if_oracle_test", "*", "MANIPLE_WHAT_IF_WORLDS", 5_000, "MANIPLE_WHAT_IF_FIRST", 2),
    Oracle("economy", "loop_economy_test", "*Recomputing*WouldStart", "MANIPLE_ECONOMY_HISTORIES", 20_000, "MANIPLE_ECONOMY_FIRST", 8),
    Oracle("economy with flavors", "loop_economy_test", "*ChoosesFlavors*", "MANIPLE_ECONOMY_HISTORIES", 20_000, "MANIPLE_ECONOMY_FIRST", 8),
    Oracle("no starvation", "loop_starvation_test", "*", "MANIPLE_STARVATION_STREAMS", 60),
    Oracle("no loops", "cycle_preemption_histories_test", "*", "MANIPLE_PREEMPTION_HISTORIES", 150_000),
    Oracle("order of events", "state_order_of_events_test", "*", "MANIPLE_EVENT_HISTORIES", 4_000, "MANIPLE_EVENT_HISTORIES_FIRST", 4),
    Oracle("quota algebra", "queue_quota_oracle_test", "*", "MANIPLE_QUOTA_ORACLE_TREES", 25_000),
    Oracle("topology", "cycle_topology_oracle_test", "*", "MANIPLE_TOPOLOGY_CASES", 200_000, "MANIPLE_TOPOLOGY_FIRST", 4),
    Oracle("several shapes", "cycle_shapes_oracle_test", "*", "MANIPLE_SHAPES_WORLDS", 100_000, "MANIPLE_SHAPES_FIRST", 4),
    Oracle("no loops on nodes", "cycle_preemption_room_histories_test", "*", "MANIPLE_ROOM_HISTORIES", 20_000),
    Oracle("victims", "cycle_preemption_differential_test", "*", "MANIPLE_PREEMPTION_CASES", 100_000, "MANIPLE_PREEMPTION_FIRST", 4),
    Oracle("victims and topology", "cycle_preemption_topology_test", "*", "MANIPLE_PREEMPTION_TOPOLOGY_CASES", 200_000,
           "MANIPLE_PREEMPTION_TOPOLOGY_FIRST", 4),
    Oracle("MIG plans", "mig_plan_oracle_test", "*", "MANIPLE_MIG_PLANS", 100_000, "MANIPLE_MIG_PLANS_FIRST", 4),
    Oracle("start plans", "cycle_start_plan_test", "*", "MANIPLE_START_PLANS", 20_000),
] + [
    Oracle(f"filters of {family}", "filter_oracle_test", f"*LiveFilterAnswers*/{family}", "MANIPLE_FILTER_CASES", 100_000,
           asks_kube_scheduler=True)
    for family in run_filter_oracle.families()
]


def parts_of(oracle):
    each = oracle.cases // oracle.parts
    assert each * oracle.parts == oracle.cases and (oracle.parts == 1 or oracle.first)
    for number in range(1, oracle.parts + 1):
        variables = {oracle.size: str(each)}
        if oracle.first:
            variables[oracle.first] = str(1 + (number - 1) * each)
        yield Part(oracle, number, variables)


def build(oracles):
    targets = sorted({oracle.binary for oracle in oracles})
    for command in (["cmake", "--preset", PRESET], ["cmake", "--build", "--preset", PRESET, "--target", *targets]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"full_oracles.py: {' '.join(command[:2])} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def run(part):
    """Whether it passed, or None if it was skipped; its seconds; and what it says."""
    began = time.monotonic()
    if part.oracle.asks_kube_scheduler and "MANIPLE_FILTER_ORACLE" not in os.environ:
        return None, 0, []
    binary = ROOT / "build" / PRESET / "bin" / part.oracle.binary
    done = subprocess.run([binary, f"--gtest_filter={part.oracle.filter}"], env={**os.environ, **part.variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    figures = [line for line in done.stdout.splitlines() if not OF_GTEST.match(line)]
    # A filter that finds nothing is no success.
    ran = re.search(r"\[==========\] [1-9]\d* tests? from", done.stdout)
    return done.returncode == 0 and ran is not None, time.monotonic() - began, figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="those whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    oracles = [oracle for oracle in ORACLES if args.only in oracle.name]
    build(oracles)
    if any(oracle.asks_kube_scheduler for oracle in oracles) and (program := run_filter_oracle.oracle()):
        os.environ["MANIPLE_FILTER_ORACLE"] = str(program)
    passed = failed = skipped = 0
    began = time.monotonic()
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = {pool.submit(run, part): part for oracle in oracles for part in parts_of(oracle)}
        for done in as_completed(runs):
            good, seconds, figures = done.result()
            passed, failed, skipped = passed + (good is True), failed + (good is False), skipped + (good is None)
            part = runs[done]
            size = part.variables[part.oracle.size]
            verdict = {True: "ok", False: "FAILED", None: "SKIPPED"}[good]
            print(f"{verdict} {part.name}: {size} cases in {seconds:.0f} s", *figures, sep="\n   ", flush=True)
    cases = sum(oracle.cases for oracle in oracles)
    print(f"{cases} cases in {time.monotonic() - began:.0f} s on {args.jobs} processors")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
