#!/usr/bin/env python3
"""Producers of gangs that know nothing of Maniple: their objects, in their order, with their waits. Real processes.

    test/e2e/run_producers.py         # every producer on both servers; those on a real one are skipped, loudly, where it is not built
    test/e2e/run_producers.py TEXT    # only those whose name contains TEXT: a producer of test/producers, or a server

Fears: a gang that waits for members which its producer makes only after others run; half a stage bound; a write to an object that
is not ours; a scheduler that dies in a stage; a snapshot, redacted or not, in which gangs of others are none. The last line is `N passed, M failed, K skipped`.
"""

import json
import subprocess
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from producers import kubeflow  # noqa: E402
from producers.catalogue import AT_ONCE, EMBEDDED_ONLY, STAGED  # noqa: E402
from producers.stage import Made, names, play, remove, stage, stand_ins  # noqa: E402
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import CRDS, ROOT, RealControlPlane, build_folder  # noqa: E402
from support.definitions import install_open  # noqa: E402
from support.scheduler import Scheduler, add_nodes, await_that  # noqa: E402


DEFINITIONS = ROOT / "test" / "producers" / "definitions"


def install_producers(server):
    server.install_crds(ROOT / "deploy" / "crds" / "producers")
    server.install_crds(DEFINITIONS)
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


def hyper_nodes_that_go_and_return(server):
    """A gang waits for a tier as long as nobody defines HyperNodes, and starts once they are back."""
    install_producers(server)
    add_nodes(server.api, 1)
    Scheduler(server).start()
    leaf = kubeflow.hyper_node("leaf", 1, ("Node", {"regexMatch": {"pattern": "^node-"}}))
    early, late = names("early", range(2)), names("late", range(2))
    play(server.api, [stage(leaf, kubeflow.volcano_job_within(1, "early", 2, gpus=1), bound=early)])
    kind = f"{CRDS}/hypernodes.topology.volcano.sh"
    server.api.must("DELETE", kind)
    await_that("the kind and its objects are gone", lambda: server.api.request("GET", kind).status == 404)
    waits = stage(kubeflow.volcano_job_within(1, "late", 2, gpus=1), bound=early, holds=[waits_because("late", "InvalidSpec")])
    play(server.api, [waits])
    server.install_crds(DEFINITIONS)
    play(server.api, [stage(leaf, bound=early | late)])


def waits_because(name, reason):
    def holds(api):
        return [(one.get("status") or {}).get("reason") for one in stand_ins(api, "PodGroup", name)] == [reason]

    holds.__name__ = f"{name} waits: {reason}"
    return holds


def maniple(*arguments):
    done = subprocess.run([build_folder() / "maniple", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def wait_in_snapshots_as_they_do(producers):
    """Where nobody can start, gangs of the same sizes wait in a simulation of the snapshot, redacted or not."""
    def sizes(items):
        return sorted(one["pods"] if isinstance(one["pods"], int) else len(one["pods"]) for one in items)

    def case(server):
        install_producers(server)
        add_nodes(server.api, 1)
        server.api.must("PATCH", "/api/v1/nodes/node-000", {"spec": {"unschedulable": True}}, "application/merge-patch+json")
        scheduler = Scheduler(server).start()
        # What the servers show differs in what every object has; one producer tells.
        for producer in producers[:1] if isinstance(server, RealControlPlane) else producers:
            made = Made(server.api)
            for one in producer():
                for path, thing, owner in one.make:
                    made.create(path, thing, owner)
            pods = sum(thing["kind"] == "Pod" for thing in made.objects.values())

            def who_waits():
                gangs = scheduler.ask("gangs", "-A")["items"]
                told = all(gang["reason"] in ("NoFit", "NeverFits") for gang in gangs) and sum(sizes(gangs)) == pods
                return sizes(gangs) if told else None

            live = await_that(f"{producer.__name__}: all wait", who_waits)
            for redact in ((), ("--redact",)):
                file = server.folder / "cluster.snapshot"
                maniple("--kubeconfig", server.kubeconfig, "snapshot", *redact, file)
                [run] = json.loads(maniple("simulate", file, "-o", "json"))["items"]
                assert sizes(run["waited"]) == live, (producer.__name__, redact, live, run["waited"])
            remove(made)

    case.__name__ = "in snapshots: " + " ".join(one.__name__ for one in producers)
    return case


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    everybody = (*STAGED, *AT_ONCE, *EMBEDDED_ONLY)
    cases = [killed(one) for one in STAGED] + [hyper_nodes_that_go_and_return]
    chosen = [one for one in everybody if wanted in one.__name__] or everybody
    cases += [played_in_turn(chosen), wait_in_snapshots_as_they_do(chosen)]
    plays, skipped = on_servers(cases, RealControlPlane)
    return play_all(plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
