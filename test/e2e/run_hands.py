#!/usr/bin/env python3
"""Hold, release and requeue: an operator's hands on a gang, under the operator's own rights.

    test/e2e/run_hands.py                 # both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_hands.py TEXT            # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from producers.jobs import indexed_job  # noqa: E402
from producers.stage import Made, custom, pods  # noqa: E402
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import RealControlPlane  # noqa: E402
from support.definitions import install_open  # noqa: E402
from support.scheduler import (  # noqa: E402
    GROUP, Scheduler, add_nodes, await_that, is_bound, maniple_on, pod, pod_group, pods_by_gang, submit,
)

PODS = "/api/v1/namespaces/default/pods"


def bound(api, name):
    return sum(map(is_bound, pods_by_gang(api).get(name, [])))


def reason(api, name):
    return api.must("GET", f"{GROUP}/namespaces/default/podgroups/{name}").get("status", {}).get("reason")


def who_is_on_hold_waits_until_released(server):
    api = server.api
    add_nodes(api, 2)
    api.must("POST", f"{GROUP}/namespaces/default/podgroups", pod_group("mine", 2))
    assert maniple_on(server, "hold", "mine") == (0, "default/mine is on hold\n", "")
    scheduler = Scheduler(server).start()
    for index in range(2):
        api.must("POST", PODS, pod(f"mine-{index}", "mine"))
    await_that("it says that it is on hold", lambda: reason(api, "mine") == "SchedulingGated")
    status, text, error = scheduler.maniple("explain", "mine")
    assert status == 0 and "it is on hold" in text, (text, error)
    submit(api, "other", 1)
    await_that("another passes", lambda: bound(api, "other") == 1)
    assert bound(api, "mine") == 0
    api.must("DELETE", f"{PODS}/other-0")
    assert maniple_on(server, "release", "mine") == (0, "default/mine is released\n", "")
    await_that("it starts", lambda: bound(api, "mine") == 2)
    await_that("its status says so", lambda: reason(api, "mine") == "Bound")
    status, text, _ = maniple_on(server, "hold", "mine")
    assert status == 0 and "its running pods go on" in text, text
    scheduler.stop()


def a_pod_without_a_group_is_held_by_its_name(server):
    api = server.api
    add_nodes(api, 1)
    api.must("POST", PODS, pod("alone"))
    assert maniple_on(server, "hold", "alone") == (0, "default/alone is on hold\n", "")
    scheduler = Scheduler(server).start()
    submit(api, "other", 1)
    await_that("another passes", lambda: bound(api, "other") == 1)
    status, text, error = scheduler.maniple("explain", "alone")
    assert status == 0 and "of its pod" in text and not is_bound(api.must("GET", f"{PODS}/alone")), (text, error)
    status, _, error = maniple_on(server, "hold", "other-0")
    assert status == 1 and "is a member of other" in error, error
    api.must("DELETE", f"{PODS}/other-0")
    assert maniple_on(server, "release", "alone") == (0, "default/alone is released\n", "")
    await_that("it starts", lambda: is_bound(api.must("GET", f"{PODS}/alone")))
    scheduler.stop()


def a_job_is_held_by_its_own_name(server):
    """Nobody knows by heart how the PodGroup is called that stands for a Job."""
    api = server.api
    add_nodes(api, 1)
    api.must("PATCH", "/api/v1/nodes/node-000", {"spec": {"unschedulable": True}}, "application/merge-patch+json")
    made = Made(api)
    for one in indexed_job():
        for path, thing, owner in one.make:
            made.create(path, thing, owner)
    scheduler = Scheduler(server).start()
    group = await_that("a PodGroup stands for it", lambda: [
        one["metadata"]["name"] for one in api.must("GET", f"{GROUP}/podgroups")["items"] if one["spec"]["source"]["name"] == "whole"])[0]
    assert maniple_on(server, "hold", "job/whole") == (0, f"default/{group} is on hold\n", "")
    await_that("its status says so", lambda: reason(api, group) == "SchedulingGated")
    assert maniple_on(server, "release", "jobs/whole") == (0, f"default/{group} is released\n", "")
    await_that("nothing holds it", lambda: reason(api, group) != "SchedulingGated")
    status, output, error = maniple_on(server, "whatif", "job/whole", "--add-nodes", "4:like=node-000")
    assert output.startswith(f"default/{group} would"), (status, output, error)
    api.must("PATCH", "/api/v1/nodes/node-000", {"spec": {"unschedulable": False}}, "application/merge-patch+json")
    await_that("its pods run", lambda: all(map(is_bound, api.must("GET", PODS)["items"])))
    for name in ("job/whole", "whole-0", group):
        status, output, error = scheduler.maniple("log", name)
        assert status == 0 and f"default/{group}" in output, (name, status, output, error)
    status, output, error = scheduler.maniple("log", "job/plain")
    assert status == 1 and not output and 'of a gang "job/plain"' in error and error.count("\n") == 1, error
    status, output, error = maniple_on(server, "hold", "job/plain")
    assert status == 1 and not output and 'stands for "job/plain"' in error and error.count("\n") == 1, error
    status, output, error = scheduler.maniple("--kubeconfig", str(server.kubeconfig), "hold", "whole-0")
    assert status == 1 and not output and f"is a member of {group}" in error, (status, output, error)
    scheduler.stop()


def replicas_of_two_pods(replicas):
    yield custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets", "lws",
                 {"replicas": replicas, "leaderWorkerTemplate": {"size": 2}})
    for index in range(replicas):
        labels = {"leaderworkerset.sigs.k8s.io/name": "lws", "leaderworkerset.sigs.k8s.io/group-index": str(index)}
        for worker in range(2):
            yield from pods(f"lws-{index}", [worker], "LeaderWorkerSet/lws",
                            {**labels, "leaderworkerset.sigs.k8s.io/worker-index": str(worker)}, {"leaderworkerset.sigs.k8s.io/size": "2"})


def who_is_requeued_leaves_if_somebody_brings_it_back(server):
    api = server.api
    add_nodes(api, 2)
    scheduler = Scheduler(server).start()
    submit(api, "mine", 2)
    await_that("it runs", lambda: bound(api, "mine") == 2)

    def requeue(*more):
        return scheduler.maniple("--kubeconfig", str(server.kubeconfig), "requeue", "mine", *more)

    status, _, error = requeue()
    assert status == 1 and "has no controller" in error and bound(api, "mine") == 2, error
    status, text, error = requeue("--force")
    assert (status, text) == (0, "default/mine: 2 pods were deleted\n"), (text, error)
    await_that("its pods have left", lambda: not pods_by_gang(api).get("mine") or bound(api, "mine") == 0)
    scheduler.stop()


def all_gangs_of_one_object_are_requeued(server):
    """A LeaderWorkerSet has a gang for each replica."""
    install_open(server, [("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", True)])
    api = server.api
    add_nodes(api, 2)
    made = Made(api)
    for path, thing, owner in replicas_of_two_pods(2):
        made.create(path, thing, owner)
    scheduler = Scheduler(server).start()

    def standing():
        return sorted(one["metadata"]["name"] for one in api.must("GET", PODS)["items"] if is_bound(one) and "deletionTimestamp" not in one["metadata"])

    await_that("all replicas run", lambda: len(standing()) == 4)
    await_that("the scheduler says so", lambda: "running" in scheduler.maniple("explain", "leaderworkerset/lws")[1].lower())
    assert scheduler.maniple("--kubeconfig", str(server.kubeconfig), "requeue", "leaderworkerset/lws") == (0, "default/leaderworkerset/lws: 4 pods were deleted\n", "")
    await_that("all of them have left", lambda: not standing())
    scheduler.stop()


def wrong_hands_get_one_clear_line(server):
    for verb in ("hold", "release"):
        status, output, error = maniple_on(server, verb, "nobody")
        assert status == 1 and not output and '"nobody" not found' in error and error.count("\n") == 1, error
    status, _, error = maniple_on(server, "hold")
    assert status == 2 and "GANG" in error, error


CASES = (
    who_is_on_hold_waits_until_released, a_pod_without_a_group_is_held_by_its_name, a_job_is_held_by_its_own_name,
    who_is_requeued_leaves_if_somebody_brings_it_back, all_gangs_of_one_object_are_requeued, wrong_hands_get_one_clear_line,
)


def main():
    plays, skipped = on_servers(CASES, RealControlPlane)
    return play_all(plays, skipped, sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
