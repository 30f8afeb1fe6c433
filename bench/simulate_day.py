#!/usr/bin/env python3
"""How long `maniple simulate` takes for a day of 10,000 gangs on 1,250 nodes of 8 GPUs.

    bench/simulate_day.py [--repeat 3] [--load 1.0]   # load 1: three quarters of the GPUs are in use; 4: more is asked than there is

Binaries: build/$PRESET/bin (default: bench). Prints each run, and the median with minimum and maximum.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("PRESET", "bench")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
from support.control_plane import build_folder  # noqa: E402


def day(load):
    """Arrivals are uniform over a day, run times log-normal; a third of the jobs is one pod, the largest have 16 of 8 GPUs."""
    draw = random.Random(1)
    rows = ["submit_s,duration_s,gpus,pods,queue"]
    for _ in range(10_000):
        pods = draw.choice([1, 1, 1, 2, 2, 4, 4, 8, 16])
        gpus = 8 if pods > 1 else draw.choice([1, 1, 2, 4, 8])
        rows.append(f"{draw.uniform(0, 86400):.1f},{load * draw.lognormvariate(7.1, 1):.0f},{gpus},{pods},team-{draw.randrange(20)}")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--load", type=float, default=1.0)
    arguments = parser.parse_args()
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "day.csv")
        trace.write_text(day(arguments.load))
        for _ in range(arguments.repeat):
            began = time.monotonic()
            done = subprocess.run([build_folder() / "maniple", "simulate", trace, "--nodes", "1250:gpus=8", "-o", "json"], check=True,
                                  capture_output=True, text=True)
            seconds.append(round(time.monotonic() - began, 1))
            [run] = json.loads(done.stdout)["items"]
            print(json.dumps({"seconds": seconds[-1], "started": run["all"]["started"], "used_share": round(run["usedShare"], 3)}), flush=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"median {statistics.median(seconds)} s   min {min(seconds)}   max {max(seconds)}   n {len(seconds)}   {peak} MiB")


if __name__ == "__main__":
    main()
