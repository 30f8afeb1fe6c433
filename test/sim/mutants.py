#!/usr/bin/env python3
"""Does the simulation find bugs? Each patch in test/sim/mutants is a deliberate one; the simulation must report it.

    test/sim/mutants.py               # every mutant, at most 2,000 seeds each
    test/sim/mutants.py --only undo   # those whose name contains the text

Builds in a copy of the tree below build/mutants, so the checkout is never touched. First of all the unchanged tree must pass.
The last line is `N passed, M failed, K skipped`: a mutant that is found counts as passed.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutants" / "tree"
MUTANTS = ROOT / "test" / "sim" / "mutants"


def copy_tree():
    """The tracked files as they are in the work tree; files that did not change keep their time, so little is built again."""
    TREE.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, TREE / name
        if not source.exists():
            continue
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def build():
    folder = TREE / "build" / "dev"
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "dev"], cwd=TREE, check=True, capture_output=True)
    done = subprocess.run(["cmake", "--build", "--preset", "dev", "--target", "maniple-sim"], cwd=TREE, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the tree does not build:\n{done.stdout[-3000:]}")


def simulate(seeds, steps):
    """(found, first line that says what): stops at the first seed that fails."""
    command = ["build/dev/bin/maniple-sim", "--seeds", str(seeds), "--steps", str(steps), "--stop-at-first"]
    command += ["--jobs", str(len(os.sched_getaffinity(0)))]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    return done.returncode != 0, (lines[0] if lines else done.stderr.strip()[-300:])


def patch(file, *options):
    subprocess.run(["patch", "-p1", "--silent", "--force", *options, "-i", str(file)], cwd=TREE, check=True, capture_output=True)


def try_mutant(file, arguments):
    patch(file)
    try:
        build()
        found, what = simulate(arguments.seeds, arguments.steps)
    finally:
        patch(file, "-R")
    print(f"{'found ' if found else 'MISSED'} {file.stem}: {what}", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=300)
    arguments = parser.parse_args()
    os.environ.setdefault("CCACHE_BASEDIR", str(TREE))
    copy_tree()
    build()
    broken, what = simulate(20, arguments.steps)
    if broken:
        print(f"FAIL  the unchanged tree does not pass: {what}\n0 passed, 1 failed, 0 skipped")
        return 1
    results = [try_mutant(file, arguments) for file in sorted(MUTANTS.glob("*.patch")) if arguments.only in file.stem]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
