#!/usr/bin/env python3
"""Starts the API servers that tests run against: kube-apiserver with its etcd, or maniple-devcluster.

Both are context managers that own their processes and a temporary folder, listen on free ports of the loopback interface, and
offer `api` (an ApiClient) and `kubeconfig` (a path):

    with RealControlPlane(assets()) as server:
        server.api.must("GET", "/api/v1/nodes")

As a program it runs a command beside a real control plane, its kubeconfig in KUBECONFIG:

    test/support/control_plane.py -- kubectl get nodes
"""

import ctypes
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

# Not `test.support`: that name is taken by Python's own library.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.api_client import ApiClient  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES = os.environ.get("MANIPLE_KUBERNETES", "1.36.1")  # as test/controlplane/build.sh
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
HOW_TO_ENABLE = (
    "SKIPPED, NO REAL CONTROL PLANE: run test/controlplane/build.sh (needs Go), "
    "or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver"
)


def assets():
    """The folder with etcd and kube-apiserver, or None. Never builds: that is test/controlplane/build.sh."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else cache / "maniple" / "controlplane" / KUBERNETES
    programs = (folder / "etcd", folder / "kube-apiserver")
    return folder if all(os.access(program, os.X_OK) for program in programs) else None


def program(name, folder=None):
    """A client program such as kubectl, from the folder of assets() if it is there; else None."""
    folder = folder or assets()
    path = folder / name if folder else None
    return path if path and os.access(path, os.X_OK) else None


def build_folder():
    """Where the binaries under test are: build/$PRESET/bin, `dev` unless said otherwise."""
    return ROOT / "build" / os.environ.get("PRESET", "dev") / "bin"


def _untried_ports():
    """Each port once, in no order, of those that the kernel never gives to an outgoing connection before its listener has it."""
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = range(10_000, 65_536)
    ports = [port for port in ports if not first <= port <= last] or list(ports)
    random.SystemRandom().shuffle(ports)
    return iter(ports)


_untried = _untried_ports()
_given_out = []


def free_ports(count):
    """Ports nobody listens on now, and that no test of this machine is given again while this process lives.

    A name in the abstract namespace of Unix sockets marks each as given out: the kernel forgets it with the process.
    """
    ports = []
    while len(ports) < count:
        port, mark = next(_untried), socket.socket(socket.AF_UNIX)
        try:
            mark.bind(f"\0maniple-test-port-{port}")
            socket.create_server(("", port)).close()
        except OSError:
            mark.close()
            continue
        _given_out.append(mark)
        ports.append(port)
    return ports


def _die_with_parent():
    """Runs in the child before the program: a killed test leaves no server behind (prctl PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Process:
    """A child with its log in a file; stopped when it is no longer needed."""

    started = []  # all of them, the oldest first

    def __init__(self, arguments, log, environment=None):
        self.name = Path(arguments[0]).name
        self.log = Path(log)
        with open(log, "ab") as output:
            self.child = subprocess.Popen(
                [str(one) for one in arguments],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                env=environment,
                preexec_fn=_die_with_parent,
            )
        Process.started.append(self)

    def require_alive(self):
        if self.child.poll() is not None:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])
            raise RuntimeError(f"{self.name} ended with status {self.child.returncode}:\n{tail}")

    def stop(self, kind=signal.SIGTERM, seconds=10):
        if self.child.poll() is None:
            self.child.send_signal(kind)
            try:
                self.child.wait(seconds)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        return self.child.returncode


def await_true(what, question, process, seconds=90, pause=0.05):
    """Asks until the answer is yes; fails at once if the process that should answer is gone."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        process.require_alive()
        try:
            if question():
                return
        except OSError:
            pass
        time.sleep(pause)
    raise RuntimeError(f"{process.name}: {what} not seen within {seconds} s; its log ends:\n"
                       + "\n".join(process.log.read_text(errors="replace").splitlines()[-8:]))


def read_crds(folder=ROOT / "deploy" / "crds"):
    return [manifest for file in sorted(Path(folder).glob("*.yaml")) for manifest in yaml.safe_load_all(file.read_text()) if manifest]


class Server:
    """What both servers share: a folder, children stopped in reverse order, readiness."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="maniple-"))
        self.children = []
        self.kubeconfig = self.folder / "kubeconfig"
        self.api = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def spawn(self, *arguments):
        log = self.folder / f"{Path(arguments[0]).name}.log"
        self.children.append(Process(arguments, log))
        return self.children[-1]

    def stop(self):
        while self.children:
            self.children.pop().stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_kubeconfig(self, cluster, user):
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": {"server": self.api.url, **cluster}}],
            "users": [{"name": "test", "user": user}],
        }
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def install_crds(self, folder=ROOT / "deploy" / "crds"):
        """Creates every CustomResourceDefinition of the folder and waits until each is served."""
        manifests = read_crds(folder)
        for manifest in manifests:
            self.api.must("POST", CRDS, manifest)
        self.await_crds(manifests)

    def await_crds(self, manifests):
        for manifest in manifests:
            name = manifest["metadata"]["name"]
            await_true(f"CustomResourceDefinition {name}", lambda: self._serves(manifest), self.children[-1], seconds=30)

    def _serves(self, manifest):
        spec = manifest["spec"]
        status = self.api.must("GET", f"{CRDS}/{manifest['metadata']['name']}").get("status") or {}
        established = {one["type"]: one["status"] for one in status.get("conditions") or []}.get("Established")
        version = next(one["name"] for one in spec["versions"] if one["served"])
        resource = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
        return established == "True" and self.api.request("GET", resource).status == 200


class RealControlPlane(Server):
    """etcd and kube-apiserver, no controller and no kubelet, so only clients change objects.

    Admission plugins that wait for a controller are off: service account tokens, node taints, storage finalizers. With `audit`
    every write is noted, without its content, one JSON object a line in `audit_log`. `flags` are further ones of kube-apiserver.
    """

    AUDIT_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata, verbs: [create, update, patch, delete, deletecollection]}, {level: None}]
"""

    # Made in no time; four RSA keys take a third of what a start takes in all.
    CURVE = "prime256v1"

    def __init__(self, folder, audit=False, flags=()):
        super().__init__()
        self.assets, self.audit_log = Path(folder), self.folder / "audit.jsonl" if audit else None
        self.flags, self.etcd = flags, None

    def start(self):
        client_port, peer_port, port = free_ports(3)
        etcd_url, peer_url = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
        self._issue_certificates()
        here = self.folder
        etcd = self.spawn(
            self.assets / "etcd",
            f"--data-dir={here / 'etcd'}",
            f"--listen-client-urls={etcd_url}",
            f"--advertise-client-urls={etcd_url}",
            f"--listen-peer-urls={peer_url}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )
        self.etcd = ApiClient("127.0.0.1", client_port)
        self._age(self.etcd, etcd)
        server = self.spawn(
            self.assets / "kube-apiserver",
            f"--etcd-servers={etcd_url}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={here / 'generated'}",
            f"--tls-cert-file={here / 'server.crt'}",
            f"--tls-private-key-file={here / 'server.key'}",
            f"--client-ca-file={here / 'ca.crt'}",
            f"--service-account-key-file={here / 'account.key'}",
            f"--service-account-signing-key-file={here / 'account.key'}",
            "--service-account-issuer=https://maniple.test",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--endpoint-reconciler-type=none",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection",
            "--allow-privileged",
            *self._audit_flags(),
            *self.flags,
        )
        tls = ssl.create_default_context(cafile=here / "ca.crt")
        tls.load_cert_chain(here / "admin.crt", here / "admin.key")
        self.api = ApiClient("127.0.0.1", port, tls)
        await_true("readiness", lambda: self.api.request("GET", "/readyz").status == 200, server)
        for path in ("/api/v1/namespaces/default", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical"):
            await_true(path, lambda path=path: self.api.request("GET", path).status == 200, server, seconds=30)
        self.write_kubeconfig(
            {"certificate-authority": str(here / "ca.crt")},
            {"client-certificate": str(here / "admin.crt"), "client-key": str(here / "admin.key")},
        )

    def _audit_flags(self):
        if self.audit_log is None:
            return []
        policy = self.folder / "audit-policy.yaml"
        policy.write_text(self.AUDIT_POLICY)
        self.audit_log.touch()  # what is there already is appended to, so that others may empty it
        return [f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}", "--audit-log-mode=blocking"]

    @staticmethod
    def _age(store, etcd):
        """Writes a little history before the API server starts, so that version 1 is as old as it is in a cluster that lives."""
        write = {"key": "bWFuaXBsZQ==", "value": "bWFuaXBsZQ=="}
        await_true("a first write", lambda: store.request("POST", "/v3/kv/put", write).status == 200, etcd)
        for _ in range(20):
            store.must("POST", "/v3/kv/put", write)

    def _issue_certificates(self):
        """A certificate authority of its own, a server certificate for the loopback address, and an administrator."""
        self._openssl("ecparam", "-name", self.CURVE, "-genkey", "-noout", "-out", "account.key")
        self._make_key("-x509", "-days", "3", "-subj", "/CN=maniple-test-ca", "-keyout", "ca.key", "-out", "ca.crt")
        self._issue("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        self._issue("admin", "/O=system:masters/CN=maniple-test-admin", "extendedKeyUsage=clientAuth")

    def _issue(self, name, subject, extension):
        (self.folder / f"{name}.ext").write_text(extension + "\n")
        self._make_key("-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self._openssl(
            *("x509", "-req", "-days", "3", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-in", f"{name}.csr", "-out", f"{name}.crt", "-extfile", f"{name}.ext"),
        )

    def _make_key(self, *arguments):
        self._openssl("req", "-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{self.CURVE}", "-nodes", *arguments)

    def _openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"openssl {arguments[0]}: {done.stderr.strip()}")


class DevCluster(Server):
    """maniple-devcluster; `flags` are further ones, for instance ("--kubelet-start-delay", "1h")."""

    def __init__(self, binaries=None, flags=()):
        super().__init__()
        self.binary = Path(binaries or build_folder()) / "maniple-devcluster"
        self.flags = flags

    def start(self):
        if not self.binary.exists():
            raise FileNotFoundError(f"{self.binary} is not built")
        port_file = self.folder / "port"
        server = self.spawn(self.binary, "--listen", "127.0.0.1:0", "--port-file", port_file, *self.flags)
        await_true("port file", lambda: port_file.exists() and port_file.read_text().strip().isdigit(), server, seconds=20)
        self.api = ApiClient("127.0.0.1", int(port_file.read_text()))
        await_true("readiness", lambda: self.api.request("GET", "/readyz").status == 200, server, seconds=20)
        self.write_kubeconfig({}, {})


def main():
    if "--" not in sys.argv or not sys.argv[sys.argv.index("--") + 1 :]:
        print(__doc__, file=sys.stderr)
        return 2
    command = sys.argv[sys.argv.index("--") + 1 :]
    folder = assets()
    if folder is None:
        print(HOW_TO_ENABLE, file=sys.stderr)
        return 3
    with RealControlPlane(folder) as server:
        return subprocess.run(command, env={**os.environ, "KUBECONFIG": str(server.kubeconfig)}).returncode


if __name__ == "__main__":
    sys.exit(main())
