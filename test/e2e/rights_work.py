"""What makes the scheduler use each of its rights, one by one, on a real API server. run_rights.py plays it.

Each function of USED_BY takes a Stage and a name that nobody else uses there; it returns the gang that waits where the right is
lacking, if one does. Every gang has a node of its own, so that none waits for another.

    stage = Stage(faulty, Reviewed(account_kubeconfig(faulty, "somebody")).start())
    USED_BY[("create", "", "pods/binding")](stage, "first")
"""

import json
import ssl
from dataclasses import dataclass
from types import SimpleNamespace

import yaml

from e2e.http_access import create, token_of
from e2e.run_mig import add_mig_node
from e2e.run_mig import submit as submit_slices
from support.api_client import ApiClient
from support.control_plane import ROOT, free_ports
from support.scheduler import GROUP, Scheduler, await_that, is_bound, node, pod, pod_group

RBAC = ROOT / "deploy" / "rbac"
PRODUCERS = RBAC / "producers.yaml"
ROLES = (RBAC / "scheduler.yaml", PRODUCERS, RBAC / "optional" / "mig-reconfigure.yaml")
PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
OURS = "scheduling.maniple.dev"
INSTALLED = ("apps", "batch", OURS)  # groups whose kinds the server has
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
HOSTNAME = "kubernetes.io/hostname"
CONFIG = {"apiVersion": "config.maniple.dev/v1alpha1", "kind": "SchedulerConfiguration", "preemption": {"ignorePDB": "Always"},
          "gpu": {"mig": {"reconfigure": "on", "after": "1s"}}}


def role_manifests():
    return [manifest for file in ROLES for manifest in yaml.safe_load_all(file.read_text())]


def single_rules(role):
    """{(verb, group, resource): the rule that gives this and nothing else}"""
    return {(verb, group, resource): {**rule, "apiGroups": [group], "resources": [resource], "verbs": [verb]}
            for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}


def granted():
    """Every right of the shipped roles, in the order of the files."""
    return [right for manifest in role_manifests() if "rules" in manifest for right in single_rules(manifest)]


def within_reach():
    """Those that can be used here: a producer's kind that is not installed is listed in vain, so neither watched nor written, and a
    PodGroup of ours is deleted ten minutes after the last pod of a gang that is made of marks alone."""
    far = {right for right in single_rules(producers_role()) if right[0] != "list" and right[1] not in INSTALLED}
    return [right for right in granted() if right not in far | {("delete", OURS, "podgroups")}]


def producers_role():
    return next(one for one in yaml.safe_load_all(PRODUCERS.read_text()) if "rules" in one)


def give_roles(api, account, without=None):
    """Makes a ServiceAccount that may do what the scheduler may, but for one right."""
    for manifest in role_manifests():
        meta = manifest["metadata"]
        meta["name"] = meta["name"].replace("maniple-scheduler", account)
        if "rules" in manifest:
            manifest["rules"] = [rule for right, rule in single_rules(manifest).items() if right != without]
        if "roleRef" in manifest:
            manifest["roleRef"]["name"] = meta["name"]
            manifest["subjects"][0]["name"] = account
        create(api, manifest)


def user_name(account):
    return f"system:serviceaccount:kube-system:{account}"


def seen_by(server, account):
    """The server as a Scheduler takes it, with a kubeconfig that speaks for the account."""
    config = yaml.safe_load(server.kubeconfig.read_text())
    config["users"][0]["user"]["as"] = user_name(account)
    path = server.folder / f"kubeconfig-{account}"
    path.write_text(yaml.safe_dump(config))
    return SimpleNamespace(api=server.api, folder=server.folder, kubeconfig=path)


class Reviewed(Scheduler):
    """A scheduler that other machines may read over HTTPS with a token; its probes and metrics are on `health`."""

    def __init__(self, server, name, leader_elect=False):
        self.health = free_ports(1)[0]
        config = server.folder / f"{name}.yaml"
        config.write_text(json.dumps(CONFIG))
        super().__init__(server, name, host="0.0.0.0", flags=(
            f"--leader-elect={'true' if leader_elect else 'false'}", "--tls-self-signed", "--health", f"127.0.0.1:{self.health}",
            "--config", config))

    def get(self, port, path, **headers):
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        return ApiClient("127.0.0.1", port, tls, headers).request("GET", path)

    def metrics(self):
        return self.get(self.health, "/metrics").body

    def await_ready(self):
        try:
            await_that("the scheduler is ready", lambda: self.get(self.health, "/readyz").status == 200)
        except AssertionError as error:
            raise AssertionError(f"{error}; its log ends: {self.log.read_text()[-800:]}") from error

    def read_with(self, token):
        """What somebody who has this token is answered over HTTPS."""
        return self.get(self.port, "/gangs?namespace=default", Authorization=f"Bearer {token}")


@dataclass
class Stage:
    """A server behind a proxy that may lose replies, and a scheduler that goes through it."""

    faulty: object
    scheduler: Reviewed

    @property
    def api(self):
        return self.faulty.api

    def add_node(self, name):
        body = node(name)
        self.api.must("POST", "/api/v1/nodes", body)
        self.api.must("PATCH", f"/api/v1/nodes/{name}/status", {"status": body["status"]}, MERGE)
        self.api.must("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, MERGE)

    def add_gang(self, name, where, queue=None, **spec):
        """One pod that fills its node."""
        self.api.must("POST", f"{GROUP}/namespaces/default/podgroups", pod_group(name, 1, **({"queue": queue} if queue else {})))
        self.api.must("POST", PODS, pod(f"{name}-0", name, nodeSelector={HOSTNAME: where}, **spec))
        return name

    def runs(self, name):
        """The gang is bound, and its pod runs, as a kubelet would say."""
        await_that(f"{name} is bound", lambda: is_bound(self.api.must("GET", f"{PODS}/{name}-0")), seconds=60)
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        self.api.must("PATCH", f"{PODS}/{name}-0/status", {"status": status}, STRATEGIC)


def start_a_gang(stage, name):
    stage.add_node(name)
    return stage.add_gang(name, name)


def let_a_gang_wait(stage, name):
    return stage.add_gang(name, "nowhere")


def start_in_a_queue_of_a_cohort(stage, name):
    for kind, spec in (("Cohort", {}), ("Queue", {"cohort": name})):
        stage.api.must("POST", f"{GROUP}/{kind.lower()}s",
                       {"apiVersion": f"{OURS}/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
    stage.add_node(name)
    stage.add_gang(name, name, queue=name)


def preempt(stage, name):
    stage.add_node(name)
    stage.add_gang(f"{name}-low", name)
    stage.runs(f"{name}-low")
    return stage.add_gang(name, name, priorityClassName="high")


def preempt_past_a_budget(stage, name):
    low = f"{name}-low"
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
              "spec": {"minAvailable": 1, "selector": {"matchLabels": {f"{OURS}/pod-group": low}}}}
    stage.api.must("POST", BUDGETS, budget)
    status = {"disruptionsAllowed": 0, "observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    stage.api.must("PATCH", f"{BUDGETS}/{name}/status", {"status": status}, MERGE)
    return preempt(stage, name)


def mount(stage, name, provisioner):
    """A gang whose pod mounts a claim of a class that waits for the first consumer."""
    stage.api.must("POST", "/apis/storage.k8s.io/v1/storageclasses", {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer"})
    stage.api.must("POST", CLAIMS, {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"storageClassName": name, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
    stage.add_node(name)
    return stage.add_gang(name, name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}])


def mount_a_claim_to_provision(stage, name):
    return mount(stage, name, "csi.example.com")


def mount_a_volume_that_is_there(stage, name):
    here = {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [name]}]}]}
    stage.api.must("POST", "/api/v1/persistentvolumes", {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {"storageClassName": name, "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                 "local": {"path": "/data"}, "nodeAffinity": {"required": here}}})
    stage.api.must("PATCH", f"/api/v1/persistentvolumes/{name}/status", {"status": {"phase": "Available"}}, MERGE)
    return mount(stage, name, "kubernetes.io/no-provisioner")


def lose_the_reply_to_a_bind(stage, name):
    """Requests end without a reply until some have; then the pod is read to see what became of it."""
    stage.add_node(name)
    before = stage.faulty.counts().get("refuse", 0)
    stage.faulty.set_percent(refuse=100)
    stage.add_gang(name, name)
    await_that("a bind without a reply", lambda: stage.faulty.counts().get("refuse", 0) >= before + 2)
    stage.faulty.set_percent()


def start_a_job(stage, name):
    """An Indexed Job of two pods, as its controller would make them: the gang's PodGroup is the scheduler's to make."""
    stage.add_node(name)
    pods = [pod(f"{name}-{index}", gpus=4, nodeSelector={HOSTNAME: name}) for index in range(2)]
    template = {"metadata": {}, "spec": {**pods[0]["spec"], "restartPolicy": "Never"}}
    job = stage.api.must("POST", JOBS, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                                        "spec": {"completionMode": "Indexed", "parallelism": 2, "completions": 2, "template": template}})
    for one in pods:
        one["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job["metadata"]["uid"],
                                               "controller": True, "blockOwnerDeletion": True}]
        stage.api.must("POST", PODS, one)


def scale_a_job(stage, name):
    start_a_job(stage, name)
    stands = f"{GROUP}/namespaces/default/podgroups"
    await_that("a PodGroup stands for the Job", lambda: any(
        one["spec"].get("source", {}).get("name") == name for one in stage.api.must("GET", stands)["items"]))
    stage.api.must("PATCH", f"{JOBS}/{name}", {"spec": {"parallelism": 3, "completions": 3}}, MERGE)


def be_read_over_https(stage, _):
    """Once by an account that may read nothing, so that both reviews are asked for; a token is remembered, so each is a new one."""
    await_that("HTTPS is served", lambda: stage.scheduler.read_with(token_of(stage.api, "kube-system", "reader")).status in (403, 503))


def divide_a_node(stage, name):
    add_mig_node(stage.api, name)
    submit_slices(stage.api, name, 1, "nvidia.com/mig-1g.10gb")


def lead(_stage, _name):
    """The Lease needs nobody's help."""


USED_BY = {
    ("create", "", "pods/binding"): start_a_gang,
    ("create", "", "pods/eviction"): preempt,
    ("delete", "", "pods"): preempt_past_a_budget,
    ("get", "", "pods"): lose_the_reply_to_a_bind,
    ("patch", "", "pods/status"): let_a_gang_wait,
    ("patch", "", "persistentvolumeclaims"): mount_a_claim_to_provision,
    ("patch", "", "persistentvolumes"): mount_a_volume_that_is_there,
    ("patch", "", "nodes"): divide_a_node,
    ("patch", OURS, "podgroups/status"): start_a_gang,
    ("create", OURS, "podgroups"): start_a_job,
    ("patch", OURS, "podgroups"): scale_a_job,
    ("patch", OURS, "queues/status"): start_in_a_queue_of_a_cohort,
    ("patch", OURS, "cohorts/status"): start_in_a_queue_of_a_cohort,
    ("create", "events.k8s.io", "events"): start_a_gang,
    ("create", "authentication.k8s.io", "tokenreviews"): be_read_over_https,
    ("create", "authorization.k8s.io", "subjectaccessreviews"): be_read_over_https,
    ("create", "coordination.k8s.io", "leases"): lead,
    ("get", "coordination.k8s.io", "leases"): lead,
    ("update", "coordination.k8s.io", "leases"): lead,
}


def prepare(api):
    create(api, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "namespace": "kube-system"}})
    api.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
             {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10})


def clear(api):
    """Takes away what waits or runs, so that the next scheduler has nothing to do but its own."""
    for path in (PODS, JOBS, f"{GROUP}/namespaces/default/podgroups", BUDGETS, CLAIMS, "/api/v1/persistentvolumes", f"{GROUP}/queues",
                 f"{GROUP}/cohorts", "/api/v1/nodes", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"):
        api.must("DELETE", path)
