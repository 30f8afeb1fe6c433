#!/usr/bin/env python3
"""Runs the client conformance suite against maniple-devcluster and, where it can be had, a real kube-apiserver.

    python3 test/conformance/run_client_conformance.py            # binaries of build/$PRESET/bin
    python3 test/conformance/run_client_conformance.py --bin DIR

ctest runs it as client_conformance_test, so it is not executable by itself: test/run.sh would count it twice. Without the
programs of a real control plane its cases are skipped, loudly. The last line is `N passed, M failed, K skipped`; a case counts
once per server.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import control_plane  # noqa: E402


def count(report):
    cases = [case for suite in report.get("testsuites", []) for case in suite.get("testsuite", [])]
    failed = sum(1 for case in cases if case.get("failures"))
    skipped = sum(1 for case in cases if case.get("result") == "SKIPPED")
    return len(cases) - failed - skipped, failed, skipped


def run_suite(program, kubeconfig):
    """(passed, failed, skipped); a suite that crashed is one failed case more."""
    environment = {**os.environ, "MANIPLE_CONFORMANCE_KUBECONFIG": str(kubeconfig)}
    # Under ctest the reports go where it collects them; else into a folder of our own.
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own)
        wanted = environment.get("GTEST_OUTPUT", "")
        if wanted.startswith("json:") and wanted.endswith("/"):
            folder = Path(wanted[len("json:"):])
        before = set(folder.glob(f"{program.name}*.json"))
        environment["GTEST_OUTPUT"] = f"json:{folder}/"
        status = subprocess.run([program], env=environment).returncode
        reports = set(folder.glob(f"{program.name}*.json")) - before
        passed, failed, skipped = count(json.loads(reports.pop().read_text())) if reports else (0, 0, 0)
    return passed, failed + (1 if status and not failed else 0), skipped


def cases_of(program):
    listing = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    return sum(1 for line in listing.splitlines() if line.startswith("  "))


def against(title, server, program):
    print(f"== {title}", flush=True)
    with server:
        server.install_crds()
        return run_suite(program, server.kubeconfig)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bin", type=Path, default=control_plane.build_folder(), help="folder of the binaries")
    binaries = options.parse_args().bin
    program = binaries / "client_conformance_test"
    counts = [against("maniple-devcluster", control_plane.DevCluster(binaries), program)]
    folder = control_plane.assets()
    if folder is None:
        print(control_plane.HOW_TO_ENABLE)
        counts.append((0, 0, cases_of(program)))
    else:
        counts.append(against("kube-apiserver", control_plane.RealControlPlane(folder), program))
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
