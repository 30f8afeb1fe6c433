"""The pods of an installed Deployment, played by processes on this machine: no kubelet, no controller and no image is needed.

    with PlayedDeployment(server, "kube-system", "maniple-scheduler") as pods:
        pods.roll()   # after each install, upgrade or rollback: as its controller would, one by one
        pods.end()    # after an uninstall

A process gets the command, the environment, the files and the ports that the pod template says, and a token of its ServiceAccount.
It reads the token from a kubeconfig: the place in a pod is fixed.
"""

import base64
import os
import re
import ssl

import yaml

from support.api_client import ApiClient
from support.control_plane import Process, build_folder, free_ports
from support.scheduler import await_that


class PlayedPod:
    """One process; `folder` holds what its volumes hold. `spec` is that of a pod."""

    def __init__(self, server, namespace, spec, folder):
        self.server, self.namespace, self.spec, self.folder = server, namespace, spec, folder
        self.container = self.spec["containers"][0]
        ports = [one["containerPort"] for one in self.container.get("ports", [])]
        self.ports = dict(zip(ports, free_ports(len(ports))))
        folder.mkdir()
        self.mounts = {one["mountPath"]: self._volume(one["name"]) for one in self.container["volumeMounts"]}
        self.log = folder / "log"
        program, *arguments = map(self._here, self.container["command"])
        environment = {**os.environ, **{one["name"]: self._here(one["value"]) for one in self.container.get("env", [])}}
        if self.spec.get("automountServiceAccountToken", True):
            arguments += ["--kubeconfig", self._kubeconfig()]
        self.process = Process([build_folder() / program, *arguments], self.log, environment)

    def _volume(self, name):
        volume = next(one for one in self.spec["volumes"] if one["name"] == name)
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        for kind, key, plural, text in (("configMap", "name", "configmaps", str.encode),
                                        ("secret", "secretName", "secrets", base64.b64decode)):
            if kind in volume:
                held = self.server.api.must("GET", f"/api/v1/namespaces/{self.namespace}/{plural}/{volume[kind][key]}")
                for file, content in held["data"].items():
                    (folder / file).write_bytes(text(content))
        return folder

    def _here(self, text):
        """The text with paths and ports of this machine."""
        for path, folder in self.mounts.items():
            text = re.sub(rf"{re.escape(path)}(?=/|$)", str(folder), text)
        return re.sub(r"(?<=:)\d+$", lambda found: str(self.ports.get(int(found[0]), found[0])), text)

    def _kubeconfig(self):
        account = self.spec["serviceAccountName"]
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{account}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        config = yaml.safe_load(self.server.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": self.server.api.must("POST", path, request)["status"]["token"]}
        file = self.folder / "kubeconfig"
        file.touch(0o600)
        file.write_text(yaml.safe_dump(config))
        return file

    def is_ready(self):
        self.process.require_alive()
        probe = self.container["readinessProbe"]["httpGet"]
        port = next(one["containerPort"] for one in self.container["ports"] if one["name"] == probe["port"])
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        return ApiClient("127.0.0.1", self.ports[port], tls).request("GET", probe["path"]).status == 200

    def end(self):
        """As a kubelet ends it; the exit status."""
        return self.process.stop(seconds=self.spec["terminationGracePeriodSeconds"])


class PlayedDeployment:
    """REQUIRES: one container, and a strategy that starts a new pod before an old one ends, as it is by default."""

    def __init__(self, server, namespace, name):
        self.server, self.namespace, self.name = server, namespace, name
        self.path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
        self.template, self.pods, self.started = None, [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pod in self.pods:
            pod.process.stop()

    def roll(self):
        """Replaces every pod if the template is another one; how many it started."""
        wanted = self.server.api.must("GET", self.path)["spec"]
        if wanted["template"] == self.template:
            return 0
        self.template, old = wanted["template"], self.pods
        self.pods = []
        for _ in range(wanted["replicas"]):
            self.started += 1
            folder = self.server.folder / f"{self.name}-{self.started}"
            pod = PlayedPod(self.server, self.namespace, self.template["spec"], folder)
            self.pods.append(pod)
            await_that(f"{folder.name} is ready", pod.is_ready)
            if old:
                self._end(old.pop(0))
        while old:
            self._end(old.pop(0))
        return len(self.pods)

    def end(self):
        """After the Deployment is gone."""
        assert self.server.api.request("GET", self.path).status == 404, f"{self.path} is still there"
        while self.pods:
            self._end(self.pods.pop())
        self.template = None

    def _end(self, pod):
        status = pod.end()
        assert status == 0, f"ended with status {status}: {pod.log.read_text()[-800:]}"
