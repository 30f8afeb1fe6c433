#!/usr/bin/env python3
"""Leaders that are killed or stopped, and members that are lost: who writes, how soon another takes over, and whose room it is.

    test/e2e/run_failover.py                # short leases, both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_failover.py --long         # the default lease of 15 s, and a leader that is stopped for 60 s
    test/e2e/run_failover.py TEXT           # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import argparse
import json
import re
import signal
import sys
import threading
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import RealControlPlane  # noqa: E402
from support.ledger import Ledger  # noqa: E402
from support.scheduler import (  # noqa: E402
    GROUP, Scheduler, add_nodes, await_that, half_bound, is_bound, oversubscribed, pod, pods_by_gang, submit,
)

PODS = "/api/v1/namespaces/default/pods"
LATEST_WRITE = 0.1  # seconds after SIGCONT
WRITES = {"create", "update", "patch", "delete", "deletecollection"}


class Election:
    """Lease times: short ones by a configuration file, or the defaults."""

    def __init__(self, server, long):
        self.lease, self.flags = 15.0, ["--leader-elect=true"]
        if not long:
            self.lease = 5.0
            file = server.folder / "election.yaml"
            file.write_text("apiVersion: config.maniple.dev/v1alpha1\nkind: SchedulerConfiguration\n"
                            "leaderElection: {leaseDuration: 5s, renewDeadline: 3s, retryPeriod: 1s}\n")
            self.flags += ["--config", str(file)]


class Flood:
    """Nodes, and gangs of four one-GPU pods, one after another until it is stopped or they have no more room."""

    def __init__(self, api, nodes):
        add_nodes(api, nodes)
        self.api, self.most, self.count, self.stopping = api, nodes * 2, 0, False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.stopping and self.count < self.most:
            submit(self.api, f"f-{self.count:04}", 4, 1)
            self.count += 1
            time.sleep(0.02)

    def stop(self):
        self.stopping = True
        self.thread.join(30)


def identity(scheduler):
    """As in its user agent, and in the Lease."""
    return await_that("the scheduler names itself", lambda: re.search(r"maniple-scheduler \S+ as (\S+) ", scheduler.log.read_text()))[1]


def holder(api):
    reply = api.request("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/maniple-scheduler")
    return reply.body["spec"].get("holderIdentity") if reply.status == 200 else None


def two_replicas(server, election):
    """(leader, standby), both warm."""
    first = Scheduler(server, "first", flags=election.flags).start()
    await_that("the first leads", lambda: holder(server.api) == identity(first))
    second = Scheduler(server, "second", flags=election.flags).start()
    await_that("the standby knows the cluster", lambda: "the cluster is known" in second.log.read_text())
    return first, second


@contextmanager
def a_flood_that_the_leader_binds(server, election, long):
    """(leader, standby, flood, ledger); in the end every gang is whole."""
    first, second = two_replicas(server, election)
    flood = Flood(server.api, 500 if long else 200)
    ledger = Ledger(server.api, 8)
    try:
        await_that("the flood is being bound", lambda: ledger.binds > 40)
        yield first, second, flood, ledger
    finally:
        flood.stop()
    await_that("every gang is whole", lambda: all(all(map(is_bound, pods)) for pods in pods_by_gang(server.api).values()), seconds=90, pause=0.5)


# ---- cases


def a_stopped_leader_writes_nothing_when_it_goes_on(server, long):
    """SIGSTOP in the middle of a flood, until another has led for a while, then SIGCONT: the audit log tells who wrote what."""
    api, election = server.api, Election(server, long)
    with a_flood_that_the_leader_binds(server, election, long) as (first, second, flood, ledger):
        first.process.child.send_signal(signal.SIGSTOP)
        stopped, bound_before = time.time(), ledger.binds
        await_that("the standby binds", lambda: ledger.binds > bound_before + 40, seconds=election.lease * 3)
        taken_over = time.time() - stopped
        time.sleep(max(0.0, (60 if long else election.lease + 4) - taken_over))
        first.process.child.send_signal(signal.SIGCONT)
        continued = time.time()
        time.sleep(5)
    names = {"old": identity(first), "new": identity(second)}
    assert holder(api) == names["new"]
    assert first.stop() == 0 and second.stop() == 0
    ledger.stop()
    assert not ledger.wrong and not oversubscribed(api) and not half_bound(api), ledger.wrong
    writes = audited(server.audit_log)
    old = [one for one in writes if names["old"] in one["agent"]]
    new = [one for one in writes if names["new"] in one["agent"]]
    assert sum(one["code"] < 300 for one in old) > 40 and sum(one["code"] < 300 for one in new) > 40, "the audit log lacks the writers"
    late = [one for one in old if one["at"] > continued + LATEST_WRITE]
    assert not late, late[:5]
    first_of_new = {}
    for one in new:
        if one["code"] < 300:
            first_of_new.setdefault(one["what"], one["at"])
    changed = [one for one in old if one["code"] < 300 and one["at"] > first_of_new.get(one["what"], float("inf"))]
    assert not changed, changed[:5]
    after = [one for one in old if stopped < one["at"]]
    print(f"      stopped for {continued - stopped:.1f} s; the standby's first 40 binds within {taken_over:.1f} s; writes of the old leader after "
          f"SIGSTOP: {len(after)}, after SIGCONT: {sum(one['at'] > continued for one in old)}; {flood.count} gangs, {len(old)} and {len(new)} writes")


def audited(log):
    """The writes in order of arrival: {at, agent, verb, what, code}."""
    writes = []
    for line in log.read_text().splitlines():
        one = json.loads(line)
        if one["stage"] != "ResponseComplete" or one["verb"] not in WRITES:
            continue
        at = datetime.strptime(one["requestReceivedTimestamp"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()
        ref = one.get("objectRef", {})
        # A bind changes the pod itself.
        subresource = ref.get("subresource", "") if ref.get("subresource") != "binding" else ""
        what = (ref.get("resource"), ref.get("namespace"), ref.get("name"), subresource)
        writes.append({"at": at, "agent": one.get("userAgent", ""), "verb": one["verb"], "what": what, "code": one["responseStatus"]["code"]})
    return sorted(writes, key=lambda write: write["at"])


def a_killed_leader_is_replaced_within_its_lease_and_two_seconds(server, long):
    api, election = server.api, Election(server, long)
    with a_flood_that_the_leader_binds(server, election, long) as (first, second, _, ledger):
        first.kill()
        killed = time.monotonic()
        time.sleep(0.3)  # what was on its way has arrived
        before = ledger.binds
        await_that("the standby binds", lambda: ledger.binds > before, seconds=election.lease * 3, pause=0.01)
        taken = time.monotonic() - killed
    assert second.stop() == 0
    ledger.stop()
    assert not ledger.wrong and not oversubscribed(api), ledger.wrong
    print(f"      first bind {taken:.2f} s after the kill, lease {election.lease:.0f} s")
    assert taken <= election.lease + 2, taken


def a_job_that_lost_a_pod_gets_it_back_into_its_own_room(server, _):
    """Its 64 GPUs are the whole cluster; for 15 s one is free, and singles want it."""
    lose_a_member(server, nodes=8, spare_nodes=0, lose=lambda api, name, _: api.must("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0}))


def a_job_that_lost_a_node_gets_room_held_elsewhere(server, _):
    """The member's node is deleted with it; the other room in its reach is wanted by singles, and held for the replacement."""
    def lose(api, name, node):
        api.must("DELETE", f"/api/v1/nodes/{node}")
        api.request("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})  # as the pod garbage collector does

    lose_a_member(server, nodes=64, spare_nodes=1, lose=lose)


def lose_a_member(server, nodes, spare_nodes, lose):
    api, gpus = server.api, 64 // nodes
    add_nodes(api, nodes + spare_nodes, gpus)
    scheduler = Scheduler(server).start()
    try:
        submit(api, "job", 64, 1, quorumLoss={"action": "Evict", "gracePeriodSeconds": 120})
        await_that("the job is whole", lambda: sum(map(is_bound, pods_by_gang(api).get("job", []))) == 64)
        uids = {one["metadata"]["name"]: one["metadata"]["uid"] for one in pods_by_gang(api)["job"]}
        lost = "job-17"
        node = api.must("GET", f"{PODS}/{lost}")["spec"]["nodeName"]
        if spare_nodes == 0:  # the singles queue already when the member goes
            singles(api)
            await_that("the singles wait", lambda: all(waits(api, index) for index in range(4)))
        lose(api, lost, node)
        await_that("the member is gone", lambda: api.request("GET", f"{PODS}/{lost}").status == 404)
        if spare_nodes:
            singles(api)
        until = time.monotonic() + 15
        while time.monotonic() < until:
            taken = [one["metadata"]["name"] for group, pods in pods_by_gang(api).items() if group != "job" for one in pods if is_bound(one)]
            assert not taken, f"{taken} took the room of {lost}"
            time.sleep(0.25)
        api.must("POST", PODS, pod(lost, "job", 1))
        await_that("the job is whole again", lambda: sum(map(is_bound, pods_by_gang(api)["job"])) == 64)
        again = {one["metadata"]["name"]: one for one in pods_by_gang(api)["job"]}
        assert all(again[name]["metadata"]["uid"] == uid for name, uid in uids.items() if name != lost), "members that ran were replaced"
        assert spare_nodes or again[lost]["spec"]["nodeName"] == node, again[lost]["spec"]["nodeName"]
        await_that("the job is Running", lambda: api.must("GET", f"{GROUP}/namespaces/default/podgroups/job")["status"].get("phase") == "Running")
        time.sleep(1)
        assert not any(is_bound(one) for group, pods in pods_by_gang(api).items() if group != "job" for one in pods)
        assert not oversubscribed(api), oversubscribed(api)
    finally:
        status = scheduler.stop()
    assert status == 0, scheduler.log.read_text()[-600:]


def singles(api):
    for index in range(4):
        submit(api, f"single-{index}", 1, 1)


def waits(api, index):
    return api.must("GET", f"{GROUP}/namespaces/default/podgroups/single-{index}").get("status", {}).get("reason")


ANYWHERE = (
    a_job_that_lost_a_pod_gets_it_back_into_its_own_room,
    a_job_that_lost_a_node_gets_room_held_elsewhere,
    a_killed_leader_is_replaced_within_its_lease_and_two_seconds,
)
REAL_ONLY = (a_stopped_leader_writes_nothing_when_it_goes_on,)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="?", default="", metavar="TEXT")
    parser.add_argument("--long", action="store_true", help="default lease, a pause of 60 s")
    options = parser.parse_args()
    plays, skipped = on_servers(ANYWHERE, lambda folder: RealControlPlane(folder, audit=True), REAL_ONLY, (options.long,))
    return play_all(plays, skipped, options.wanted)


if __name__ == "__main__":
    sys.exit(main())
