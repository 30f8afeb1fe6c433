"""maniple-scheduler as a process under test, and the objects that tests give it."""

import json
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.control_plane import Process, build_folder, free_ports

GROUP = "/apis/scheduling.maniple.dev/v1alpha1"
POD_GROUP = "scheduling.maniple.dev/pod-group"
GPU = "nvidia.com/gpu"


class Scheduler:
    """One life or many of maniple-scheduler against one server. The log of every life is kept in one file."""

    def __init__(self, server, name="scheduler", flags=("--leader-elect=false",), binaries=None, host="127.0.0.1"):
        self.server, self.flags, self.name, self.host = server, flags, name, host
        self.binaries = Path(binaries or build_folder())
        self.log = server.folder / f"{name}.log"
        self.socket = server.folder / f"{name}.sock"
        self.port = free_ports(1)[0]
        self.process = None

    def start(self):
        self.process = Process(
            [
                *(self.binaries / "maniple-scheduler", "--kubeconfig", self.server.kubeconfig),
                *("--http", f"{self.host}:{self.port}", "--admin", f"unix:{self.socket}", *self.flags),
            ],
            self.log,
        )
        return self

    def kill(self):
        self.process.child.send_signal(signal.SIGKILL)
        self.process.child.wait()

    def stop(self, seconds=30, kind=signal.SIGTERM):
        return self.process.stop(kind, seconds)

    def maniple(self, *arguments):
        """(status, stdout, stderr) of the command line, pointed at this scheduler."""
        command = [str(self.binaries / "maniple"), "--admin", f"unix:{self.socket}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout, done.stderr

    def ask(self, *arguments):
        status, output, error = self.maniple(*arguments, "-o", "json")
        if "no scheduler found" in error:
            raise ConnectionError(error)  # await_that takes it for a no
        if status:
            raise RuntimeError(error)
        return json.loads(output)


def maniple_on(server, *arguments):
    """(status, stdout, stderr) of the command line, pointed at the API server only."""
    command = [str(Path(build_folder()) / "maniple"), "--kubeconfig", str(server.kubeconfig), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def node(name, gpus=8, cpu="64"):
    amounts = {"cpu": cpu, "memory": "512Gi", "pods": "110", GPU: str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "Test"}],
        },
    }


def pod(name, group=None, gpus=8, **spec):
    amounts = {GPU: str(gpus), "cpu": "1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {POD_GROUP: group} if group else {}},
        "spec": {
            "schedulerName": "maniple",
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/train:1",
                    "resources": {"requests": amounts, "limits": amounts},
                }
            ],
            **spec,
        },
    }


def pod_group(name, members, **spec):
    return {
        "apiVersion": "scheduling.maniple.dev/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minMember": members, **spec},
    }


def add_nodes(api, count, gpus=8):
    """Real API servers drop status at creation, so it is written twice; the embedded one does not mind."""
    for index in range(count):
        body = node(f"node-{index:03}", gpus)
        api.must("POST", "/api/v1/nodes", body)
        path = f"/api/v1/nodes/{body['metadata']['name']}"
        api.must("PATCH", path + "/status", {"status": body["status"]}, "application/merge-patch+json")
        api.must("PATCH", path, {"spec": {"taints": None}}, "application/merge-patch+json")


def submit(api, name, members, gpus=8, **spec):
    api.must("POST", f"{GROUP}/namespaces/default/podgroups", pod_group(name, members, **spec))
    for index in range(members):
        api.must("POST", "/api/v1/namespaces/default/pods", pod(f"{name}-{index}", name, gpus))


def submit_many(api, gangs, members, gpus):
    """Gangs g-000 …, eight at a time, so that creation does not hold the flood back."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda index: submit(api, f"g-{index:03}", members, gpus), range(gangs)))


def pods_by_gang(api):
    """{gang: [pod, …]} of every pod that has one."""
    found = {}
    for one in api.must("GET", "/api/v1/pods")["items"]:
        group = one["metadata"].get("labels", {}).get(POD_GROUP)
        if group:
            found.setdefault(group, []).append(one)
    return found


def is_bound(one):
    return bool(one["spec"].get("nodeName"))


def oversubscribed(api):
    """Sentences about nodes with more GPUs given out than they have."""
    have = {one["metadata"]["name"]: int(one["status"]["allocatable"].get(GPU, 0)) for one in api.must("GET", "/api/v1/nodes")["items"]}
    used = {}
    for one in api.must("GET", "/api/v1/pods")["items"]:
        where = one["spec"].get("nodeName")
        if where and one.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            used[where] = used.get(where, 0) + sum(int(c["resources"]["requests"].get(GPU, 0)) for c in one["spec"]["containers"])
    return [f"{name}: {used[name]} of {have.get(name, 0)} GPUs" for name in sorted(used) if used[name] > have.get(name, 0)]


def half_bound(api):
    """Gangs with some members bound but fewer than their minMember."""
    groups = {g["metadata"]["name"]: g["spec"]["minMember"] for g in api.must("GET", f"{GROUP}/podgroups")["items"]}
    wrong = []
    for name, members in pods_by_gang(api).items():
        bound = sum(map(is_bound, members))
        if 0 < bound < groups.get(name, 1):
            wrong.append(f"{name}: {bound} of {groups[name]}")
    return wrong


def await_that(what, question, seconds=60.0, pause=0.1):
    """Waits until question() is true; a failure says what was missing. Nobody listening yet is a no, not an error."""
    until = time.monotonic() + seconds
    while True:
        try:
            answer = question()
        except OSError:
            answer = None
        if answer:
            return answer
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause)


def matches(pattern, text):
    return re.search(pattern, text, re.IGNORECASE) is not None
