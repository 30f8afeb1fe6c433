#!/usr/bin/env python3
"""Producers of gangs that know nothing of Maniple: their objects, in their order, with their waits. Real processes.

    test/e2e/run_producers.py         # every producer on both servers; those on a real one are skipped, loudly, where it is not built
    test/e2e/run_producers.py TEXT    # only those whose name contains TEXT: a producer of test/producers, or a server

Fears: a gang that waits for members which its producer makes only after others run; half a stage bound; a write to an object that
is not ours; a scheduler that dies in a stage. The last line is `N passed, M failed, K skipped`.
"""

import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from producers.catalogue import AT_ONCE, EMBEDDED_ONLY, STAGED  # noqa: E402
from producers.stage import play, remove  # noqa: E402
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import ROOT, RealControlPlane  # noqa: E402
from support.definitions import install_open  # noqa: E402
from support.scheduler import Scheduler, add_nodes  # noqa: E402


def install_producers(server):
    server.install_crds(ROOT / "deploy" / "crds" / "producers")
    server.install_crds(ROOT / "test" / "producers" / "definitions")
    kinds = yaml.safe_load((ROOT / "test" / "producers" / "crds.yaml").read_text())
    install_open(server, kinds["kinds"])
    if not isinstance(server, RealControlPlane):
        install_open(server, kinds["embedded_only"])


def killed(producer):
    """The scheduler is killed before each stage but the first."""
    def case(server):
        install_producers(server)
        add_nodes(server.api, 2)
        scheduler = Scheduler(server).start()

        def die(index):
            if index > 0:
                scheduler.kill()
                scheduler.start()

        play(server.api, producer(), die)

    case.__name__ = f"{producer.__name__}, killed in each stage"
    return case


def played_in_turn(producers):
    def case(server):
        install_producers(server)
        add_nodes(server.api, 2)
        Scheduler(server).start()
        for producer in producers:
            if producer in EMBEDDED_ONLY and isinstance(server, RealControlPlane):
                continue
            try:
                remove(play(server.api, producer()))
            except Exception as error:
                raise AssertionError(producer.__name__) from error

    case.__name__ = "in turn: " + " ".join(one.__name__ for one in producers)
    return case


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    everybody = (*STAGED, *AT_ONCE, *EMBEDDED_ONLY)
    cases = [killed(one) for one in STAGED]
    cases.append(played_in_turn([one for one in everybody if wanted in one.__name__] or everybody))
    plays, skipped = on_servers(cases, RealControlPlane)
    return play_all(plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
