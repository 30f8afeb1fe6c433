#!/usr/bin/env python3
"""Does the simulation find bugs? Each file in test/sim/mutants is a deliberate one (planted_bugs.py); the simulation must report it.

    test/sim/mutants.py               # every mutant, at most 20,000 seeds each
    test/sim/mutants.py --only undo   # those whose name contains the text, or one of several
    PRESET=dev test/sim/mutants.py    # with other binaries than those of users

Builds in a copy of the tree below build/mutants, so the checkout is never touched. First of all the unchanged tree must pass.
A mutant is found when a promise is broken, not when it crashes: the seed that broke it is printed.
The last line is `N passed, M failed, K skipped`: a mutant that is found counts as passed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import planted_bugs

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutants" / "tree"
MUTANTS = ROOT / "test" / "sim" / "mutants"
PRESET = os.environ.get("PRESET", "release")


def copy_tree():
    """The tracked files as they are in the work tree; files that did not change keep their time, so little is built again."""
    TREE.mkdir(parents=True, exist_ok=True)
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    names = [name for name in tracked if name and (ROOT / name).exists()]
    for gone in {path.relative_to(TREE).as_posix() for path in TREE.rglob("*") if not path.is_dir()} - set(names):
        if not gone.startswith("build/"):
            (TREE / gone).unlink()
    for name in names:
        source, target = ROOT / name, TREE / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def build():
    folder = TREE / "build" / PRESET
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", PRESET], cwd=TREE, check=True, capture_output=True)
    done = subprocess.run(["cmake", "--build", "--preset", PRESET, "--target", "maniple-sim"], cwd=TREE, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the tree does not build:\n{done.stdout[-3000:]}")


def simulate(seeds, steps):
    """What the first failing seed says; "" when every seed passes. A crash is an error: it names no seed."""
    command = [f"build/{PRESET}/bin/maniple-sim", "--seeds", str(seeds), "--steps", str(steps), "--stop-at-first"]
    command += ["--jobs", str(len(os.sched_getaffinity(0)))]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True)
    if failure := re.search(r"^FAIL (seed \d+: .*)$", done.stdout, re.MULTILINE):
        return failure[1]
    if done.returncode:
        raise RuntimeError(f"status {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")
    return ""


def try_mutant(file, arguments):
    found, before = "", {}
    try:
        for path, text in planted_bugs.planted(TREE, file).items():
            before[path] = path.read_text()
            path.write_text(text)
        build()
        found = simulate(arguments.seeds, arguments.steps)
        what = found or f"{arguments.seeds} seeds pass"
    except (RuntimeError, planted_bugs.CannotBePlanted) as error:
        what = str(error)
    finally:
        for path, text in before.items():
            path.write_text(text)
    print(f"{'found ' if found else 'MISSED'} {file.stem}: {what}", flush=True)
    return bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--seeds", type=int, default=20000)
    parser.add_argument("--steps", type=int, default=300)
    arguments = parser.parse_args()
    os.environ.setdefault("CCACHE_BASEDIR", str(TREE))
    copy_tree()
    build()
    if broken := simulate(20, arguments.steps):
        print(f"FAIL  the unchanged tree does not pass: {broken}\n0 passed, 1 failed, 0 skipped")
        return 1
    chosen = [file for file in sorted(MUTANTS.glob("*.mutant")) if any(text in file.stem for text in arguments.only)]
    results = [try_mutant(file, arguments) for file in chosen]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
