"""The life of an installation, by the commands of the READMEs, while gangs come. run_install.py plays it."""

import re
import shutil
import ssl
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import yaml

from e2e.install_manifests import CHART, ROOT, must, restrict
from e2e.install_work import MERGE, Platform, Visitors, prepare_nodes, printed, submit_to
from support.played_deployment import PlayedDeployment, PlayedPod
from support.scheduler import GROUP, await_that, is_bound, pods_by_gang

PODGROUPS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podgroups.scheduling.maniple.dev"
UNINSTALL = "helm uninstall maniple --namespace kube-system"


def names_a_note(api):
    spec = api.must("GET", PODGROUPS)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return "note" in spec["properties"]


def install(platform):
    platform.types(printed(ROOT / "deploy/install.md", "helm install maniple "))


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
    """Install, change a setting, upgrade, roll back, uninstall, install again."""
    api, platform = server.api, Platform(server)
    restrict(api, "kube-system")
    prepare_nodes(api, 60)
    with PlayedDeployment(server, "kube-system", "maniple-scheduler") as pods:
        install(platform)
        await_that("the custom resources are served", lambda: api.request("GET", f"{GROUP}/podgroups").status == 200)
        with platform.watched():
            platform.floods_for("maniple")
            live(platform, pods)


def live(platform, pods):
    api, types = platform.api, platform.types
    platform.step("install", pods.roll)

    change = "--namespace kube-system --set configuration.timeouts.reservationAfter=5m"
    platform.step("a setting", lambda: types(f"helm upgrade maniple {CHART} {change}"), pods.roll)
    assert [one.get("timeouts") for one in configuration(pods)] == [{"reservationAfter": "5m"}] * 2, "the pods were not replaced"

    newer = next_version(platform.server.folder / "newer")
    platform.step("upgrade, a field more", lambda: types(f"helm upgrade maniple {newer} {change}"), pods.roll)
    assert names_a_note(api)

    platform.step("rollback", lambda: types("helm rollback maniple 1 --namespace kube-system"), pods.roll)
    assert not names_a_note(api)
    assert not any("timeouts" in one for one in configuration(pods))

    groups = len(api.must("GET", f"{GROUP}/podgroups")["items"])
    types(UNINSTALL)
    pods.end()
    assert len(api.must("GET", f"{GROUP}/podgroups")["items"]) >= groups
    await_that("gangs wait for a scheduler", lambda: len(platform.waiting()) >= 10)
    platform.step("install again", lambda: install(platform), pods.roll)


def two_releases_share_custom_resources_only(server):
    """Each binds its own gangs; one leaves, and the other stays with the custom resources."""
    api, platform = server.api, Platform(server)
    prepare_nodes(api, 20)
    with PlayedDeployment(server, "kube-system", "maniple-scheduler") as pods, \
         PlayedDeployment(server, "gold", "gold-maniple-scheduler") as gold_pods:
        install(platform)
        platform.types(printed(CHART / "README.md", "helm install gold "))
        restrict(api, "gold")
        with platform.watched():
            platform.floods_for("maniple")
            platform.step("the first", pods.roll, gangs=5)
            platform.floods_for("maniple-gold")
            platform.step("the second", gold_pods.roll, pool="maniple-gold", gangs=5)
            leases = [api.must("GET", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}")["spec"]["holderIdentity"]
                      for namespace, name in (("kube-system", "maniple-scheduler"), ("gold", "gold-maniple-scheduler"))]
            assert len(set(leases)) == 2 and all(leases), leases
            platform.step("the second goes", lambda: platform.types("helm uninstall gold --namespace gold"), gold_pods.end, gangs=5)
            platform.types(printed(CHART / "README.md", "helm install gold "))
            gold_pods.roll()


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
        platform.types(printed(ROOT / "deploy/install.md", "kubectl apply --server-side -k "))
        pods.roll()
        binds("by-kubectl")
        platform.types(printed(ROOT / "deploy/install.md", "helm install maniple ") + " --take-ownership")
        pods.roll()
        binds("by-helm")
        play_the_charts_test(platform)


def a_platform_engineer_comes_from_the_page_to_a_gang_that_runs(server):
    """By the commands that deploy/install.md prints and by no others, once the nodes are there and the kubelets are played."""
    api, platform = server.api, Platform(server)
    restrict(api, "kube-system")
    prepare_nodes(api, 4)
    page = ROOT / "deploy/install.md"
    with PlayedDeployment(server, "kube-system", "maniple-scheduler") as pods:
        install(platform)
        pods.roll()
        for start in ("kubectl apply -f deploy/examples/three-teams.yaml ", "deploy/quickstart.sh --gang first ",
                      "kubectl wait --for=jsonpath={.status.phase}=Running mpg/first --timeout"):
            platform.types(printed(page, start))
        shown = platform.types(printed(page, "kubectl get mpg,mq"))
        assert re.search(r"podgroup\S*/first +Running +2 +2 ", shown) and re.search(r"queue\S*/red ", shown), shown
        assert all(map(is_bound, pods_by_gang(api)["first"]))
        platform.types(printed(page, "kubectl delete mpg first"))
        platform.types(printed(page, "kubectl delete pods -l ") + " --wait=false")


def certificate(folder, name, days=3):
    """(certificate, key) as PEM; of less than no days, one that has expired."""
    request, made, key = (folder / f"{name}.{kind}" for kind in ("csr", "crt", "key"))
    must("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-out", request, "-keyout", key)
    must("openssl", "x509", "-req", "-days", days, "-in", request, "-signkey", key, "-out", made)
    return [file.read_text() for file in (made, key)]


def install_with_doors(platform, kind, data):
    """By a Secret of ours, one replica."""
    secret = {"metadata": {"name": "doors"}, "type": kind, "stringData": data}
    platform.api.must("POST", "/api/v1/namespaces/kube-system/secrets", secret)
    platform.types(printed(ROOT / "deploy/install.md", "helm install maniple ")
                   + " --set replicas=1 --set tls.source=Secret --set tls.secretName=doors")


def doors(pair):
    return dict(zip(("tls.crt", "tls.key"), pair))


def shown(pod):
    """The certificates of all ports."""
    return {ssl.get_server_certificate(("127.0.0.1", port)).strip() for port in pod.ports.values()}


def renew(folder, files):
    """As a kubelet does some time after the Secret changed: readers see the files before or those after."""
    new = folder / f"..{len(list(folder.iterdir()))}"
    new.mkdir()
    for name, text in files.items():
        (new / name).write_text(text)
    links = {"..data": new.name, **{name: f"..data/{name}" for name in files}}
    for name, target in links.items():
        if name == "..data" or not (folder / name).is_symlink():
            (folder / "..link").symlink_to(target)
            (folder / "..link").replace(folder / name)


def a_given_secret_is_the_certificate_of_both_doors_and_may_rotate(server):
    platform = Platform(server)
    first, second = (certificate(server.folder, name) for name in ("first", "second"))
    install_with_doors(platform, "kubernetes.io/tls", doors(first))
    with PlayedDeployment(server, "kube-system", "maniple-scheduler") as pods:
        pods.roll()
        assert shown(pods.pods[0]) == {first[0].strip()}
        renew(pods.pods[0].folder / "tls", doors(second))
        await_that("both doors show the new certificate", lambda: shown(pods.pods[0]) == {second[0].strip()})


def a_certificate_rotates_under_load_and_nobody_is_turned_away(server):
    """Eleven times, twice by a pair that is none and once by one that has expired: that one is shown, for its clients to judge."""
    platform = Platform(server)
    first, *others = (certificate(server.folder, f"turn-{index}") for index in range(9))
    expired, stranger = certificate(server.folder, "expired", days=-1), certificate(server.folder, "stranger")
    of_another_algorithm = must("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    prepare_nodes(server.api, 60)
    install_with_doors(platform, "kubernetes.io/tls", doors(first))
    with PlayedDeployment(server, "kube-system", "maniple-scheduler") as pods:
        pods.roll()
        pod, tls = pods.pods[0], pods.pods[0].folder / "tls"

        def rotate(pair):
            renew(tls, doors(pair))
            await_that("both doors show the new certificate", lambda: shown(pod) == {pair[0].strip()})

        def break_pair(pair, broken):
            complaint = f"still serving with the certificate before: {tls / 'tls.key'}: no private key of that certificate"
            before = pod.log.read_text().count(complaint)
            renew(tls, doors(broken))
            # Both doors look when somebody comes.
            await_that("each door says what is wrong", lambda: shown(pod) and pod.log.read_text().count(complaint) >= before + 2)
            assert shown(pod) == {pair[0].strip()}, "the last good pair is shown no longer"

        with platform.watched():
            platform.floods_for("maniple")
            with Visitors(pod.ports.values()) as visitors:
                platform.step("a certificate, four times", *(partial(rotate, pair) for pair in others[:4]))
                platform.step("a key of another certificate", partial(break_pair, others[3], (stranger[0], others[3][1])))
                platform.step("a key of another algorithm", partial(break_pair, others[3], (others[3][0], of_another_algorithm)))
                platform.step("an expired one", partial(rotate, expired))
                platform.step("a certificate, four times more", *(partial(rotate, pair) for pair in others[4:]))
        given = {pair[0].strip() for pair in (*others, expired)}
        assert given == visitors.shown - {first[0].strip()}, "some saw what nobody gave, or nobody saw what was given"
        print(f"      {visitors.answers} visits", flush=True)
        log = pod.log.read_text()
        assert log.count(f"the certificate of {tls / 'tls.crt'} was read again") >= 2 * (len(others) + 1), log[-2000:]
        # A look a second may be in the middle of a change, but nobody is told the same on each visit.
        assert log.count("still serving") <= 2 * (len(others) + 3), log[-2000:]
        assert f"{tls / 'tls.crt'}: the certificate has expired" in log, log[-2000:]
        assert pod.end() == 0


def a_secret_without_its_key_ends_the_scheduler_with_a_line_that_names_the_file(server):
    platform = Platform(server)
    install_with_doors(platform, "Opaque", {"tls.crt": certificate(server.folder, "alone")[0]})
    spec = server.api.must("GET", "/apis/apps/v1/namespaces/kube-system/deployments/maniple-scheduler")["spec"]["template"]["spec"]
    pod = PlayedPod(server, "kube-system", spec, server.folder / "alone")
    status, said = pod.process.child.wait(20), pod.log.read_text().strip()
    assert (status, said) == (2, f"maniple-scheduler: {pod.folder / 'tls' / 'tls.key'}: No such file or directory"), (status, said)


def what_cannot_be_installed_whole_leaves_nothing(server):
    """A namespace that is not there; custom resources that are another release's."""
    platform = Platform(server)
    second = printed(CHART / "README.md", "helm install gold ")
    refused(platform, second.replace("--create-namespace", ""), 'namespaces "gold" not found')
    install(platform)
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
    a_platform_engineer_comes_from_the_page_to_a_gang_that_runs,
    a_given_secret_is_the_certificate_of_both_doors_and_may_rotate, a_certificate_rotates_under_load_and_nobody_is_turned_away,
    a_secret_without_its_key_ends_the_scheduler_with_a_line_that_names_the_file, what_cannot_be_installed_whole_leaves_nothing,
    kubectl_installs_what_helm_takes_over_and_tests, an_installation_lives_and_no_gang_is_lost,
    two_releases_share_custom_resources_only,
)
