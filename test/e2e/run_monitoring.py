#!/usr/bin/env python3
"""The alerts, the runbooks and the board of deploy/monitoring; what needs promtool is skipped, loudly, where that is not built.

    test/e2e/run_monitoring.py         # every case
    test/e2e/run_monitoring.py TEXT    # only cases whose name contains TEXT; with --update: the page of metrics is written

Fears: an alert or a panel on a metric that nobody exposes, which stays silent for ever; an alert that nobody can act on.
The last line is `N passed, M failed, K skipped`.
"""

import collections
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import play_all  # noqa: E402
from support.control_plane import ROOT, DevCluster, build_folder, program  # noqa: E402
from support.scheduler import GPU, GROUP, Scheduler, add_nodes, await_that, is_bound, pods_by_gang, submit  # noqa: E402

MERGE = "application/merge-patch+json"
MONITORING = ROOT / "deploy/monitoring"
CHART = ROOT / "deploy/helm/maniple"
PLAYED = ROOT / "test/monitoring/rules_test.yaml"
METRICS = MONITORING / "metrics.md"
SEVERITIES = {"critical", "warning", "info"}
# Of kube-state-metrics.
FOREIGN = {"kube_pod_container_resource_limits", "kube_deployment_status_replicas_available"}
# Exposed once there was something to count.
LATER = {"maniple_requests_forbidden_total"}
SHARED = ("process_", "rest_client_", "workqueue_")  # many programs have them
HISTOGRAM = ("_bucket", "_sum", "_count")
OPERATORS = {"and", "or", "unless", "offset", "bool"}
QUEUE = {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "team"},
         "spec": {"cohort": "research", "quotas": [{"flavor": "", "resources": [{"name": GPU, "nominal": 8}]}]}}


def rules():
    return yaml.safe_load((MONITORING / "rules.yaml").read_text())


def alerts():
    return [rule for group in rules()["groups"] for rule in group["rules"]]


def board():
    return json.loads((MONITORING / "dashboard.json").read_text())


def targets():
    """(panel, target) of every query of the board."""
    return [(panel, target) for panel in board()["panels"] for target in panel.get("targets", [])]


def without_variables(expression):
    """The expression as Grafana would ask it, with the name of no variable left."""
    for variable, value in (("$__rate_interval", "5m"), ("$job", ".*"), ("$queue", ".*"), ("$resource", GPU)):
        expression = expression.replace(variable, value)
    assert "$" not in expression, expression
    return expression


def metrics_of(expression):
    """Names of the series in a PromQL expression."""
    for noise in (r'"(\\.|[^"\\])*"', r"\{[^}]*\}", r"\[[^]]*\]", r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)"):
        expression = re.sub(noise, " ", expression)
    return set(re.findall(r"(?<![\w.])[a-z_]\w*\b(?!\s*\()", expression)) - OPERATORS


def named_metrics():
    """{series: where it is named}"""
    found = {}
    for rule in alerts():
        found |= {name: rule["alert"] for name in metrics_of(rule["expr"])}
    for panel, target in targets():
        found |= {name: f"panel {panel['title']}" for name in metrics_of(target["expr"])}
    for variable in board()["templating"]["list"]:
        asked = re.fullmatch(r"label_values\((.*), \w+\)", variable.get("definition", ""))
        found |= {name: f"variable {variable['name']}" for name in metrics_of(asked[1])} if asked else {}
    return found


def missing_of(families, but_for=()):
    """Named series that belong to none of the families, each with a place that names it."""
    known = families | FOREIGN | {family + suffix for family in families for suffix in HISTOGRAM}
    return {name: where for name, where in sorted(named_metrics().items()) if name not in known and name not in but_for}


def every_metric_that_is_named_stands_in_the_table_of_the_scheduler():
    source = "".join(file.read_text() for file in sorted((ROOT / "scheduler/app/metrics").glob("metrics*.cc")))
    table = set(re.findall(r'"((?:maniple|process|leader_election|rest_client|workqueue)_[a-z0-9_]+)"', source))
    assert len(table) > 30, table
    missing = missing_of(table)
    assert not missing, f"no family of metrics.cc: {missing}"


def the_board_shows_only_the_scheduler_where_others_have_series_of_the_same_name():
    """Grafana takes "All" for the jobs that it has found, unless the variable says otherwise."""
    jobs, = [variable for variable in board()["templating"]["list"] if variable["name"] == "job"]
    assert "allValue" not in jobs, jobs
    joined = 0
    for panel, target in targets():
        if not any(name.startswith(SHARED) for name in metrics_of(target["expr"])):
            continue
        joined += 1
        assert "and on (job, instance) leader_election_master_status{" in target["expr"], panel["title"]
    assert joined == 7, joined


def every_alert_says_how_bad_it_is_and_where_to_read_on():
    names = [rule["alert"] for rule in alerts()]
    assert len(names) == len(set(names)) and all(re.fullmatch(r"Maniple[A-Za-z]+", name) for name in names), names
    for rule in alerts():
        name, notes = rule["alert"], rule["annotations"]
        assert re.fullmatch(r"\d+[smh]", rule["for"]), name
        assert set(rule["labels"]) == {"severity"} and rule["labels"]["severity"] in SEVERITIES, name
        assert set(notes) == {"summary", "description", "runbook_url"}, name
        assert notes["summary"].endswith(".") and re.search(r"\d|\$value", notes["description"]), name
        assert notes["runbook_url"] == f"runbooks.md#{name.lower()}", name


def sections():
    """{heading: text} of the runbooks."""
    parts = re.split(r"^## (.+)\n", (MONITORING / "runbooks.md").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def every_alert_has_its_runbook_and_no_runbook_is_orphaned():
    written, wanted = sections(), {rule["alert"] for rule in alerts()}
    assert set(written) == wanted, set(written) ^ wanted
    for name, text in written.items():
        parts = [text.find(f"**{part}.**") for part in ("Means", "Look", "Do")]
        assert -1 not in parts and parts == sorted(parts), name
        others = set(re.findall(r"`(Maniple\w+)`", text))
        assert others <= wanted, others - wanted


def every_command_of_the_runbooks_exists():
    maniple = build_folder() / "maniple"
    text = (MONITORING / "runbooks.md").read_text()
    commands = re.findall(r"(?:`|^)maniple ([a-z]+)([^`|\n]*)", text, flags=re.MULTILINE)
    assert len({name for name, _ in commands}) > 5, commands
    for name, rest in commands:
        shown = subprocess.run([str(maniple), name, "--help"], capture_output=True, text=True)
        assert shown.returncode == 0 and f"Usage: maniple {name}" in shown.stdout, name
        for flag in re.findall(r"(?<=\s)--?[a-z-]+|(?<=\s)-A", rest):
            assert re.search(rf"(?<![\w-]){flag}(?![\w-])", shown.stdout), (name, flag)


def overlaps(one, other):
    return (one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
            and one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"])


def every_panel_has_a_place_of_its_own_and_asks_the_data_source_that_was_chosen():
    shown = board()
    panels = shown["panels"]
    assert shown["uid"] == "maniple" and shown["schemaVersion"] >= 39
    ids = [panel["id"] for panel in panels]
    assert len(ids) == len(set(ids)), ids
    variables = {variable["name"]: variable for variable in shown["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource" and "queue" in variables, list(variables)
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    assert all(one["datasource"] == chosen for name, one in variables.items() if name != "datasource")
    for index, panel in enumerate(panels):
        place = panel["gridPos"]
        assert 0 <= place["x"] and place["x"] + place["w"] <= 24 and place["h"] > 0, panel["title"]
        for other in panels[:index]:
            assert not overlaps(place, other["gridPos"]), (panel["title"], other["title"])
        if panel["type"] != "row":
            assert panel["datasource"] == chosen and panel["description"] and panel["targets"], panel["title"]
        letters = [target["refId"] for target in panel.get("targets", [])]
        assert len(letters) == len(set(letters)), panel["title"]
        assert all(target["datasource"] == chosen for target in panel.get("targets", [])), panel["title"]


def every_alert_is_played_both_firing_and_silent():
    firing, silent = set(), set()
    for played in yaml.safe_load(PLAYED.read_text())["tests"]:
        for question in played["alert_rule_test"]:
            (firing if question["exp_alerts"] else silent).add(question["alertname"])
    wanted = {rule["alert"] for rule in alerts()}
    assert firing == wanted, f"never fires: {firing ^ wanted}"
    assert silent == wanted, f"never silent: {silent ^ wanted}"


def the_chart_gives_the_same_rules_and_board_with_links_that_lead_somewhere():
    prefix = "https://wiki.example/maniple/"
    done = subprocess.run(
        [str(program("helm")), "template", "gold", str(CHART), "--set", "metrics.prometheusRule.enabled=true", "--set",
         f"metrics.prometheusRule.runbookUrl={prefix}", "--set", "metrics.dashboard.enabled=true"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(done.stdout) if one}
    wanted = rules()
    for group in wanted["groups"]:
        for rule in group["rules"]:
            rule["annotations"]["runbook_url"] = prefix + rule["annotations"]["runbook_url"]
    assert made["PrometheusRule", "gold-maniple-scheduler"]["spec"] == wanted
    shown = made["ConfigMap", "gold-maniple-dashboard"]
    assert json.loads(shown["data"]["maniple.json"]) == board() and shown["metadata"]["labels"]["grafana_dashboard"] == "1"


def promtool(*arguments, stdin=None):
    done = subprocess.run([str(program("promtool")), *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def the_rules_pass_the_linter():
    promtool("check", "rules", "--lint=all", "--lint-fatal", MONITORING / "rules.yaml")


def every_alert_fires_when_it_should_and_only_then():
    promtool("test", "rules", PLAYED)


def every_panel_asks_in_good_promql():
    asked = [{"record": f"board_{index}", "expr": without_variables(target["expr"])} for index, (_, target) in enumerate(targets())]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump({"groups": [{"name": "board", "rules": asked}]}, file)
        file.flush()
        promtool("check", "rules", "--lint=none", file.name)


def with_both_gangs(scheduler):
    """What /metrics shows once the scheduler knows two gangs and has bound one, its Queue's figures too; else nothing."""
    with urlopen(f"http://{scheduler.host}:{scheduler.port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    wanted = ("maniple_gangs 2", "maniple_gangs_bound_total 1", 'maniple_queue_pending_gangs{queue="team"} 1')
    return text if all(f"\n{line}\n" in text for line in wanted) else None


def exposed_by_a_leader():
    """What /metrics shows after a gang was bound, while another one waits."""
    with DevCluster() as server:
        server.install_crds()
        api = server.api
        add_nodes(api, 2)
        api.must("POST", f"{GROUP}/queues", QUEUE)
        scheduler = Scheduler(server).start()
        submit(api, "runs", 1, queue="team")
        await_that("the first gang is bound", lambda: all(map(is_bound, pods_by_gang(api).get("runs", [{"spec": {}}]))))
        submit(api, "waits", 2, queue="team")
        text = await_that("it knows both", lambda: with_both_gangs(scheduler))
        assert scheduler.stop() == 0
        return text


def gpus_by_state(scheduler):
    with urlopen(f"http://{scheduler.host}:{scheduler.port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found = re.findall(r'^maniple_gpus\{.*state="(\w+)"\} (\d+)$', text, re.MULTILINE)
    return {state: int(gpus) for state, gpus in found if gpus != "0"}


def gpus_in_the_api(api):
    """The same, of one flavor, from nodes and pods."""
    totals, free = collections.Counter(), collections.Counter()
    for node in api.must("GET", "/api/v1/nodes")["items"]:
        free[node["metadata"]["name"]] = int(node["status"]["allocatable"][GPU])
    for pod in api.must("GET", "/api/v1/pods")["items"]:
        if not is_bound(pod):
            continue
        gpus = sum(int(container["resources"]["requests"].get(GPU, 0)) for container in pod["spec"]["containers"])
        free[pod["spec"]["nodeName"]] -= gpus
        totals["used"] += gpus
    for node in api.must("GET", "/api/v1/nodes")["items"]:
        state = "cordoned" if node["spec"].get("unschedulable") else "free"
        totals[state] += free[node["metadata"]["name"]]
    return {state: gpus for state, gpus in totals.items() if gpus}


def what_is_told_of_gpus_is_what_the_api_shows():
    with DevCluster() as server:
        server.install_crds()
        api = server.api
        add_nodes(api, 3)
        scheduler = Scheduler(server).start()
        submit(api, "runs", 1)
        equal = lambda: gpus_by_state(scheduler) == gpus_in_the_api(api)
        await_that("the gang runs", lambda: "used" in gpus_in_the_api(api) and equal())
        taken = {pod["spec"].get("nodeName") for pod in api.must("GET", "/api/v1/pods")["items"]}
        idle = [node["metadata"]["name"] for node in api.must("GET", "/api/v1/nodes")["items"] if node["metadata"]["name"] not in taken]
        api.must("PATCH", f"/api/v1/nodes/{idle[0]}", {"spec": {"unschedulable": True}}, MERGE)
        await_that("the cordon is told", lambda: "cordoned" in gpus_in_the_api(api) and equal())
        assert scheduler.stop() == 0


def what_a_scheduler_exposes_passes_the_linter():
    promtool("check", "metrics", stdin=exposed_by_a_leader())


def a_leader_exposes_every_metric_that_is_named_with_the_labels_that_are_asked_for():
    text = exposed_by_a_leader()
    missing = missing_of(set(re.findall(r"^# TYPE (\w+) ", text, flags=re.MULTILINE)), but_for=LATER)
    assert not missing, f"not exposed: {missing}"
    for expression in [rule["expr"] for rule in alerts()] + [target["expr"] for _, target in targets()]:
        for name, matchers in re.findall(r"(\w+)\{([^}]+)\}", expression):
            for label, value in re.findall(r'(\w+)="([^"]*)"', matchers) if name not in FOREIGN else ():
                assert re.search(rf'^{name}\{{.*\b{label}="{re.escape(value)}"', text, re.MULTILINE), f"no {name} has {label} {value}"


def every_metric_has_its_row_in_the_page():
    """With the words of the exposition. Run with --update to write the page."""
    rows = {name: f"| `{name}` | {kind} | {help_text} |" for name, help_text, kind in
            re.findall(r"^# HELP (\w+) (.+)\n# TYPE \w+ (\w+)$", exposed_by_a_leader(), re.MULTILINE)}
    assert len(rows) > 60, rows
    page = METRICS.read_text()
    head, listed = page[:page.index("| `")], dict(re.findall(r"^(?=\| `(\w+)`)(.+)$", page, re.MULTILINE))
    if "--update" in sys.argv:
        kept = {name: listed[name] for name in LATER - set(rows)}
        METRICS.write_text(head + "\n".join(row for _, row in sorted({**rows, **kept}.items())) + "\n")
        return
    differ = [name for name in {**rows, **listed} if rows.get(name) != listed.get(name) and name not in LATER]
    assert not differ and LATER <= set(listed), f"{METRICS.name} is not what is exposed: {differ}; run_monitoring.py --update"


ALWAYS = (
    every_metric_that_is_named_stands_in_the_table_of_the_scheduler, the_board_shows_only_the_scheduler_where_others_have_series_of_the_same_name,
    every_alert_says_how_bad_it_is_and_where_to_read_on,
    every_alert_has_its_runbook_and_no_runbook_is_orphaned, every_command_of_the_runbooks_exists,
    every_panel_has_a_place_of_its_own_and_asks_the_data_source_that_was_chosen, every_alert_is_played_both_firing_and_silent,
    a_leader_exposes_every_metric_that_is_named_with_the_labels_that_are_asked_for, every_metric_has_its_row_in_the_page, what_is_told_of_gpus_is_what_the_api_shows,
)
BY_HELM = (the_chart_gives_the_same_rules_and_board_with_links_that_lead_somewhere,)
BY_PROMTOOL = (
    the_rules_pass_the_linter, every_alert_fires_when_it_should_and_only_then, every_panel_asks_in_good_promql,
    what_a_scheduler_exposes_passes_the_linter,
)


def main():
    cases, skipped = list(ALWAYS), 0
    for name, needing in (("helm", BY_HELM), ("promtool", BY_PROMTOOL)):
        if program(name):
            cases += needing
        else:
            print(f"SKIPPED, NO {name.upper()}: run test/controlplane/build.sh {name} (needs Go)")
            skipped += len(needing)
    wanted = [argument for argument in sys.argv[1:] if argument != "--update"]
    return play_all([(case.__name__, case) for case in cases], skipped, wanted[0] if wanted else "")


if __name__ == "__main__":
    sys.exit(main())
