#!/usr/bin/env python3
"""Idle nodes are divided by MIG for gangs that wait for slices: real programs, both servers.

    test/e2e/run_mig.py                 # both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_mig.py TEXT            # only cases whose name contains TEXT
    test/e2e/run_mig.py --show embedded # also prints what `maniple nodes --map` draws, before and after

On the real server nobody plays mig-manager but the test. The last line is `N passed, M failed, K skipped`.
"""

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import DevCluster, RealControlPlane  # noqa: E402
from support.scheduler import (  # noqa: E402
    GPU, GROUP, Scheduler, await_that, is_bound, maniple_on, node, pod, pod_group, pods_by_gang,
)

MERGE = "application/merge-patch+json"
SLICES = {"all-balanced": {"1g.10gb": 16, "2g.20gb": 8, "3g.40gb": 8}, "all-1g.10gb": {"1g.10gb": 56}}
CONFIG = """apiVersion: config.maniple.dev/v1alpha1
kind: SchedulerConfiguration
gpu: {mig: {reconfigure: %s, after: 1s}}
"""
shows = []


def add_mig_node(api, name):
    body = node(name)
    body["metadata"]["labels"].update({
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.count": "8",
        "nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "mixed", "nvidia.com/mig.config.state": "success",
    })
    api.must("POST", "/api/v1/nodes", body)
    api.must("PATCH", f"/api/v1/nodes/{name}/status", {"status": body["status"]}, MERGE)
    api.must("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, MERGE)


def pods_asking(name, members, resource):
    for index in range(members):
        body = pod(f"{name}-{index}", name, 0)
        amounts = {"cpu": "1", resource: "1"}
        body["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        yield body


def submit(api, name, members, resource):
    api.must("POST", f"{GROUP}/namespaces/default/podgroups", pod_group(name, members))
    for body in pods_asking(name, members, resource):
        api.must("POST", "/api/v1/namespaces/default/pods", body)


def labels(api, name):
    return api.must("GET", f"/api/v1/nodes/{name}")["metadata"]["labels"]


def all_bound(api, gang):
    pods = pods_by_gang(api).get(gang, [])
    return pods and all(map(is_bound, pods))


def carry_out(server, name):
    """What mig-manager does, where there is none."""
    if isinstance(server, DevCluster):
        return
    config = labels(server.api, name)["nvidia.com/mig.config"]
    amounts = {f"nvidia.com/mig-{profile}": str(count) for profile, count in SLICES[config].items()} | {GPU: "0"}
    server.api.must("PATCH", f"/api/v1/nodes/{name}/status", {"status": {"capacity": amounts, "allocatable": amounts}}, MERGE)
    server.api.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": {"nvidia.com/mig.config.state": "success"}}}, MERGE)


def config_file(server, mode):
    config = server.folder / "scheduler.yaml"
    config.write_text(CONFIG % mode)
    return config


def scheduler_on(server, mode):
    return Scheduler(server, flags=("--leader-elect=false", "--config", str(config_file(server, mode)))).start()


def show(server, scheduler, when):
    status, output, error = scheduler.maniple("nodes", "--map")
    assert status == 0, error
    if shows and isinstance(server, DevCluster):
        print(f"--- {when}\n{output}", end="", flush=True)
    return output


def an_idle_node_is_divided_for_those_who_wait(server):
    api = server.api
    for name in ("mig-01", "mig-02"):
        add_mig_node(api, name)
    # Who has waited long enough when the first plan is made decides what it divides: all of them shall have.
    for gang, members, profile in (("notebooks", 10, "1g.10gb"), ("serving", 5, "2g.20gb"), ("finetune", 3, "3g.40gb")):
        submit(api, gang, members, f"nvidia.com/mig-{profile}")
    submitted = time.time()
    await_that("the last gang has waited long enough", lambda: time.time() > submitted + 2)
    scheduler = scheduler_on(server, "on")
    await_that("a node is being divided", lambda: labels(api, "mig-01").get("nvidia.com/mig.config") == "all-balanced", 40)
    show(server, scheduler, "mig-01 is being divided")
    carry_out(server, "mig-01")
    for gang in ("notebooks", "serving", "finetune"):
        await_that(f"{gang} is bound", lambda gang=gang: all_bound(api, gang), 40)
    assert "nvidia.com/mig.config" not in labels(api, "mig-02"), "one node was enough"
    drawn = show(server, scheduler, "the gangs run")
    assert "3g.40gb" in drawn, drawn
    found = api.must("GET", "/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    told = [one["note"] for one in found if one.get("reason") == "MigConfigChanged" and one["regarding"]["name"] == "mig-01"]
    assert len(told) == 1 and "18 instead of 0 waiting pods" in told[0], told
    assert scheduler.stop() == 0


def a_dry_run_only_says_what_it_would_do(server):
    api = server.api
    add_mig_node(api, "mig-01")
    before = labels(api, "mig-01")
    scheduler = scheduler_on(server, "dryRun")
    submit(api, "notebooks", 3, "nvidia.com/mig-1g.10gb")

    def proposed():
        found = api.must("GET", "/apis/events.k8s.io/v1/namespaces/default/events")["items"]
        return [one["note"] for one in found if one.get("reason") == "MigConfigProposed"]

    await_that("the proposal is told", proposed, 40)
    assert "from no configuration to all-1g.10gb" in proposed()[0], proposed()
    assert labels(api, "mig-01") == before
    assert scheduler.stop() == 0


def what_if_tells_of_the_division_and_so_it_comes(server):
    api = server.api
    add_mig_node(api, "mig-01")
    slices, config = "nvidia.com/mig-1g.10gb", config_file(server, "on")
    job = server.folder / "job.json"
    job.write_text(json.dumps({"apiVersion": "v1", "kind": "List",
                               "items": [pod_group("notebooks", 3), *pods_asking("notebooks", 3, slices)]}))
    status, output, error = maniple_on(server, "whatif", "-f", job, "--config", config)
    assert status == 0 and "after MIG has divided mig-01 (all-1g.10gb), which is taken to last 1m" in output, (status, output, error)
    status, output, error = maniple_on(server, "whatif", "-f", job)
    assert status != 0 and "NeverFits" in output, "nobody may divide: " + output + error
    assert "nvidia.com/mig.config" not in labels(api, "mig-01"), "a question has written something"

    # A snapshot of it while it waits, played on: it starts.
    submit(api, "notebooks", 3, slices)
    snapshot = server.folder / "cluster.snap"
    status, _, error = maniple_on(server, "snapshot", snapshot)
    assert status == 0, error
    status, output, error = maniple_on(server, "simulate", snapshot, "--config", config, "-o", "json")
    assert status == 0, error
    [run] = json.loads(output)["items"]
    [gang] = run["waited"]
    assert gang["gang"] == "default/notebooks" and 60 <= gang["startsAfterSeconds"] < 90, run

    scheduler = scheduler_on(server, "on")
    await_that("the node is being divided", lambda: labels(api, "mig-01").get("nvidia.com/mig.config") == "all-1g.10gb", 40)
    carry_out(server, "mig-01")
    await_that("the gang is bound", lambda: all_bound(api, "notebooks"), 40)
    assert scheduler.stop() == 0


CASES = (an_idle_node_is_divided_for_those_who_wait, a_dry_run_only_says_what_it_would_do,
         what_if_tells_of_the_division_and_so_it_comes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--show", action="store_true", help="print the maps")
    parser.add_argument("text", nargs="?", default="")
    args = parser.parse_args()
    shows.extend([True] * args.show)
    plays, skipped = on_servers(CASES, RealControlPlane)
    return play_all(plays, skipped, args.text)


if __name__ == "__main__":
    sys.exit(main())
