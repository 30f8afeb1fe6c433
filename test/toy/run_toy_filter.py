#!/usr/bin/env python3
"""Adding a filter touches six places: shown by adding one to a copy of the tree, building it, and running what tests it.

    test/toy/run_toy_filter.py

The toy is test/toy/quiet_nodes.patch: pods that ask for example.com/quiet share their node with two others at most. The copy
is below build/toy, so the checkout is never touched; when the patch no longer applies, mend it as one mends a planted bug:
apply it by hand, git diff, revert. The last line is `N passed, M failed, K skipped`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "toy" / "tree"
PATCH = Path(__file__).with_name("quiet_nodes.patch")
PRESET = os.environ.get("PRESET", "dev")
JOBS = os.environ.get("MANIPLE_BUILD_JOBS", str(os.cpu_count()))
PLACES = {
    "plugins/CMakeLists.txt": "one line for the build, one for its test",
    "plugins/builtin.cc": "one row",
    "plugins/factories.h": "its factory",
    "plugins/quiet_nodes.cc": "the source",
    "test/scenario/cases/quiet_nodes.yaml": "a scenario",
    "test/unit/plugins/quiet_nodes_test.cc": "a unit test",
}


def run(*command, cwd=TREE):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.returncode == 0


def copy_tree():
    """The files of the work tree; those that did not change keep their time, so little is built again."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, TREE / name
        if not source.is_file():
            continue
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for place in PLACES:
        if not (ROOT / place).exists():
            (TREE / place).unlink(missing_ok=True)


def touches_six_places():
    touched = {line.split("\t")[2] for line in subprocess.run(
        ("git", "apply", "--numstat", PATCH), cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()}
    if touched != set(PLACES):
        print(f"it touches {sorted(touched)}")
    return touched == set(PLACES)


def applies():
    return run("patch", "-p1", "--no-backup-if-mismatch", "-i", PATCH)


def builds():
    targets = ("plugins_tests", "plugins_contract_test", "scenario_test")
    configured = (TREE / "build" / PRESET / "build.ninja").exists() or run("cmake", "--preset", PRESET)
    return configured and run("cmake", "--build", "--preset", PRESET, "-j", JOBS, "--target", *targets)


def passes_its_unit_test():
    return run(f"build/{PRESET}/bin/plugins_tests", "--gtest_filter=QuietNodes*")


def keeps_the_contract_of_plugins():
    return run(f"build/{PRESET}/bin/plugins_contract_test")


def plays_its_scenario():
    """Beside all others, whose decisions it must not change; its own log is new."""
    program = f"build/{PRESET}/bin/scenario_test"
    return run(program, "--update", "--gtest_filter=*quiet*") and run(program)


def main():
    TREE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    passed = failed = 0
    for case in (touches_six_places, applies, builds, passes_its_unit_test, keeps_the_contract_of_plugins, plays_its_scenario):
        good = not failed and case()
        print(f"{'ok  ' if good else 'FAIL'} {case.__name__.replace('_', ' ')}", flush=True)
        passed, failed = passed + good, failed + (not good)
    for place, what in PLACES.items():
        print(f"     {place}: {what}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
