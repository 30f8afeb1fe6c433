#!/usr/bin/env python3
"""Binaries as users run them: position independent, relocations read-only and resolved at start, stacks guarded, calls checked.

    test/hardening_test.py [BINARY…]        # the programs of the release preset unless named; skipped, loudly, if not built

The last line is `N passed, M failed, K skipped`.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = [ROOT / "build" / "release" / "bin" / name for name in ("maniple-scheduler", "maniple", "maniple-devcluster")]

# What readelf must show of each binary, and what that is.
MARKS = {
    "it is position independent": r"Type:\s+DYN",
    "its relocations become read-only": r"GNU_RELRO",
    "they are resolved at its start": r"\bNOW\b",
    "its stack is not executable": r"GNU_STACK(\s+0x[0-9a-f]+){5}\s+RW\s",
    "its stacks are guarded": r"__stack_chk_fail",
}
CHECKED_CALL = r"__\w+_chk@"


def lacking(binary):
    shown = subprocess.run(["readelf", "-W", "-h", "-l", "-d", "--dyn-syms", str(binary)],
                           capture_output=True, text=True, check=True).stdout
    missing = [what for what, mark in MARKS.items() if not re.search(mark, shown)]
    # A compiler that proves every call safe leaves no checked one: then it must have been told to check.
    if not re.search(CHECKED_CALL, shown) and not told_to_check(binary):
        missing.append("its calls of the C library are checked")
    return missing


def told_to_check(binary):
    commands = binary.parents[1] / "compile_commands.json"
    if not commands.exists():
        return False
    ours = [each for each in json.loads(commands.read_text()) if Path(each["file"]).is_relative_to(ROOT / "scheduler")]
    return bool(ours) and all("-D_FORTIFY_SOURCE=2" in each["command"] for each in ours)


def main():
    binaries = [Path(name) for name in sys.argv[1:]] or PROGRAMS
    passed = failed = skipped = 0
    for binary in binaries:
        if not binary.exists():
            print(f"skip  {binary}: not built; cmake --preset release && cmake --build --preset release")
            skipped += 1
            continue
        missing = lacking(binary)
        for what in missing:
            print(f"FAIL  {binary}: not so: {what}")
        failed, passed = failed + bool(missing), passed + (not missing)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
