#!/usr/bin/env python3
"""Kubernetes' own controllers make the pods: kube-controller-manager on a real API server, Maniple as the scheduler.

    test/e2e/run_controllers.py         # every case; all are skipped, loudly, where no control plane is built
    test/e2e/run_controllers.py TEXT    # only those whose name contains TEXT
    MANIPLE_KUBERNETES=1.37.2 test/e2e/run_controllers.py  # on that version, built by test/controlplane/build.sh

Fears: a Job that is taken for a gang though it is none, or the other way round; a Job whose next pods wait for ever because a
quorum counts those that come later; a replaced pod that is taken for a new gang; half a gang bound at any moment.
The last line is `N passed, M failed, K skipped`.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import attempt  # noqa: E402
from support.control_plane import HOW_TO_ENABLE, KUBERNETES, ROOT, RealControlPlane, assets, program  # noqa: E402
from support.kubelet import MERGE, Kubelets, end, start_controllers  # noqa: E402
from support.scheduler import GPU, GROUP, Scheduler, await_that, is_bound  # noqa: E402

JOBS, PODS = "/apis/batch/v1/namespaces/default/jobs", "/api/v1/namespaces/default/pods"
CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"
SETS, DEPLOYMENTS = "/apis/apps/v1/namespaces/default/statefulsets", "/apis/apps/v1/namespaces/default/deployments"
# How Kubernetes' own groups are asked for, by its minor version. From 1.37 on a Job says itself whether it is a gang.
MINOR = KUBERNETES.rpartition(".")[0]
GROUPS, GATES, AS_GANG = {
    "1.36": ("scheduling.k8s.io/v1alpha2", ("GenericWorkload=true", "GangScheduling=true", "WorkloadWithJob=true"), {}),
    "1.37": ("scheduling.k8s.io/v1beta1", ("GenericWorkload=true", "WorkloadWithJob=true"), {"scheduling": {"schedulingPolicy": {"gang": {}}}}),
}[MINOR]


def template(restart="Never", **metadata):
    amounts = {GPU: "1", "cpu": "1"}
    container = {"name": "main", "image": "registry.example/train:1", "resources": {"requests": amounts, "limits": amounts}}
    return {"metadata": metadata, "spec": {"schedulerName": "maniple", "restartPolicy": restart, "containers": [container]}}


def job(name, pods, **spec):
    indexed = {"completionMode": "Indexed", "parallelism": pods, "completions": pods, "backoffLimit": 6, "template": template()}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {**indexed, **spec}}


class Cluster:
    """What a case sees: the server with controllers, kubelets, nodes of one GPU each and a scheduler."""

    def __init__(self, server, scheduler, nodes):
        self.api, self.scheduler = server.api, scheduler
        for _ in range(nodes):
            self.add_node()

    def clear(self):
        for collection in (CRON_JOBS, JOBS, SETS, DEPLOYMENTS):
            self.api.must("DELETE", collection, {"propagationPolicy": "Background"})
        await_that("all pods are gone", lambda: not self.api.must("GET", PODS)["items"])
        self.api.must("DELETE", "/api/v1/nodes")

    def pods(self, prefix):
        return [one for one in self.api.must("GET", PODS)["items"] if one["metadata"]["name"].startswith(prefix + "-")]

    def bound(self, prefix):
        return sum(map(is_bound, self.pods(prefix)))

    def live(self, prefix):
        return [one for one in self.pods(prefix) if one["status"].get("phase") not in ("Succeeded", "Failed")]

    def await_bound(self, prefix, count):
        await_that(f"{count} pods of {prefix} bound", lambda: self.bound(prefix) == count)

    def stays(self, prefix, pods, bound):
        """That many pods are there, and after the scheduler has spoken of all of them so many are bound."""
        def told():
            now = self.pods(prefix)
            waiting = [one for one in now if not is_bound(one)]
            return len(now) == pods and len(now) - len(waiting) == bound and all(map(waits, waiting))

        await_that(f"{bound} of {pods} pods of {prefix} bound, the others told why", told)

    def add_node(self):
        have = len(self.api.must("GET", "/api/v1/nodes")["items"])
        name = f"more-{have:03}"
        status = {"capacity": {"cpu": "64", "memory": "512Gi", "pods": "110", GPU: "1"},
                  "conditions": [{"type": "Ready", "status": "True", "reason": "Test"}]}
        status["allocatable"] = status["capacity"]
        self.api.must("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        self.api.must("PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, MERGE)
        self.api.must("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, MERGE)

    def upstream_groups(self):
        return self.api.must("GET", f"/apis/{GROUPS}/podgroups")["items"]

    def groups(self, kind, name):
        found = self.api.must("GET", f"{GROUP}/podgroups")["items"]
        return [one for one in found if (one["spec"].get("source") or {}).get("kind") == kind and one["spec"]["source"]["name"] == name]

    def await_group(self, kind, name, minimum, phase):
        def stands():
            found = self.groups(kind, name)
            return len(found) == 1 and found[0]["spec"]["minMember"] == minimum and (found[0].get("status") or {}).get("phase") == phase

        await_that(f"one PodGroup for {kind}/{name}: minMember {minimum}, {phase}", stands)


def waits(one):
    return any(c["type"] == "PodScheduled" and c["status"] == "False" for c in one["status"].get("conditions") or [])


def has_condition(thing, kind):
    return any(c["type"] == kind and c["status"] == "True" for c in (thing.get("status") or {}).get("conditions") or [])


def with_nodes(count, gates=()):
    """Marks a function that takes the cluster as a case."""
    def mark(play):
        play.nodes, play.gates = count, gates
        return play

    return mark


@with_nodes(2)
def an_indexed_job_starts_whole_and_completes(c):
    c.api.must("POST", JOBS, job("train", 3))
    c.stays("train", pods=3, bound=0)
    c.add_node()
    c.await_bound("train", 3)
    c.await_group("Job", "train", 3, "Running")
    for one in c.pods("train"):
        end(c.api, one)
    await_that("the Job is complete", lambda: has_condition(c.api.must("GET", f"{JOBS}/train"), "Complete"))


@with_nodes(2)
def a_job_without_indices_is_no_gang(c):
    c.api.must("POST", JOBS, job("batch", 3, completionMode="NonIndexed"))
    c.stays("batch", pods=3, bound=2)
    end(c.api, next(one for one in c.pods("batch") if is_bound(one)))
    await_that("the third takes the room of the first", lambda: sum(map(is_bound, c.live("batch"))) == 2)
    assert not c.groups("Job", "batch"), "a Job that asks for no gang has a PodGroup"


@with_nodes(3)
def a_failed_index_is_made_again_in_the_running_gang(c):
    for policy in ("TerminatingOrFailed", "Failed"):
        name = f"retry-{policy.lower()}"
        c.api.must("POST", JOBS, job(name, 3, backoffLimit=None, backoffLimitPerIndex=2, podReplacementPolicy=policy)
                   if policy == "Failed" else job(name, 3))
        c.await_bound(name, 3)
        others = {one["metadata"]["uid"] for one in c.pods(name)}
        lost = c.pods(name)[0]
        others.discard(lost["metadata"]["uid"])
        end(c.api, lost, "Failed", code=1)
        await_that("three run again", lambda: sum(map(is_bound, c.live(name))) == 3, seconds=60)
        assert others <= {one["metadata"]["uid"] for one in c.live(name)}, "the others had to leave"
        c.api.must("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Foreground"})
        await_that("its pods go", lambda: not c.pods(name))


@with_nodes(2)
def a_job_is_suspended_and_goes_on(c):
    c.api.must("POST", JOBS, job("pause", 2, suspend=True))
    for _ in range(2):
        await_that("no pod while it is suspended", lambda: not c.pods("pause"))
        c.api.must("PATCH", f"{JOBS}/pause", {"spec": {"suspend": False}}, MERGE)
        c.await_bound("pause", 2)
        c.api.must("PATCH", f"{JOBS}/pause", {"spec": {"suspend": True}}, MERGE)


@with_nodes(4)
def an_elastic_job_grows_and_shrinks(c):
    c.api.must("POST", JOBS, job("elastic", 2))
    c.await_bound("elastic", 2)
    for pods in (4, 1):
        c.api.must("PATCH", f"{JOBS}/elastic", {"spec": {"parallelism": pods, "completions": pods}}, MERGE)
        await_that(f"{pods} pods run", lambda: len(c.live("elastic")) == pods and all(map(is_bound, c.live("elastic"))))


@with_nodes(2)
def later_indices_wait_for_no_quorum(c):
    """More completions than run at once: no gang, and each index takes the room of an earlier one."""
    c.api.must("POST", JOBS, job("many", 2, completions=4))
    for _ in range(2):
        await_that("two run", lambda: len(c.live("many")) == 2 and all(map(is_bound, c.live("many"))))
        for one in c.live("many"):
            end(c.api, one)
    await_that("the Job is complete", lambda: has_condition(c.api.must("GET", f"{JOBS}/many"), "Complete"))


@with_nodes(2)
def each_job_of_a_cron_job_is_a_gang(c):
    spec = {"schedule": "* * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": job("", 3)["spec"]}}
    c.api.must("POST", CRON_JOBS, {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "often"}, "spec": spec})
    await_that("the minute is full", lambda: c.pods("often"), seconds=75)
    c.stays("often", pods=3, bound=0)
    c.add_node()
    c.await_bound("often", 3)
    c.await_group("Job", c.api.must("GET", JOBS)["items"][0]["metadata"]["name"], 3, "Running")


def replica_set(name, policy, **annotations):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
            "spec": {"replicas": 3, "serviceName": name, "podManagementPolicy": policy, "selector": {"matchLabels": labels},
                     "template": template("Always", labels=labels, annotations=annotations)}}


@with_nodes(2)
def an_ordered_stateful_set_does_not_wait_for_its_later_pods(c):
    c.api.must("POST", SETS, replica_set("ordered", "OrderedReady", **{"scheduling.maniple.dev/min-member": "3"}))
    c.stays("ordered", pods=3, bound=2)
    c.add_node()
    c.await_bound("ordered", 3)


@with_nodes(2)
def a_parallel_stateful_set_is_a_gang_where_its_pods_say_so(c):
    c.api.must("POST", SETS, replica_set("parallel", "Parallel", **{"scheduling.maniple.dev/min-member": "3"}))
    c.stays("parallel", pods=3, bound=0)
    c.add_node()
    c.await_bound("parallel", 3)
    c.await_group("StatefulSet", "parallel", 3, "Running")


@with_nodes(2)
def the_pods_of_a_deployment_are_no_gang(c):
    labels = {"app": "serve"}
    c.api.must("POST", DEPLOYMENTS, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "serve"},
                                     "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": template("Always", labels=labels)}})
    c.stays("serve", pods=3, bound=2)


@with_nodes(2, gates=GATES)
def a_job_brings_a_workload_of_its_own(c):
    """The Job controller makes Workload and PodGroup itself; nobody but it writes their spec."""
    c.api.must("POST", JOBS, job("train", 3, **AS_GANG))
    c.stays("train", pods=3, bound=0)
    groups = c.upstream_groups()
    assert len(groups) == 1, groups
    assert groups[0]["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}, groups
    name, spec = groups[0]["metadata"]["name"], groups[0]["spec"]
    assert all(one["spec"]["schedulingGroup"]["podGroupName"] == name for one in c.pods("train"))
    c.await_group("PodGroup", name, 3, "Pending")
    c.scheduler.kill()
    c.add_node()
    c.scheduler.start()
    c.await_bound("train", 3)
    c.await_group("PodGroup", name, 3, "Running")
    assert c.upstream_groups()[0]["spec"] == spec, "its spec was written"


@with_nodes(2, gates=GATES)
def a_job_that_asks_kubernetes_for_no_gang_is_one_by_its_owner(c):
    """From 1.37 on its pods come with a group whose policy is basic, which says nothing of what its owner is."""
    c.api.must("POST", JOBS, job("train", 3))
    c.stays("train", pods=3, bound=0)
    groups = c.upstream_groups()
    assert [one["spec"]["schedulingPolicy"] for one in groups] == [{"basic": {}}], groups
    assert all(one["spec"].get("schedulingGroup") for one in c.pods("train"))
    c.add_node()
    c.await_bound("train", 3)
    c.await_group("Job", "train", 3, "Running")


CASES = [
    an_indexed_job_starts_whole_and_completes,
    a_job_without_indices_is_no_gang,
    a_failed_index_is_made_again_in_the_running_gang,
    a_job_is_suspended_and_goes_on,
    an_elastic_job_grows_and_shrinks,
    later_indices_wait_for_no_quorum,
    each_job_of_a_cron_job_is_a_gang,
    an_ordered_stateful_set_does_not_wait_for_its_later_pods,
    a_parallel_stateful_set_is_a_gang_where_its_pods_say_so,
    the_pods_of_a_deployment_are_no_gang,
    a_job_brings_a_workload_of_its_own,
    *([a_job_that_asks_kubernetes_for_no_gang_is_one_by_its_owner] if MINOR != "1.36" else []),
]


def play_on_one_server(cases, gates, results):
    """One after the other, each on nodes of its own."""
    flags = (f"--feature-gates={','.join(gates)}", f"--runtime-config={GROUPS}=true") if gates else ()
    with RealControlPlane(assets(), flags=flags) as server:
        server.install_crds()
        start_controllers(server, gates)
        scheduler = Scheduler(server).start()
        with Kubelets(server.api):
            for case in cases:
                cluster = Cluster(server, scheduler, case.nodes)
                results.append(attempt(case.__name__, lambda: case(cluster)))
                cluster.clear()


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [case for case in CASES if wanted in case.__name__]
    results = []
    if assets() is not None:
        build = ROOT / "test" / "controlplane" / "build.sh"
        subprocess.run([build, "kube-controller-manager"], check=True, stdout=subprocess.DEVNULL)
    if program("kube-controller-manager") is None:
        print(HOW_TO_ENABLE)
    else:
        for gates in ((), GATES):
            if some := [case for case in cases if case.gates == gates]:
                play_on_one_server(some, gates, results)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, {len(cases) - len(results)} skipped")
    return 0 if all(results) and cases else 1


if __name__ == "__main__":
    sys.exit(main())
