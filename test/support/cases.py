"""Plays the cases of a driver that starts programs, tells how each went, and counts them."""

import sys
import time
import traceback
import unittest
from contextlib import contextmanager

from support.control_plane import HOW_TO_ENABLE, DevCluster, assets
from support.shared_control_plane import SharedControlPlane


def on_fresh_real(cases, make_real):
    """(plays, skipped) as on_servers gives them, on the real server alone and without our CRDs; a case takes the server."""
    def played(case):
        def with_server():
            with make_real(assets()) as server:
                case(server)

        return case.__name__, with_server

    return ([], len(cases)) if assets() is None else ([played(case) for case in cases], 0)


def on_servers(cases, make_real, real_only=(), arguments=(), is_shared=True):
    """(plays, skipped): each case on the embedded server and on the real one, which make_real(FOLDER) makes where it is built.

    A play is (name, function without arguments); a case takes the server, on which our CRDs are installed, and the arguments.
    All cases have one real server, emptied between them, unless it is said that each has one of its own.
    """
    def played(name, case, served):
        def with_server():
            with served() as server:
                case(server, *arguments)

        return name, with_server

    folder, plays, skipped = assets(), [], 0
    shared = SharedControlPlane(lambda: make_real(folder)) if is_shared else None
    for case in (*cases, *real_only):
        if case not in real_only:
            plays.append(played(f"{case.__name__}, embedded", case, lambda: with_crds(DevCluster())))
        if folder is None:
            skipped += 1
        else:
            plays.append(played(f"{case.__name__}, real", case, lambda: shared or with_crds(make_real(folder))))
    return plays, skipped


@contextmanager
def with_crds(server):
    with server:
        server.install_crds()
        yield server


def attempt(name, case):
    """True when it holds; otherwise prints why: shortly in the line itself, which is all that the end of a long log repeats."""
    began = time.monotonic()
    try:
        case()
    except Exception as error:  # every failure is a result
        why, where = traceback.format_exception_only(error)[-1].splitlines()[0], traceback.extract_tb(error.__traceback__)[-1]
        print(f"FAIL  {name}: {why[:300]}, line {where.lineno}: {where.line}\n{traceback.format_exc()}", flush=True)
        return False
    print(f"ok    {name} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def play_all(plays, skipped, wanted):
    """The exit code; only plays whose name contains `wanted`. The last line printed is `N passed, M failed, K skipped`."""
    if skipped and assets() is None:
        print(HOW_TO_ENABLE)
    results = [attempt(*one) for one in plays if wanted in one[0]]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, {skipped} skipped")
    return 0 if results and all(results) else 1


def run_unit_tests(module):
    """The module's unittest cases, and the line that counts them. The status to exit with."""
    result = unittest.TextTestRunner(stream=sys.stdout).run(unittest.defaultTestLoader.loadTestsFromModule(module))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed or not result.testsRun else 0
