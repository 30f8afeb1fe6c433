#!/usr/bin/env python3
"""The promise behind a network that lies: scheduler → fault proxy → API server, 10 % of every kind of fault, and kill -9 at random.

    test/e2e/run_faulty_server.py           # short: 20 gang binds and 3 kills on each server, both at once, 2 % never answered
    test/e2e/run_faulty_server.py --long    # 2,000 gang binds and 50 kills on each server, one after the other, 10 % of every kind
    test/e2e/run_faulty_server.py --gangs 500 --kills 20 --percent 5 --percent hang=1 --seed 3 --server real

Gangs of 2, 4 or 8 pods of 1, 2 or 4 GPUs want half as much again as there is; a gang that is whole finishes and makes room, a pod that is
deleted comes back, as a Job controller makes it. A ledger follows the pods on the server itself, past the proxy: no node may ever have
given out more than it has, no pod may be bound twice, and once all is quiet no gang may be half bound.

The last line is `N passed, M failed, K skipped`.
"""

import argparse
import json
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import attempt  # noqa: E402
from support.control_plane import HOW_TO_ENABLE, DevCluster, RealControlPlane, assets  # noqa: E402
from support.fault_proxy import shares_of  # noqa: E402
from support.faulty_server import FaultyServer  # noqa: E402
from support.ledger import Ledger  # noqa: E402
from support.scheduler import GROUP, Scheduler, add_nodes, half_bound, is_bound, oversubscribed, pod, pod_group  # noqa: E402

GPUS_PER_NODE = 8
MERGE = "application/merge-patch+json"
PODS = "/api/v1/namespaces/default/pods"
GROUPS = f"{GROUP}/namespaces/default/podgroups"
QUIET_SECONDS = 8


class Cluster:
    """The other side of the scheduler: submits gangs, finishes those that are whole, brings deleted pods back."""

    def __init__(self, api, options):
        self.api, self.random, self.schedule_timeout = api, random.Random(options.seed), options.schedule_timeout
        self.gpus = options.nodes * GPUS_PER_NODE
        self.ledger = Ledger(api, GPUS_PER_NODE)
        self.sizes = {}  # gang → (members, GPUs of each), of those that are not finished
        self.submitted = self.whole = self.recreated = 0
        self.pool = ThreadPoolExecutor(8)

    def close(self):
        self.ledger.stop()
        self.pool.shutdown()

    def submit_more(self):
        """Up to the window; the pods of a gang come in any order with those of others."""
        while sum(members * gpus for members, gpus in self.sizes.values()) < self.gpus * 3 // 2:
            name = f"g-{self.submitted:04}"
            members, gpus = self.random.choice((2, 2, 4, 8)), self.random.choice((1, 2, 4))
            self.sizes[name] = (members, gpus)
            self.submitted += 1
            self.api.must("POST", GROUPS, pod_group(name, members, scheduleTimeoutSeconds=self.schedule_timeout))
            list(self.pool.map(lambda index, n=name, g=gpus: self.create(n, index, g), range(members)))

    def create(self, gang, index, gpus):
        reply = self.api.request("POST", PODS, pod(f"{gang}-{index}", gang, gpus))
        if reply.status not in (201, 409):  # 409: one of the name is still leaving
            raise RuntimeError(f"{gang}-{index}: {reply.status}: {reply.body}")

    def recreate(self):
        """A Job controller's part: what is missing of a gang that is not finished comes back."""
        if not self.ledger.take_deleted():
            return
        gangs = self.ledger.gangs()
        for name, (members, gpus) in self.sizes.items():
            there = {one["metadata"]["name"] for one in gangs.get(name, [])}
            for index in range(members):
                if f"{name}-{index}" not in there:
                    self.recreated += 1
                    self.create(name, index, gpus)

    def whole_gangs(self):
        gangs = self.ledger.gangs()
        return [name for name, (members, _) in self.sizes.items()
                if len(gangs.get(name, [])) == members and all(is_bound(one) and not is_leaving(one) for one in gangs[name])]

    def finish(self, names):
        """All members succeed, then everything of the gang is deleted."""
        for name in names:
            members, _ = self.sizes.pop(name)
            self.whole += 1
            paths = [f"{PODS}/{name}-{index}" for index in range(members)]
            list(self.pool.map(lambda path: self.api.must("PATCH", path + "/status", {"status": {"phase": "Succeeded"}}, MERGE), paths))
            self.api.request("DELETE", f"{GROUPS}/{name}")
            list(self.pool.map(lambda path: self.api.request("DELETE", path, {"gracePeriodSeconds": 0}), paths))


def is_leaving(one):
    return "deletionTimestamp" in one["metadata"]


def play(server, options):
    """One server: prints what was measured, raises where the promise is broken."""
    began, moments = time.monotonic(), random.Random(options.seed)
    add_nodes(server.api, options.nodes, GPUS_PER_NODE)
    with FaultyServer(server, options.seed, options.percent) as faulty:
        cluster = Cluster(server.api, options)
        scheduler = Scheduler(faulty).start()
        try:
            strikes = sorted((moments.uniform(0, options.gangs), moments.uniform(0, 1), moments.random() < 0.2) for _ in range(options.kills))
            run_until(cluster, scheduler, strikes, options)
            settle(cluster, options)
            scheduler.process.require_alive()
            counts = faulty.counts()
            assert sum(count for kind, count in counts.items() if kind != "requests") > 0, f"nothing struck: {counts}"
            absent = [kind for kind, share in shares_of(options.percent).items() if share and not counts.get(kind)]
            assert not absent or options.gangs < 200, f"these faults never struck: {absent}"
            print(json.dumps({"server": type(server).__name__, "gang_binds": cluster.whole, "binds": cluster.ledger.binds, "kills": options.kills,
                              "recreated_pods": cluster.recreated, "still_waiting": len(cluster.sizes) - len(cluster.whole_gangs()),
                              "seconds": round(time.monotonic() - began, 1), "faults": counts}), flush=True)
        finally:
            scheduler.stop()
            cluster.close()
            if options.keep_log:
                Path(options.keep_log).write_bytes(scheduler.log.read_bytes())


def run_until(cluster, scheduler, strikes, options):
    """Until so many gangs were whole. Each strike: after so many gangs, once this life has bound something (or at once, so that it may
    strike a start as well), and a random while later."""
    until, due, binds_before = time.monotonic() + options.timeout, None, 0
    while cluster.whole < options.gangs or strikes:
        assert not cluster.ledger.wrong, cluster.ledger.wrong
        assert time.monotonic() < until, f"only {cluster.whole} gangs were bound in {options.timeout} s; {len(strikes)} kills to go"
        cluster.submit_more()
        cluster.recreate()
        cluster.finish([name for name in cluster.whole_gangs() if cluster.random.random() < 0.5])
        if strikes and due is None:
            progress, delay, at_once = strikes[0]
            if cluster.whole >= min(progress, options.gangs) and (at_once or cluster.ledger.binds > binds_before):
                due = time.monotonic() + delay
        if due is not None and time.monotonic() >= due:
            due = None
            strikes.pop(0)
            scheduler.process.require_alive()
            scheduler.kill()
            binds_before = cluster.ledger.binds
            assert not oversubscribed(cluster.api), oversubscribed(cluster.api)
            scheduler.start()
        time.sleep(0.05)


def settle(cluster, options):
    """Nothing finishes any more: waits until nothing moves and no gang is half bound, and holds the end to the promise."""
    until, last, since = time.monotonic() + options.timeout, None, time.monotonic()
    while True:
        cluster.recreate()
        picture = (cluster.ledger.binds, cluster.recreated, tuple(half_bound(cluster.api)))
        if picture != last:
            last, since = picture, time.monotonic()
        assert not cluster.ledger.wrong, cluster.ledger.wrong
        if not picture[2] and time.monotonic() - since >= QUIET_SECONDS:
            break
        assert time.monotonic() < until, f"not quiet in {options.timeout} s; half bound: {picture[2]}"
        time.sleep(0.2)
    assert not oversubscribed(cluster.api), oversubscribed(cluster.api)
    assert not half_bound(cluster.api), half_bound(cluster.api)
    free = cluster.gpus - sum(cluster.ledger.used.values())
    assert free < 32, f"{free} GPUs are free, enough for any gang, while {len(cluster.sizes)} gangs exist"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="2,000 gang binds, 50 kills")
    parser.add_argument("--gangs", type=int, help="gangs to be bound whole")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--nodes", type=int, help="with 8 GPUs each")
    parser.add_argument("--percent", action="append", metavar="[KIND=]NUMBER", help="see test/support/fault_proxy.py; default 10")
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--server", choices=["embedded", "real"])
    parser.add_argument("--schedule-timeout", type=int, default=60, help="scheduleTimeoutSeconds of the gangs")
    parser.add_argument("--timeout", type=float, help="seconds for each server")
    parser.add_argument("--keep-log", metavar="FILE", help="of the scheduler")
    options = parser.parse_args()
    options.gangs = options.gangs or (2000 if options.long else 20)
    options.kills = options.kills if options.kills is not None else (50 if options.long else 3)
    options.nodes = options.nodes or (200 if options.long else 12)
    options.percent = options.percent or (["10"] if options.long else ["10", "hang=2"])
    options.timeout = options.timeout or (5400 if options.long else 240)
    folder, plays, skipped = assets(), [], 0
    if options.server != "real":
        plays.append(promise_on("embedded", DevCluster, options))
    if options.server != "embedded":
        if folder is None:
            print(HOW_TO_ENABLE)
            skipped += 1
        else:
            plays.append(promise_on("real", lambda: RealControlPlane(folder), options))
    with ThreadPoolExecutor(1 if options.long else 2) as pool:
        results = list(pool.map(lambda one: attempt(*one), plays))
    print(f"{sum(results)} passed, {len(plays) - sum(results)} failed, {skipped} skipped")
    return 0 if plays and all(results) else 1


def promise_on(name, make_server, options):
    """The play of one server, as support.cases has it."""
    def keeps_it():
        with make_server() as server:
            server.install_crds()
            play(server, options)

    return f"{options.gangs} gang binds, {options.kills} kills, {name}; seed {options.seed}", keeps_it


if __name__ == "__main__":
    sys.exit(main())
