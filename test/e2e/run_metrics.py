#!/usr/bin/env python3
"""What /metrics tells is what the API shows: each family against a sum made here, through borrowing, preemption, a change of
leader, ends and the deletion of a Queue.

    test/e2e/run_metrics.py                 # both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_metrics.py TEXT            # only cases whose name contains TEXT

Two teams of eight GPUs each share a Cohort. The last line is `N passed, M failed, K skipped`.
"""

import collections
import re
import sys
import time
from pathlib import Path
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import RealControlPlane  # noqa: E402
from support.scheduler import GPU, GROUP, Scheduler, add_nodes, await_that, is_bound, pods_by_gang, submit  # noqa: E402

PODS = "/api/v1/namespaces/default/pods"
STRATEGIC = "application/strategic-merge-patch+json"
# Families that are compared whole: a series that is not expected is as wrong as one that is missing.
COMPARED = (
    "maniple_queue_pending_gangs", "maniple_queue_running_gangs", "maniple_queue_pending_pods", "maniple_queue_running_pods",
    "maniple_queue_active", "maniple_queue_info", "maniple_queue_nominal_quota", "maniple_queue_resource_usage",
    "maniple_queue_resource_borrowed", "maniple_queue_resource_lent", "maniple_queue_borrowing_limit",
    "maniple_queue_lending_limit", "maniple_queue_resource_pending", "maniple_pending_gangs", "maniple_gangs", "maniple_gpus",
    "maniple_largest_gang_gpus", "maniple_free_slices",
    "maniple_cohort_info", "maniple_cohort_subtree_quota", "maniple_cohort_resource_usage", "maniple_cohort_resource_borrowed",
    "maniple_cohort_resource_lent",
)
LIMITS = {"a": {"borrowingLimit": 80}, "b": {"borrowingLimit": 40, "lendingLimit": 8}}  # that keep nobody from anything
SLACK = 6  # seconds that a figure may be old


def queue(name, cohort="all"):
    return {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name},
            "spec": {"cohort": cohort, "quotas": [{"resources": [{"name": GPU, "nominal": 8, **LIMITS.get(name, {})}]}],
                     "preemption": {"reclaimWithinCohort": "Any"}}}


def series(family, /, **labels):
    return (family, tuple(sorted(labels.items())))


def exposed(scheduler):
    """{series: value} of what /metrics shows."""
    with urlopen(f"http://{scheduler.host}:{scheduler.port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found = {}
    for name, labels, value in re.findall(r"^(\w+)(?:\{(.*)\})? ([^ ]+)$", text, re.MULTILINE):
        found[(name, tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))))] = float(value)
    return found


def gpus_of(pod):
    return sum(int(each["resources"]["requests"].get(GPU, 0)) for each in pod["spec"]["containers"])


def has_ended(pod):
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


class Sums:
    """What the API shows, added up."""

    def __init__(self, api):
        self.queues = api.must("GET", f"{GROUP}/queues")["items"]
        self.groups = api.must("GET", f"{GROUP}/podgroups")["items"]
        self.nodes = api.must("GET", "/api/v1/nodes")["items"]
        self.members = pods_by_gang(api)
        self.used = collections.Counter()  # GPUs, by Queue
        for group in self.groups:
            for pod in self.members.get(group["metadata"]["name"], []):
                if is_bound(pod) and not has_ended(pod):
                    self.used[group["spec"].get("queue", "")] += gpus_of(pod)

    def standing(self, group):
        return [pod for pod in self.members.get(group["metadata"]["name"], []) if is_bound(pod) and not has_ended(pod)]

    def waits(self, group):
        return len(self.standing(group)) < group["spec"]["minMember"] and not self.has_succeeded(group)

    def has_succeeded(self, group):
        pods = self.members.get(group["metadata"]["name"], [])
        return bool(pods) and all(map(has_ended, pods))

    def of_queues(self):
        borrowed = {each["metadata"]["name"]: max(0, self.used[each["metadata"]["name"]] - 8) for each in self.queues}
        for each in self.queues:
            name, cohort = each["metadata"]["name"], each["spec"].get("cohort", "")
            mine = [group for group in self.groups if group["spec"].get("queue") == name]
            pods = [pod for group in mine for pod in self.members.get(group["metadata"]["name"], []) if not has_ended(pod)]
            yield series("maniple_queue_pending_gangs", queue=name), sum(map(self.waits, mine))
            yield series("maniple_queue_running_gangs", queue=name), sum(len(self.standing(group)) >= group["spec"]["minMember"] for group in mine)
            yield series("maniple_queue_pending_pods", queue=name), sum(not is_bound(pod) for pod in pods)
            yield series("maniple_queue_running_pods", queue=name), sum(map(is_bound, pods))
            yield series("maniple_queue_resource_pending", queue=name, cohort=cohort, resource=GPU), sum(gpus_of(pod) for pod in pods if not is_bound(pod))
            yield series("maniple_queue_active", queue=name), 1
            yield series("maniple_queue_info", queue=name, cohort=cohort), 1
            of = {"queue": name, "cohort": cohort, "flavor": "", "resource": GPU}
            others = sum(more for other, more in borrowed.items() if other != name)
            yield series("maniple_queue_nominal_quota", **of), 8
            quota = each["spec"]["quotas"][0]["resources"][0]
            for family, field in (("maniple_queue_borrowing_limit", "borrowingLimit"), ("maniple_queue_lending_limit", "lendingLimit")):
                if field in quota:
                    yield series(family, **of), quota[field]
            yield series("maniple_queue_resource_usage", **of), self.used[name]
            yield series("maniple_queue_resource_borrowed", **of), borrowed[name]
            yield series("maniple_queue_resource_lent", **of), min(others, 8 - self.used[name]) if others else 0

    def of_the_rest(self):
        queues = {each["metadata"]["name"] for each in self.queues}
        reasons = collections.Counter()
        for group in filter(self.waits, self.groups):
            name = group["spec"].get("queue", "")
            reasons[name if name in queues else "", group.get("status", {}).get("reason", "")] += 1
        for (name, reason), gangs in reasons.items():
            yield series("maniple_pending_gangs", queue=name, reason=reason), gangs
        yield series("maniple_gangs"), len(self.groups)
        cohort = {"cohort": "all", "flavor": "", "resource": GPU}
        yield series("maniple_cohort_info", cohort="all", parent=""), 1
        yield series("maniple_cohort_subtree_quota", **cohort), 8 * len(self.queues)
        used = sum(self.used[each["metadata"]["name"]] for each in self.queues)
        yield series("maniple_cohort_resource_usage", **cohort), used
        yield series("maniple_cohort_resource_borrowed", **cohort), max(0, used - 8 * len(self.queues))
        yield series("maniple_cohort_resource_lent", **cohort), 0
        free = {node["metadata"]["name"]: int(node["status"]["allocatable"][GPU]) for node in self.nodes}
        states = collections.Counter()
        for pod in (pod for pods in self.members.values() for pod in pods if is_bound(pod) and not has_ended(pod)):
            free[pod["spec"]["nodeName"]] -= gpus_of(pod)
            states["used"] += gpus_of(pod)
        for node in self.nodes:
            states["cordoned" if node["spec"].get("unschedulable") else "free"] += free[node["metadata"]["name"]]
        for state in ("used", "unreachable", "cordoned", "held", "free"):
            yield series("maniple_gpus", flavor="", resource=GPU, state=state), states[state]
        yield from self.of_levels(free)

    def of_levels(self, free):
        """There is no Topology: all nodes together, and each alone."""
        room = [0 if node["spec"].get("unschedulable") else free[node["metadata"]["name"]] for node in self.nodes]
        idle = sum(left == int(node["status"]["allocatable"][GPU]) for left, node in zip(room, self.nodes))
        yield series("maniple_largest_gang_gpus", level="cluster"), sum(room)
        yield series("maniple_largest_gang_gpus", level="node"), max(room)
        yield series("maniple_free_slices", level="node", size="1"), idle
        size = 1
        while size <= len(self.nodes):
            yield series("maniple_free_slices", level="cluster", size=str(size)), idle // size
            size *= 2

    def all(self):
        return {key: float(value) for key, value in (*self.of_queues(), *self.of_the_rest())}


def differences(scheduler, api):
    told = {key: value for key, value in exposed(scheduler).items() if key[0] in COMPARED}
    shown = Sums(api).all()
    return {key: (told.get(key), shown.get(key)) for key in told.keys() | shown.keys() if told.get(key) != shown.get(key)}


def compare(what, scheduler, api):
    try:
        await_that(what, lambda: not differences(scheduler, api), seconds=20)
    except AssertionError as late:
        raise AssertionError(f"{what}: (told, shown) {differences(scheduler, api)}") from late


def value(scheduler, family, /, **labels):
    return exposed(scheduler).get(series(family, **labels), 0.0)


def make_ready(api, gang):
    """As a kubelet says it; a real API server has none."""
    for pod in pods_by_gang(api)[gang]:
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        api.must("PATCH", f"{PODS}/{pod['metadata']['name']}/status", {"status": status}, STRATEGIC)


def finish(api, gang):
    for pod in pods_by_gang(api)[gang]:
        api.must("PATCH", f"{PODS}/{pod['metadata']['name']}/status", {"status": {"phase": "Succeeded"}}, STRATEGIC)


def bound(api, gang):
    return sum(map(is_bound, pods_by_gang(api).get(gang, [])))


def every_family_is_a_sum_over_the_api(server):
    api = server.api
    add_nodes(api, 3)
    api.must("PATCH", "/api/v1/nodes/node-002", {"spec": {"unschedulable": True}}, STRATEGIC)
    for name in ("a", "b"):
        api.must("POST", f"{GROUP}/queues", queue(name))
    scheduler = Scheduler(server).start()
    await_that("it leads", lambda: value(scheduler, "leader_election_master_status", name="maniple-scheduler") == 1)
    compare("with Queues alone", scheduler, api)

    # b lends itself what a does not use.
    for name in ("b-one", "b-two"):
        submit(api, name, 2, 4, queue="b")
        await_that(f"{name} runs", lambda name=name: bound(api, name) == 2)
        make_ready(api, name)
    began = time.time()
    submit(api, "b-waits", 1, 8, queue="b")
    submit(api, "nobody-s", 2, 8)
    await_that("who cannot start says why", lambda: Sums(api).groups and all(
        group.get("status", {}).get("reason") for group in Sums(api).groups))
    compare("with a gang that borrows and gangs that wait", scheduler, api)

    # a takes it back.
    await_that("they have run for a while", lambda: time.time() >= began + 4)
    submit(api, "mine", 2, 4, queue="a")
    await_that("the lender has its room", lambda: bound(api, "mine") == 2)
    ran = time.time() - began
    compare("after a preemption", scheduler, api)
    assert value(scheduler, "maniple_evicted_gangs_total", queue="b", reason="Preempted") == 1
    assert value(scheduler, "maniple_preempted_gangs_total", preempting_queue="a", reason="OtherQueue") == 1
    assert value(scheduler, "maniple_gangs_preempted_total") == 1
    assert value(scheduler, "maniple_evictions_total") == 2
    assert value(scheduler, "maniple_binds_total", outcome="bound") == 6
    lost = value(scheduler, "maniple_lost_resource_seconds_total", queue="b", resource=GPU)
    assert 8 * 3 <= lost <= 8 * (ran + 1), (lost, ran)
    assert value(scheduler, "maniple_gang_wait_seconds_count", queue="b") == 2
    await_that("all that ran was Ready", lambda: value(scheduler, "maniple_gang_ready_seconds_count", queue="b") == 2)
    assert value(scheduler, "maniple_decision_duration_seconds_count", result="placed") == value(scheduler, "maniple_decisions_total", result="placed")

    # Another leader knows it from the API; what was used goes on from what the Queues' statuses say.
    used = value(scheduler, "maniple_resource_seconds_total", queue="b", flavor="", resource=GPU)
    assert 8 * (ran - SLACK) <= used, (used, ran)
    scheduler.kill()
    scheduler.start()
    await_that("it leads again", lambda: value(scheduler, "leader_election_master_status", name="maniple-scheduler") == 1)
    compare("after a change of leader", scheduler, api)
    standing = time.time() - began
    await_that("usage goes on", lambda: value(scheduler, "maniple_resource_seconds_total", queue="b", flavor="", resource=GPU) >= 8 * (standing - SLACK))

    # Its series go with a Queue.
    finish(api, "mine")
    api.must("DELETE", f"{GROUP}/namespaces/default/podgroups/mine")
    api.must("DELETE", f"{GROUP}/queues/a")
    for pod in pods_by_gang(api)["mine"]:
        api.must("DELETE", f"{PODS}/{pod['metadata']['name']}")
    compare("after an end, and the deletion of a Queue", scheduler, api)
    left = [key for key in exposed(scheduler) if ("queue", "a") in key[1] or ("preempting_queue", "a") in key[1]]
    assert not left, left
    assert scheduler.stop() == 0


def main():
    plays, skipped = on_servers((every_family_is_a_sum_over_the_api,), RealControlPlane)
    return play_all(plays, skipped, sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
