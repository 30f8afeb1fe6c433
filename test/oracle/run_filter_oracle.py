#!/usr/bin/env python3
"""Puts random cases to our filters and to the real kube-scheduler's, family by family, and compares their answers.

    test/oracle/run_filter_oracle.py                         # 3,000 cases of each family, binaries of preset dev
    test/oracle/run_filter_oracle.py --family nodeports --cases 100000
    test/oracle/run_filter_oracle.py --record                # writes test/oracle/data anew, which is compared without Go

The Go program with the real plugins is built at the first run, see test/controlplane. Without Go the families are skipped,
loudly; the recorded answers are compared by ctest all the same. The last line is `N passed, M failed, K skipped`.
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("PRESET", "dev")
RECORDED = 300  # cases of each family


def families():
    """The names of all families: each has recorded answers."""
    return sorted(path.stem for path in (ROOT / "test/oracle/data").glob("*.txt"))


def oracle():
    """The Go program, built if need be; None, with a reason on stdout, where it cannot be."""
    built = subprocess.run([ROOT / "test/controlplane/build.sh", "filter-oracle"], capture_output=True, text=True)
    program = Path(built.stdout.strip().splitlines()[-1]) / "filter-oracle" if built.stdout.strip() else None
    if built.returncode == 0 and program and os.access(program, os.X_OK):
        return program
    print(built.stderr.strip())
    print("SKIPPED, NO KUBE-SCHEDULER TO COMPARE WITH: install Go >= 1.26 from https://go.dev/dl and run test/controlplane/build.sh "
          "filter-oracle, without KUBEBUILDER_ASSETS")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="*", help="one of them, or a pattern")
    parser.add_argument("--cases", type=int, default=3000, help="of each family")
    parser.add_argument("--first", type=int, default=1, help="the number of the first case")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    binary = ROOT / "build" / PRESET / "bin" / "filter_oracle_test"
    program = oracle()
    if program is None:
        print(f"0 passed, 0 failed, {len(fnmatch.filter(families(), arguments.family))} skipped")
        return 0
    environment = {
        **os.environ,
        "MANIPLE_FILTER_ORACLE": str(program),
        "MANIPLE_FILTER_CASES": str(RECORDED if arguments.record else arguments.cases),
        "MANIPLE_FILTER_FIRST": str(arguments.first),
        "MANIPLE_FILTER_RECORD": "1" if arguments.record else "",
    }
    tests = [f"*LiveFilterAnswers*/{arguments.family}"]
    if arguments.family == "*":  # then intended differences and the fields of pods are compared with the program's, too
        tests += ["IntendedDifferences.*", "PodFields.*"]
    command = [binary, f"--gtest_filter={':'.join(tests)}"]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("\n".join(line for line in done.stdout.splitlines() if not re.match(r"\[|Running |Note: |$", line)))
    passed = len(re.findall(r"^\[       OK ", done.stdout, re.MULTILINE))
    failed = len(re.findall(r"^\[  FAILED  \] .* \(\d+ ms\)$", done.stdout, re.MULTILINE))
    failed += 1 if done.returncode and not failed else 0
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
