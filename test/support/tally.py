#!/usr/bin/env python3
"""Counts the cases of one ctest run: tally.py JUNIT_FILE GTEST_JSON_FOLDER names what failed, a line `FAIL …` each, and prints
`N passed, M failed, K skipped`.

GoogleTest binaries wrote one JSON file each (GTEST_OUTPUT), so every case counts by itself. An entry of ctest without such a
file is one case; a binary that failed without a failed case (it crashed, or ran out of time) is one failed case more.
"""

import json
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def cases_of(folder):
    """({binary: [passed, failed, skipped]}, names of failed cases); a binary started several times has one sum."""
    counts, names = {}, []
    for file in sorted(Path(folder).glob("*.json")):
        name = file.stem.rsplit("_", 1)[0] if file.stem.rsplit("_", 1)[-1].isdigit() else file.stem
        passed, failed, skipped = counts.setdefault(name, [0, 0, 0])
        for suite in json.loads(file.read_text()).get("testsuites", []):
            for case in suite.get("testsuite", []):
                if case.get("failures"):
                    failed += 1
                    names.append(f"{name}: {suite.get('name')}.{case.get('name')}")
                elif case.get("status") == "NOTRUN" or case.get("result") == "SKIPPED":
                    skipped += 1
                else:
                    passed += 1
        counts[name] = [passed, failed, skipped]
    return counts, names


def tally(junit, folder):
    """([passed, failed, skipped], names of what failed)."""
    counts, names = cases_of(folder)
    totals = [sum(column) for column in zip(*counts.values())] if counts else [0, 0, 0]
    for entry in xml.parse(junit).getroot().iter("testcase"):
        cases = counts.get(entry.get("name"))
        failure = entry.find("failure")
        if failure is not None or entry.get("status") == "fail":
            if cases and cases[1]:
                continue
            totals[1] += 1
            how = failure.get("message") if failure is not None else None
            names.append(f"{entry.get('name')}, without a failed case: {how or 'no word of why'}")
        elif cases is None:
            totals[2 if entry.find("skipped") is not None else 0] += 1
    return totals, names


if __name__ == "__main__":
    sums, broken = tally(sys.argv[1], sys.argv[2])
    for what in broken:
        print("FAIL ", what)
    print("{} passed, {} failed, {} skipped".format(*sums))
