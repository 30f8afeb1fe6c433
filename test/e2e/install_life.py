"""The life of an installation under a flood of gangs, by the commands of the READMEs. run_install.py plays it."""

import os
import re
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import yaml

from e2e.install_manifests import CHART, ROOT, must, program, restrict
from support.ledger import Ledger
from support.played_deployment import PlayedDeployment, PlayedPod
from support.scheduler import GROUP, add_nodes, await_that, half_bound, is_bound, oversubscribed, pod, pod_group, pods_by_gang

NODES, GPUS, MEMBERS = 60, 64, 4
MERGE = "application/merge-patch+json"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PROGRESS = 15 * MEMBERS  # binds that show that the gangs go on


class Flood:
    """Gangs of four one-GPU pods for one scheduler, up to ten a second, as long as it runs.

    No more than ten of them wait at a time, so that a cluster without that scheduler is not filled.
    """

    def __init__(self, api, ledger, pool):
        self.api, self.ledger, self.pool = api, ledger, pool
        self.count, self.problem = 0, None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        try:
            while not self.over.wait(0.1):
                if self._waiting() < 10:
                    submit_to(self.api, f"{self.pool}-{self.count:04}", self.pool)
                    self.count += 1
        except Exception as error:  # told by stop()
            self.problem = error

    def _waiting(self):
        return sum(not all(map(is_bound, pods)) for pods in self.ledger.gangs().values()
                   if pods[0]["spec"]["schedulerName"] == self.pool)

    def stop(self):
        self.over.set()
        self.thread.join(30)
        assert self.problem is None, self.problem


def submit_to(api, name, pool):
    api.must("POST", f"{GROUP}/namespaces/default/podgroups", pod_group(name, MEMBERS))
    for index in range(MEMBERS):
        api.must("POST", "/api/v1/namespaces/default/pods", pod(
            f"{name}-{index}", name, 1, schedulerName=pool, nodeSelector={"pool": pool}))


def prepare_nodes(api, count=NODES):
    add_nodes(api, count, GPUS)
    for index in range(count):
        pool = ("maniple", "maniple-gold")[index % 2]
        api.must("PATCH", f"/api/v1/nodes/node-{index:03}", {"metadata": {"labels": {"pool": pool}}}, MERGE)


def printed(file, start):
    """The command that a page prints, with its continued lines."""
    found = re.search(rf"^{re.escape(start)}(?:.*\\\n)*.*$", file.read_text(), re.MULTILINE)
    assert found, f"{file.name} prints no `{start}`"
    return found[0]


class Platform:
    """Somebody with the repository, helm and kubectl, who types; and what happened since the gangs came."""

    def __init__(self, server):
        self.server, self.api = server, server.api
        own = {f"HELM_{kind}_HOME": str(server.folder / "helm") for kind in ("CACHE", "CONFIG", "DATA")}
        self.environment = [f"{key}={value}" for key, value in {
            **own, "KUBECONFIG": server.kubeconfig, "PATH": f"{program('helm').parent}:{os.environ['PATH']}"}.items()]
        self.ledger, self.floods = None, []

    def types(self, line):
        return must("env", *self.environment, "bash", "-ec", line)

    def floods_for(self, pool):
        self.floods.append(Flood(self.api, self.ledger, pool))

    def bound(self, pool):
        return sum(is_bound(one) for pods in self.ledger.gangs().values() for one in pods if one["spec"]["schedulerName"] == pool)

    def step(self, name, *actions, pool="maniple"):
        """Acts, then waits until the pool's gangs go on; says how long both took."""
        began, before = time.monotonic(), self.bound(pool)
        for action in actions:
            action()
        acted, bound = time.monotonic(), self.bound(pool)
        await_that(f"{name}: gangs are bound", lambda: self.bound(pool) >= bound + PROGRESS, seconds=60)
        print(f"      {name}: {acted - began:.1f} s with {bound - before} binds, {PROGRESS} more within {time.monotonic() - acted:.1f} s",
              flush=True)

    def crd(self, name="podgroups.scheduling.maniple.dev"):
        return self.api.must("GET", f"{CRDS}/{name}")

    def names_a_note(self):
        spec = self.crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        return "note" in spec["properties"]


def next_version(folder):
    """A chart of the next release: its PodGroup has one field more."""
    shutil.copytree(CHART, folder)
    metadata, crd = folder / "Chart.yaml", folder / "templates" / "crds" / "podgroups.yaml"
    metadata.write_text(re.sub(r"(?m)^version: .*$", "version: 99.0.0", metadata.read_text()))
    text = crd.read_text()
    field = "                queue:\n                  description: >-\n                    The Queue to be charged."
    assert text.count(field) == 1
    crd.write_text(text.replace(field, "                note: {type: string}\n" + field))
    return folder


def configuration(pods):
    return [yaml.safe_load((pod.folder / "config" / "scheduler.yaml").read_text()) for pod in pods.pods]


def an_installation_lives_and_no_gang_is_lost(server):
    """Install, upgrade, rollback, a second release beside it, uninstall, install again."""
    api, platform = server.api, Platform(server)
    restrict(api, "kube-system")
    prepare_nodes(api)
    install = printed(ROOT / "README.md", "helm install maniple ")
    with PlayedDeployment(server, "kube-system", "maniple-scheduler") as pods, \
         PlayedDeployment(server, "gold", "gold-maniple-scheduler") as gold_pods:
        platform.types(install)
        await_that("the custom resources are served", lambda: api.request("GET", f"{GROUP}/podgroups").status == 200)
        platform.ledger = ledger = Ledger(api, GPUS)
        try:
            platform.floods_for("maniple")
            live(platform, pods, gold_pods, install)
        finally:
            for flood in platform.floods:
                flood.stop()
        await_that("every gang is whole", lambda: all(all(map(is_bound, members)) for members in pods_by_gang(api).values()),
                   seconds=90, pause=0.5)
        gangs = pods_by_gang(api)
    ledger.stop()
    submitted = sum(flood.count for flood in platform.floods)
    assert len(gangs) == submitted and all(len(members) == MEMBERS for members in gangs.values()), "a gang is lost"
    assert not ledger.deleted, f"undone: {ledger.deleted}"
    assert not ledger.wrong, ledger.wrong
    assert not half_bound(api) and not oversubscribed(api)
    print(f"      {submitted} gangs, {ledger.binds} binds", flush=True)


def live(platform, pods, gold_pods, install):
    api, types = platform.api, platform.types
    platform.step("install", pods.roll)

    newer = next_version(platform.server.folder / "newer")
    platform.step("upgrade, a field and a setting more",
                  lambda: types(f"helm upgrade maniple {newer} --namespace kube-system --set configuration.timeouts.reservationAfter=5m"),
                  pods.roll)
    assert platform.names_a_note()
    assert [one["timeouts"] for one in configuration(pods)] == [{"reservationAfter": "5m"}] * 2

    platform.step("rollback", lambda: types("helm rollback maniple 1 --namespace kube-system"), pods.roll)
    assert not platform.names_a_note()
    assert not any("timeouts" in one for one in configuration(pods))

    second = printed(CHART / "README.md", "helm install gold ")
    platform.step("a second release beside it", lambda: types(second), lambda: restrict(api, "gold"), gold_pods.roll)
    platform.floods_for("maniple-gold")
    platform.step("both, gold", pool="maniple-gold")
    platform.step("both, the first")
    leases = [api.must("GET", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}")["spec"]["holderIdentity"]
              for namespace, name in (("kube-system", "maniple-scheduler"), ("gold", "gold-maniple-scheduler"))]
    assert len(set(leases)) == 2 and all(leases), leases

    groups = len(api.must("GET", f"{GROUP}/podgroups")["items"])
    platform.step("uninstall of the first", lambda: types("helm uninstall maniple --namespace kube-system"), pods.end,
                  pool="maniple-gold")
    assert platform.crd() and len(api.must("GET", f"{GROUP}/podgroups")["items"]) >= groups

    platform.step("install again", lambda: types(install), pods.roll)


def play_the_charts_test(platform):
    """`helm test` waits for a pod of the chart, which is played here."""
    path = "/api/v1/namespaces/kube-system/pods/maniple-test"
    with ThreadPoolExecutor(1) as helm:
        outcome = helm.submit(platform.types, printed(CHART / "README.md", "helm test maniple "))
        await_that("helm makes the pod", lambda: outcome.done() or platform.api.request("GET", path).status == 200)
        spec = platform.api.must("GET", path)["spec"]
        pod = PlayedPod(platform.server, "kube-system", spec, platform.server.folder / "maniple-test")
        status = pod.process.child.wait(30)
        platform.api.must("PATCH", f"{path}/status", {"status": {"phase": "Failed" if status else "Succeeded"}}, MERGE)
        assert "Succeeded" in outcome.result(60), pod.log.read_text()


def kubectl_installs_what_helm_takes_over_and_tests(server):
    api, platform = server.api, Platform(server)
    restrict(api, "kube-system")
    prepare_nodes(api, 2)

    def binds(name):
        submit_to(api, name, "maniple")
        await_that(f"{name} is bound", lambda: all(map(is_bound, pods_by_gang(api)[name])))

    with PlayedDeployment(server, "kube-system", "maniple-scheduler") as pods:
        platform.types(printed(ROOT / "README.md", "kubectl apply --server-side -k "))
        pods.roll()
        binds("by-kubectl")
        platform.types(printed(ROOT / "README.md", "helm install maniple ") + " --take-ownership")
        pods.roll()
        binds("by-helm")
        play_the_charts_test(platform)


def what_cannot_be_installed_whole_leaves_nothing(server):
    """A namespace that is not there; custom resources that are another release's."""
    platform = Platform(server)
    second = printed(CHART / "README.md", "helm install gold ")
    refused(platform, second.replace("--create-namespace", ""), 'namespaces "gold" not found')
    platform.types(printed(ROOT / "README.md", "helm install maniple "))
    mine = second.replace("--set crds.install=false", "")
    assert mine != second
    refused(platform, mine, r'CustomResourceDefinition "\w+\.scheduling\.maniple\.dev" .* exists and cannot be imported')
    roles = platform.api.must("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles")["items"]
    assert not [one for one in roles if one["metadata"]["name"].startswith("gold")], roles


def refused(platform, line, said):
    try:
        platform.types(line)
    except AssertionError as error:
        assert re.search(said, str(error)), error
    else:
        raise AssertionError(f"was taken: {line}")


SERVED = (
    what_cannot_be_installed_whole_leaves_nothing, kubectl_installs_what_helm_takes_over_and_tests, an_installation_lives_and_no_gang_is_lost,
)
