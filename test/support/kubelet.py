"""Plays the kubelets and the controllers' host of a real API server: nothing runs, but everybody is told that it does."""

import threading

from support.control_plane import free_ports

PODS = "/api/v1/pods"
MERGE = "application/merge-patch+json"


class Kubelets:
    """Bound pods run and are ready; deleted ones are gone at once. Runs on a thread of its own until the block ends."""

    def __init__(self, api):
        self.api, self.ended = api, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _run(self):
        while not self.ended.wait(0.1):
            try:
                for one in self.api.must("GET", PODS)["items"]:
                    self._see(one)
            except (OSError, RuntimeError):
                continue  # the server goes away at the end of a test

    def _see(self, one):
        path = path_of(one)
        if one["metadata"].get("deletionTimestamp"):
            self.api.request("DELETE", path, {"gracePeriodSeconds": 0})
        elif one["spec"].get("nodeName") and one["status"].get("phase") == "Pending":
            ready = [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady", "Initialized")]
            kept = [condition for condition in one["status"].get("conditions") or [] if condition["type"] == "PodScheduled"]
            # The version as a precondition: a pod that ended after it was listed does not run again.
            as_listed = {"resourceVersion": one["metadata"]["resourceVersion"]}
            running = {"metadata": as_listed, "status": {"phase": "Running", "conditions": kept + ready}}
            self.api.request("PATCH", path + "/status", running, MERGE)


def path_of(one):
    return f"/api/v1/namespaces/{one['metadata']['namespace']}/pods/{one['metadata']['name']}"


def end(api, one, phase="Succeeded", code=0):
    """The pod's only container has stopped."""
    state = {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error"}}
    container = {"name": "main", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": state}
    api.must("PATCH", path_of(one) + "/status", {"status": {"phase": phase, "containerStatuses": [container]}}, MERGE)


def start_controllers(server, gates=()):
    """kube-controller-manager with the controllers that make pods, beside a RealControlPlane."""
    program = server.assets / "kube-controller-manager"
    controllers = ("job-controller", "cronjob-controller", "statefulset-controller", "deployment-controller", "replicaset-controller",
                   "garbage-collector-controller", "disruption-controller", *(("podgroup-protection-controller",) if gates else ()))
    return server.spawn(
        program,
        f"--kubeconfig={server.kubeconfig}",
        f"--controllers={','.join(controllers)}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={free_ports(1)[0]}",
        *([f"--feature-gates={','.join(gates)}"] if gates else []),
    )
