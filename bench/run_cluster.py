#!/usr/bin/env python3
"""Whole-process measurements: maniple-scheduler against an API server, with the server's ceiling C in the same run.

    bench/run_cluster.py embedded [--repeat 3]    # 5,000 nodes, 2,000 gangs of 8 one-GPU pods, through maniple-devcluster
    bench/run_cluster.py memory                   # scheduler RSS with 5,000 nodes and 50,000 pods
    bench/run_cluster.py parked                   # CPU of a scheduler with 10,000 gangs that cannot start
    bench/run_cluster.py w1|w2 [--repeat 3]       # kube-apiserver and etcd; C interleaved: a flood of bindings before each run

Binaries: build/$PRESET/bin (default: bench). Prints the machine, each run, and medians with minimum and maximum.
W1: 1,000 nodes, 500 gangs of 4 one-GPU pods. W2: 1,000 nodes, 125 gangs of 64 one-GPU pods, exactly full.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("PRESET", "bench")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))
from support.control_plane import HOW_TO_ENABLE, DevCluster, RealControlPlane, assets, build_folder  # noqa: E402
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
            await_that("40,000 pods are bound", lambda: int(scheduler.ask("gangs")["items"] is not None) and bound(scheduler) >= 40000, 120, 2)
            time.sleep(2)
            print(json.dumps({"nodes": 5000, "pods": 50000, "scheduler_rss_mib": round(memory_mib(scheduler.process), 1),
                              "scheduler_peak_mib": round(memory_mib(scheduler.process, "VmHWM"), 1),
                              "devcluster_rss_mib": round(memory_mib(server.children[0]), 1)}))
        finally:
            scheduler.stop()


def bound(scheduler):
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


def real(repeat, gangs, members):
    folder = assets()
    if folder is None:
        sys.exit(HOW_TO_ENABLE)
    pods, runs = gangs * members, []
    for _ in range(repeat):
        with RealControlPlane(folder) as server:
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


def ceiling(server, pods, prefix):
    finish(load(server, "create", gangs=max(1, pods // 64), members=64, gpus=1, scheduler="nobody", prefix=prefix), "create")
    result = finish(load(server, "flood", connections=16, gpus=1), "flood")
    clear(server)
    return result["binds_per_s"]


def clear(server):
    server.api.must("DELETE", "/api/v1/namespaces/default/pods", {"gracePeriodSeconds": 0})
    server.api.must("DELETE", "/apis/scheduling.maniple.dev/v1alpha1/namespaces/default/podgroups")
    await_that("all pods are gone", lambda: not server.api.must("GET", "/api/v1/pods?limit=1")["items"], 120, 0.5)


def summary(runs, *keys):
    for key in keys:
        values = [run[key] for run in runs]
        print(f"{key:28} median {statistics.median(values):>9}   min {min(values):>9}   max {max(values):>9}   n {len(values)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["embedded", "memory", "parked", "w1", "w2"])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(machine(), flush=True)
    cases = {"embedded": embedded, "memory": memory, "parked": parked,
             "w1": lambda n: real(n, 500, 4), "w2": lambda n: real(n, 125, 64)}
    cases[arguments.what](arguments.repeat)


if __name__ == "__main__":
    main()
