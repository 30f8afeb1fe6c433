"""Attacks on the HTTP surface by whoever reaches its port: other readers, the probes and the scheduling must not notice.

Each case takes a server, on which our CRDs are installed. They stand in the list of run_tenants.py.
"""

import resource
import socket
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress

from support.control_plane import free_ports
from support.scheduler import Scheduler, add_nodes, await_that, is_bound, pod, pods_by_gang, submit

WAITING_PODS = 3000
READERS = 300
IDLE = 1010
PER_ADDRESS = 7  # of our connections: the surface allows eight
MOST_GROWTH_MIB = 200
LONGEST_PROBE_SECONDS = 1.0


class Attacked:
    """A scheduler with many pods that wait, and what is measured of it during an attack."""

    def __init__(self, server):
        self.server = server
        self.health = free_ports(1)[0]
        # The soft limit of descriptors that most systems give; it is raised for us afterwards.
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), hard))
        self.scheduler = Scheduler(server, flags=("--leader-elect=false", "--health", f"127.0.0.1:{self.health}")).start()
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.worst_probe, self.failed_probes = 0.0, 0
        await_that("the scheduler is ready", lambda: self.page("/readyz", self.health))
        self.first_rss = self.most_rss = self.rss()

    def fill(self):
        add_nodes(self.server.api, 1)
        for index in range(WAITING_PODS):
            self.server.api.must("POST", "/api/v1/namespaces/default/pods", pod(f"waits-{index:05}-{'x' * 150}", gpus=64))
        await_that("all wait", lambda: self.page("/gangs").count('"reason"') >= WAITING_PODS, seconds=60, pause=1)
        self.first_rss = self.most_rss = self.rss()

    def page(self, path, port=None):
        with urllib.request.urlopen(f"http://127.0.0.1:{port or self.scheduler.port}{path}", timeout=60) as reply:
            return reply.read().decode()

    def status(self, field):
        for line in open(f"/proc/{self.scheduler.process.child.pid}/status"):
            if line.startswith(field):
                return int(line.split()[1])
        raise KeyError(field)

    def rss(self):
        return self.status("VmRSS:") / 1024

    def cpu_seconds(self):
        fields = open(f"/proc/{self.scheduler.process.child.pid}/stat").read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def watch(self, seconds):
        """Probes as a kubelet does, for so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            began = time.monotonic()
            try:
                self.page("/livez", self.health)
            except OSError:
                self.failed_probes += 1
            self.worst_probe = max(self.worst_probe, time.monotonic() - began)
            self.most_rss = max(self.most_rss, self.rss())
            time.sleep(0.1)

    def report(self, what, **more):
        print({"attack": what, "rss_mib": (round(self.first_rss), round(self.most_rss)), "longest_probe_s": round(self.worst_probe, 2),
               "failed_probes": self.failed_probes, **more}, flush=True)


@contextmanager
def attacked(server):
    one = Attacked(server)
    try:
        yield one
    finally:
        code = one.scheduler.stop()
    assert code == 0, f"the scheduler ended with status {code}: {one.scheduler.log.read_text()[-600:]}"


@contextmanager
def connections(count, port, says=b""):
    """So many at once, from as many addresses as that takes; each says something and then reads nothing."""
    there = []
    for index in range(count):
        one = socket.socket()
        there.append(one)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.bind((f"127.0.1.{1 + index // PER_ADDRESS}", 0))
        one.settimeout(0.2)
        with suppress(OSError):  # refused or left in line: the attacker does not mind
            one.connect(("127.0.0.1", port))
            one.sendall(says)
    try:
        yield
    finally:
        for one in there:
            one.close()


def readers_that_do_not_read_cost_little_and_probes_are_answered(server):
    with attacked(server) as one:
        one.fill()
        asks = b"GET /gangs HTTP/1.1\r\nHost: x\r\n\r\n"
        with connections(READERS, one.scheduler.port, asks):
            one.watch(8)
        one.report("readers", readers=READERS)
        assert one.failed_probes == 0 and one.worst_probe < LONGEST_PROBE_SECONDS, (one.failed_probes, one.worst_probe)
        assert one.most_rss - one.first_rss < MOST_GROWTH_MIB, (one.first_rss, one.most_rss)
        await_that("others are served again", lambda: one.page("/gangs").count('"reason"') >= WAITING_PODS)


def idle_connections_use_up_nothing(server):
    with attacked(server) as one:
        add_nodes(server.api, 1)
        with connections(IDLE, one.scheduler.port):
            before = one.cpu_seconds()
            one.watch(4)
            spent = one.cpu_seconds() - before
            submit(server.api, "meanwhile", 1)
            await_that("a gang is bound meanwhile", lambda: all(map(is_bound, pods_by_gang(server.api)["meanwhile"])))
        one.report("idle connections", connections=IDLE, cpu_seconds_of_4=spent)
        assert one.failed_probes == 0 and one.worst_probe < LONGEST_PROBE_SECONDS, (one.failed_probes, one.worst_probe)
        assert spent < 2, spent
        away = ("maniple_http_connections_refused_total", "maniple_http_connections_displaced_total")
        told = [line for line in one.page("/metrics", one.health).splitlines() if line.startswith(away)]
        assert sum(float(line.split()[-1]) for line in told) > 0, "nobody was turned away"


HTTP_ATTACKS = (readers_that_do_not_read_cost_little_and_probes_are_answered, idle_connections_use_up_nothing)
