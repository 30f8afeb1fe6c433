#!/usr/bin/env python3
"""Queues of Kueue, Volcano, KAI and YuniKorn become ours by `maniple import`, and hold gangs to the same quota: both servers.

    test/e2e/run_import.py         # both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_import.py TEXT    # only cases whose name contains TEXT

Fear: what is imported is refused by the API server, or lets a team use more or less than before. The four files of
test/e2e/import say the same: two teams with 4 GPUs each, of which team-a may use up to 6. The last line is
`N passed, M failed, K skipped`.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import ROOT, RealControlPlane, build_folder  # noqa: E402
from support.scheduler import Scheduler, add_nodes, await_that, is_bound, pods_by_gang, submit  # noqa: E402

APPLY = "application/merge-patch+json"
PLURALS = {"Queue": "queues", "Cohort": "cohorts", "ResourceFlavor": "resourceflavors"}


def imported(server, dialect):
    """The objects that the command makes of the file and the nodes there are; a note is fine, an error is not."""
    nodes = server.folder / "nodes.json"
    nodes.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", **one} for one in server.api.must("GET", "/api/v1/nodes")["items"]]}))
    files = [str(ROOT / "test/e2e/import" / f"{dialect}.yaml"), *([str(nodes)] if dialect != "kueue" else [])]
    done = subprocess.run([str(build_folder() / "maniple"), "import", dialect, *files, "-o", "json"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["items"]


def apply(api, one):
    name = one["metadata"]["name"]
    if one["kind"] == "Namespace":
        return api.must("PATCH", f"/api/v1/namespaces/{name}", {"metadata": {"labels": one["metadata"]["labels"]}}, APPLY)
    return api.must("POST", f"/apis/{one['apiVersion']}/{PLURALS[one['kind']]}", one)


def teams_keep_their_quota(server, dialect, above=""):
    api = server.api
    add_nodes(api, 2, gpus=4)
    for one in imported(server, dialect):
        apply(api, one)
    scheduler = Scheduler(server).start()

    def bound(gang):
        return [one for one in pods_by_gang(api).get(gang, []) if is_bound(one)]

    def reason(gang):
        return api.must("GET", f"/apis/scheduling.maniple.dev/v1alpha1/namespaces/default/podgroups/{gang}").get("status", {}).get("reason")

    submit(api, "a-six", 6, gpus=1, queue=f"{above}team-a")
    await_that("team-a borrows up to 6 GPUs", lambda: len(bound("a-six")) == 6)
    submit(api, "a-more", 1, gpus=1, queue=f"{above}team-a")
    await_that("team-a may not use a seventh", lambda: reason("a-more") == "QuotaExceeded")
    submit(api, "b-two", 2, gpus=1, queue=f"{above}team-b")
    await_that("team-b uses what is free of its own", lambda: len(bound("b-two")) == 2)
    assert not bound("a-more")
    assert scheduler.stop() == 0


def kueues_queues_hold_gangs_to_the_same_quota(server):
    teams_keep_their_quota(server, "kueue")


def volcanos_queues_hold_gangs_to_the_same_quota(server):
    teams_keep_their_quota(server, "volcano")


def kais_queues_hold_gangs_to_the_same_quota(server):
    teams_keep_their_quota(server, "kai")


def yunikorns_queues_hold_gangs_to_the_same_quota(server):
    teams_keep_their_quota(server, "yunikorn", above="root.research.")


CASES = (kueues_queues_hold_gangs_to_the_same_quota, volcanos_queues_hold_gangs_to_the_same_quota,
         kais_queues_hold_gangs_to_the_same_quota, yunikorns_queues_hold_gangs_to_the_same_quota)


def main():
    plays, skipped = on_servers(CASES, RealControlPlane)
    return play_all(plays, skipped, sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
