"""Somebody who installs by what the READMEs print, and the gangs that come meanwhile. install_life.py plays them."""

import os
import re
import socket
import ssl
import struct
import threading
import time
from contextlib import contextmanager
from http.client import HTTPException, HTTPSConnection

from e2e.install_manifests import must, program
from support.ledger import Ledger
from support.scheduler import GROUP, add_nodes, await_that, half_bound, is_bound, oversubscribed, pod, pod_group, pods_by_gang

GPUS, MEMBERS = 64, 4
MERGE = "application/merge-patch+json"


class Flood:
    """Gangs of four one-GPU pods for one scheduler, up to ten a second, as long as it runs.

    No more than ten of them wait at a time, so that a cluster without that scheduler is not filled.
    """

    def __init__(self, api, ledger, pool):
        self.api, self.ledger, self.pool = api, ledger, pool
        self.count, self.problem = 0, None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        try:
            while not self.over.wait(0.1):
                if len(self.waiting()) < 10:
                    submit_to(self.api, f"{self.pool}-{self.count:04}", self.pool)
                    self.count += 1
        except Exception as error:  # told by stop()
            self.problem = error

    def waiting(self):
        return [name for name, pods in self.ledger.gangs().items()
                if pods[0]["spec"]["schedulerName"] == self.pool and not all(map(is_bound, pods))]

    def stop(self):
        self.over.set()
        self.thread.join(30)
        assert self.problem is None, self.problem


class Visitors:
    """Twenty for each port, who ask for its health over TLS, on a new connection each time; all of them must be answered.

    Each comes from an address of its own: of one address, the scheduler lets in a few at a time.
    """

    COUNT = 20

    def __init__(self, ports):
        self.answers, self.problems, self.shown = 0, [], set()
        self.lock, self.over = threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(port, f"127.0.0.{index + 2}"), daemon=True)
                        for port in ports for index in range(self.COUNT)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, failed, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(30)
        assert failed or not self.problems, (len(self.problems), self.answers, self.problems[:5])

    def _run(self, port, address):
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        while not self.over.wait(0.05):
            door = HTTPSConnection("127.0.0.1", port, timeout=10, context=trusting, source_address=(address, 0))
            try:
                door.connect()
                # Ends without a minute of TIME_WAIT, in which no server of another test could have the port.
                door.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                door.request("GET", "/livez")
                shown, status = door.sock.getpeercert(binary_form=True), door.getresponse().status
                with self.lock:
                    self.answers += 1
                    self.shown.add(ssl.DER_cert_to_PEM_cert(shown).strip())
                    self.problems += [] if status == 200 else [f"status {status}"]
            except (OSError, HTTPException) as error:
                with self.lock:
                    self.problems.append(repr(error))
            finally:
                door.close()


def submit_to(api, name, pool):
    api.must("POST", f"{GROUP}/namespaces/default/podgroups", pod_group(name, MEMBERS))
    for index in range(MEMBERS):
        api.must("POST", "/api/v1/namespaces/default/pods", pod(
            f"{name}-{index}", name, 1, schedulerName=pool, nodeSelector={"pool": pool}))


def prepare_nodes(api, count):
    add_nodes(api, count, GPUS)
    for index in range(count):
        pool = ("maniple", "maniple-gold")[index % 2]
        api.must("PATCH", f"/api/v1/nodes/node-{index:03}", {"metadata": {"labels": {"pool": pool}}}, MERGE)


def printed(file, start):
    """The command that a page prints, with its continued lines."""
    found = re.search(rf"^{re.escape(start)}(?:.*\\\n)*.*$", file.read_text(), re.MULTILINE)
    assert found, f"{file.name} prints no `{start}`"
    return found[0]


class Platform:
    """Somebody with the repository, helm and kubectl, who types; and what happened since the gangs came."""

    def __init__(self, server):
        self.server, self.api = server, server.api
        own = {f"HELM_{kind}_HOME": str(server.folder / "helm") for kind in ("CACHE", "CONFIG", "DATA")}
        self.environment = [f"{key}={value}" for key, value in {
            **own, "KUBECONFIG": server.kubeconfig, "PATH": f"{program('helm').parent}:{os.environ['PATH']}"}.items()]
        self.ledger, self.floods = None, []

    def types(self, line):
        return must("env", *self.environment, "bash", "-ec", line)

    def floods_for(self, pool):
        self.floods.append(Flood(self.api, self.ledger, pool))

    def waiting(self):
        return [name for flood in self.floods for name in flood.waiting()]

    def bound(self, pool):
        return sum(is_bound(one) for pods in self.ledger.gangs().values() for one in pods if one["spec"]["schedulerName"] == pool)

    @contextmanager
    def watched(self):
        """In the end every gang that came is bound, once and for good."""
        self.ledger = Ledger(self.api, GPUS)
        try:
            yield
        finally:
            for flood in self.floods:
                flood.stop()
        await_that("every gang is whole", self._whole, seconds=90, pause=0.5)
        gangs, submitted = pods_by_gang(self.api), sum(flood.count for flood in self.floods)
        self.ledger.stop()
        assert len(gangs) == submitted and all(len(pods) == MEMBERS for pods in gangs.values()), "a gang is lost"
        assert not self.ledger.deleted, f"undone: {self.ledger.deleted}"
        assert not self.ledger.wrong, self.ledger.wrong
        assert not half_bound(self.api) and not oversubscribed(self.api)
        print(f"      {submitted} gangs, {self.ledger.binds} binds", flush=True)

    def _whole(self):
        return all(all(map(is_bound, pods)) for pods in pods_by_gang(self.api).values())

    def step(self, name, *actions, pool="maniple", gangs=15):
        """Acts, then waits until so many more gangs of the pool are bound; says how long both took."""
        began, before, more = time.monotonic(), self.bound(pool), gangs * MEMBERS
        for action in actions:
            action()
        acted, bound = time.monotonic(), self.bound(pool)
        await_that(f"{name}: gangs are bound", lambda: self.bound(pool) >= bound + more, seconds=60)
        print(f"      {name}: {acted - began:.1f} s with {bound - before} binds, {more} more within {time.monotonic() - acted:.1f} s",
              flush=True)
