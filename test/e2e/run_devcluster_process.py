#!/usr/bin/env python3
"""maniple-devcluster as a process: its flags, files, signals and snapshots.

    test/e2e/run_devcluster_process.py            # every case
    test/e2e/run_devcluster_process.py TEXT       # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.control_plane import ROOT, DevCluster, build_folder  # noqa: E402

PODS = "/api/v1/namespaces/default/pods"


def run(*flags, seconds=20):
    return subprocess.run([build_folder() / "maniple-devcluster", *map(str, flags)], capture_output=True, text=True, timeout=seconds)


def refused(*flags, saying):
    """Ends at once with one clear line."""
    done = run(*flags)
    assert done.returncode in (1, 2), (flags, done.returncode, done.stderr)
    assert saying in done.stderr and done.stderr.strip().count("\n") == 0, (flags, done.stderr)


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"capacity": {"cpu": "8"}}}


def pod(name, on=None):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {**({"nodeName": on} if on else {}), "containers": [{"name": "main", "image": "i"}]}}


def phase(api, name):
    return api.must("GET", f"{PODS}/{name}")["status"]["phase"]


def await_that(what, question, seconds=15):
    until = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < until, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def help_shows_an_example_and_the_version_is_told(folder):
    assert "Example" in run("--help").stdout
    assert "maniple-devcluster" in run("--version").stdout


def bad_flags_are_refused_in_one_line(folder):
    refused("--nonsense", saying="nonsense")
    refused("--listen", "nowhere", saying='--listen "nowhere"')
    refused("--listen", "127.0.0.1:99999", saying="99999")
    refused("--listen", "192.0.2.1:0", saying="192.0.2.1")
    refused("--listen", "127.0.0.1:0", "--delete-delay", "soon", saying='--delete-delay "soon"')
    refused("--listen", "127.0.0.1:0", "--kubelet-start-delay", "-1s", saying="--kubelet-start-delay")
    refused("--listen", "127.0.0.1:0", "--log-format", "xml", saying="xml")
    refused("--listen", "127.0.0.1:0", "--token-file", folder / "none", saying="none")
    (folder / "empty").write_text("\n")
    refused("--listen", "127.0.0.1:0", "--token-file", folder / "empty", saying="no token")


def bad_manifests_are_refused_by_file_and_line(folder):
    def load(text):
        (folder / "bad.yaml").write_text(text)
        return ("--listen", "127.0.0.1:0", "--load", folder / "bad.yaml")

    refused(*load("apiVersion: v1\nkind: Pod\nmetadata: {}\n"), saying="bad.yaml:3: metadata.name: missing")
    refused(*load("a: [1\n"), saying="bad.yaml")
    refused(*load("apiVersion: v1\nkind: Nonsense\nmetadata: {name: x}\n"), saying="bad.yaml:1: ")
    refused(*load("apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: default}\nspec: {containers: []}\n"), saying="spec.containers")
    refused("--listen", "127.0.0.1:0", "--load", folder / "none", saying="none: no such file")


def manifests_are_loaded_before_it_serves(folder):
    (folder / "cluster.yaml").write_text(yaml.safe_dump_all([pod("p", on="n1"), node("n1")]))
    with DevCluster(flags=("--load", ROOT / "deploy" / "crds", "--load", folder / "cluster.yaml")) as server:
        assert server.api.request("GET", "/apis/scheduling.maniple.dev/v1alpha1/podgroups").status == 200
        await_that("p runs", lambda: phase(server.api, "p") == "Running")


def beyond_loopback_it_serves_everybody_only_when_told(folder):
    missing = ("--load", folder / "none")  # what it stumbles over next
    refused("--listen", "0.0.0.0:0", saying="--serve-everybody")
    refused("--listen", "[::]:0", saying="--serve-everybody")
    refused("--listen", "0.0.0.0:0", "--serve-everybody", *missing, saying="no such file")
    (folder / "tokens").write_text("t\n")
    refused("--listen", "0.0.0.0:0", "--token-file", folder / "tokens", "--tls", *missing, saying="no such file")


def it_writes_over_links_and_not_through_them(folder):
    (folder / "precious").write_text("kept")
    for name in ("config", "config.new"):
        (folder / name).symlink_to(folder / "precious")
    with DevCluster(flags=("--kubeconfig-out", folder / "config")):
        await_that("the kubeconfig is written", lambda: not (folder / "config").is_symlink())
    assert (folder / "precious").read_text() == "kept"
    assert "clusters" in (folder / "config").read_text()


def it_ends_with_status_zero_on_each_signal(folder):
    for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with DevCluster() as server:
            assert server.children[-1].stop(kind) == 0


def objects_survive_a_restart_with_their_identity(folder):
    flags = ("--data-dir", folder / "data", "--load", ROOT / "deploy" / "crds")
    group = {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"minMember": 3}}
    groups = "/apis/scheduling.maniple.dev/v1alpha1/namespaces/default/podgroups"
    with DevCluster(flags=flags) as server:
        server.api.must("POST", "/api/v1/nodes", node("n1"))
        server.api.must("POST", PODS, pod("p", on="n1"))
        owner = server.api.must("POST", groups, group)["metadata"]
        owned = {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "PodGroup", "name": "g", "uid": owner["uid"]}
        settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned", "ownerReferences": [owned]}}
        server.api.must("POST", "/api/v1/namespaces/default/configmaps", settings)
        await_that("p runs", lambda: phase(server.api, "p") == "Running")
        before = server.api.must("GET", f"{PODS}/p")
        assert server.children[-1].stop() == 0
    with DevCluster(flags=flags[:2]) as server:
        after = server.api.must("GET", f"{PODS}/p")
        assert after["metadata"]["uid"] == before["metadata"]["uid"] and after["status"] == before["status"], (before, after)
        assert server.api.must("GET", f"{groups}/g")["spec"]["minMember"] == 3
        assert server.api.request("GET", "/api/v1/namespaces/default/configmaps/owned").status == 200
        server.api.must("DELETE", f"{PODS}/p")
        assert server.api.request("GET", f"{PODS}/p").status == 404


def a_broken_snapshot_is_named(folder):
    (folder / "objects.jsonl").write_text('{"kind":\n')
    refused("--listen", "127.0.0.1:0", "--data-dir", folder, saying="objects.jsonl:1")


def the_delays_are_kept(folder):
    with DevCluster(flags=("--kubelet-start-delay", "700ms", "--delete-delay", "700ms")) as server:
        server.api.must("POST", "/api/v1/nodes", node("n1"))
        server.api.must("POST", PODS, pod("p", on="n1"))
        assert phase(server.api, "p") == "Pending"
        await_that("p runs", lambda: phase(server.api, "p") == "Running")
        server.api.must("DELETE", f"{PODS}/p")
        assert server.api.request("GET", f"{PODS}/p").status == 200
        await_that("p is gone", lambda: server.api.request("GET", f"{PODS}/p").status == 404)


def without_controllers_nothing_moves_by_itself(folder):
    with DevCluster(flags=("--no-controllers",)) as server:
        server.api.must("POST", "/api/v1/nodes", node("n1"))
        server.api.must("POST", PODS, pod("p", on="n1"))
        server.api.must("POST", PODS, pod("q"))
        assert phase(server.api, "p") == "Pending"


def logs_are_json_lines_when_asked_for(folder):
    with DevCluster(flags=("--log-format", "json", "-v", "2")) as server:
        server.api.must("GET", "/api/v1/nodes")
        lines = next(server.folder.glob("maniple-devcluster.log")).read_text().splitlines()
        assert lines and all(isinstance(json.loads(line), dict) for line in lines)


CASES = [value for value in list(globals().values())
         if getattr(value, "__code__", None) and value.__code__.co_varnames[:1] == ("folder",) and value.__code__.co_argcount == 1]


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    passed = failed = 0
    for case in [case for case in CASES if wanted in case.__name__]:
        try:
            with tempfile.TemporaryDirectory() as folder:
                case(Path(folder))
            print(f"ok     {case.__name__}")
            passed += 1
        except Exception:  # noqa: BLE001 - one case that fails does not end the run
            print(f"FAILED {case.__name__}\n{traceback.format_exc()}")
            failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
