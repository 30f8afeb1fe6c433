"""Two teams on a real API server, each the user `edit` of one namespace, and the scheduler that serves both.

Red attacks, blue only wants to run its pods:

    with town(server) as one:
        one.red.must("POST", pods("red"), one.pod("bomb", …))
        assert one.serve_blue() < SOON
"""

import json
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import yaml

from e2e.http_access import bind, create, person
from e2e.run_policies import acting_as
from support.control_plane import ROOT
from support.scheduler import GROUP, Scheduler, await_that, is_bound, node

OURS = "scheduling.maniple.dev"
MERGE = "application/merge-patch+json"
JSON = "application/json"
STRATEGIC = "application/strategic-merge-patch+json"
ROLES = ("system:aggregate-to-edit", "system:aggregate-to-view", "maniple-edit", "maniple-view")
SOON = 5.0  # seconds: a pod that fits is bound within them, on two cores that others use
WRITERS = 4


def pods(team):
    return f"/api/v1/namespaces/{team}/pods"


def groups(team):
    return f"{GROUP}/namespaces/{team}/podgroups"


def pod(name, queue=None, group=None, scheduler="maniple", labels=None, **spec):
    """A pod that asks for `cpu` (1) and what `asks` names further."""
    amounts = {"cpu": spec.pop("cpu", "1"), **spec.pop("asks", {})}
    wanted = {f"{OURS}/queue": queue, f"{OURS}/pod-group": group, **(labels or {})}
    container = {"name": "main", "image": spec.pop("image", "registry.example/train:1"),
                 "resources": {"requests": amounts, "limits": amounts}}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {key: value for key, value in wanted.items() if value}},
            "spec": {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0, "containers": [container], **spec}}


def group(name, members, **spec):
    return {"apiVersion": f"{OURS}/v1alpha1", "kind": "PodGroup", "metadata": {"name": name}, "spec": {"minMember": members, **spec}}


def send(client, requests):
    """All of them, over a few connections at once."""
    requests = list(requests)
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(client.must_all, [requests[first::WRITERS] for first in range(WRITERS)]))


def post(client, path, bodies):
    send(client, (("POST", path, body, JSON) for body in bodies))


class Town:
    def __init__(self, server, **config):
        self.server, self.api, self.served = server, server.api, 0
        for manifest in yaml.safe_load_all((ROOT / "deploy" / "rbac" / "users.yaml").read_text()):
            create(self.api, manifest)
        for team in ("red", "blue"):
            meta = {"name": team, "labels": {"team": team}}
            self.api.must("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
            for role in ROLES:
                bind(self.api, team, ("ClusterRole", role), person(team))
        self.red, self.blue = (acting_as(self.api, team) for team in ("red", "blue"))
        await_that("red may make pods", lambda: self.red.request("POST", pods("red") + "?dryRun=All", pod("trial")).status == 201)
        assert self.red.request("POST", pods("blue") + "?dryRun=All", pod("trial")).status == 403
        file = server.folder / "config.yaml"
        file.write_text(json.dumps({"apiVersion": "config.maniple.dev/v1alpha1", "kind": "SchedulerConfiguration", **config}))
        self.scheduler = Scheduler(server, flags=("--leader-elect=false", "--config", file)).start()

    def add_nodes(self, names, cpu="64", gpus=0, **labels):
        bodies = [node(name, gpus, cpu) for name in names]
        for body in bodies:
            body["metadata"]["labels"].update(labels)
        post(self.api, "/api/v1/nodes", bodies)
        for subresource, change in (("/status", lambda body: {"status": body["status"]}), ("", lambda _: {"spec": {"taints": None}})):
            send(self.api, (("PATCH", f"/api/v1/nodes/{body['metadata']['name']}{subresource}", change(body), MERGE) for body in bodies))

    def add_queue(self, name, team, cpu, **spec):
        """A Queue that lets this team in."""
        self.api.must("POST", f"{GROUP}/queues", {
            "apiVersion": f"{OURS}/v1alpha1", "kind": "Queue", "metadata": {"name": name},
            "spec": {"namespaceSelector": {"matchLabels": {"team": team}},
                     "quotas": [{"resources": [{"name": "cpu", "nominal": cpu}]}], **spec}})

    def restart(self):
        self.scheduler.kill()
        self.scheduler.start()

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.scheduler.port}/metrics", timeout=SOON) as reply:
            return sum(float(line.split()[-1]) for line in reply.read().decode().splitlines() if line.startswith(name))

    def rss_mib(self):
        for line in open(f"/proc/{self.scheduler.process.child.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise KeyError("VmRSS")

    def bound(self, team, name):
        return is_bound(self.api.must("GET", f"{pods(team)}/{name}"))

    def why(self, team, name):
        """What the pod itself says of its waiting."""
        found = self.api.must("GET", f"{pods(team)}/{name}").get("status", {}).get("conditions", [])
        return " ".join(f"{one.get('reason')}: {one.get('message')}" for one in found if one["type"] == "PodScheduled")

    def serve_blue(self, seconds=60, **spec):
        """Seconds that a new pod of blue waits; it ends afterwards."""
        name = f"served-{self.served}"
        self.served += 1
        began = time.monotonic()
        self.blue.must("POST", pods("blue"), pod(name, **spec))
        await_that(f"blue's {name} is bound", lambda: self.bound("blue", name), seconds, pause=0.02)
        waited = time.monotonic() - began
        self.blue.must("DELETE", f"{pods('blue')}/{name}")
        return waited

    def served_soon(self, **spec):
        waited = self.serve_blue(**spec)
        assert waited < SOON, f"blue waited {waited:.1f} s"
        with urllib.request.urlopen(f"http://127.0.0.1:{self.scheduler.port}/livez", timeout=SOON) as reply:
            assert reply.status == 200


@contextmanager
def town(server, **config):
    one = Town(server, **config)
    try:
        yield one
    finally:
        code = one.scheduler.stop()
    assert code == 0, f"the scheduler ended with status {code}: {one.scheduler.log.read_text()[-600:]}"
