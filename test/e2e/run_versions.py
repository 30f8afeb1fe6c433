#!/usr/bin/env python3
"""A scheduler among CRDs of another version than its own, on kube-apiserver; skipped, loudly, where that is not built.

    test/e2e/run_versions.py         # every case
    test/e2e/run_versions.py TEXT    # only cases whose name contains TEXT

Fears: during an upgrade, one side is newer for a while; a field that nobody knows stops the scheduler, or is lost; a field
that the server throws away is written for ever. The last line is `N passed, M failed, K skipped`.
"""

import json
import sys
import time
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_fresh_real, play_all  # noqa: E402
from support.control_plane import CRDS, ROOT, RealControlPlane, await_true  # noqa: E402
from support.scheduler import GROUP, Scheduler, add_nodes, await_that, is_bound, pod, pod_group, pods_by_gang, submit  # noqa: E402


def manifests():
    for file in sorted((ROOT / "deploy/crds").glob("*.yaml")):
        yield from yaml.safe_load_all(file.read_text())


def schema(crd, part):
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].setdefault(part, {"type": "object", "properties": {}})


def install(server, change):
    """Our CRDs, each changed by `change` first."""
    for crd in manifests():
        change(crd)
        server.api.must("POST", CRDS, crd)
    for crd in manifests():
        path = f"{CRDS}/{crd['metadata']['name']}"
        await_true("established", lambda path=path: any(one["type"] == "Established" and one["status"] == "True" for one in
                   (server.api.must("GET", path).get("status") or {}).get("conditions") or []), server.children[-1], seconds=30)


def group_of(server, name):
    return server.api.must("GET", f"{GROUP}/namespaces/default/podgroups/{name}")


def bound(server, gang):
    return sum(map(is_bound, pods_by_gang(server.api).get(gang, [])))


def fields_that_are_newer_than_the_scheduler_stop_nothing_and_stay(server):
    def newer(crd):
        schema(crd, "spec")["properties"]["future"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        if crd["spec"]["names"]["kind"] == "Queue":
            schema(crd, "spec")["properties"]["ordering"]["enum"].append("RoundRobin")

    install(server, newer)
    add_nodes(server.api, 1)
    server.api.must("POST", f"{GROUP}/queues", {
        "apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "strange"}, "spec": {"ordering": "RoundRobin"}})
    scheduler = Scheduler(server).start()
    submit(server.api, "plain", 2, gpus=2, future={"level": 9})
    submit(server.api, "waits", 1, gpus=1, queue="strange")
    await_that("a gang with a field of the future is bound", lambda: bound(server, "plain") == 2)
    await_that("its status is there", lambda: group_of(server, "plain").get("status", {}).get("phase") == "Running")
    assert group_of(server, "plain")["spec"]["future"] == {"level": 9}

    def told():
        conditions = server.api.must("GET", f"{GROUP}/queues/strange").get("status", {}).get("conditions", [])
        return [one["message"] for one in conditions if one["type"] == "Active" and one["status"] == "False"]

    await_that("the Queue says what it cannot read", told)
    assert "spec.ordering: must be one of" in told()[0], told()
    assert bound(server, "waits") == 0
    assert scheduler.stop() == 0


def status_fields_that_an_older_crd_throws_away_are_not_written_for_ever(server):
    def older(crd):
        status = schema(crd, "status")
        status.pop("x-kubernetes-preserve-unknown-fields", None)
        for field in ("admittedQueue", "placement", "members", "fairShare", "summary", "pendingPods"):
            status.get("properties", {}).pop(field, None)
        if crd["spec"]["names"]["kind"] == "Queue":
            for field in ("minRuntimeSeconds", "maxProtectedRuntimeSeconds"):
                schema(crd, "spec")["properties"]["preemption"]["properties"].pop(field)
        version = crd["spec"]["versions"][0]
        version.pop("additionalPrinterColumns")
        version["schema"]["openAPIV3Schema"].pop("x-kubernetes-validations", None)

    install(server, older)
    add_nodes(server.api, 1)
    server.api.must("POST", f"{GROUP}/queues", {
        "apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "team"},
        "spec": {"quotas": [{"flavor": "", "resources": [{"name": "nvidia.com/gpu", "nominal": 8}]}]}})
    scheduler = Scheduler(server).start()
    submit(server.api, "runs", 2, gpus=2, queue="team")
    submit(server.api, "waits", 1, gpus=9, queue="team")
    await_that("the gang is bound", lambda: bound(server, "runs") == 2)
    await_that("the other is told why not", lambda: group_of(server, "waits").get("status", {}).get("reason"))

    def writes():
        lines = [json.loads(line) for line in server.audit_log.read_text().splitlines()]
        return sum(one["requestURI"].startswith(GROUP) and "/status" in one["requestURI"] for one in lines)

    # Statuses are paced, one a second for each object: who goes on writing has written within five.
    quiet = [writes(), time.monotonic()]
    assert quiet[0] > 0, "the audit log shows no status"

    def rests():
        if writes() != quiet[0]:
            quiet[:] = [writes(), time.monotonic()]
        return time.monotonic() - quiet[1] > 5

    await_that("nothing is written any more", rests, seconds=40)
    scheduler.kill()
    scheduler.start()
    submit(server.api, "later", 1, gpus=1, queue="team")
    await_that("a new leader goes on", lambda: bound(server, "later") == 1)
    quiet[:] = [writes(), time.monotonic()]
    await_that("the new leader rests, too", rests, seconds=40)
    assert bound(server, "runs") == 2
    assert scheduler.stop() == 0


def crds_of_another_version_are_named_and_those_of_its_own_are_picked_up(server):
    def another(crd):
        crd["spec"]["versions"][0]["name"] = "v2"

    install(server, another)
    add_nodes(server.api, 1)
    scheduler = Scheduler(server).start()
    await_that("the log names what is missing", lambda: "PodGroup: the server has no such resource (yet)" in scheduler.log.read_text())
    server.api.must("POST", "/api/v1/namespaces/default/pods", pod("train-0", "train", 1))
    server.api.must("POST", "/api/v1/namespaces/default/pods", pod("alone", None, 1))
    await_that("a pod without a group is bound", lambda: is_bound(server.api.must("GET", "/api/v1/namespaces/default/pods/alone")))
    assert bound(server, "train") == 0
    for crd in manifests():
        name = crd["metadata"]["name"]
        there = server.api.must("GET", f"{CRDS}/{name}")
        crd["spec"]["versions"][0]["storage"] = False
        there["spec"]["versions"].append(crd["spec"]["versions"][0])
        server.api.must("PUT", f"{CRDS}/{name}", there)
    await_that("its own version is served", lambda: server.api.request(
        "POST", f"{GROUP}/namespaces/default/podgroups", pod_group("train", 1)).status == 201)
    await_that("the gang is bound", lambda: bound(server, "train") == 1, seconds=60)
    assert scheduler.stop() == 0


def both_sides_tell_their_version(server):
    install(server, lambda crd: None)
    scheduler = Scheduler(server).start()
    await_that("it answers", lambda: scheduler.maniple("version")[0] == 0)
    told = scheduler.ask("version")
    assert told["client"]["version"] == told["scheduler"]["version"], told
    assert told["scheduler"]["apiVersion"] == "scheduling.maniple.dev/v1alpha1", told
    scheduler.stop()
    status, output, error = scheduler.maniple("version")
    assert status == 1 and output.startswith("maniple ") and "no scheduler found" in error, (status, output, error)


CASES = (fields_that_are_newer_than_the_scheduler_stop_nothing_and_stay,
         status_fields_that_an_older_crd_throws_away_are_not_written_for_ever,
         crds_of_another_version_are_named_and_those_of_its_own_are_picked_up, both_sides_tell_their_version)


def main():
    plays, skipped = on_fresh_real(CASES, lambda folder: RealControlPlane(folder, audit=True))
    return play_all(plays, skipped, sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
