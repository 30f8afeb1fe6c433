#!/usr/bin/env python3
"""Whole-process measurements: maniple-scheduler against an API server, with the server's ceiling C in the same run.

    bench/run_cluster.py embedded [--repeat 3]    # 5,000 nodes, 2,000 gangs of 8 one-GPU pods, through maniple-devcluster
    bench/run_cluster.py memory                   # scheduler RSS with 5,000 nodes and 50,000 pods
    bench/run_cluster.py parked                   # CPU of a scheduler with 10,000 gangs that cannot start
    bench/run_cluster.py takeover [--nodes 5000 --pods 50000]   # kill -9 of the leader, to the first bind of a hot standby
    bench/run_cluster.py takeover-real [--nodes 500 --pods 4000]
    bench/run_cluster.py w1|w2 [--repeat 3]       # kube-apiserver and etcd; C interleaved: a flood of bindings before each run
    bench/run_cluster.py w1-xk8s|w2-xk8s          # the same with PodGroups of scheduling.x-k8s.io, beside ours in the same run
    bench/run_cluster.py soak [--pods 1000000]    # scheduler RSS while so many pods that share nothing come and go
    bench/run_cluster.py burst [--repeat 5]       # one gang of 1,000 pods on kube-apiserver, C before and after each

Binaries: build/$PRESET/bin (default: bench). Prints the machine, each run, and medians with minimum and maximum.
W1: 1,000 nodes, 500 gangs of 4 one-GPU pods. W2: 1,000 nodes, 125 gangs of 64 one-GPU pods, exactly full.
"""

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

os.environ.setdefault("PRESET", "bench")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))
from support.control_plane import HOW_TO_ENABLE, DevCluster, RealControlPlane, assets, build_folder  # noqa: E402
from support.ledger import Ledger  # noqa: E402
from support.scheduler import Scheduler, await_that, half_bound, oversubscribed  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def load(server, command, **flags):
    arguments = [str(build_folder() / "maniple-load"), command, "--kubeconfig", str(server.kubeconfig)]
    for name, value in flags.items():
        arguments += [f"--{name}", str(value)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, what):
    output, error = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{what}: {error.strip()}")
    return json.loads(output) if output.strip() else None


def cpu_seconds(process):
    fields = Path(f"/proc/{process.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory_mib(process, key="VmRSS"):
    for line in Path(f"/proc/{process.child.pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def machine():
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "?")
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, load {os.getloadavg()[0]:.1f}"


def schedule(server, pods, timeout=600):
    """Starts a scheduler on what waits; measures from its start to the last bind."""
    waiting = load(server, "await", pods=pods, timeout=timeout)
    assert waiting.stderr.readline().strip() == "watching"
    began = time.monotonic()
    scheduler = Scheduler(server).start()
    try:
        result = finish(waiting, "await")
        result["start_to_last_bind_s"] = round(time.monotonic() - began, 3)
        result["scheduler_cpu_ms_per_pod"] = round(cpu_seconds(scheduler.process) * 1000 / pods, 3)
        result["scheduler_rss_mib"] = round(memory_mib(scheduler.process, "VmHWM"), 1)
        assert not oversubscribed(server.api) and not half_bound(server.api)
        return result
    finally:
        scheduler.stop()


def embedded(repeat):
    nodes, gangs, members = 5000, 2000, 8
    runs = []
    for _ in range(repeat):
        with DevCluster(flags=("--kubelet-start-delay", "1h")) as server:
            server.install_crds()
            finish(load(server, "create", nodes=nodes, gangs=gangs, members=members, gpus=1), "create")
            runs.append(schedule(server, gangs * members))
            print(json.dumps(runs[-1]), flush=True)
    summary(runs, "pods_per_s", "scheduler_cpu_ms_per_pod", "scheduler_rss_mib", "first_bind_s")


def memory(_):
    with DevCluster(flags=("--kubelet-start-delay", "1h")) as server:
        server.install_crds()
        finish(load(server, "create", nodes=5000, gangs=6250, members=8, gpus=1, connections=32), "create")
        scheduler = Scheduler(server).start()
        try:
            await_that("40,000 pods are bound", lambda: bound(scheduler) >= 40000, 120, 2)
            time.sleep(2)
            print(json.dumps({"nodes": 5000, "pods": 50000, "scheduler_rss_mib": round(memory_mib(scheduler.process), 1),
                              "scheduler_peak_mib": round(memory_mib(scheduler.process, "VmHWM"), 1),
                              "devcluster_rss_mib": round(memory_mib(server.children[0]), 1)}))
        finally:
            scheduler.stop()


def bound(scheduler):
    if scheduler.maniple("gangs")[0] != 0:
        return 0  # nobody listens yet
    return sum(int(one["members"]["bound"]) for one in scheduler.ask("gangs")["items"])


def parked(_):
    with DevCluster(flags=("--kubelet-start-delay", "1h")) as server:
        server.install_crds()
        finish(load(server, "create", nodes=10, gangs=10000, members=2, gpus=8, prefix="big"), "create")
        scheduler = Scheduler(server).start()
        try:
            await_that("five gangs are bound", lambda: bound(scheduler) == 10, 120, 1)
            # The first statuses of those that wait are written at the server's pace; measure when that is over.
            await_that("the scheduler is quiet", lambda: quiet(scheduler.process), 300, 1)
            before, began = cpu_seconds(scheduler.process), time.monotonic()
            time.sleep(30)
            share = (cpu_seconds(scheduler.process) - before) / (time.monotonic() - began)
            print(json.dumps({"parked_gangs": 9995, "seconds": 30, "cpu_percent_of_a_core": round(share * 100, 3)}))
        finally:
            scheduler.stop()


def quiet(process):
    before = cpu_seconds(process)
    time.sleep(2)
    return cpu_seconds(process) - before < 0.05


def real_server():
    folder = assets()
    if folder is None:
        sys.exit(HOW_TO_ENABLE)
    return RealControlPlane(folder)


def real(repeat, gangs, members):
    pods, runs = gangs * members, []
    for _ in range(repeat):
        with real_server() as server:
            server.install_crds()
            finish(load(server, "create", nodes=1000, gangs=0), "create nodes")
            # The ceiling before and after, on pods of another scheduler that then make room.
            ceilings = [ceiling(server, pods, "c1")]
            finish(load(server, "create", gangs=gangs, members=members, gpus=1), "create")
            run = schedule(server, pods)
            clear(server)
            ceilings.append(ceiling(server, pods, "c2"))
            run["ceiling_binds_per_s"] = round(statistics.mean(ceilings))
            run["of_ceiling"] = round(run["pods_per_s"] / statistics.mean(ceilings), 3)
            run["ceilings"] = ceilings
            runs.append(run)
            print(json.dumps(run), flush=True)
    summary(runs, "pods_per_s", "ceiling_binds_per_s", "of_ceiling", "scheduler_cpu_ms_per_pod", "scheduler_rss_mib", "first_bind_s")


def dialects(repeat, gangs, members):
    """Our PodGroups and those of x-k8s, one after the other on one server; who goes first changes from run to run."""
    pods, runs = gangs * members, []
    for index in range(repeat):
        with real_server() as server:
            server.install_crds()
            server.install_crds(ROOT / "deploy" / "crds" / "producers")
            finish(load(server, "create", nodes=1000, gangs=0), "create nodes")
            rates = {}
            for groups in ("maniple", "x-k8s")[:: 1 if index % 2 == 0 else -1]:
                finish(load(server, "create", gangs=gangs, members=members, gpus=1, groups=groups), "create")
                rates[groups] = schedule(server, pods)["pods_per_s"]
                clear(server)
            runs.append({"ours": rates["maniple"], "xk8s": rates["x-k8s"], "ratio": round(rates["x-k8s"] / rates["maniple"], 3)})
            print(json.dumps(runs[-1]), flush=True)
    summary(runs, "ours", "xk8s", "ratio")


def ceiling(server, pods, prefix):
    finish(load(server, "create", gangs=max(1, pods // 64), members=64, gpus=1, scheduler="nobody", prefix=prefix), "create")
    result = finish(load(server, "flood", connections=16, gpus=1), "flood")
    clear(server)
    return result["binds_per_s"]


def clear(server):
    """A server under load takes longer over thousands of pods than one request may: so ask until none is left."""

    def none_left(collection):
        server.api.must("DELETE", collection, {"gracePeriodSeconds": 0})
        return not server.api.must("GET", collection + "?limit=1")["items"]

    groups = [f"/apis/{group}/v1alpha1/namespaces/default/podgroups" for group in ("scheduling.maniple.dev", "scheduling.x-k8s.io")]
    for collection in ("/api/v1/namespaces/default/pods", *groups):
        if server.api.request("GET", collection + "?limit=1").status == 404:
            continue  # a kind that this run does not have
        await_that(f"{collection} is empty", lambda: none_left(collection), 300, 0.5)


def takeover(make_server, nodes, pods, repeat):
    """Kills the leader at random phases of its renewals while work waits that fits: the next bind is the new leader's."""
    gangs, moments, runs = pods // 8, random.Random(1), []
    with make_server() as server:
        server.install_crds()
        finish(load(server, "create", nodes=nodes, gangs=0), "create nodes")
        # Bound when the first leader is killed. What follows asks for no GPU, so that there is room for it.
        finish(load(server, "create", gangs=gangs, members=8, gpus=1 if pods <= nodes * 8 else 0, connections=32), "create")
        flags = ("--leader-elect=true",)
        leader, standby = Scheduler(server, "s-0", flags).start(), None
        try:
            await_that("the first leads", lambda: " leading" in leader.log.read_text(), 120, 0.2)
            await_that(f"{gangs * 8} pods are bound", lambda: bound(leader) >= gangs * 8, 600, 2)
            ledger = Ledger(server.api, 1 << 30)
            for index in range(repeat):
                standby = Scheduler(server, f"s-{index + 1}", flags).start()
                await_that("the standby is warm", lambda: "the cluster is known" in standby.log.read_text(), 120, 0.2)
                time.sleep(5 + moments.uniform(0, 2))  # caught up, and at any moment between two renewals
                leader.kill()
                killed, killed_at = time.monotonic(), time.time()
                time.sleep(0.5)
                finish(load(server, "create", gangs=1, members=2, gpus=0, prefix=f"late{index}"), "create")
                before = ledger.binds
                await_that("the new leader binds", lambda: ledger.binds > before, 120, 0.005)
                runs.append({"kill_to_lease_s": round(lease_acquired(server.api) - killed_at, 2),
                             "kill_to_first_bind_s": round(time.monotonic() - killed, 2)})
                print(json.dumps(runs[-1]), flush=True)
                leader, standby = standby, None
            assert not ledger.wrong, ledger.wrong
            ledger.stop()
        finally:
            for one in (leader, standby):
                if one is not None:
                    one.stop()
    summary(runs, "kill_to_lease_s", "kill_to_first_bind_s")


def lease_acquired(api):
    lease = api.must("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/maniple-scheduler")
    stamp = datetime.strptime(lease["spec"]["acquireTime"], "%Y-%m-%dT%H:%M:%S.%fZ")
    return stamp.replace(tzinfo=timezone.utc).timestamp()


def burst(repeat):
    """One gang of 1,000 pods: from its first bind to its last, as a part of C measured before and after it in the same run."""
    runs = []
    with real_server() as server:
        server.install_crds()
        finish(load(server, "create", nodes=1000, gangs=0), "create nodes")
        ceilings = [ceiling(server, 1000, "c0")]
        for index in range(repeat):
            finish(load(server, "create", gangs=1, members=1000, gpus=1, prefix=f"g{index}"), "create")
            run = schedule(server, 1000)
            clear(server)
            ceilings.append(ceiling(server, 1000, f"c{index + 1}"))
            run["ceiling_binds_per_s"] = round(statistics.mean(ceilings[-2:]))
            run["of_ceiling"] = round(run["pods_per_s"] / statistics.mean(ceilings[-2:]), 3)
            runs.append(run)
            print(json.dumps(run), flush=True)
    summary(runs, "pods_per_s", "ceiling_binds_per_s", "of_ceiling", "first_bind_s")


def placements(server, scheduler, gangs=60):
    """Where gangs that fill the cluster go; they are gone again afterwards."""
    # One by one: which gang is first decides where it goes.
    finish(load(server, "create", gangs=gangs, members=4, gpus=1, prefix="after", connections=1), "create")
    await_that("all are bound", lambda: bound(scheduler) == gangs * 4, 120, 1)
    placed = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in server.api.must("GET", "/api/v1/namespaces/default/pods")["items"]}
    clear(server)
    await_that("the scheduler has seen it", lambda: not scheduler.ask("gangs")["items"], 120, 1)
    return placed


def soak(pods):
    """Memory over the last nine tenths, and whether whatever has come and gone bears on later decisions."""
    parts, rest, resident = 10, 15, []  # a rest is longer than what is spare may stay with the process
    with DevCluster(flags=("--kubelet-start-delay", "1h")) as server:
        server.install_crds()
        finish(load(server, "create", nodes=40, gangs=0, connections=1), "create nodes")
        scheduler = Scheduler(server).start()
        try:
            for part in range(parts):
                finish(load(server, "churn", first=part * pods // parts, pods=pods // parts), "churn")
                time.sleep(rest)
                resident.append(round(memory_mib(scheduler.process), 1))
                print(json.dumps({"pods": (part + 1) * pods // parts, "scheduler_rss_mib": resident[-1],
                                  "peak_mib": round(memory_mib(scheduler.process, "VmHWM"), 1),
                                  "scheduler_cpu_s": round(cpu_seconds(scheduler.process), 1)}), flush=True)
            clear(server)
            after = placements(server, scheduler)
        finally:
            scheduler.stop()
        fresh = Scheduler(server).start()
        try:
            same = placements(server, fresh) == after
        finally:
            fresh.stop()
    first = resident[parts // 10 - 1]
    print(json.dumps({"growth_percent_over_the_last_nine_tenths": round((resident[-1] / first - 1) * 100, 2),
                      "places_like_a_fresh_process": same}))


def summary(runs, *keys):
    for key in keys:
        values = [run[key] for run in runs]
        print(f"{key:28} median {statistics.median(values):>9}   min {min(values):>9}   max {max(values):>9}   n {len(values)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["embedded", "memory", "parked", "takeover", "takeover-real", "w1", "w2", "w1-xk8s", "w2-xk8s",
                                         "burst", "soak"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nodes", type=int, help="of takeover")
    parser.add_argument("--pods", type=int)
    arguments = parser.parse_args()
    print(machine(), flush=True)
    cases = {"embedded": embedded, "memory": memory, "parked": parked,
             "takeover": lambda n: takeover(lambda: DevCluster(flags=("--kubelet-start-delay", "1h")), arguments.nodes or 5000,
                                            arguments.pods or 50000, n),
             "takeover-real": lambda n: takeover(real_server, arguments.nodes or 500, arguments.pods or 4000, n),
             "w1": lambda n: real(n, 500, 4), "w2": lambda n: real(n, 125, 64), "burst": burst,
             "w1-xk8s": lambda n: dialects(n, 500, 4), "w2-xk8s": lambda n: dialects(n, 125, 64),
             "soak": lambda _: soak(arguments.pods or 1_000_000)}
    cases[arguments.what](arguments.repeat)


if __name__ == "__main__":
    main()
