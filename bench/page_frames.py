#!/usr/bin/python3
"""How smoothly the page draws 5,000 nodes of 8 GPUs while gangs are bound and somebody zooms: frames a second, in Chromium without a screen.

    PRESET=release bench/page_frames.py [SECONDS]

Starts maniple-devcluster and maniple-scheduler of that preset, opens the page, submits 25 gangs of 8 pods a second, turns the wheel over the
map to and fro, and counts frames. Debian's own Python, since its Selenium is a package of Debian (deploy/setup.sh --browser).
"""

import json
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
from support.browser import browser  # noqa: E402
from support.control_plane import DevCluster  # noqa: E402
from support.scheduler import Scheduler, await_that, is_bound, node, submit  # noqa: E402

NODES, RACK, GANGS_A_SECOND = 5000, 32, 25
TOPOLOGY = {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Topology", "metadata": {"name": "default"},
            "spec": {"levels": [{"name": "block", "nodeLabel": "example.com/block"}, {"name": "rack", "nodeLabel": "example.com/rack"}]}}
COUNT = """
const canvas = document.querySelector('.map canvas'), box = canvas.getBoundingClientRect();
const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, cancelable: true };
window.times = [];
const tick = (time) => { window.times.push(time); requestAnimationFrame(tick); };
requestAnimationFrame(tick);
let turn = 0;
setInterval(() => canvas.dispatchEvent(new WheelEvent('wheel', { ...at, deltaY: turn++ % 40 < 20 ? -60 : 60 })), 50);
"""


def cluster_file(folder):
    nodes = [node(f"node-{i:04}") for i in range(NODES)]
    for i, one in enumerate(nodes):
        one["metadata"]["labels"] |= {"example.com/rack": f"r{i // RACK:03}", "example.com/block": f"b{i // RACK // 8:02}"}
    file = folder / "nodes.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [TOPOLOGY, *nodes]}))
    return file


def flood(api, seconds):
    began = time.monotonic()
    for number in range(seconds * GANGS_A_SECOND):
        submit(api, f"g-{number:04}", 8, gpus=4)
        time.sleep(max(0.0, began + number / GANGS_A_SECOND - time.monotonic()))


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    server = DevCluster()
    server.flags = ("--load", "deploy/crds", "--load", str(cluster_file(server.folder)))
    with server:
        scheduler = Scheduler(server).start()
        with browser() as seen:
            await_that("the page is there", lambda: (seen.open(f"http://127.0.0.1:{scheduler.port}/"), "40,000 GPUs" in seen.text("header"))[1], 60)
            seen.run(COUNT)
            began = time.monotonic()
            load = threading.Thread(target=flood, args=(server.api, seconds))
            load.start()
            load.join()
            times = seen.run("return window.times")
            took = time.monotonic() - began
            complaints = seen.complaints()
            bound = sum(map(is_bound, server.api.must("GET", "/api/v1/pods")["items"]))
            seen.await_text("header", f"{bound * 4:,} of 40,000 GPUs used")
        scheduler.stop()
    gaps = sorted(later - sooner for sooner, later in zip(times, times[1:]))
    print(f"{len(gaps) / took:.1f} frames/s over {took:.0f} s, 99 % of frames within {gaps[int(len(gaps) * 0.99)]:.0f} ms, the longest {gaps[-1]:.0f} ms; "
          f"{bound / took:.0f} pods/s bound; {len(complaints)} complaints")
    return 0


if __name__ == "__main__":
    sys.exit(main())
