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
GROUPS = f"/apis/{DOMAIN}/v1alpha1/namespaces/default/podgroups"
SCHEDULER = "system:serviceaccount:kube-system:maniple-scheduler"
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


def group(name, **spec):
    return {"apiVersion": f"{DOMAIN}/v1alpha1", "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}


SOURCE = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train", "uid": "1"}


def acting_as(api, user):
    return dataclasses.replace(api, headers={"Impersonate-User": user, "Impersonate-Group": "system:authenticated"})


def apply_policies(api):
    for manifest in yaml.safe_load_all((ROOT / "deploy" / "policy" / "tenants.yaml").read_text()):
        api.must("POST", f"{ADMISSION}/{KINDS[manifest['kind']]}", manifest)


def tenant_of(server):
    """A client that may do with pods of its namespace what the role `edit` may, with the policies in force."""
    api = server.api
    api.must("POST", f"{RBAC}/clusterroles", {
        "metadata": {"name": "groups"}, "rules": [{"apiGroups": [DOMAIN], "resources": ["podgroups"], "verbs": ["*"]}]})
    for role in ("system:aggregate-to-edit", "groups"):
        api.must("POST", f"{RBAC}/namespaces/default/rolebindings", {
            "metadata": {"name": role}, "subjects": [
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name} for name in ("tenant", SCHEDULER)],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}})
    apply_policies(api)
    tenant = acting_as(api, "tenant")
    trial = {**pod("trial"), "spec": {**pod("trial")["spec"], "nodeName": "n1"}}
    await_true("the policy", lambda: tenant.request("POST", f"{PODS}?dryRun=All", trial).status == 403, server.children[-1])
    foreign = group("trial", source=SOURCE)
    await_true("the policy", lambda: tenant.request("POST", f"{GROUPS}?dryRun=All", foreign).status == 403, server.children[-1])
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


# The marks of other projects that name a gang, as api/producers/marks.cc has them.
LABELS = ("scheduling.x-k8s.io/pod-group", "grove.io/podgang", "yunikorn.apache.org/app-id", "spark-app-selector", "applicationId",
          "pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name", "kueue.x-k8s.io/pod-group-name",
          "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/jobset-uid", "jobset.sigs.k8s.io/replicatedjob-name",
          "jobset.sigs.k8s.io/restart-attempt", "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index",
          "leaderworkerset.sigs.k8s.io/template-revision-hash", "training.kubeflow.org/job-name", "training.kubeflow.org/job-role")
ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name", "pod-group-name", "yunikorn.apache.org/app-id",
               "yunikorn.apache.org/task-group-name", "gang.scheduling.koordinator.sh/name", "kueue.x-k8s.io/pod-group-name",
               "kueue.x-k8s.io/pod-suspending-parent", "scheduling.maniple.dev/min-member", "kai.scheduler/batch-min-member",
               "scheduling.volcano.sh/group-min-member")


def a_pod_that_runs_joins_no_gang_of_another_project(server):
    tenant = tenant_of(server)
    tenant.must("POST", PODS, pod("a"))
    assert edit(tenant, "a", annotations={"pod-group-name": "x"})[0] == 200, "who waits may still choose"
    bind(server.api, "a")
    for kind, keys in (("labels", LABELS), ("annotations", ANNOTATIONS)):
        for key in keys:
            status, why = edit(tenant, "a", **{kind: {key: "other"}})
            assert status == 403 and "of a pod that runs cannot change" in why, (kind, key, status, why)
    assert edit(tenant, "a", annotations={"pod-group-name": None})[0] == 403
    assert edit(tenant, "a", annotations={"note": "mine"})[0] == 200, "other annotations are the user's own"


def owner(name, controller=True):
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": name, "uid": f"uid-of-{name}", "controller": controller}


def a_pod_that_runs_keeps_its_controller(server):
    tenant = tenant_of(server)
    tenant.must("POST", PODS, {**pod("a"), "metadata": {"name": "a", "ownerReferences": [owner("mine")]}})
    bind(server.api, "a")
    for owners in ([owner("other")], [], [owner("mine", controller=False)]):
        status, why = edit(tenant, "a", ownerReferences=owners)
        assert status == 403 and "the controller of a pod that runs cannot change" in why, (owners, status, why)
    assert edit(tenant, "a", ownerReferences=[owner("mine"), owner("friend", controller=False)])[0] == 200
    server.api.must("POST", f"{RBAC}/clusterrolebindings", {
        "metadata": {"name": "operator"}, "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "operator"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:aggregate-to-edit"}})
    operator = acting_as(server.api, "operator")
    await_true("the operator's rights", lambda: edit(operator, "a", ownerReferences=[])[0] == 200, server.children[-1])


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


def a_term(number):
    return {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": f"a{number}"}}}


def an_expression(number):
    return {"key": f"example.com/k{number}", "operator": "Exists"}


def what_one_pod_may_not_ask():
    """The limit's words; the spec that keeps it; the one that exceeds it by one."""
    def container(**more):
        return {"name": "main", "image": "registry.example/train:1", **more}

    def terms(most):
        anti = {"requiredDuringSchedulingIgnoredDuringExecution": [a_term(n) for n in range(most - 2)],
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": a_term(0)}]}
        spread = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
        return {"affinity": {"podAntiAffinity": anti}, "topologySpreadConstraints": [spread]}

    def keys(most):
        half = [an_expression(n) for n in range(most // 2)]
        rest = [an_expression(n) for n in range(most - most // 2 - 1)]
        return {"nodeSelector": {"example.com/rack": "r1"}, "affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": half}]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": rest}}]}}}

    def tolerations(most):
        # The server adds two of its own: not-ready and unreachable.
        return {"tolerations": [{"key": f"example.com/k{n}", "operator": "Exists"} for n in range(most - 2)]}

    def images(most):
        return {"containers": [{**container(), "name": f"c{n}"} for n in range(most - 1)],
                "initContainers": [container(name="first")]}

    def resources(most):
        amounts = {f"example.com/r{n}": "1" for n in range(most)}
        return {"containers": [container(resources={"requests": amounts, "limits": amounts})]}

    def ports(most):
        mapped = [{"containerPort": 1 + n, "hostPort": 1 + n} for n in range(most)]
        return {"containers": [container(ports=[*mapped, {"containerPort": 9000}])]}

    return [(f"at most {most} {words}", make(most), make(most + 1)) for words, most, make in (
        ("terms on other pods and spread constraints", 128, terms), ("label keys of nodes", 256, keys),
        ("tolerations", 256, tolerations), ("images", 256, images), ("resources", 64, resources), ("host ports", 256, ports))]


def a_pod_that_asks_beyond_a_cap_is_refused_with_the_limit(server):
    tenant = tenant_of(server)
    for limit, within, beyond in what_one_pod_may_not_ask():
        reply = tenant.request("POST", f"{PODS}?dryRun=All", pod("most", **within))
        assert reply.status == 201, (limit, reply)
        reply = tenant.request("POST", f"{PODS}?dryRun=All", pod("more", **beyond))
        assert reply.status == 422 and limit in reply.body["message"], (limit, reply)
        tenant.must("POST", f"{PODS}?dryRun=All", pod("others", scheduler="default-scheduler", **beyond))


def nobody_but_the_scheduler_says_what_a_group_stands_for(server):
    tenant, scheduler = tenant_of(server), acting_as(server.api, SCHEDULER)
    reply = tenant.request("POST", GROUPS, group("forged", source=SOURCE))
    assert reply.status == 403 and "spec.source is written by the scheduler alone" in reply.body["message"], reply
    tenant.must("POST", GROUPS, group("mine", minMember=2))
    assert tenant.request("PATCH", f"{GROUPS}/mine", {"spec": {"source": SOURCE}}, MERGE).status == 403
    scheduler.must("POST", GROUPS, group("made", source=SOURCE))
    assert tenant.request("PATCH", f"{GROUPS}/made", {"spec": {"source": {"name": "other"}}}, MERGE).status == 403
    assert tenant.request("PATCH", f"{GROUPS}/made", {"spec": {"source": None}}, MERGE).status == 403
    tenant.must("PATCH", f"{GROUPS}/made", {"spec": {"minMember": 3}}, MERGE)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [a_pod_that_runs_keeps_its_gang_and_queue, a_pod_that_runs_joins_no_gang_of_another_project, a_pod_that_runs_keeps_its_controller,
             nobody_but_the_scheduler_says_where_a_pod_was_admitted,
             only_pods_of_other_schedulers_choose_their_node, a_pod_that_asks_beyond_a_cap_is_refused_with_the_limit,
             nobody_but_the_scheduler_says_what_a_group_stands_for]
    plays, skipped = on_servers([], RealControlPlane, real_only=cases)
    return play_all(plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
