#!/usr/bin/env python3
"""The lists of the command line show whom the flags name, and say so when they cannot.

    test/e2e/run_lists.py                 # both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_lists.py TEXT            # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import contextlib
import gzip
import http.server
import json
import sys
import threading
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import RealControlPlane  # noqa: E402
from support.scheduler import GROUP, Scheduler, add_nodes, await_that, node, pod, pod_group, submit  # noqa: E402

QUEUE = {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Queue", "spec": {"quotas": []}}


def labelled(item, **labels):
    item["metadata"].setdefault("labels", {}).update(labels)
    return item


def names(scheduler, server, *arguments):
    status, output, error = scheduler.maniple("--kubeconfig", str(server.kubeconfig), *arguments, "-o", "name")
    assert status == 0, error
    return output.split()


def labels_choose_what_is_listed(server):
    api = server.api
    for name, pool in (("one", "old"), ("two", "new")):
        api.must("POST", "/api/v1/nodes", labelled(node(name), pool=pool))
    for name, team in (("ours", "vision"), ("theirs", "speech")):
        api.must("POST", f"{GROUP}/queues", labelled({**QUEUE, "metadata": {"name": name}}, team=team))
        api.must("POST", f"{GROUP}/namespaces/default/podgroups", labelled(pod_group(name, 1), team=team))
        api.must("POST", "/api/v1/namespaces/default/pods", pod(f"{name}-0", name))
        api.must("POST", "/api/v1/namespaces/default/pods", labelled(pod(f"lone-{name}"), team=team))
    scheduler = Scheduler(server).start()
    await_that("all gangs are known", lambda: scheduler.maniple("gangs", "-o", "name")[1].count("\n") == 4)

    assert names(scheduler, server, "gangs", "-l", "team=vision") == ["pod/lone-ours", "podgroup.scheduling.maniple.dev/ours"]
    assert names(scheduler, server, "gangs", "-n", "default", "-l", "team in (speech)") == ["pod/lone-theirs", "podgroup.scheduling.maniple.dev/theirs"]
    assert names(scheduler, server, "gangs", "-n", "kube-system", "-l", "team") == []
    assert names(scheduler, server, "nodes", "-l", "pool!=old") == ["node/two"]
    assert names(scheduler, server, "queues", "-l", "team=speech") == ["queue.scheduling.maniple.dev/theirs"]
    assert names(scheduler, server, "cohorts", "-l", "team=speech") == []

    status, _, error = scheduler.maniple("--kubeconfig", str(server.kubeconfig), "gangs", "-l", "team in")
    assert status == 1 and error.startswith("maniple: -l team in: list /apis/") and error.count("\n") == 1, error
    status, _, error = scheduler.maniple("--kubeconfig", "/nowhere", "gangs", "-l", "team=vision")
    assert status == 1 and "-l is a question to the API server" in error and "/nowhere" in error, error
    scheduler.stop()


def usage_tells_of_the_time_that_is_asked_about(server):
    api = server.api
    add_nodes(api, 1)
    api.must("POST", f"{GROUP}/queues", {**QUEUE, "metadata": {"name": "team"}})
    scheduler = Scheduler(server).start()
    submit(api, "ours", 1, queue="team")
    await_that("GPU-seconds are told", lambda: "team" in scheduler.maniple("usage")[1])
    await_that("they grow", lambda: scheduler.ask("usage")["items"][0]["total"] >= 8)
    for since in ("24h", "2020-01-01T00:00:00Z"):
        usage = scheduler.ask("usage", "--since", since)
        began = usage["since"]
        assert abs(began - time.time()) < 120, (began, "counted from before the scheduler was there")
        assert usage["queues"] == [{"queue": "team", "started": 1, "waitedSeconds": usage["queues"][0]["waitedSeconds"], "left": []}], usage
        assert [item["queue"] for item in usage["items"]] == ["team"], usage
    status, text, _ = scheduler.maniple("usage", "--since", "1h")
    assert status == 0 and "STARTED" in text and "\nsince 20" in text, text
    status, _, error = scheduler.maniple("usage", "--since", "yesterday")
    assert status == 1 and '--since "yesterday": a time such as' in error and error.count("\n") == 1, error
    reply = urllib.request.urlopen(f"http://127.0.0.1:{scheduler.port}/usage?since=2020-01-01T00:00:00Z", timeout=10)
    assert json.load(reply)["since"] > 0
    scheduler.stop()


@contextlib.contextmanager
def compacted_between_pages(api):
    """The address of an API server as `api` is one, but each second page has expired when it is asked for: the answer says where to go on."""

    class Front(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path, _, token = self.path.partition("&continue=")
            status, body = 410, {"kind": "Status", "code": 410, "reason": "Expired", "metadata": {"continue": f"now.{token}"}}
            if not token or token.startswith("now."):
                reply = api.request("GET", path + token.replace("now.", "&continue="))
                status, body = reply.status, reply.body
            body = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Front) as front:
        threading.Thread(target=front.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{front.server_port}"
        front.shutdown()


def an_expired_page_does_not_end_a_snapshot(server):
    path, many = f"{GROUP}/namespaces/default/podgroups", 501  # two pages
    server.api.must_all([("POST", path, pod_group(f"gang-{index:03}", 1), "application/json") for index in range(many)])
    file = server.folder / "cluster.snapshot"
    with compacted_between_pages(server.api) as url:
        kubeconfig = server.folder / "front-kubeconfig"
        kubeconfig.write_text(json.dumps({
            "current-context": "front", "contexts": [{"name": "front", "context": {"cluster": "front"}}],
            "clusters": [{"name": "front", "cluster": {"server": url}}],
        }))
        status, _, error = Scheduler(server).maniple("--kubeconfig", str(kubeconfig), "snapshot", str(file))
    assert status == 0, error
    kept = gzip.decompress(file.read_bytes()).count(b'"kind":"PodGroup"')
    assert kept == many, (kept, "PodGroups in the snapshot")


CASES = (labels_choose_what_is_listed, usage_tells_of_the_time_that_is_asked_about, an_expired_page_does_not_end_a_snapshot)


def main():
    plays, skipped = on_servers(CASES, RealControlPlane)
    return play_all(plays, skipped, sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
