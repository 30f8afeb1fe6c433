#!/usr/bin/env python3
"""Nodes that an autoscaler is asked for, for the whole of a gang. Real processes; a stand-in answers as cluster-autoscaler does.

    test/e2e/run_autoscaler.py         # on both servers; on a real one skipped, loudly, where it is not built
    test/e2e/run_autoscaler.py TEXT    # only the plays whose name contains TEXT

Fears: a request or a template that the API server refuses; pods that say Unschedulable while it is asked; a gang that waits for ever
for nodes which nobody brings. The last line is `N passed, M failed, K skipped`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import RealControlPlane  # noqa: E402
from support.definitions import install_open  # noqa: E402
from support.scheduler import GPU, Scheduler, add_nodes, await_that, is_bound, submit  # noqa: E402

CLASS = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
CONFIGURATION = f"""apiVersion: config.maniple.dev/v1alpha1
kind: SchedulerConfiguration
autoscaling: {{provisioningRequests: {{className: {CLASS}, parameters: {{noRetry: "true"}}}}}}
"""
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/namespaces/default/provisioningrequests"
TEMPLATES = "/api/v1/namespaces/default/podtemplates"


def install(server):
    install_open(server, [("autoscaling.x-k8s.io", "v1", "ProvisioningRequest", "provisioningrequests", True)])


def start(server):
    file = server.folder / "scheduler.yaml"
    file.write_text(CONFIGURATION)
    return Scheduler(server, flags=("--leader-elect=false", "--config", str(file))).start()


def items(api, path):
    return api.must("GET", path)["items"]


def reasons(api):
    """What each pod says that it waits for; "" = nothing."""
    def of(pod):
        conditions = (pod.get("status") or {}).get("conditions") or []
        return next((c.get("reason", "") for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False"), "")

    return {of(pod) for pod in items(api, "/api/v1/pods") if not is_bound(pod)}


def the_request(api):
    """Once all that it names is there."""
    found = await_that("one ProvisioningRequest", lambda: items(api, REQUESTS))
    assert len(found) == 1, found
    return found[0]


def answer(api, kind, reason):
    condition = {"type": kind, "status": "True", "reason": reason, "message": "says the stand-in", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    path = f"{REQUESTS}/{the_request(api)['metadata']['name']}"
    api.must("PATCH", path + "/status", {"status": {"conditions": [condition]}}, "application/merge-patch+json")


def nodes_come(server):
    """One request for the quorum; its pods wait for nodes, and run when these are there; nothing is left over."""
    install(server)
    start(server)
    submit(server.api, "train", 3)
    request = the_request(server.api)
    assert request["spec"]["provisioningClassName"] == CLASS and request["spec"]["parameters"] == {"noRetry": "true"}
    [pods] = request["spec"]["podSets"]
    template = server.api.must("GET", f"{TEMPLATES}/{pods['podTemplateRef']['name']}")["template"]
    assert pods["count"] == 3 and template["spec"]["containers"][0]["resources"]["limits"][GPU] == "8"
    [owner] = request["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("PodGroup", "train")
    answer(server.api, "Provisioned", "CapacityIsProvisioned")
    await_that("its pods wait for nodes", lambda: reasons(server.api) == {"WaitingForNodes"})
    add_nodes(server.api, 3)
    await_that("it runs", lambda: all(is_bound(pod) for pod in items(server.api, "/api/v1/pods")))
    await_that("nothing is left over", lambda: not items(server.api, REQUESTS) and not items(server.api, TEMPLATES))


def nobody_has_any(server):
    """A request that fails leaves the pods to ask for themselves."""
    install(server)
    scheduler = start(server)
    submit(server.api, "train", 3)
    answer(server.api, "Failed", "OutOfResources")
    await_that("its pods say Unschedulable", lambda: reasons(server.api) == {"Unschedulable"}, seconds=40)
    told = scheduler.maniple("explain", "train")[1]
    assert "came to nothing: OutOfResources: says the stand-in" in told, told


def killed_meanwhile(server):
    """The next leader goes on with the request that it finds."""
    install(server)
    scheduler = start(server)
    submit(server.api, "train", 2)
    before = the_request(server.api)["metadata"]["uid"]
    scheduler.kill()
    scheduler.start()
    await_that("its pods wait for nodes", lambda: reasons(server.api) == {"WaitingForNodes"})
    assert the_request(server.api)["metadata"]["uid"] == before
    add_nodes(server.api, 2)
    await_that("it runs", lambda: all(is_bound(pod) for pod in items(server.api, "/api/v1/pods")))


def not_installed(server):
    """Without the kind the pods say Unschedulable at once."""
    start(server)
    submit(server.api, "train", 2)
    await_that("its pods say Unschedulable", lambda: reasons(server.api) == {"Unschedulable"})
    assert not items(server.api, TEMPLATES) or all(one["metadata"]["ownerReferences"] for one in items(server.api, TEMPLATES))


def main():
    plays, skipped = on_servers([nodes_come, nobody_has_any, killed_meanwhile, not_installed], RealControlPlane)
    return play_all(plays, skipped, sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
