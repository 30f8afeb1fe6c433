"""An API server as a scheduler sees it through test/support/fault_proxy.py, while tests look at the server itself."""

import json
import ssl
import sys
import urllib.request

import yaml

from support.control_plane import ROOT, Process, RealControlPlane, await_true
from support.fault_proxy import REQUEST_FAULTS, STREAM_FAULTS


class FaultyServer:
    """A server behind a proxy: `kubeconfig` leads through the proxy, `api` goes to the server. A real one keeps TLS on both sides.

    with DevCluster() as server, FaultyServer(server, seed=7, percent=("10",)) as faulty:
        Scheduler(faulty).start()
    """

    def __init__(self, server, seed=1, percent=("10",), longest_delay=1.0):
        self.server, self.folder, self.api = server, server.folder, server.api
        self.kubeconfig = self.folder / "faulty-kubeconfig"
        self.flags = ["--seed", str(seed), "--longest-delay", str(longest_delay)]
        for share in percent:
            self.flags += ["--percent", share]
        self.process = self.url = self.tls = None

    def __enter__(self):
        port_file = self.folder / "fault-proxy-port"
        port_file.unlink(missing_ok=True)
        flags, cluster = [*self.flags, "--upstream", self.server.api.url, "--port-file", port_file], {}
        scheme = "http"
        if isinstance(self.server, RealControlPlane):
            here, scheme = self.folder, "https"
            flags += ["--ca", here / "ca.crt", "--cert", here / "admin.crt", "--key", here / "admin.key"]
            flags += ["--front-cert", here / "server.crt", "--front-key", here / "server.key"]
            cluster = {"certificate-authority": str(here / "ca.crt")}
            self.tls = ssl.create_default_context(cafile=here / "ca.crt")
        program = ROOT / "test" / "support" / "fault_proxy.py"
        self.process = Process([sys.executable, program, *flags], self.folder / "fault-proxy.log")
        await_true("port of the proxy", lambda: port_file.exists() and port_file.read_text().isdigit(), self.process, seconds=20)
        self.url = f"{scheme}://127.0.0.1:{port_file.read_text()}"
        self.kubeconfig.write_text(yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "faulty",
            "contexts": [{"name": "faulty", "context": {"cluster": "faulty", "user": "faulty"}}],
            "clusters": [{"name": "faulty", "cluster": {"server": self.url, **cluster}}],
            "users": [{"name": "faulty", "user": {}}],
        }))
        return self

    def __exit__(self, *_):
        self.process.stop()

    def _ask(self, method, body=None):
        request = urllib.request.Request(self.url + "/-/faults", method=method, data=body and json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10, context=self.tls) as reply:
            return json.loads(reply.read())

    def counts(self):
        """{fault: how often it struck}, and `requests`."""
        return self._ask("GET")["counts"]

    def set_percent(self, **percent):
        """New shares; kinds that are not named go to 0."""
        unknown = set(percent) - set(REQUEST_FAULTS + STREAM_FAULTS)
        if unknown:
            raise ValueError(f"no such fault: {unknown}")
        self._ask("PUT", {"percent": percent})
