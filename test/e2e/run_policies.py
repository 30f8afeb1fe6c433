#!/usr/bin/env python3
"""The admission policies of deploy/policy on a real API server, as a user of one namespace meets them.

    test/e2e/run_policies.py             # skipped, loudly, where the real server is not built
    test/e2e/run_policies.py TEXT        # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import dataclasses
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import ROOT, RealControlPlane, await_true  # noqa: E402

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"
DOMAIN = "scheduling.maniple.dev"
KINDS = {"ValidatingAdmissionPolicy": "validatingadmissionpolicies",
         "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings"}


def pod(name, scheduler="maniple", **spec):
    container = {"name": "main", "image": "registry.example/train:1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "train"}},
            "spec": {"schedulerName": scheduler, "containers": [container], **spec}}


def edit(api, name, **metadata):
    """What the server answers to a merge patch of the pod's metadata: a status, and the words for people."""
    reply = api.request("PATCH", f"{PODS}/{name}", {"metadata": metadata}, MERGE)
    return reply.status, reply.body.get("message", "")


def bind(api, name):
    api.must("POST", f"{PODS}/{name}/binding", {
        "apiVersion": "v1", "kind": "Binding",
        "metadata": {"name": name, "annotations": {f"{DOMAIN}/admitted-queue": "blue"}},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"}})


def tenant_of(server):
    """A client that may do with pods of its namespace what the role `edit` may, with the policies in force."""
    api = server.api
    api.must("POST", f"{RBAC}/namespaces/default/rolebindings", {
        "metadata": {"name": "tenant"}, "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "tenant"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:aggregate-to-edit"}})
    for manifest in yaml.safe_load_all((ROOT / "deploy" / "policy" / "tenants.yaml").read_text()):
        api.must("POST", f"{ADMISSION}/{KINDS[manifest['kind']]}", manifest)
    tenant = dataclasses.replace(api, headers={"Impersonate-User": "tenant", "Impersonate-Group": "system:authenticated"})
    trial = {**pod("trial"), "spec": {**pod("trial")["spec"], "nodeName": "n1"}}
    await_true("the policy", lambda: tenant.request("POST", f"{PODS}?dryRun=All", trial).status == 403, server.children[-1])
    return tenant


def a_pod_that_runs_keeps_its_gang_and_queue(server):
    tenant = tenant_of(server)
    tenant.must("POST", PODS, pod("a"))
    assert edit(tenant, "a", labels={f"{DOMAIN}/queue": "blue"})[0] == 200, "who waits may still choose"
    bind(server.api, "a")
    for key in ("pod-group", "sub-group", "queue"):
        status, why = edit(tenant, "a", labels={f"{DOMAIN}/{key}": "red"})
        assert status == 403 and "of a pod that runs cannot change" in why, (key, status, why)
    status, why = edit(tenant, "a", labels={f"{DOMAIN}/queue": None})
    assert status == 403, (status, why)
    assert edit(tenant, "a", labels={"app": "other"})[0] == 200, "other labels are the user's own"
    server.api.must("PATCH", f"{PODS}/a/status", {"status": {"phase": "Succeeded"}}, MERGE)
    assert edit(tenant, "a", labels={f"{DOMAIN}/queue": "red"})[0] == 200, "what has ended is charged to nobody"


def nobody_but_the_scheduler_says_where_a_pod_was_admitted(server):
    tenant = tenant_of(server)
    forged = pod("forged")
    forged["metadata"]["annotations"] = {f"{DOMAIN}/admitted-queue": "red"}
    assert tenant.request("POST", PODS, forged).status == 403
    tenant.must("POST", PODS, pod("a"))
    assert edit(tenant, "a", annotations={f"{DOMAIN}/admitted-queue": "red"})[0] == 403
    bind(server.api, "a")
    told = server.api.must("GET", f"{PODS}/a")["metadata"]["annotations"]
    assert told[f"{DOMAIN}/admitted-queue"] == "blue", told
    assert edit(tenant, "a", annotations={f"{DOMAIN}/admitted-queue": None})[0] == 403
    assert edit(tenant, "a", annotations={"note": "mine"})[0] == 200


def only_pods_of_other_schedulers_choose_their_node(server):
    tenant = tenant_of(server)
    reply = tenant.request("POST", PODS, pod("a", nodeName="n1"))
    assert reply.status == 403 and "does not choose its node itself" in reply.body["message"], reply
    tenant.must("POST", PODS, pod("b", scheduler="default-scheduler", nodeName="n1"))
    server.api.must("POST", PODS, pod("by-the-platform", nodeName="n1"))


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [a_pod_that_runs_keeps_its_gang_and_queue, nobody_but_the_scheduler_says_where_a_pod_was_admitted,
             only_pods_of_other_schedulers_choose_their_node]
    plays, skipped = on_servers([], RealControlPlane, real_only=cases)
    return play_all(plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
