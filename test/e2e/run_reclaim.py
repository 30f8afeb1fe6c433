#!/usr/bin/env python3
"""Quota that was lent is taken back: through the eviction API, past a PodDisruptionBudget that says no at first, and for good;
or, where the configuration lets it, whatever the budget says.

    test/e2e/run_reclaim.py                 # both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_reclaim.py TEXT            # only cases whose name contains TEXT

Two teams of eight GPUs each share a cohort. Team b runs on all sixteen; team a asks for its own eight. The last line is
`N passed, M failed, K skipped`.
"""

import argparse
import json
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import DevCluster, RealControlPlane  # noqa: E402
from support.scheduler import (  # noqa: E402
    GPU, GROUP, Scheduler, add_nodes, await_that, half_bound, is_bound, oversubscribed, pod, pods_by_gang, submit,
)

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PODS = "/api/v1/namespaces/default/pods"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def queue(name):
    return {
        "apiVersion": "scheduling.maniple.dev/v1alpha1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {
            "cohort": "all",
            "quotas": [{"resources": [{"name": GPU, "nominal": 8}]}],
            "preemption": {"reclaimWithinCohort": "Any"},
        },
    }


def group(api, name):
    return api.must("GET", f"{GROUP}/namespaces/default/podgroups/{name}")


def bound(api, name):
    return sum(map(is_bound, pods_by_gang(api).get(name, [])))


def make_budget(api, healthy, name="keep"):
    """A budget over every pod that wants so many healthy. Returns its generation."""
    return api.must("POST", BUDGETS, {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {"minAvailable": healthy, "selector": {}},
    })["metadata"].get("generation", 1)


def allow(api, count, observed, name="keep"):
    """What the disruption controller says, where there is none."""
    status = {"disruptionsAllowed": count, "observedGeneration": observed, "currentHealthy": 4, "desiredHealthy": 4 - count,
              "expectedPods": 4}
    api.must("PATCH", f"{BUDGETS}/{name}/status", {"status": status}, MERGE)


def events(api, reason):
    found = api.must("GET", "/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    return [one for one in found if one.get("reason") == reason]


class Cluster:
    """Team b has lent itself all sixteen GPUs, in two gangs."""

    def __init__(self, server, **config):
        self.api = server.api
        file = server.folder / "config.yaml"
        file.write_text(json.dumps({"apiVersion": "config.maniple.dev/v1alpha1", "kind": "SchedulerConfiguration", **config}))
        add_nodes(self.api, 2)
        for name in ("a", "b"):
            self.api.must("POST", f"{GROUP}/queues", queue(name))
        self.scheduler = Scheduler(server, flags=("--leader-elect=false", "--config", file)).start()
        for name in ("b-one", "b-two"):
            submit(self.api, name, 2, 4, queue="b")
            await_that(f"{name} is bound", lambda name=name: bound(self.api, name) == 2)
            self.run(name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scheduler.stop()

    def run(self, name):
        """A kubelet's word, where there is none: budgets do not protect pods that have not started."""
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        for one in pods_by_gang(self.api)[name]:
            self.api.must("PATCH", f"{PODS}/{one['metadata']['name']}/status", {"status": status}, STRATEGIC)

    def everything_so_far_is_decided(self, name):
        """What a gang wants that competes with nobody is decided after what came before it."""
        submit(self.api, name, 1, 0)
        await_that(f"{name} is bound", lambda: bound(self.api, name) == 1)

    def nobody_has_left(self):
        assert bound(self.api, "b-one") == bound(self.api, "b-two") == 2, "evicted past the budget"
        assert bound(self.api, "mine") == 0

    def the_room_changes_hands_for_good(self):
        api = self.api
        await_that("the preemptor has the room", lambda: bound(api, "mine") == 2)
        victim = next(name for name in ("b-one", "b-two") if bound(api, name) == 0)
        other = "b-two" if victim == "b-one" else "b-one"
        assert bound(api, other) == 2, "one victim was enough"
        await_that("the victim says by whom", lambda: group(api, victim)["status"].get("preemptedBy"))
        # Its controller brings it back; the room is not its own any more.
        for index in range(2):
            api.must("POST", PODS, pod(f"{victim}-{index}", victim, 4))
        await_that("the victim waits for quota", lambda: group(api, victim)["status"].get("reason") == "QuotaExceeded")
        self.everything_so_far_is_decided("after-the-victim")
        assert bound(api, victim) == 0 and bound(api, "mine") == 2
        assert not oversubscribed(api) and not half_bound(api)
        assert events(api, "Preempted") and events(api, "Preempting")
        refused = [one["refused"] for one in self.scheduler.ask("log", "mine")["items"] if one["what"] == "preempt"]
        assert refused and all("to start beside everybody: QuotaExceeded: it needs 8" in one for one in refused), refused
        assert all("; 2 gangs might have left for it" in one for one in refused), refused
        assert metric(self.scheduler, "maniple_preemption_reversals_total") == 0


def make_budget_that_allows_nothing(server):
    generation = make_budget(server.api, 4)
    if isinstance(server, DevCluster):
        await_that("the budget is counted",
                   lambda: server.api.must("GET", f"{BUDGETS}/keep").get("status", {}).get("currentHealthy", 0) > 0)
    else:
        allow(server.api, 0, generation)


def nobody_leaves_until_the_budget_allows_it(server):
    with Cluster(server) as cluster:
        make_budget_that_allows_nothing(server)
        submit(cluster.api, "mine", 2, 4, queue="a")
        await_that("the preemptor waits", lambda: group(cluster.api, "mine").get("status", {}).get("reason"))
        cluster.everything_so_far_is_decided("after-the-preemptor")
        cluster.nobody_has_left()
        patched = cluster.api.must("PATCH", f"{BUDGETS}/keep", {"spec": {"minAvailable": 0}}, MERGE)
        if not isinstance(server, DevCluster):
            allow(cluster.api, 4, patched["metadata"]["generation"])
        cluster.the_room_changes_hands_for_good()


def leaving(api):
    pods = [one for name in ("b-one", "b-two") for one in pods_by_gang(api).get(name, [])]
    return [one for one in pods if "deletionTimestamp" in one["metadata"]]


def two_leave_and_say_why(cluster):
    """A finalizer keeps those who are deleted in sight."""
    api = cluster.api
    for name in ("b-one", "b-two"):
        for index in range(2):
            api.must("PATCH", f"{PODS}/{name}-{index}", {"metadata": {"finalizers": ["example.com/look"]}}, MERGE)
    submit(api, "mine", 2, 4, queue="a")
    await_that("a gang leaves", lambda: len(leaving(api)) == 2)
    for one in leaving(api):
        conditions = {each["type"]: each for each in one["status"]["conditions"]}
        assert conditions["DisruptionTarget"]["reason"] == "PreemptionByScheduler", conditions
        assert "preempted by default/mine" in conditions["DisruptionTarget"]["message"], conditions
    for name in ("b-one", "b-two"):
        for index in range(2):
            api.must("PATCH", f"{PODS}/{name}-{index}", {"metadata": {"finalizers": None}}, MERGE)


def a_budget_is_passed_where_the_configuration_lets_it_be(server):
    with Cluster(server, preemption={"ignorePDB": "Reclaim"}) as cluster:
        make_budget_that_allows_nothing(server)
        two_leave_and_say_why(cluster)
        assert metric(cluster.scheduler, "maniple_budgets_passed_total") == 2
        server.api.must("DELETE", f"{BUDGETS}/keep")
        cluster.the_room_changes_hands_for_good()


def who_two_budgets_cover_leaves_where_the_configuration_lets_it(server):
    with Cluster(server, preemption={"ignorePDB": "Always"}) as cluster:
        for name in ("keep", "keep-too"):
            allow(server.api, 4, make_budget(server.api, 0, name), name)
        two_leave_and_say_why(cluster)
        cluster.the_room_changes_hands_for_good()


def who_two_budgets_cover_is_nobody_s_victim(server):
    with Cluster(server) as cluster:
        api = cluster.api
        # Each of the two allows it, but the eviction API serves no pod that two budgets cover.
        for name in ("keep", "keep-too"):
            allow(api, 4, make_budget(api, 0, name), name)
        assert evict(api, "b-one-0") == 500, "the server evicts who two budgets cover: the rule of victims has no reason any more"
        submit(api, "mine", 2, 4, queue="a")
        await_that("the preemptor waits", lambda: group(api, "mine").get("status", {}).get("reason"))
        cluster.everything_so_far_is_decided("after-the-preemptor")
        cluster.nobody_has_left()
        assert metric(cluster.scheduler, "maniple_evictions_total") == 0, "asked although nobody may leave"
        api.must("DELETE", f"{BUDGETS}/keep-too")
        cluster.the_room_changes_hands_for_good()


def evictions_that_the_server_refuses_are_tried_until_it_grants_them(server):
    with Cluster(server) as cluster:
        api = cluster.api
        refuse_evictions(api)
        await_that("the policy holds", lambda: evict(api, "b-one-0") == 422)
        submit(api, "mine", 2, 4, queue="a")
        await_that("somebody is asked to leave",
                   lambda: group(api, "mine").get("status", {}).get("reason") == "WaitingForPreemption")
        await_that("refusals", lambda: metric(cluster.scheduler, "maniple_evictions_refused_total") >= 4)
        cluster.nobody_has_left()
        api.must("DELETE", f"{ADMISSION}/validatingadmissionpolicybindings/nobody-leaves")
        cluster.the_room_changes_hands_for_good()


def evict(api, name):
    """What the server would answer to somebody who asks this pod to leave."""
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, "deleteOptions": {"dryRun": ["All"]}}
    return api.request("POST", f"{PODS}/{name}/eviction", eviction).status


def refuse_evictions(api):
    """No budget tells a scheduler of this one: it learns it from the answers."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}
    api.must("POST", f"{ADMISSION}/validatingadmissionpolicies", {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "nobody-leaves"},
        "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "false"}]},
    })
    api.must("POST", f"{ADMISSION}/validatingadmissionpolicybindings", {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "nobody-leaves"}, "spec": {"policyName": "nobody-leaves", "validationActions": ["Deny"]},
    })


def metric(scheduler, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{scheduler.port}/metrics", timeout=5) as reply:
        lines = reply.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="?", default="", help="only cases whose name contains this")
    options = parser.parse_args()
    plays, skipped = on_servers(
        [nobody_leaves_until_the_budget_allows_it, a_budget_is_passed_where_the_configuration_lets_it_be], RealControlPlane,
        real_only=[who_two_budgets_cover_is_nobody_s_victim, evictions_that_the_server_refuses_are_tried_until_it_grants_them,
                   who_two_budgets_cover_leaves_where_the_configuration_lets_it],
    )
    return play_all(plays, skipped, options.wanted)


if __name__ == "__main__":
    sys.exit(main())
