"""What the chart and the Kustomize files make, and which values the chart refuses. run_install.py plays it."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml

from support import openapi_schemas
from support.control_plane import CRDS, ROOT, build_folder, program
from support.scheduler import await_that

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "maniple"
RESTRICTED = "restricted"
HELMS_OWN = ("helm.sh/chart", "app.kubernetes.io/managed-by", "helm.sh/resource-policy")
# Whoever removes an installation keeps the custom resources, and with them the objects of users: helm, Argo CD, Flux.
KEPT = {"helm.sh/resource-policy": "keep", "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
        "kustomize.toolkit.fluxcd.io/prune": "disabled"}
# Every template says something: what a platform team with its own registry, cert-manager and Prometheus operator would set.
RICH = {
    "replicas": 3,
    "image": {"repository": "registry.example/maniple", "digest": "sha256:" + "0" * 64, "pullSecrets": ["registry"]},
    "schedulerNames": ["maniple", "volcano"],
    "withoutQueue": "Refuse",
    "configuration": {
        "defaultQueue": "everybody",
        "leaderElection": {"leaseDuration": "20s"},
        "client": {"maxInFlight": 64},
        "events": {"perPod": "Never"},
        "preemption": {"ignorePDB": "Reclaim"},
        "holds": {"maxPerCohort": 2},
        "timeouts": {"reservationAfter": "5m"},
        "fairSharing": {"enabled": True},
        "plugins": {"scores": []},
        "gpu": {"mig": {"reconfigure": "on"}},
        "producers": {"queues": {"research": "team-a"}, "statuses": {"volcano": False}},
    },
    "producers": {"kinds": ["podgroups.scheduling.x-k8s.io", "jobs.batch"]},
    "log": {"format": "text", "verbosity": 2},
    "policies": {"otherSchedulers": ["system:serviceaccount:gold:gold-maniple-scheduler"]},
    "networkPolicy": {"apiServer": {"cidrs": ["192.0.2.7/32"], "ports": [6443],
                                     "peers": [{"podSelector": {"matchLabels": {"k8s-app": "konnectivity-agent"}}}]},
                      "metricsFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]},
    "podDisruptionBudget": {"maxUnavailable": "50%"},
    "priorityClassName": "",
    "podLabels": {"team": "platform"},
    "podAnnotations": {"sidecar.istio.io/inject": "false"},
    "podSecurityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None},
    "extraArgs": ["--decision-log=-"],
    "env": [{"name": "no_proxy", "value": "10.0.0.0/8"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "nvidia.com/gpu.present", "operator": "DoesNotExist"}]}]}}},
    "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}],
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
                                   "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "maniple"}}}],
    "tls": {"source": "CertManager", "certManager": {"issuer": {"name": "internal", "kind": "AWSPCAClusterIssuer", "group": "awspca.cert-manager.io"}, "duration": "2160h",
                                                     "renewBefore": "360h"}},
    "metrics": {"podMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "tokenSecret": {"name": "scraper"}},
                "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}, "runbookUrl": "https://wiki.example/maniple/"},
                "dashboard": {"enabled": True, "labels": {"team": "platform"}}},
}
# (values, what the message must name)
WRONG = [
    ({"replicas": "two"}, "replicas"),
    ({"replica": 2}, "replica"),
    ({"image": {"tag": 1.0}}, "image/tag"),
    ({"image": {"digest": "latest"}}, "image/digest"),
    ({"image": {"registry": "registry.example"}}, "registry"),
    ({"schedulerNames": []}, "schedulerNames"),
    ({"schedulerNames": "maniple"}, "schedulerNames"),
    ({"withoutQueue": "Deny"}, "withoutQueue"),
    ({"configuration": {"schedulerNames": ["a"]}}, "schedulerNames"),
    ({"configuration": {"leaderElection": {"leaseName": "mine"}}}, "leaseName"),
    ({"configuration": {"gpu": {"mig": {"reconfigure": "maybe"}}}}, "configuration/gpu/mig/reconfigure"),
    ({"configuration": "a: b"}, "configuration"),
    ({"configuration": {"producers": {"kinds": ["jobs.batch"]}}}, "kinds"),
    ({"configuration": {"producers": {"statuses": {"kai": True}}}}, "kai"),
    ({"producers": {"kinds": ["Jobs"]}}, "producers/kinds"),
    ({"crds": {"keep": "yes"}}, "crds/keep"),
    ({"networkPolicy": {"apiServer": {"cidrs": ["api.example"]}}}, "networkPolicy/apiServer/cidrs"),
    ({"extraArgs": ["decision-log"]}, "extraArgs"),
    ({"extraArgs": ["--scheduler-name=volcano"]}, "extraArgs"),
    ({"extraArgs": ["--tls-self-signed"]}, "extraArgs"),
    ({"configuration": {"leaderElection": {"leaseDuration": ""}}}, "leaseDuration"),
    ({"metrics": {"podMonitor": {"interval": ""}}}, "interval"),
    ({"env": [{"value": "on"}]}, "env"),
    ({"podLabels": {"team": 7}}, "podLabels/team"),
    ({"podDisruptionBudget": {"maxUnavailable": "most"}}, "podDisruptionBudget/maxUnavailable"),
    ({"tls": {"source": "Secret"}}, "tls/secretName"),
    ({"tls": {"source": "CertManager"}}, "tls/certManager/issuer/name"),
    ({"tls": {"source": "none"}}, "tls/source"),
    ({"metrics": {"podMonitor": {"interval": 30}}}, "metrics/podMonitor/interval"),
    ({"metrics": {"prometheusRule": {"enabled": "yes"}}}, "metrics/prometheusRule/enabled"),
    ({"metrics": {"prometheusRule": {"runbookUrl": "https://wiki.example/maniple"}}}, "metrics/prometheusRule/runbookUrl"),
    ({"metrics": {"dashboard": {"labels": {"grafana_dashboard": 1}}}}, "metrics/dashboard/labels/grafana_dashboard"),
]


def run(*command, stdin=None):
    return subprocess.run([str(one) for one in command], input=stdin, capture_output=True, text=True, cwd=ROOT)


def must(*command, stdin=None):
    done = run(*command, stdin=stdin)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}"
    return done.stdout


def helm(*arguments, values=None, check=True):
    """What `helm` prints; with check=False the whole outcome."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(values or {}, file)
        file.flush()
        given = ["--values", file.name] if values is not None else []
        return (must if check else run)(program("helm"), *arguments, *given)


def rendered(*arguments, values=None):
    return helm("template", "maniple", CHART, "--namespace", "kube-system", *arguments, values=values or {})


def objects(text):
    """{(kind, namespace, name): object}"""
    found = [one for one in yaml.safe_load_all(text) if one]
    by_name = {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one for one in found}
    assert len(by_name) == len(found), "an object twice"
    return by_name


def without_helms_own(one):
    """The object but for what is only true where helm installs it."""
    if isinstance(one, dict):
        return {key: without_helms_own(value) for key, value in one.items() if key not in HELMS_OWN}
    return [without_helms_own(each) for each in one] if isinstance(one, list) else one


def overlay(name):
    return must(program("kubectl"), "kustomize", DEPLOY / "kustomize" / name)


def leaves(values, path=()):
    for key, value in values.items():
        if isinstance(value, dict) and value and path + (key,) != ("resources",):
            yield from leaves(value, path + (key,))
        else:
            yield ".".join(path + (key,))


def what_is_committed_is_what_the_chart_makes():
    must(DEPLOY / "render.sh", "--check")


def the_chart_passes_the_linter():
    for values in ({}, RICH):
        said = helm("lint", "--strict", CHART, values=values)
        assert "WARNING" not in said and "ERROR" not in said, said


def a_wrong_value_is_refused_by_its_name():
    for values, named in WRONG:
        done = helm("template", "maniple", CHART, values=values, check=False)
        said = done.stderr.replace(".", "/").replace("'", "")
        assert done.returncode and named in said and "schema" in said, (values, named, done.stderr or done.stdout[:200])


def each_value_is_explained_and_has_a_place_in_the_schema():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    readme, schema = (CHART / "README.md").read_text(), json.loads((CHART / "values.schema.json").read_text())
    missing = [path for path in leaves(values) if not re.search(rf"`{re.escape(path)}[`.]", readme)]
    assert not missing, f"README.md does not name {missing}"

    def compare(given, described, path):
        listed = set(described["properties"]) - {"global", "enabled"} | set(given) & {"enabled"}
        unknown = set(given) - listed
        assert not unknown, f"the schema does not know {path}: {unknown}"
        if path not in (".configuration", ".resources"):
            assert listed == set(given), f"values.yaml does not show {path}: {listed - set(given)}"
        for key, value in given.items():
            if isinstance(value, dict) and "properties" in described["properties"][key]:
                compare(value, described["properties"][key], f"{path}.{key}")

    compare(values, schema, "")


def a_chart_that_holds_it_may_switch_it():
    assert objects(rendered(values={"enabled": True})) == objects(rendered())


def labels_are_what_the_server_takes():
    """Also of a chart with build metadata in its version, as Flux makes it from Git, and of a release called by digits."""
    with tempfile.TemporaryDirectory() as folder:
        chart = Path(folder, "maniple")
        shutil.copytree(CHART, chart)
        about = (chart / "Chart.yaml").read_text()
        (chart / "Chart.yaml").write_text(re.sub(r"(?m)^version: .*$", "version: 0.1.0+1a2b", about))
        text = must(program("helm"), "template", "123", chart)
    for one in objects(text).values():
        for value in one["metadata"].get("labels", {}).values():
            assert isinstance(value, str) and re.fullmatch(r"([A-Za-z0-9]([-\w.]*[A-Za-z0-9])?)?", value), one["metadata"]


def the_api_server_may_be_anywhere_unless_the_values_say_where():
    def rules(values):
        spec = objects(rendered(values=values))["NetworkPolicy", "kube-system", "maniple-scheduler"]["spec"]
        return spec["ingress"][0], spec["egress"][0]

    ingress, egress = rules({})
    assert "from" not in ingress and "to" not in egress, "to Cilium a block of all addresses holds no node"
    ingress, egress = rules(RICH)
    block = {"ipBlock": {"cidr": "192.0.2.7/32"}}
    assert egress["to"] == [block] and ingress["from"] == [block, {"podSelector": {"matchLabels": {"k8s-app": "konnectivity-agent"}}}]
    agent = {"podSelector": {"matchLabels": {"k8s-app": "konnectivity-agent"}}}
    ingress, egress = rules({"networkPolicy": {"apiServer": {"peers": [agent]}}})
    assert ingress["from"] == [agent] and "to" not in egress, ingress
    _, egress = rules({"networkPolicy": {"apiServer": {"ports": []}}})
    assert egress["ports"] == [{"protocol": "TCP"}], egress


def the_cluster_may_choose_the_user_the_flags_and_the_labels():
    def template(values):
        return objects(rendered(values=values))["Deployment", "kube-system", "maniple-scheduler"]["spec"]["template"]

    rich, plain = template(RICH), template({})
    fixed = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert rich["spec"]["securityContext"] == fixed, rich["spec"]["securityContext"]
    assert plain["spec"]["securityContext"] == {**fixed, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532}
    [container] = rich["spec"]["containers"]
    assert container["command"][-1] == "--decision-log=-" and container["env"][-1] == RICH["env"][0], container
    labels, before = rich["metadata"]["labels"], plain["metadata"]["labels"]
    assert labels == {**before, "team": "platform"}, labels
    assert rich["metadata"]["annotations"]["sidecar.istio.io/inject"] == "false"


def both_renderings_have_the_same_objects():
    chart, base = objects(rendered("--no-hooks")), objects(overlay("."))
    assert set(chart) == set(base), set(chart) ^ set(base)
    for name, one in chart.items():
        assert without_helms_own(one) == base[name], f"{name} differs"


def who_removes_the_installation_keeps_the_objects_of_users():
    is_definition = lambda name: name[0] == "CustomResourceDefinition"  # noqa: E731
    chart, whole, base = objects(rendered()), objects(overlay(".")), objects(overlay("base"))
    definitions = {name: one for name, one in chart.items() if is_definition(name)}
    assert len(definitions) == 5 and all(one["metadata"]["annotations"] == KEPT for one in definitions.values())
    by_others = {name: kept for name, kept in KEPT.items() if name not in HELMS_OWN}
    assert all(whole[name]["metadata"]["annotations"] == by_others for name in definitions)
    assert set(whole) == set(base) | set(definitions) and not any(map(is_definition, base))
    mine = objects(rendered(values={"crds": {"keep": False}}))
    assert not any("annotations" in mine[name]["metadata"] for name in definitions)


def the_plain_files_are_the_charts_objects():
    """Rights above all: who installs by kubectl gets neither more nor less."""
    folders = ("crds", "rbac", "policy", "manifests")
    plain = {}
    for file in (file for folder in folders for file in sorted((DEPLOY / folder).glob("*.yaml"))):
        plain |= objects(file.read_text())
    assert plain == objects(overlay("."))
    for file, configuration in (("mig-reconfigure", {"gpu": {"mig": {"reconfigure": True}}}),
                                ("provisioning", {"autoscaling": {"provisioningRequests": {"className": "atomic"}}})):
        more = objects((DEPLOY / "rbac" / "optional" / f"{file}.yaml").read_text())
        added = objects(rendered("--no-hooks", values={"configuration": configuration}))
        rights = {name: without_helms_own(one) for name, one in added.items() if "Role" in name[0]}
        assert rights == {name: one for name, one in {**plain, **more}.items() if "Role" in name[0]}


def the_rights_to_producers_follow_the_values():
    def rights(values):
        role = objects(rendered(values=values)).get(("ClusterRole", None, "maniple-scheduler-producers"), {"rules": []})
        return {f"{verb} {resource}.{group}" for rule in role["rules"] for verb in rule["verbs"] for resource in rule["resources"]
                for group in rule["apiGroups"]}

    whole = rights({})
    assert {"list jobs.batch", "patch podgroups/status.scheduling.x-k8s.io", "patch podgroups.scheduling.volcano.sh"} <= whole, whole
    assert rights({"producers": {"kinds": ["jobs.batch"]}}) == {"list jobs.batch", "watch jobs.batch"}
    rule = {"kind": "Run", "group": "ml.example", "resource": "training-runs", "versions": ["v1"], "replicas": ["spec.workers"]}
    assert rights({"configuration": {"producers": {"rules": [rule]}}}) - whole == {"list training-runs.ml.example", "watch training-runs.ml.example"}
    silent = rights({"configuration": {"producers": {"statuses": {"volcano": False, "xk8s": False}}}})
    assert {right for right in whole - silent} == {right for right in whole if right.startswith("patch podgroups")}
    assert not rights({"producers": {"enabled": False}})


def who_watches_no_producers_still_maps_the_queues_of_marks():
    values = {"producers": {"enabled": False}, "configuration": {"producers": {"queues": {"team-a": "red"}}}}
    text = objects(rendered(values=values))["ConfigMap", "kube-system", "maniple-scheduler"]["data"]["scheduler.yaml"]
    assert yaml.safe_load(text)["producers"] == {"kinds": [], "queues": {"team-a": "red"}}, text
    values["configuration"]["producers"]["rules"] = [{"group": "ml.example", "resource": "runs"}]
    done = helm("template", "maniple", CHART, values=values, check=False)
    assert done.returncode and "needs producers.enabled" in done.stderr, done.stderr


def the_pools_know_each_other_and_share_nothing():
    base, pools = objects(overlay(".")), objects(overlay("overlays/pools"))
    gold = {name: one for name, one in pools.items() if name not in base}
    assert gold and all("gold-maniple-" in name[2] for name in gold), list(gold)
    text = json.dumps(list(gold.values()))
    assert "leaseName: gold-maniple-scheduler" in text and '\\"maniple-gold\\"' in text, text
    for policy in ("maniple-podgroups", "gold-maniple-podgroups"):
        condition = pools["ValidatingAdmissionPolicy", None, policy]["spec"]["matchConditions"][0]["expression"]
        assert set(re.findall(r"kube-system:([\w-]+)", condition)) == {"maniple-scheduler", "gold-maniple-scheduler"}, condition


def whoever_is_told_to_scrape_has_a_token_that_may():
    """By the chart, by Kustomize; a token that the values name is the only one."""
    base, monitored = objects(overlay(".")), objects(overlay("overlays/monitoring"))
    added = set(monitored) - set(base)
    assert added == {("PodMonitor", "kube-system", "maniple-scheduler"), ("PrometheusRule", "kube-system", "maniple-scheduler"),
                     ("ConfigMap", "kube-system", "maniple-dashboard"), ("ServiceAccount", "kube-system", "maniple-scraper"),
                     ("Secret", "kube-system", "maniple-scraper"), ("ClusterRoleBinding", None, "maniple-scraper")}, added
    assert token_of(monitored) == {"name": "maniple-scraper", "key": "token"}
    binding = monitored["ClusterRoleBinding", None, "maniple-scraper"]
    assert ("ClusterRole", None, binding["roleRef"]["name"]) in base, binding
    account = monitored["Secret", "kube-system", "maniple-scraper"]["metadata"]["annotations"]["kubernetes.io/service-account.name"]
    assert [subject["name"] for subject in binding["subjects"]] == [account]
    rich = objects(rendered(values=RICH))
    assert token_of(rich) == {"name": "scraper", "key": "token"} and not [name for name in rich if "maniple-scraper" in name]


def token_of(found):
    [endpoint] = found["PodMonitor", "kube-system", "maniple-scheduler"]["spec"]["podMetricsEndpoints"]
    return endpoint["authorization"]["credentials"]


def the_scheduler_takes_the_configuration_that_is_rendered():
    for values in ({}, RICH, {"configuration": {"gpu": {"mig": {"reconfigure": False}}}}, {"producers": {"enabled": False}}):
        text = objects(rendered(values=values))["ConfigMap", "kube-system", "maniple-scheduler"]["data"]["scheduler.yaml"]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            must(build_folder() / "maniple", "validate", file.name)


def restrict(api, namespace):
    """A namespace where only pods that are restricted may be; a Deployment of others is warned of."""
    labels = {f"pod-security.kubernetes.io/{mode}": RESTRICTED for mode in ("enforce", "warn")}
    api.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    api.must("PATCH", f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}}, "application/merge-patch+json")


def lay_foreign_kinds(server):
    """Kinds of the Prometheus operator and of cert-manager, as far as their names go."""
    for group, kind in (("monitoring.coreos.com", "PodMonitor"), ("monitoring.coreos.com", "PrometheusRule"),
                        ("cert-manager.io", "Certificate")):
        plural = kind.lower() + "s"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        server.api.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": f"{plural}.{group}"}, "spec": {
                "group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}})


def clean(server, text):
    """The server takes every object and warns of nothing.

    Beyond the schemas, that is admission: defaults, rules in CEL and PodSecurity, which kubeconform does not know.
    """
    done = run(program("kubectl"), "--kubeconfig", server.kubeconfig, "apply", "--server-side", "--dry-run=server", "--validate=strict",
               "-f", "-", stdin=text)
    assert done.returncode == 0 and "arning" not in done.stderr, done.stderr
    return done.stdout


def all_renders():
    """{what makes it: text}"""
    values = {"defaults": {}, "rich": RICH, "secret": {"tls": {"source": "Secret", "secretName": "doors"}}}
    return {**{f"chart-{name}": rendered(values=given) for name, given in values.items()},
            **{f"kustomize-{name}": overlay(path) for name, path in (
                ("base", "."), ("pools", "overlays/pools"), ("monitoring", "overlays/monitoring"))}}


def the_server_takes_every_object_without_a_warning(server):
    lay_foreign_kinds(server)
    restrict(server.api, "kube-system")
    for text in all_renders().values():
        clean(server, text)
    # That the namespace does warn, and refuses.
    deployment = objects(rendered())["Deployment", "kube-system", "maniple-scheduler"]
    deployment["spec"]["template"]["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    try:
        clean(server, yaml.safe_dump(deployment))
    except AssertionError as error:
        assert "would violate PodSecurity" in str(error), error
    else:
        raise AssertionError("nobody minds a pod that is not restricted")


class Conform:
    """kubeconform with the schemas of a server and no others, so that it asks no network."""

    def __init__(self, server):
        self.folder = server.folder / "schemas"
        self.folder.mkdir()
        self.location = openapi_schemas.write(published(server.api), self.folder)

    def outcome(self, texts):
        """(what is wrong, {status: how many}) of {name: YAML}"""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in texts.items():
                (Path(folder) / f"{name}.yaml").write_text(text)
            done = run(program("kubeconform"), "-strict", "-summary", "-output", "json", "-schema-location", self.location, folder)
        assert done.stdout, done.stderr
        said = json.loads(done.stdout)
        assert (done.returncode == 0) == (not said["resources"]), (done.returncode, said)
        return said["resources"], said["summary"]

    def refuses(self, one, kind, *named):
        wrong, count = self.outcome({"one": yaml.safe_dump(one)})
        assert count["invalid"] == 1 and wrong[0]["kind"] == kind, (wrong, count)
        assert all(text in wrong[0]["msg"] for text in named), wrong


def published(api):
    """The server's documents once they have the kinds of every CRD; they follow some time after the CRD is served."""
    specs = [one["spec"] for one in api.must("GET", CRDS)["items"]]
    wanted = {openapi_schemas.file_name(spec["group"], version["name"], spec["names"]["kind"])
              for spec in specs for version in spec["versions"] if version["served"]}
    assert wanted, "no CRD"

    def complete():
        documents = openapi_schemas.documents(api)
        return documents if wanted <= openapi_schemas.kinds(documents).keys() else None

    return await_that(f"/openapi/v3 has {sorted(wanted)}", complete, pause=0.5)


def every_object_fits_the_schemas_of_the_server(server):
    """What a delivery pipeline checks without a server: no misspelt field, no wrong type, no kind that nobody has."""
    server.install_crds()
    lay_foreign_kinds(server)
    conform = Conform(server)
    texts = {**all_renders(), **{f"example-{file.stem}": file.read_text() for file in sorted((DEPLOY / "examples").glob("*.yaml"))}}
    wrong, count = conform.outcome(texts)
    whole = sum(one is not None for text in texts.values() for one in yaml.safe_load_all(text))
    assert not wrong and count == {"valid": whole, "invalid": 0, "errors": 0, "skipped": 0}, (whole, count, wrong)
    print(f"      {whole} objects of {len(texts)} files", flush=True)

    deployment = objects(texts["chart-rich"])["Deployment", "kube-system", "maniple-scheduler"]
    deployment["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]["httpGet"]["prot"] = "health"
    conform.refuses(deployment, "Deployment", "/spec/template/spec/containers/0/readinessProbe/httpGet", "'prot' not allowed")
    queue = objects(texts["example-three-teams"])["Queue", None, "red"]
    queue["spec"]["quotas"][0]["resources"] = "nvidia.com/gpu"
    conform.refuses(queue, "Queue", "/spec/quotas/0/resources", "got string, want array")
    wrong, count = conform.outcome({"stranger": "{apiVersion: example.dev/v1, kind: Stranger, metadata: {name: one}}"})
    assert count["errors"] == 1 and "could not find schema for Stranger" in wrong[0]["msg"], (wrong, count)


OFFLINE = (
    what_is_committed_is_what_the_chart_makes, the_chart_passes_the_linter, a_wrong_value_is_refused_by_its_name,
    each_value_is_explained_and_has_a_place_in_the_schema, a_chart_that_holds_it_may_switch_it, labels_are_what_the_server_takes,
    the_api_server_may_be_anywhere_unless_the_values_say_where, the_cluster_may_choose_the_user_the_flags_and_the_labels, both_renderings_have_the_same_objects,
    who_removes_the_installation_keeps_the_objects_of_users, the_plain_files_are_the_charts_objects,
    the_rights_to_producers_follow_the_values, who_watches_no_producers_still_maps_the_queues_of_marks, the_pools_know_each_other_and_share_nothing,
    whoever_is_told_to_scrape_has_a_token_that_may, the_scheduler_takes_the_configuration_that_is_rendered,
)
SERVED = (the_server_takes_every_object_without_a_warning, every_object_fits_the_schemas_of_the_server)
# Skipped where it is not built.
BY_KUBECONFORM = (every_object_fits_the_schemas_of_the_server,)
