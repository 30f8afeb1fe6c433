#!/usr/bin/env python3
"""The chart and the Kustomize files on a real API server: what they make, what they refuse, and the life of an installation.

    test/e2e/run_install.py          # skipped, loudly, where the real server, helm or kubeconform is not built
    test/e2e/run_install.py TEXT     # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from e2e import install_life, install_manifests  # noqa: E402
from support.cases import on_fresh_real, play_all  # noqa: E402
from support.control_plane import RealControlPlane, assets, program  # noqa: E402


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    served = (*install_manifests.SERVED, *install_life.SERVED)
    offline = install_manifests.OFFLINE
    if assets() is None or program("helm") is None or program("kubectl") is None:
        return play_all([], len(served) + len(offline), wanted)
    lacking = () if program("kubeconform") else install_manifests.BY_KUBECONFORM
    if lacking:
        print("SKIPPED, SCHEMAS: test/controlplane/build.sh kubeconform")
    plays, skipped = on_fresh_real([case for case in served if case not in lacking], RealControlPlane)
    return play_all([(case.__name__, case) for case in offline] + plays, skipped + len(lacking), wanted)


if __name__ == "__main__":
    sys.exit(main())
