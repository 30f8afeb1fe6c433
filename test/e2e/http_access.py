"""Who may read what over HTTP, on a real API server: by token, by exec plugin, by client certificate, straight and through its proxy.

Each case takes a real control plane, on which our CRDs are installed. They stand in the list of run_tenants.py.
"""

import json
import socket
import ssl
import subprocess
from contextlib import contextmanager
from pathlib import Path

import yaml

from support.api_client import ApiClient
from support.control_plane import ROOT, Process, build_folder, free_ports
from support.scheduler import GROUP, await_that, pod_group

TOKEN_REQUEST = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
MERGE = "application/merge-patch+json"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
PATHS = {
    "ServiceAccount": "/api/v1/namespaces/{ns}/serviceaccounts",
    "ClusterRole": RBAC + "/clusterroles",
    "ClusterRoleBinding": RBAC + "/clusterrolebindings",
    "Role": RBAC + "/namespaces/{ns}/roles",
    "RoleBinding": RBAC + "/namespaces/{ns}/rolebindings",
}


def own_address():
    """An address of this machine that is not the loopback, as a Service's endpoint must be; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("198.51.100.1", 9))  # nothing is sent
        except OSError:
            return None
        return one.getsockname()[0]


def create(api, manifest):
    path = PATHS[manifest["kind"]].format(ns=manifest["metadata"].get("namespace"))
    reply = api.request("POST", path, manifest)
    assert reply.status in (201, 409), reply


def bind(api, namespace, role, subject):
    """`role` is (kind, name); `subject` as RBAC writes it."""
    name = f"{role[1]}-{subject['name']}"
    create(api, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": name, "namespace": namespace},
                 "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role[0], "name": role[1]}, "subjects": [subject]})


def token_of(api, namespace, account):
    return api.must("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token", TOKEN_REQUEST)["status"]["token"]


def person(name):
    return {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}


def account(name, namespace):
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


class Served:
    """A scheduler with our RBAC that other machines reach, and a gang in each of two namespaces; alice reads those of one."""

    def __init__(self, server):
        self.server, self.api = server, server.api
        for file in sorted((ROOT / "deploy" / "rbac").glob("*.yaml")):
            for manifest in yaml.safe_load_all(file.read_text()):
                create(self.api, manifest)
        for name in ("ours", "theirs"):
            self.api.must("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            group = pod_group(f"gang-{name}", 2)
            group["metadata"]["namespace"] = name
            self.api.must("POST", f"{GROUP}/namespaces/{name}/podgroups", group)
        create(self.api, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "alice", "namespace": "ours"}})
        bind(self.api, "ours", ("ClusterRole", "maniple-view"), account("alice", "ours"))
        bind(self.api, "kube-system", ("Role", "maniple-explain"), account("alice", "ours"))
        self.alice = token_of(self.api, "ours", "alice")
        self.port = free_ports(1)[0]
        own = self.kubeconfig("scheduler", {"token": token_of(self.api, "kube-system", "maniple-scheduler")})
        self.process = Process([build_folder() / "maniple-scheduler", "--kubeconfig", own, "--leader-elect=false", "--tls-self-signed",
                                "--http", f"0.0.0.0:{self.port}", "--admin", f"unix:{server.folder}/admin.sock"], server.folder / "scheduler.log")
        await_that("the scheduler is ready", lambda: self.page("/readyz").status == 200)

    def kubeconfig(self, name, user):
        path = self.server.folder / f"kubeconfig-{name}"
        config = yaml.safe_load(self.server.kubeconfig.read_text())
        config["users"] = [{"name": "test", "user": user}]
        path.write_text(yaml.safe_dump(config))
        return path

    def page(self, path, token=None, header="Authorization"):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # without the authorities of the system, which take 20 ms to load
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        value = token and (f"Bearer {token}" if header == "Authorization" else token)
        return ApiClient("127.0.0.1", self.port, tls, {header: value} if token else {}).request("GET", path)

    def publish(self, address):
        """A Service that leads to a pod, as its controller and a kubelet would make it: the proxy goes to pods only."""
        name, namespace = "maniple-scheduler", "/api/v1/namespaces/kube-system"
        meta, ports = {"name": name, "namespace": "kube-system"}, [{"name": "http", "port": self.port, "protocol": "TCP"}]
        spec = {"containers": [{"name": "main", "image": "registry.example/scheduler:1"}]}
        self.api.must("POST", f"{namespace}/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        self.api.must("PATCH", f"{namespace}/pods/{name}/status", {"status": {"podIP": address, "podIPs": [{"ip": address}]}}, MERGE)
        self.api.must("POST", f"{namespace}/services", {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": ports}})
        leads_to = {"ip": address, "targetRef": {"kind": "Pod", "namespace": "kube-system", "name": name}}
        self.api.must("POST", f"{namespace}/endpoints",
                      {"apiVersion": "v1", "kind": "Endpoints", "metadata": meta, "subsets": [{"addresses": [leads_to], "ports": ports}]})

    def explain(self, kubeconfig, namespace):
        command = [build_folder() / "maniple", "explain", f"gang-{namespace}", "-n", namespace, "-o", "json", "--kubeconfig", kubeconfig]
        return subprocess.run(command, capture_output=True, text=True, timeout=30)

    def certificate(self, name):
        self.server._issue(name, f"/CN={name}", "extendedKeyUsage=clientAuth")
        return {"client-certificate": str(self.server.folder / f"{name}.crt"), "client-key": str(self.server.folder / f"{name}.key")}


@contextmanager
def served(server):
    one = Served(server)
    try:
        yield one
        assert one.alice not in one.process.log.read_text(), "a token stands in the log"
    finally:
        one.process.stop(seconds=30)


def a_reader_sees_what_rbac_lets_them_see(server):
    with served(server) as one:
        assert one.page("/livez").status == 200
        for path in ("/gangs", "/gangs?namespace=ours", "/explain?name=gang-ours&namespace=ours", "/nodes", "/queues", "/metrics"):
            assert one.page(path).status == 401, path
            assert one.page(path, "nonsense").status == 401, path
        for header in ("Authorization", "X-Maniple-Token"):
            reply = one.page("/gangs?namespace=ours", one.alice, header)
            assert reply.status == 200 and [gang["name"] for gang in reply.body["items"]] == ["gang-ours"], reply
        for path, says in (("/gangs?namespace=theirs", 'may not get podgroups.scheduling.maniple.dev in namespace "theirs"'), ("/gangs", "in all namespaces"),
                           ("/explain?name=gang-theirs&namespace=theirs", 'in namespace "theirs"'), ("/explain?name=x", 'in namespace "default"'),
                           ("/nodes", "may not get nodes"), ("/queues", "may not get queues"), ("/metrics", "may not get the path /metrics")):
            reply = one.page(path, one.alice)
            assert reply.status == 403 and says in reply.body, (path, reply)
        viewer = token_of(one.api, "kube-system", "maniple-viewer")
        assert len(one.page("/gangs", viewer).body["items"]) == 2
        assert one.page("/queues", viewer).status == 200
        check_that_without_the_right_to_ask_nobody_reads_and_it_is_said(one)


def check_that_without_the_right_to_ask_nobody_reads_and_it_is_said(one):
    role = one.api.must("GET", f"{RBAC}/clusterroles/maniple-scheduler")
    rules = [rule for rule in role["rules"] if "tokenreviews" not in rule.get("resources", [])]
    one.api.must("PATCH", f"{RBAC}/clusterroles/maniple-scheduler", {"rules": rules}, MERGE)

    def refused():  # each time with a token that is not remembered
        reply = one.page("/gangs?namespace=ours", token_of(one.api, "ours", "alice"))
        return reply.status == 503 and "create tokenreviews" in reply.body

    await_that("the reader is told", refused)
    assert "could not be asked who may read this (create tokenreviews): HTTP 403" in one.process.log.read_text()
    assert one.page("/readyz").status == 200


def explain_works_through_the_proxy_with_token_plugin_and_certificate(server):
    address = own_address()
    assert address, "this machine has no address that a Service could lead to"
    with served(server) as one:
        one.publish(address)
        plugin = server.folder / "plugin.sh"
        credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": one.alice}}
        plugin.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
        plugin.chmod(0o700)
        exec_user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}}
        for name in ("carol", "dave"):
            bind(one.api, "kube-system", ("Role", "maniple-explain"), person(name))
        bind(one.api, "kube-system", ("Role", "maniple-viewer-token"), person("carol"))
        token, plugged = one.kubeconfig("alice", {"token": one.alice}), one.kubeconfig("plugin", exec_user)
        carol, dave = (one.kubeconfig(name, one.certificate(name)) for name in ("carol", "dave"))
        await_that("the proxy leads to the scheduler", lambda: one.explain(token, "ours").returncode == 0)
        for kubeconfig in (token, plugged, carol):
            done = one.explain(kubeconfig, "ours")
            assert done.returncode == 0 and json.loads(done.stdout)["name"] == "gang-ours", (kubeconfig, done)
        for kubeconfig in (token, plugged):
            done = one.explain(kubeconfig, "theirs")
            assert done.returncode == 1 and 'may not get podgroups.scheduling.maniple.dev in namespace "theirs"' in done.stderr, done
        done = one.explain(dave, "ours")
        assert done.returncode == 1 and "ServiceAccount kube-system/maniple-viewer" in done.stderr and done.stderr.count("\n") == 1, done


def memory_mib(process):
    [line] = [line for line in Path(f"/proc/{process.child.pid}/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def a_thousand_tokens_are_each_asked_about_and_cost_little(server):
    with served(server) as one:
        assert one.page("/gangs?namespace=ours", one.alice).status == 200
        before = memory_mib(one.process)
        tokens = {token_of(one.api, "ours", "alice") for _ in range(1000)}
        assert len(tokens) == 1000
        for number, token in enumerate(tokens):
            assert one.page("/gangs?namespace=ours", token).status == 200, number
            if number % 100 == 0:
                assert one.page("/gangs?namespace=ours", token[:-8] + "AAAAAAAA").status == 401, "a token that nobody has signed"
                assert one.page("/readyz").status == 200
        grown = memory_mib(one.process) - before
        assert grown < 16, f"{grown:.1f} MiB for 1,000 tokens"


HTTP_ACCESS = (a_reader_sees_what_rbac_lets_them_see, a_thousand_tokens_are_each_asked_about_and_cost_little,
               explain_works_through_the_proxy_with_token_plugin_and_certificate)
