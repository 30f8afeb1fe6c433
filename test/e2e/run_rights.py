#!/usr/bin/env python3
"""The scheduler as its ServiceAccount on a real API server: with deploy/rbac it lacks nothing, and whatever is taken away is named.

    test/e2e/run_rights.py          # skipped, loudly, where the real server is not built

The last line is `N passed, M failed, K skipped`.
"""

import copy
import sys
import urllib.request
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import ROOT, RealControlPlane  # noqa: E402
from support.scheduler import GROUP, Scheduler, add_nodes, await_that, is_bound, node, pod, pod_group, pods_by_gang, submit  # noqa: E402

RBAC = "/apis/rbac.authorization.k8s.io/v1"
FORBIDDEN = "maniple_requests_forbidden_total"
PATHS = {
    "ServiceAccount": "/api/v1/namespaces/kube-system/serviceaccounts",
    "ClusterRole": f"{RBAC}/clusterroles",
    "ClusterRoleBinding": f"{RBAC}/clusterrolebindings",
    "Role": f"{RBAC}/namespaces/kube-system/roles",
    "RoleBinding": f"{RBAC}/namespaces/kube-system/rolebindings",
}
# What is written in the course of `work`: verb, group, resource.
WRITTEN = [
    ("create", "", "pods/binding"),
    ("create", "", "pods/eviction"),
    ("patch", "", "pods/status"),
    ("patch", "scheduling.maniple.dev", "podgroups/status"),
    ("patch", "scheduling.maniple.dev", "queues/status"),
    ("create", "events.k8s.io", "events"),
]


class AsServiceAccount(RealControlPlane):
    """The kubeconfig of its clients speaks for the scheduler's ServiceAccount; `api` stays the administrator."""

    def write_kubeconfig(self, cluster, user):
        super().write_kubeconfig(cluster, {**user, "as": "system:serviceaccount:kube-system:maniple-scheduler"})


def install_roles(api):
    for one in yaml.safe_load_all((ROOT / "deploy" / "rbac" / "scheduler.yaml").read_text()):
        api.must("POST", PATHS[one["kind"]], one)


def metrics(scheduler):
    with urllib.request.urlopen(f"http://127.0.0.1:{scheduler.port}/metrics", timeout=5) as reply:
        return reply.read().decode()


def counted(scheduler, right):
    verb, group, resource = right
    return f'{FORBIDDEN}{{group="{group}",resource="{resource}",verb="{verb}"}}' in metrics(scheduler)


def prepare(api):
    install_roles(api)
    add_nodes(api, 1)
    api.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
             {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10})
    api.must("POST", f"{GROUP}/queues", {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "q"},
                                         "spec": {}})


def work(api, name):
    """A gang that starts if there is room, one that never fits, and one for which somebody has to leave."""
    submit(api, f"{name}-low", 1)
    submit(api, f"{name}-waits", 9)
    api.must("POST", f"{GROUP}/namespaces/default/podgroups", pod_group(f"{name}-high", 1))
    api.must("POST", "/api/v1/namespaces/default/pods", pod(f"{name}-high-0", f"{name}-high", priorityClassName="high"))


def with_its_own_role_it_lacks_nothing(server):
    api = server.api
    prepare(api)
    scheduler = Scheduler(server, flags=("--leader-elect=true",)).start()
    try:
        submit(api, "low", 1)
        await_that("low is bound", lambda: all(map(is_bound, pods_by_gang(api)["low"])), seconds=60)
        work(api, "w")
        await_that("the high one is bound", lambda: all(map(is_bound, pods_by_gang(api)["w-high"])), seconds=60)
        await_that("its status is written", lambda: status(api, "w-high").get("phase") == "Running")
        assert FORBIDDEN not in metrics(scheduler), metrics(scheduler)
    finally:
        scheduler.stop()
    assert "forbid" not in scheduler.log.read_text(), scheduler.log.read_text()[-800:]


def status(api, gang):
    return api.must("GET", f"{GROUP}/namespaces/default/podgroups/{gang}").get("status", {})


def whatever_is_taken_away_is_named(server):
    api = server.api
    prepare(api)
    submit(api, "stands", 1)
    whole = Scheduler(server, "whole", flags=("--leader-elect=true",)).start()
    await_that("stands is bound", lambda: all(map(is_bound, pods_by_gang(api)["stands"])), seconds=60)
    whole.stop()
    path = f"{PATHS['ClusterRole']}/maniple-scheduler"
    role = api.must("GET", path)
    for index, right in enumerate(WRITTEN):
        less = copy.deepcopy(role)
        verb, group, resource = right
        for rule in less["rules"]:
            if group in rule["apiGroups"] and verb in rule["verbs"] and resource in rule["resources"]:
                rule["resources"] = [one for one in rule["resources"] if one != resource] or ["nothing"]
        del less["metadata"]["resourceVersion"]
        api.must("PUT", path, less)
        scheduler = Scheduler(server, f"without-{index}", flags=("--leader-elect=true",)).start()
        try:
            if resource == "pods/binding":
                add_room(api, f"free-{index}")  # else there is nothing to bind
            work(api, f"w{index}")
            await_that(f"{right} is counted", lambda right=right, scheduler=scheduler: counted(scheduler, right), seconds=60)
            said = f"forbids Maniple to {verb} {resource}"
            await_that(said, lambda scheduler=scheduler, said=said: said in scheduler.log.read_text())
        finally:
            scheduler.stop()
    api.must("PUT", path, {**role, "metadata": {"name": "maniple-scheduler"}})


def add_room(api, name):
    body = node(name)
    api.must("POST", "/api/v1/nodes", body)
    api.must("PATCH", f"/api/v1/nodes/{name}/status", {"status": body["status"]}, "application/merge-patch+json")
    api.must("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, "application/merge-patch+json")


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    plays, skipped = on_servers((), AsServiceAccount, (with_its_own_role_it_lacks_nothing, whatever_is_taken_away_is_named))
    return play_all(plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
