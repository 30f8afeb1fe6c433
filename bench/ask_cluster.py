#!/usr/bin/env python3
"""What it takes to ask a cluster of 1,250 nodes with 8,800 pods that run: `maniple snapshot`, and `maniple whatif` of a job that nobody
has submitted, of the live cluster and of the snapshot. Then eight connections ask without a pause what would help a gang that waits,
while pods come: how often they are answered, and which turns of the scheduler were long.

    bench/ask_cluster.py [--repeat 5]

Binaries: build/$PRESET/bin (default: bench), with the embedded server. Prints the median of each with minimum and maximum.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

os.environ.setdefault("PRESET", "bench")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
from support.control_plane import DevCluster, build_folder  # noqa: E402
from support.scheduler import Scheduler, add_nodes, await_that, is_bound, pod, pod_group, pods_by_gang, submit, submit_many  # noqa: E402

NODES, GANGS, MEMBERS = 1250, 1100, 8
WAITS = 3  # the exit status of "it would not start"


def job_file(folder, name, members):
    """Each pod wants a whole node."""
    file = folder / f"{name}.json"
    items = [pod_group(name, members), *(pod(f"{name}-{index}", name, 8) for index in range(members))]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return file


def get(scheduler, target):
    connection = http.client.HTTPConnection(scheduler.host, scheduler.port)
    connection.request("GET", target)
    return connection.getresponse().read().decode()


def turns_by_length(scheduler):
    """{upper end in seconds: turns so far that were not longer}"""
    buckets = re.findall(r'^maniple_turn_duration_seconds_bucket{le="(.*)"} (\d+)$', get(scheduler, "/metrics"), re.MULTILINE)
    return {float(end): int(turns) for end, turns in buckets}


def besiege(server, scheduler, seconds=15, connections=8):
    submit(server.api, "waits", NODES, 8)
    await_that("it is known what would help", lambda: "what would help" in scheduler.maniple("explain", "waits")[1], seconds=60)
    before, until, answers = turns_by_length(scheduler), time.monotonic() + seconds, []

    def ask():
        connection = http.client.HTTPConnection(scheduler.host, scheduler.port)
        while time.monotonic() < until:
            began = time.monotonic()
            connection.request("GET", "/explain?namespace=default&name=waits")
            connection.getresponse().read()
            answers.append(time.monotonic() - began)

    askers = [threading.Thread(target=ask) for _ in range(connections)]
    for asker in askers:
        asker.start()
    pods = 0
    while time.monotonic() < until:
        server.api.must("POST", "/api/v1/namespaces/default/pods", pod(f"comes-{pods}", gpus=1))
        pods += 1
        time.sleep(0.1)
    for asker in askers:
        asker.join()
    turns = {end: count - before[end] for end, count in turns_by_length(scheduler).items()}
    longer = {end: turns[float("inf")] - turns[end] for end in (0.001, 0.005, 0.01)}
    print(f"what would help, asked without a pause: {len(answers) / seconds:.0f} answers/s, the longest {max(answers):.2f} s; {pods} pods came; "
          f"{turns[float('inf')]} turns, of which {longer[0.001]} took over 1 ms, {longer[0.005]} over 5 ms, {longer[0.01]} over 10 ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    with DevCluster() as server:
        server.install_crds()
        add_nodes(server.api, NODES)
        scheduler = Scheduler(server).start()
        submit_many(server.api, GANGS, MEMBERS, 1)
        await_that("all are bound", lambda: sum(map(is_bound, sum(pods_by_gang(server.api).values(), []))) == GANGS * MEMBERS, seconds=120)
        fits, fits_not = job_file(server.folder, "fits", 64), job_file(server.folder, "large", NODES)
        file = server.folder / "cluster.snapshot"
        questions = {
            "snapshot": ("snapshot", file),
            "whatif, would start": ("whatif", "-f", fits),
            "whatif, would not": ("whatif", "-f", fits_not),
            "whatif --snapshot, would start": ("whatif", "--snapshot", file, "-f", fits),
        }
        for question, command in questions.items():
            seconds = []
            for _ in range(arguments.repeat):
                began = time.monotonic()
                done = subprocess.run([build_folder() / "maniple", "--kubeconfig", server.kubeconfig, *command], capture_output=True, text=True)
                seconds.append(time.monotonic() - began)
                assert done.returncode in (0, WAITS), done.stderr
            print(f"{question}: median {statistics.median(seconds):.2f} s   min {min(seconds):.2f}   max {max(seconds):.2f}   n {len(seconds)}   "
                  f"status {done.returncode}", flush=True)
        print(f"the snapshot: {file.stat().st_size / 1e6:.2f} MB")
        besiege(server, scheduler)
        scheduler.stop()


if __name__ == "__main__":
    main()
