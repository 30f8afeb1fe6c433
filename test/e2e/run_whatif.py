#!/usr/bin/env python3
"""What-if is asked of a cluster, and then the very thing is done; a snapshot answers as its cluster does.

    test/e2e/run_whatif.py                 # both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_whatif.py TEXT            # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import RealControlPlane  # noqa: E402
from support.scheduler import (  # noqa: E402
    GROUP, Scheduler, add_nodes, await_that, is_bound, maniple_on, node, pod, pod_group, pods_by_gang, submit,
)

PODS = "/api/v1/namespaces/default/pods"
WAITS = 3  # the exit status of "it would not start"


def what_if(server, *arguments):
    """(exit status, the only gang of the answer)."""
    status, output, error = maniple_on(server, "whatif", "-o", "json", *arguments)
    assert status in (0, WAITS), error
    gangs = json.loads(output)["items"]
    assert len(gangs) == 1, gangs
    return status, gangs[0]


def job_file(server, name, members, gpus=8):
    file = server.folder / f"{name}.json"
    items = [pod_group(name, members), *(pod(f"{name}-{i}", name, gpus) for i in range(members))]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return file


def bound(api, name):
    return sum(map(is_bound, pods_by_gang(api).get(name, [])))


def versions(api):
    paths = ("/api/v1/nodes", "/api/v1/pods", f"{GROUP}/podgroups", f"{GROUP}/queues")
    return {item["metadata"]["uid"]: item["metadata"]["resourceVersion"] for path in paths for item in api.must("GET", path)["items"]}


def at_work(server):
    """Four nodes, two of which a gang has."""
    add_nodes(server.api, 4)
    scheduler = Scheduler(server).start()
    submit(server.api, "old", 2)
    await_that("old is bound", lambda: bound(server.api, "old") == 2)
    await_that("its status is written",
               lambda: server.api.must("GET", f"{GROUP}/namespaces/default/podgroups/old").get("status", {}).get("phase") == "Running")
    return scheduler


def what_was_said_then_happens(server):
    scheduler = at_work(server)
    before = versions(server.api)
    small, large, huge = (job_file(server, name, members) for name, members in (("small", 2), ("large", 3), ("huge", 5)))
    assert what_if(server, "-f", small)[1]["start"] == "Now"
    status, gang = what_if(server, "-f", large)
    assert (status, gang["start"], gang["reason"]) == (WAITS, "NotSoon", "NoFit"), gang
    status, gang = what_if(server, "-f", huge)
    assert (status, gang["start"], gang["reason"]) == (WAITS, "Never", "NeverFits"), gang
    status, gang = what_if(server, "-f", large, "--add-nodes", "1:like=node-000")
    assert (status, gang["start"]) == (0, "Now") and len(gang["nodes"]) == 3, gang
    assert versions(server.api) == before, "a question has written something"

    submit(server.api, "large", 3)
    await_that("large waits", lambda: server.api.must(
        "GET", f"{GROUP}/namespaces/default/podgroups/large").get("status", {}).get("reason") == "NoFit")
    assert what_if(server, "large")[1]["reason"] == "NoFit"
    assert what_if(server, "large", "--add-nodes", "1:like=node-000")[1]["start"] == "Now"
    extra = node("n5")
    status = extra.pop("status")
    server.api.must("POST", "/api/v1/nodes", extra)
    server.api.must("PATCH", "/api/v1/nodes/n5/status", {"status": status}, "application/merge-patch+json")
    await_that("large is bound", lambda: bound(server.api, "large") == 3)
    scheduler.stop()


def the_status_says_which_setting_would_do_and_with_it_the_gang_starts(server):
    scheduler = at_work(server)
    group = f"{GROUP}/namespaces/default/podgroups/waits"
    server.api.must("PATCH", "/api/v1/nodes/node-003", {"spec": {"unschedulable": True}}, "application/merge-patch+json")
    submit(server.api, "waits", 2)
    said = "; it would start with node node-003 uncordoned"
    await_that("its status says what would do",
               lambda: server.api.must("GET", group).get("status", {}).get("message", "").endswith(said), seconds=120)
    server.api.must("PATCH", "/api/v1/nodes/node-003", {"spec": {"unschedulable": None}}, "application/merge-patch+json")
    await_that("it is bound", lambda: bound(server.api, "waits") == 2)
    await_that("nothing more is said", lambda: "would start" not in server.api.must("GET", group)["status"]["message"])
    scheduler.stop()


def a_snapshot_answers_as_its_cluster(server):
    scheduler = at_work(server)
    file = server.folder / "cluster.snapshot"
    status, _, error = maniple_on(server, "snapshot", file)
    assert status == 0 and "objects" in error, error
    large = job_file(server, "large", 3)
    scheduler.stop()
    for more in ((), ("--add-nodes", "1:like=node-000")):
        asked = (*more, "-f", large)
        assert what_if(server, *asked) == what_if(server, "--snapshot", file, *asked)
    cut = server.folder / "cut.snapshot"
    cut.write_bytes(file.read_bytes()[:-20])
    status, _, error = maniple_on(server, "whatif", "--snapshot", cut, "-f", large)
    assert status == 1 and "cut.snapshot: it is cut off" in error, error


def a_redacted_snapshot_names_nobody_and_answers_alike(server):
    scheduler = at_work(server)
    submit(server.api, "waits", 3)
    secret = pod("llama-secret", gpus=1, nodeSelector={"swordfish": "swordfish"})
    secret["metadata"]["annotations"] = {"note": "swordfish"}
    secret["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "swordfish"}]
    server.api.must("POST", PODS, secret)
    await_that("waits waits", lambda: server.api.must(
        "GET", f"{GROUP}/namespaces/default/podgroups/waits").get("status", {}).get("reason") == "NoFit")
    file, redacted = server.folder / "cluster.snapshot", server.folder / "redacted.snapshot"
    assert maniple_on(server, "snapshot", file)[0] == 0
    assert maniple_on(server, "snapshot", "--redact", redacted)[0] == 0
    scheduler.stop()

    text = gzip.decompress(redacted.read_bytes()).decode()
    plain = gzip.decompress(file.read_bytes()).decode()
    for word in ("swordfish", "llama", "node-00", "waits", "TOKEN"):
        assert (word in plain) == (word != "TOKEN"), word  # what containers run is left out of both
        assert word not in text, word
    groups = [one for one in map(json.loads, text.splitlines()) if one.get("kind") == "PodGroup"]
    alias = next(one["metadata"]["name"] for one in groups if one["spec"]["minMember"] == 3)
    told = [(status, gang["start"], gang["reason"]) for status, gang in (
        what_if(server, "--snapshot", file, "waits"), what_if(server, "--snapshot", redacted, alias))]
    assert told[0] == told[1] == (WAITS, "NotSoon", "NoFit"), told
    status, output, error = maniple_on(server, "simulate", redacted, "-o", "json")
    assert status == 0 and "a snapshot, 0 jobs" in error, error
    waited = {one["gang"].split("/")[1]: one.get("startsAfterSeconds") for one in json.loads(output)["items"][0]["waited"]}
    assert waited.pop(alias) is None and len(waited) == 1, waited


def wrong_questions_get_one_clear_line(server):
    add_nodes(server.api, 1)
    small = job_file(server, "small", 1)
    foreign = server.folder / "foreign.json"
    foreign.write_text(json.dumps({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}))
    many = server.folder / "many.json"
    many.write_text(json.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "many"},
                                "spec": {"parallelism": 1000000, "template": {}}}))
    for arguments, words in (
        ((), "Name a gang"),
        (("nobody",), "there is no gang default/nobody"),
        (("-f", foreign), "Widget w: what-if knows"),
        (("-f", many), "more than 20000 pods"),
        (("-f", server.folder / "none.yaml"), "none.yaml"),
        (("-f", small, "--add-nodes", "2"), "N:like=NODE"),
        (("-f", small, "--add-nodes", "2:like=nowhere"), 'no node "nowhere"'),
        (("-f", small, "--quota", "nope=+3"), 'no Queue "nope"'),
        (("-f", small, "--quota", "nope=much"), "a whole number"),
        (("-f", small, "--at", "yesterday"), "a time such as"),
    ):
        status, output, error = maniple_on(server, "whatif", *arguments)
        assert status == 1 and not output and words in error and error.count("\n") == 1, (arguments, status, output, error)


CASES = (what_was_said_then_happens, the_status_says_which_setting_would_do_and_with_it_the_gang_starts, a_snapshot_answers_as_its_cluster,
         a_redacted_snapshot_names_nobody_and_answers_alike, wrong_questions_get_one_clear_line)


def main():
    plays, skipped = on_servers(CASES, RealControlPlane)
    return play_all(plays, skipped, sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
