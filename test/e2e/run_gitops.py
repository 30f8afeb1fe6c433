#!/usr/bin/env python3
"""Argo CD and Flux beside a scheduler, on kube-apiserver; skipped, loudly, where that is not built.

    test/e2e/run_gitops.py         # every case
    test/e2e/run_gitops.py TEXT    # only cases whose name contains TEXT

Fears: an application that is never healthy, or healthy while its gang waits; two writers that undo each other's fields for
ever. The Lua checks run in Debian's interpreter, of the version that Argo CD's has. The last line is `N passed, M failed, K skipped`.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import ROOT, RealControlPlane, program  # noqa: E402
from support.scheduler import GROUP, Scheduler, add_nodes, await_that, is_bound, pod, pods_by_gang, submit  # noqa: E402

GITOPS = ROOT / "deploy/gitops"
APPLIED = """
apiVersion: scheduling.maniple.dev/v1alpha1
kind: Cohort
metadata: {name: research}
spec: {quotas: [{flavor: "", resources: [{name: nvidia.com/gpu, nominal: 4}]}]}
---
apiVersion: scheduling.maniple.dev/v1alpha1
kind: Queue
metadata: {name: team}
spec: {cohort: research, quotas: [{flavor: "", resources: [{name: nvidia.com/gpu, nominal: 4}]}]}
---
apiVersion: scheduling.maniple.dev/v1alpha1
kind: PodGroup
metadata: {name: train, namespace: default}
spec: {minMember: 2, queue: team}
"""


def as_lua(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{json.dumps(key)}] = {as_lua(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(map(as_lua, value)) + "}"
    if value is None:
        return "nil"
    return json.dumps(value, ensure_ascii=False)


def health(one):
    """(status, message) by the check that Argo CD would run, out of the ConfigMap as it would be patched."""
    patched = yaml.safe_load(subprocess.run([str(GITOPS / "argocd/configmap.sh")], capture_output=True, text=True, check=True).stdout)
    check = patched["data"][f"resource.customizations.health.scheduling.maniple.dev_{one['kind']}"]
    script = (f"local obj = {as_lua(one)}\nlocal function check()\n{check}\nend\n"
              "local hs = check()\nio.write(hs.status, '\\n', hs.message)\n")
    done = subprocess.run(["lua5.1", "-"], input=script, capture_output=True, text=True, timeout=10)
    assert done.returncode == 0, done.stderr
    status, _, message = done.stdout.partition("\n")
    return status, message


def read(api, kind, name):
    plural = {"PodGroup": "namespaces/default/podgroups", "Queue": "queues", "Cohort": "cohorts"}[kind]
    return {"kind": kind, **api.must("GET", f"{GROUP}/{plural}/{name}")}


def queue(name, **spec):
    return {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def health_is_what_a_person_would_say(server):
    api = server.api
    add_nodes(api, 1, gpus=8)
    for one in (queue("open"), queue("stopped", stopPolicy="Hold"), queue("broken", cohort="ring-a")):
        api.must("POST", f"{GROUP}/queues", one)
    for name, parent in (("ring-a", "ring-b"), ("ring-b", "ring-a")):
        api.must("POST", f"{GROUP}/cohorts", {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Cohort",
                                              "metadata": {"name": name}, "spec": {"parent": parent}})
    assert health(read(api, "Queue", "open"))[0] == "Progressing"
    submit(api, "runs", 2, gpus=2, queue="open")
    assert health(read(api, "PodGroup", "runs")) == ("Progressing", "no scheduler has looked at it yet")
    scheduler = Scheduler(server).start()
    await_that("the first gang is bound", lambda: sum(map(is_bound, pods_by_gang(api).get("runs", []))) == 2)
    submit(api, "held", 1, gpus=1, queue="stopped")
    submit(api, "lost", 1, gpus=1, queue="nowhere")
    submit(api, "later", 5, gpus=1, queue="open")
    for kind, name, wanted, words in (
            ("PodGroup", "runs", "Healthy", "bound 2 pods"), ("PodGroup", "held", "Suspended", "stopped"),
            ("PodGroup", "lost", "Degraded", "nowhere"), ("PodGroup", "later", "Progressing", "4 of 5 pods fit"),
            ("Queue", "open", "Healthy", ""), ("Queue", "stopped", "Suspended", "Hold"), ("Queue", "broken", "Degraded", "ring-"),
            ("Cohort", "ring-a", "Degraded", "ring-")):
        try:
            await_that(f"{kind} {name} is {wanted}", lambda kind=kind, name=name: health(read(api, kind, name))[0] == wanted)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {health(read(api, kind, name))}") from error
        message = health(read(api, kind, name))[1]
        assert words in message, (kind, name, message)
    # Of a spec that nobody has looked at yet, nothing is known.
    scheduler.stop()
    api.must("PATCH", f"{GROUP}/queues/open", {"spec": {"stopPolicy": "Hold"}}, "application/merge-patch+json")
    assert health(read(api, "Queue", "open"))[0] == "Progressing"


def kubectl(server, *arguments, text):
    done = subprocess.run([str(program("kubectl")), "--kubeconfig", str(server.kubeconfig), *arguments, "-f", "-"],
                          input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def another_field_manager_has_nothing_to_fight_over(server):
    api = server.api
    add_nodes(api, 1, gpus=8)
    apply = ("apply", "--server-side", "--field-manager", "argocd-controller")
    status, said = kubectl(server, *apply, text=APPLIED)
    assert status == 0, said
    scheduler = Scheduler(server).start()
    for index in range(2):
        api.must("POST", "/api/v1/namespaces/default/pods", pod(f"train-{index}", "train", 2))
    await_that("the gang is bound", lambda: sum(map(is_bound, pods_by_gang(api).get("train", []))) == 2)
    await_that("its status is there", lambda: read(api, "PodGroup", "train").get("status", {}).get("phase") == "Running")
    await_that("the Queue's status is there", lambda: read(api, "Queue", "team").get("status", {}).get("running") == 1)
    before = {kind: read(api, kind, name)["metadata"] for kind, name in (("PodGroup", "train"), ("Queue", "team"), ("Cohort", "research"))}
    for _ in range(3):
        status, said = kubectl(server, *apply, text=APPLIED)
        assert status == 0 and "conflict" not in said.lower(), said
    status, said = kubectl(server, "diff", "--server-side", "--field-manager", "argocd-controller", text=APPLIED)
    assert status == 0, said
    for kind, metadata in before.items():
        assert read(api, kind, metadata["name"])["metadata"]["generation"] == metadata["generation"], kind
    owned = [one for one in read(api, "PodGroup", "train")["metadata"]["managedFields"] if one["manager"] != "argocd-controller"]
    assert owned and all(set(one["fieldsV1"]) == {"f:status"} for one in owned), owned
    assert scheduler.stop() == 0


def flux_expressions_name_fields_that_there_are(server):
    """Without Flux: the expressions are CEL, and kube-apiserver compiles them against our schemas, as rules of a policy."""
    for check in yaml.safe_load((GITOPS / "flux.yaml").read_text())["spec"]["healthCheckExprs"]:
        assert "inProgress" in check or check["kind"] == "PodGroup", "a verdict on the spec before would be believed"
        for name in {"inProgress", "current", "failed"} & set(check):
            rule = check[name].replace("status.", "object.status.").replace("metadata.", "object.metadata.")
            policy = {
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
                "metadata": {"name": f"{check['kind']}-{name}".lower()},
                "spec": {"matchConstraints": {"resourceRules": [{"apiGroups": ["scheduling.maniple.dev"], "apiVersions": ["v1alpha1"],
                                                                 "operations": ["UPDATE"], "resources": [f"{check['kind'].lower()}s"]}]},
                         "validations": [{"expression": rule}]}}
            server.api.must("POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", policy)
    reasons = set(yaml.safe_load((GITOPS / "flux.yaml").read_text())["spec"]["healthCheckExprs"][0]["failed"].split("'")[1::2])
    lua = (GITOPS / "argocd/PodGroup.lua").read_text().split("}")[0]
    assert reasons - {"Failed"} == set(re.findall(r"(\w+) = true", lua)), reasons


CASES = (health_is_what_a_person_would_say, another_field_manager_has_nothing_to_fight_over, flux_expressions_name_fields_that_there_are)


def main():
    plays, skipped = on_servers((), RealControlPlane, CASES)
    return play_all(plays, skipped, sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
