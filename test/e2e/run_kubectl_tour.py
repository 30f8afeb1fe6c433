#!/usr/bin/env python3
"""A real kubectl against maniple-devcluster: what a user types, and what must come back.

    test/e2e/run_kubectl_tour.py            # every kubectl that is there: 1.36 and 1.32 of test/controlplane/build.sh, or $KUBECTL
    test/e2e/run_kubectl_tour.py TEXT       # only stops whose name contains TEXT

BIN names the folder of the binaries, build/$PRESET/bin otherwise. The last line is `N passed, M failed, K skipped`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.control_plane import ROOT, DevCluster, await_true, build_folder, program  # noqa: E402

HOW_TO_ENABLE = "SKIPPED, NO KUBECTL: run test/controlplane/build.sh (needs Go), or name one in KUBECTL"
CRDS = ROOT / "deploy" / "crds"


class Tour:
    """One kubectl, one server, a home folder of its own (kubectl keeps what it discovered in there)."""

    def __init__(self, kubectl, server, home):
        self.kubectl, self.server, self.home = kubectl, server, Path(home)

    def run(self, *words, stdin=None, seconds=30):
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "KUBECONFIG": str(self.server.kubeconfig)}
        return subprocess.run([str(self.kubectl), *words], input=stdin, capture_output=True, text=True, timeout=seconds, env=environment)

    def ok(self, line, stdin=None, seconds=30):
        """What the command printed; it must succeed."""
        done = self.run(*line.split(), stdin=stdin, seconds=seconds)
        assert done.returncode == 0, f"kubectl {line}: status {done.returncode}: {done.stderr or done.stdout}"
        return done.stdout

    def refused(self, line, stdin=None):
        """The complaint; the command must fail."""
        done = self.run(*line.split(), stdin=stdin)
        assert done.returncode != 0, f"kubectl {line}: was not refused: {done.stdout}"
        return done.stderr

    def apply(self, *objects, flags=""):
        return self.ok(f"apply {flags} -f -", stdin=yaml.safe_dump_all(objects))

    def json(self, line):
        return json.loads(self.ok(f"{line} -o json"))

    def requests(self):
        """What the server was asked so far, as `METHOD target`."""
        log = next(self.server.folder.glob("maniple-devcluster.log")).read_text(errors="replace")
        return re.findall(r"\b((?:GET|POST|PUT|PATCH|DELETE) /\S*)", log)

    def start(self, *words):
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "KUBECONFIG": str(self.server.kubeconfig)}
        return subprocess.Popen([str(self.kubectl), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def node(name, gpus=8, **labels):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "status": {"capacity": {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}}}


def pod(name, on=None, labels=None, annotations=None):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}},
            "spec": {**({"nodeName": on} if on else {"schedulerName": "nobody"}), "containers": [
                {"name": "main", "image": "registry.example/train:1", "resources": {"limits": {"cpu": "1", "nvidia.com/gpu": "1"}}}]}}


def group(name, minimum=2):
    return {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "PodGroup", "metadata": {"name": name}, "spec": {"minMember": minimum}}


def says(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text), f"no /{pattern}/ in:\n{text}"


def rows(text):
    """[{column: cell}] of what kubectl printed as a table; columns are two blanks apart."""
    header, *lines = text.rstrip("\n").split("\n")
    starts = [found.start() for found in re.finditer(r"(?:(?<=  )|^)\S", header)]
    names = [header[a:b].strip() for a, b in zip(starts, [*starts[1:], None])]
    return [{name: line[a:b].strip() for name, a, b in zip(names, starts, [*starts[1:], None])} for line in lines]


# ---- the stops, in order; each leaves what it made unless a later one would mind


def the_versions_and_health_are_told(tour):
    says(tour.ok("version"), r"Server Version: v1\.36")
    assert tour.ok("get --raw /readyz") == "ok"
    assert "v1" in tour.ok("api-versions").split()


def custom_types_are_created_and_wait_until_they_are_established(tour):
    says(tour.ok(f"create -f {CRDS}"), r"podgroups\.scheduling\.maniple\.dev created")
    says(tour.ok("wait --for=condition=Established --timeout=10s crd/podgroups.scheduling.maniple.dev"), "condition met")
    says(tour.ok(f"apply --server-side --force-conflicts -f {CRDS}"), r"queues\.scheduling\.maniple\.dev serverside-applied")
    assert {"NAME", "CREATED AT"} <= set(rows(tour.ok("get crd"))[0])


def types_are_listed_with_their_short_names(tour):
    kinds = {row["NAME"]: row for row in rows(tour.ok("api-resources"))}
    assert kinds["podgroups"]["SHORTNAMES"] == "mpg", kinds["podgroups"]
    assert kinds["pods"]["KIND"] == "Pod" and kinds["nodes"]["NAMESPACED"] == "false"
    assert "queues" in tour.ok("api-resources --api-group=scheduling.maniple.dev -o name")


def types_are_explained(tour):
    says(tour.ok("explain podgroup"), r"GROUP:\s+scheduling\.maniple\.dev", r"KIND:\s+PodGroup", r"spec\s+<Object>")
    says(tour.ok("explain mpg.spec.minMember"), r"FIELD: minMember <integer>")
    says(tour.ok("explain pod.spec.containers"), r"FIELD: containers", r"image\s+<string>")
    says(tour.refused("explain podgroup.spec.nonsense"), "does not exist")


def nodes_are_applied_and_become_ready(tour):
    tour.apply(node("n1", zone="a"), node("n2", zone="b"))
    tour.ok("wait --for=condition=Ready --timeout=10s node/n1 node/n2")
    found = {row["NAME"]: row for row in rows(tour.ok("get nodes -o wide"))}
    assert found["n1"]["STATUS"] == "Ready" and "maniple-devcluster" in found["n1"]["OS-IMAGE"], found
    says(tour.ok("get nodes --show-labels"), "zone=a")
    assert [row["NAME"] for row in rows(tour.ok("get nodes -l zone=b"))] == ["n2"]
    assert tour.ok("get node n1 -o jsonpath={.status.allocatable.pods}") == "110"


def a_bound_pod_runs_and_is_seen_running(tour):
    tour.apply(pod("runs", on="n1", labels={"app": "web"}))
    says(tour.ok("wait --for=condition=Ready --timeout=10s pod/runs"), "condition met")
    says(tour.ok("wait --for=jsonpath={.status.phase}=Running --timeout=10s pod/runs"), "condition met")
    row = rows(tour.ok("get pods -o wide"))[0]
    assert (row["NAME"], row["READY"], row["STATUS"], row["NODE"]) == ("runs", "1/1", "Running", "n1"), row
    assert tour.json("get pod runs")["status"]["phase"] == "Running"
    assert yaml.safe_load(tour.ok("get pod runs -o yaml"))["spec"]["nodeName"] == "n1"
    assert tour.ok("get pods -o name").split() == ["pod/runs"]
    says(tour.ok("get pods -A"), r"default\s+runs")
    says(tour.ok("get pod/runs node/n1"), "pod/runs", "node/n1")
    assert tour.ok("get pods --field-selector spec.nodeName=n1,status.phase=Running -o name").strip() == "pod/runs"
    says(tour.refused("get pod nobody"), r'Error from server \(NotFound\): pods "nobody" not found')


def a_pod_that_does_not_fit_is_rejected_by_its_node(tour):
    tour.apply(node("tiny", gpus=0))
    tour.apply(pod("misfit", on="tiny"))
    says(tour.ok("wait --for=jsonpath={.status.phase}=Failed --timeout=10s pod/misfit"), "condition met")
    assert tour.json("get pod misfit")["status"]["reason"] == "OutOfnvidia.com/gpu"
    tour.ok("delete pod misfit")
    tour.ok("delete node tiny")


def things_are_described(tour):
    says(tour.ok("describe pod runs"), r"Node:\s+n1", r"Status:\s+Running", r"Events:")
    says(tour.ok("describe node n1"), r"Ready\s+True", r"Non-terminated Pods:\s+\(1 in total\)", r"nvidia\.com/gpu\s+1")
    tour.apply(group("described"))
    says(tour.ok("describe podgroup described"), r"Kind:\s+PodGroup", r"Min Member:\s+2")


def an_unchanged_object_is_not_written_again(tour):
    manifest = [pod("twice", labels={"a": "1"}), group("twice-group")]
    says(tour.apply(*manifest), "pod/twice created")
    before = len(tour.requests())
    says(tour.apply(*manifest), "pod/twice unchanged", "podgroup.*twice-group unchanged")
    assert not [one for one in tour.requests()[before:] if not one.startswith("GET ")], tour.requests()[before:]
    manifest[0]["metadata"]["labels"]["a"] = "2"
    says(tour.apply(*manifest), "pod/twice configured", "podgroup.*twice-group unchanged")
    assert tour.json("get pod twice")["metadata"]["labels"]["a"] == "2"
    manifest[1]["spec"]["minMember"] = 5
    says(tour.run("diff", "-f", "-", stdin=yaml.safe_dump_all(manifest)).stdout, r"\+.*minMember: 5")
    says(tour.apply(*manifest), "podgroup.*twice-group configured")


def server_side_apply_owns_fields_and_tells_of_conflicts(tour):
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned"}, "data": {"k": "1"}}
    says(tour.apply(wanted, flags="--server-side"), "configmap/owned serverside-applied")
    wanted["data"]["k"] = "2"
    complaint = tour.refused("apply --server-side --field-manager=other -f -", stdin=yaml.safe_dump(wanted))
    says(complaint, "conflict")
    tour.apply(wanted, flags="--server-side --field-manager=other --force-conflicts")
    assert tour.json("get configmap owned")["data"]["k"] == "2"


def a_wrong_field_is_refused_by_name(tour):
    typo = pod("typo")
    typo["spec"]["containers"][0]["imagee"] = "x"
    says(tour.refused("apply -f -", stdin=yaml.safe_dump(typo)), r'unknown field "spec\.containers\[0\]\.imagee"')
    wrong = group("wrong")
    wrong["spec"]["minMembers"] = 3
    says(tour.refused("create -f -", stdin=yaml.safe_dump(wrong)), r'unknown field "spec\.minMembers"')
    says(tour.refused("apply -f -", stdin=yaml.safe_dump(group("zero", 0))), r"spec\.minMember")
    bad = pod("bad")
    bad["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "lots"
    says(tour.refused("apply -f -", stdin=yaml.safe_dump(bad)), "quantit|cpu")


def a_dry_run_changes_nothing(tour):
    says(tour.apply(group("dry"), flags="--dry-run=server"), r"created \(server dry run\)")
    says(tour.refused("get podgroup dry"), "NotFound")
    says(tour.ok("create namespace dry --dry-run=server"), r"created \(server dry run\)")
    says(tour.refused("get namespace dry"), "NotFound")


def the_three_kinds_of_patch_work_and_custom_types_refuse_the_strategic_one(tour):
    tour.apply(pod("patched", labels={"a": "1"}), group("patched"))
    tour.ok('patch pod patched --type=merge -p {"metadata":{"labels":{"b":"2"}}}')
    tour.ok('patch pod patched --type=json -p [{"op":"replace","path":"/metadata/labels/a","value":"3"}]')
    tour.ok('patch pod patched -p {"spec":{"containers":[{"name":"main","image":"registry.example/train:2"}]}}')
    found = tour.json("get pod patched")
    assert found["metadata"]["labels"] == {"a": "3", "b": "2"}, found["metadata"]["labels"]
    assert found["spec"]["containers"][0]["image"].endswith(":2") and found["spec"]["containers"][0]["resources"], found["spec"]
    tour.ok('patch podgroup patched --type=merge -p {"spec":{"minMember":7}}')
    assert tour.json("get mpg patched")["spec"]["minMember"] == 7
    says(tour.refused('patch podgroup patched --type=strategic -p {"spec":{"minMember":7}}'), "UnsupportedMediaType|not supported|unsupported")
    tour.ok('patch podgroup patched --subresource=status --type=merge -p {"status":{"phase":"Pending","reason":"NoFit"}}')
    row = rows(tour.ok("get podgroup patched"))[0]
    assert (row["PHASE"], row["REASON"], row["MIN"]) == ("Pending", "NoFit", "7"), row


def labels_and_annotations_are_set_and_removed(tour):
    says(tour.ok("label pod patched tier=gold"), "labeled")
    says(tour.refused("label pod patched tier=silver"), "already has a value")
    tour.ok("label pod patched tier=silver --overwrite")
    assert [row["NAME"] for row in rows(tour.ok("get pods -l tier=silver"))] == ["patched"]
    tour.ok("label pod patched tier-")
    says(tour.ok("annotate pod patched note=hello"), "annotated")
    metadata = tour.json("get pod patched")["metadata"]
    assert "tier" not in metadata["labels"] and metadata["annotations"]["note"] == "hello", metadata


def typed_creates_arrive_as_protobuf(tour):
    says(tour.ok("create namespace team"), "namespace/team created")
    tour.ok("create priorityclass high --value=1000 --description=first")
    tour.ok("create configmap settings --from-literal=a=b -n team")
    tour.ok("create secret generic token --from-literal=t=s3cret -n team")
    tour.ok("create quota limits --hard=pods=10,requests.cpu=4 -n team")
    tour.ok("create serviceaccount robot -n team")
    tour.ok("create job once --image=registry.example/job:1 -n team -- echo hi")
    tour.ok("create poddisruptionbudget keep --selector=app=web --min-available=1 -n team")
    tour.ok("create deployment web --image=registry.example/web:1 --replicas=2 -n team")
    assert tour.json("get priorityclass high")["value"] == 1000
    assert tour.json("get configmap settings -n team")["data"] == {"a": "b"}
    assert tour.json("get secret token -n team")["data"] == {"t": "czNjcmV0"}
    assert tour.json("get quota limits -n team")["spec"]["hard"] == {"pods": "10", "requests.cpu": "4"}
    assert tour.json("get job once -n team")["spec"]["template"]["spec"]["containers"][0]["command"] == ["echo", "hi"]
    assert tour.json("get pdb keep -n team")["spec"]["minAvailable"] == 1
    assert tour.json("get deployment web -n team")["spec"]["replicas"] == 2
    says(tour.ok("get priorityclass"), r"high\s+1000\s+false")
    says(tour.refused("create namespace team"), "AlreadyExists")
    says(tour.refused("create namespace Not_A_Name"), "Invalid|invalid")


def who_may_do_what_is_answered(tour):
    assert tour.ok("auth can-i create pods").strip() == "yes"
    assert tour.ok("auth can-i delete podgroups").strip() == "yes"
    says(tour.ok("auth whoami"), r"Username\s+\S+")


def a_watch_shows_what_happens(tour):
    watch = tour.start("get", "pods", "-w", "--field-selector", "metadata.name=watched")
    try:
        time.sleep(1)
        tour.apply(pod("watched", on="n2"))
        tour.ok("wait --for=condition=Ready --timeout=10s pod/watched")
        tour.ok("delete pod watched")
        time.sleep(0.5)
    finally:
        watch.terminate()
    says(watch.communicate(timeout=10)[0], r"NAME\s+READY\s+STATUS", r"watched\s+0/1\s+Pending", r"watched\s+1/1\s+Running")


def a_deletion_can_be_waited_for(tour):
    tour.apply(pod("leaves", on="n2"))
    waiting = tour.start("wait", "--for=delete", "pod/leaves", "--timeout=20s")
    time.sleep(0.5)
    says(tour.ok("delete pod leaves"), 'pod "leaves" deleted')
    says(waiting.communicate(timeout=20)[0], "condition met|deleted|^$")
    assert waiting.returncode == 0
    says(tour.refused("get pod leaves"), "NotFound")
    tour.apply(pod("many-1", labels={"set": "many"}), pod("many-2", labels={"set": "many"}))
    says(tour.ok("delete pods -l set=many"), "many-1", "many-2")
    assert tour.ok("get pods -l set=many -o name") == ""
    says(tour.ok("delete pod nobody --ignore-not-found"), "^$")


def a_pod_runs_as_long_as_it_was_told_to(tour):
    tour.apply(pod("short", on="n2", annotations={"devcluster.maniple.dev/run-for": "1s"}))
    says(tour.ok("wait --for=jsonpath={.status.phase}=Succeeded --timeout=10s pod/short"), "condition met")
    row = next(row for row in rows(tour.ok("get pods")) if row["NAME"] == "short")
    assert (row["STATUS"], row["READY"]) == ("Completed", "0/1"), row


def events_are_listed(tour):
    about = tour.json("get pod runs")["metadata"]
    tour.ok("create -f -", stdin=yaml.safe_dump({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "runs.1", "namespace": "default"}, "type": "Normal",
        "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "example.com/tour", "reportingInstance": "tour-1", "action": "Look",
        "reason": "Seen", "note": "somebody looked",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "runs", "namespace": "default", "uid": about["uid"]}}))
    says(tour.ok("events"), r"Normal\s+Seen\s+Pod/runs\s+somebody looked")
    says(tour.ok("get events"), r"Normal\s+Seen\s+pod/runs\s+somebody looked")
    says(tour.ok("describe pod runs"), r"Seen.*somebody looked")


def a_node_is_cordoned_tainted_and_drained(tour):
    says(tour.ok("cordon n1"), "cordoned")
    says(tour.ok("get node n1"), r"Ready,SchedulingDisabled")
    says(tour.ok("taint nodes n1 example.com/k=v:NoSchedule"), "tainted")
    assert {"key": "example.com/k", "value": "v", "effect": "NoSchedule"} in tour.json("get node n1")["spec"]["taints"]
    tour.ok("taint nodes n1 example.com/k:NoSchedule-")
    says(tour.ok("drain n1 --force --ignore-daemonsets --dry-run=server"), "drained|evicted")
    says(tour.ok("drain n1 --force --ignore-daemonsets --timeout=20s"), r"pod/runs evicted", "drained")
    says(tour.refused("get pod runs"), "NotFound")
    says(tour.ok("uncordon n1"), "uncordoned")


def an_eviction_is_held_back_by_its_budget(tour):
    tour.apply(pod("guarded", on="n1", labels={"app": "guarded"}))
    tour.ok("wait --for=condition=Ready --timeout=10s pod/guarded")
    tour.ok("create poddisruptionbudget guard --selector=app=guarded --min-available=1")
    tour.ok("wait --for=jsonpath={.status.expectedPods}=1 --timeout=10s pdb/guard")
    row = rows(tour.ok("get pdb guard"))[0]
    assert (row["MIN AVAILABLE"], row["ALLOWED DISRUPTIONS"]) == ("1", "0"), row
    done = tour.run("drain", "n1", "--force", "--timeout=2s")
    assert done.returncode != 0
    says(done.stdout + done.stderr, "disruption budget")
    tour.ok("uncordon n1")
    tour.ok("delete pdb guard")
    tour.ok("delete pod guarded")


def an_unready_node_says_so(tour):
    tour.ok("annotate node n2 devcluster.maniple.dev/ready=false")
    tour.ok("wait --for=condition=Ready=False --timeout=10s node/n2")
    says(tour.ok("get node n2"), "NotReady")
    assert "node.kubernetes.io/not-ready" in tour.ok("get node n2 -o jsonpath={.spec.taints[*].key}")
    tour.ok("annotate node n2 devcluster.maniple.dev/ready-")
    tour.ok("wait --for=condition=Ready --timeout=10s node/n2")


def an_object_is_replaced_only_at_its_version(tour):
    tour.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "versioned"}, "data": {"k": "1"}})
    stale = tour.json("get configmap versioned")
    tour.ok('patch configmap versioned --type=merge -p {"data":{"k":"2"}}')
    says(tour.refused("replace -f -", stdin=json.dumps(stale)), "Conflict")


def a_namespace_goes_with_all_that_is_in_it(tour):
    tour.apply({**pod("inside", on="n2"), "metadata": {"name": "inside", "namespace": "team"}})
    says(tour.ok("delete namespace team --timeout=20s"), 'namespace "team" deleted')
    says(tour.refused("get namespace team"), "NotFound")
    assert tour.ok("get pods -n team -o name") == ""


STOPS = [value for name, value in list(globals().items()) if callable(value) and getattr(value, "__code__", None)
         and value.__code__.co_varnames[:1] == ("tour",) and value.__code__.co_argcount == 1]


class SecureDevCluster(DevCluster):
    """Over TLS, with a token; its kubeconfig is the one that it writes itself."""

    def start(self):
        tokens, port_file = self.folder / "tokens", self.folder / "port"
        tokens.write_text("t0ps3cret-t0ken,alice\n")
        server = self.spawn(self.binary, "--listen", "127.0.0.1:0", "--port-file", port_file, "--tls", "--token-file", tokens,
                            "--kubeconfig-out", self.kubeconfig, "-v", "2")
        await_true("port file", port_file.exists, server, seconds=20)


def tls_and_tokens_keep_strangers_out(kubectl, home):
    with SecureDevCluster(binaries()) as server:
        tour = Tour(kubectl, server, home)
        says(tour.ok("get namespaces"), "default")
        says(tour.ok("auth whoami"), "alice")
        config = yaml.safe_load(server.kubeconfig.read_text())
        config["users"][0]["user"]["token"] = "wrong"
        server.kubeconfig.write_text(yaml.safe_dump(config))
        says(tour.refused("get namespaces"), "Unauthorized|logged in")
        assert "t0ps3cret" not in next(server.folder.glob("maniple-devcluster.log")).read_text()


def binaries():
    return Path(os.environ.get("BIN") or build_folder())


def kubectls():
    named = os.environ.get("KUBECTL")
    found = [Path(named)] if named else [program("kubectl"), program("kubectl-1.32")]
    return [one for one in found if one]


def attempt(name, stop):
    try:
        stop()
    except Exception:  # noqa: BLE001 - one stop that fails does not end the tour
        print(f"FAILED {name}\n{traceback.format_exc()}")
        return False
    print(f"ok     {name}")
    return True


def take(kubectl, wanted):
    """(passed, failed) of the tour with one kubectl."""
    results = []
    with tempfile.TemporaryDirectory() as home, DevCluster(binaries(), ("-v", "2")) as server:
        tour = Tour(kubectl, server, home)
        for stop in STOPS:
            if wanted in stop.__name__ or stop in STOPS[:2]:  # the others stand on the types
                results.append(attempt(f"{kubectl.name}: {stop.__name__}", lambda: stop(tour)))
        if wanted in tls_and_tokens_keep_strangers_out.__name__:
            results.append(attempt(f"{kubectl.name}: tls_and_tokens", lambda: tls_and_tokens_keep_strangers_out(kubectl, home)))
    return sum(results), len(results) - sum(results)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    found = kubectls()
    passed = failed = 0
    for kubectl in found:
        one_passed, one_failed = take(kubectl, wanted)
        passed, failed = passed + one_passed, failed + one_failed
    skipped = 0 if found else len(STOPS) + 1
    if not found:
        print(HOW_TO_ENABLE)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
