#!/usr/bin/env python3
"""Attacks by tenants: what a user of one namespace, or any pod, can do to the scheduler and to others. Real processes.

    test/e2e/run_tenants.py              # every attack; those that need a real API server are skipped, loudly, where it is not built
    test/e2e/run_tenants.py TEXT         # only those whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from e2e.http_access import HTTP_ACCESS  # noqa: E402
from e2e.http_attacks import HTTP_ATTACKS  # noqa: E402
from e2e.tenants_costs import COST_ATTACKS  # noqa: E402
from e2e.tenants_quota import QUOTA_ATTACKS  # noqa: E402
from e2e.tenants_turns import TURN_ATTACKS  # noqa: E402
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import DevCluster, RealControlPlane  # noqa: E402


def on_embedded(case):
    with DevCluster() as server:
        server.install_crds()
        case(server)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    plays, skipped = on_servers((), RealControlPlane, real_only=HTTP_ACCESS)
    attacks, without = on_servers((), partial(RealControlPlane, audit=True), (*QUOTA_ATTACKS, *COST_ATTACKS, *TURN_ATTACKS))
    return play_all([(case.__name__, partial(on_embedded, case)) for case in HTTP_ATTACKS] + plays + attacks, skipped + without, wanted)


if __name__ == "__main__":
    sys.exit(main())
