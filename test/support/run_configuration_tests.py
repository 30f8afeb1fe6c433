#!/usr/bin/env python3
"""deploy/configuration.md beside the programs: it names every key and flag, with its type, bounds and default, and no other.

    test/support/run_configuration_tests.py

Keys, types and bounds are asked of maniple-scheduler: every word of the parser's sources is tried in every map, and the messages
tell which the parser reads. Defaults are asked of a scheduler that starts, or else read from the initialisers of the sources. No API
server is needed. The last line is `N passed, M failed, K skipped`.
"""

import copy
import functools
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import run_unit_tests  # noqa: E402
from support.control_plane import ROOT, build_folder  # noqa: E402

PAGE = (ROOT / "deploy/configuration.md").read_text()
HEAD = {"apiVersion": "config.maniple.dev/v1alpha1", "kind": "SchedulerConfiguration"}
UNHEARD = "unheardOf"  # what no parser reads
ANY_KEY = "1g.10gb"  # good as a pattern, an annotation, a queue and a profile

# What a message expects, as the page calls it; words that are not here are the values themselves.
TYPES = {
    "a string": "string", "a string, in quotes": "string", "the name of a Queue": "string", "true or false": "boolean",
    "an integer": "integer", "how many of them each GPU has, 1 to 16": "integer", "a duration such as 300ms or 10m": "duration",
    "a list of strings": "list of strings", "a list of kinds such as jobs.batch": "list of kinds",
    "a list of numbers": "list of integers", "a list": "list of maps", "a map": "map", "a map of annotations": "map",
    "a map of profiles to counts": "map"}

# A file with one entry in each list of maps, and nothing but what is required.
LEAST = {
    **HEAD,
    "plugins": {"scores": [{"name": "Packing", "weight": 1}]},
    "gpu": {
        "linkageLabels": [{"label": "a", "value": "b"}],
        "mig": {"configs": [{"name": "a", "gpus": [{}]}],
                "tables": [{"model": "A100-40GB", "slices": [{"profile": "1g.5gb", "max": 7}]}]}},
    "autoscaling": {"provisioningRequests": {"className": "a"}},
    # Of minimums and replicas one is needed; neither alone.
    "producers": {"rules": [{"group": "g", "versions": ["v1"], "resource": "rs", "kind": "R", "replicas": ["spec.replicas"]}]}}

# For each bound in words: what is refused, and what beside it is not. Each is {key: value}, on top of LEAST.
SLICE = "gpu.mig.tables[].slices[]"

def slices(*starts):
    """Of a model with sixteen memory slices: one profile of two that starts there."""
    one = {"profile": "1g.5gb", "max": 7, "size": 2, "starts": [*starts]}
    return {"gpu.mig.tables[].slices": [one, {"profile": "7g.40gb", "max": 1, "size": 16, "starts": [0]}]}


RULE = LEAST["producers"]["rules"][0]
FILES = {"http.tls.certFile": "CERT", "http.tls.privateKeyFile": "KEY"}
BOUNDS = {
    "apiVersion": ([{"apiVersion": "v1"}], []),
    "kind": ([{"kind": "Pod"}], []),
    "schedulerNames": ([{"schedulerNames": []}, {"schedulerNames": ["a", ""]}], [{"schedulerNames": ["a"]}]),
    "leaderElection.leaseDuration": ([{"leaderElection.leaseDuration": "10s"}, {"leaderElection.leaseDuration": "300001ms"}],
                                     [{"leaderElection.leaseDuration": "10001ms"}, {"leaderElection.leaseDuration": "5m"}]),
    "leaderElection.renewDeadline": (
        [{"leaderElection.renewDeadline": "2400ms"}, {"leaderElection.renewDeadline": "15s"}],
        [{"leaderElection.renewDeadline": "2401ms"}, {"leaderElection.renewDeadline": "14999ms"}]),
    "leaderElection.retryPeriod": ([{"leaderElection.retryPeriod": "99ms"}], [{"leaderElection.retryPeriod": "100ms"}]),
    "leaderElection.leaseName": ([{"leaderElection.leaseName": ""}], [{"leaderElection.leaseName": "a"}]),
    "leaderElection.leaseNamespace": ([{"leaderElection.leaseNamespace": ""}], [{"leaderElection.leaseNamespace": "a"}]),
    "fairSharing.strategies": ([{"fairSharing.strategies": ["Other"]}],
                               [{"fairSharing.strategies": ["LessThanInitialShare", "LessThanOrEqualToFinalShare"]}]),
    "plugins.filters.disabled": ([{"plugins.filters.disabled": ["Packing"]}], [{"plugins.filters.disabled": ["CoolDown"]}]),
    "plugins.scores[].name": ([{"plugins.scores[].name": "CoolDown"}], [{"plugins.scores[].name": "GpuKind"}]),
    "gpu.productTable.*": ([{"gpu.productTable": {"": {}}}], [{"gpu.productTable": {"A": {}}}]),
    "gpu.linkageLabels[].label": ([{"gpu.linkageLabels[].label": ""}], []),
    "gpu.linkageLabels[].value": ([{"gpu.linkageLabels[].value": ""}], []),
    "gpu.mig.configs[].name": ([{"gpu.mig.configs[].name": "a/b"}, {"gpu.mig.configs[].name": ""}],
                               [{"gpu.mig.configs[].name": "a-b"}]),
    "gpu.mig.configs[].model": ([{"gpu.mig.configs[].model": "A"}], [{"gpu.mig.configs[].model": "H100-80GB"}]),
    "gpu.mig.configs[].gpus": ([{"gpu.mig.configs[].gpus": []}, {"gpu.mig.configs[].gpus": [{}, {}]}],
                               [{"gpu.mig.configs[].gpus": [{"count": 1}, {}]}]),
    "gpu.mig.configs[].gpus[].slices": ([{"gpu.mig.configs[].gpus[].slices": {"1g.10gb": 16}}],
                                        [{"gpu.mig.configs[].gpus[].slices": {"1g.10gb": 7}}]),
    "gpu.mig.tables[].model": ([{"gpu.mig.tables[].model": ""}], []),
    "gpu.mig.tables[].product": ([{"gpu.mig.tables[].model": "A1"}],
                                 [{"gpu.mig.tables[].model": "A1", "gpu.mig.tables[].product": "A1"}]),
    "gpu.mig.tables[].slices": (
        [{"gpu.mig.tables[].slices": []}, {"gpu.mig.tables[].slices": [{"profile": f"1g.{n}gb", "max": 7} for n in range(1, 34)]}],
        [{"gpu.mig.tables[].slices": [{"profile": f"1g.{n}gb", "max": 7} for n in range(1, 33)]}]),
    f"{SLICE}.profile": ([{f"{SLICE}.profile": "1g"}, {"gpu.mig.tables[].slices": [{"profile": "1g.5gb", "max": 7}] * 2}],
                         [{f"{SLICE}.profile": "1g.10gb"}]),
    f"{SLICE}.starts": ([slices(), slices(1, 0), slices(1, 1), slices(-1), slices(15), slices(16)], [slices(0, 2, 14)]),
    "http.address": ([{"http.address": "127.0.0.1:65536"}, {"http.address": "127.0.0.1:-1"}, {"http.address": "0.0.0.0:1"}],
                     [{"http.address": "127.0.0.1:65535"}, {"http.address": "127.0.0.1:0"},
                      {"http.address": "0.0.0.0:1", "http.insecure": True},
                      {"http.address": "0.0.0.0:1", "http.tls.selfSigned": True}]),
    "http.healthAddress": ([{"http.healthAddress": "127.0.0.1:65536"}], [{"http.healthAddress": "0.0.0.0:65535"}]),
    "http.insecure": ([{"http.insecure": True, "http.tls.selfSigned": True}], [{"http.insecure": True}]),
    "http.tls.certFile": ([{"http.tls.certFile": "CERT"}], [FILES]),
    "http.tls.privateKeyFile": ([{"http.tls.privateKeyFile": "KEY"}], [FILES]),
    "http.tls.clientCAFile": ([{"http.tls.clientCAFile": "CERT"}, {"http.tls.clientCAFile": "CERT", "http.tls.selfSigned": True}],
                              [{**FILES, "http.tls.clientCAFile": "CERT"}]),
    "http.tls.selfSigned": ([{**FILES, "http.tls.selfSigned": True}], [{"http.tls.selfSigned": True}]),
    "autoscaling.bindingAnnotations": (
        [{"autoscaling.bindingAnnotations": {f"a{n}": "" for n in range(21)}},
         {"autoscaling.bindingAnnotations": {"scheduling.maniple.dev/a": ""}}, {"autoscaling.bindingAnnotations": {"a/b/c": ""}}],
        [{"autoscaling.bindingAnnotations": {f"a{n}": "" for n in range(20)}}]),
    "autoscaling.bindingAnnotations.*": ([{"autoscaling.bindingAnnotations.*": "a" * 1025}],
                                         [{"autoscaling.bindingAnnotations.*": "a" * 1024}]),
    "autoscaling.provisioningRequests.className": (
        [{"autoscaling.provisioningRequests.className": ""}, {"autoscaling.provisioningRequests.className": "a" * 254}],
        [{"autoscaling.provisioningRequests.className": "a" * 253}]),
    "autoscaling.provisioningRequests.parameters": (
        [{"autoscaling.provisioningRequests.parameters": {f"a{n}": "" for n in range(101)}}],
        [{"autoscaling.provisioningRequests.parameters": {f"a{n}": "" for n in range(100)}}]),
    "autoscaling.provisioningRequests.parameters.*": (
        [{"autoscaling.provisioningRequests.parameters.*": "a" * 256}],
        [{"autoscaling.provisioningRequests.parameters.*": "a" * 255}]),
    "producers.kinds": ([{"producers.kinds": ["jobs.batch"] * 2}, {"producers.kinds": ["pods"]}], [{"producers.kinds": []}]),
    "producers.queues.*": ([{"producers.queues.*": ""}], [{"producers.queues.*": "a"}]),
    "producers.rules": ([{"producers.rules": [{**RULE, "resource": f"r{n}"} for n in range(101)]},
                         {"producers.rules": [{**RULE, "group": "batch", "resource": "jobs"}]}, {"producers.rules": [RULE, RULE]}],
                        [{"producers.rules": [{**RULE, "resource": f"r{n}"} for n in range(100)]}]),
    **{f"producers.rules[].{key}": ([{f"producers.rules[].{key}": ""}], []) for key in ("group", "resource", "kind")},
    "producers.rules[].versions": ([{"producers.rules[].versions": []}], []),
    **{f"producers.rules[].{key}": ([{f"producers.rules[].{key}": ["spec..a"]}], [{f"producers.rules[].{key}": ["spec.*.a"]}])
       for key in ("minimums", "replicas", "priorityClasses", "queues")}}

FLAG_BOUNDS = {
    "--kubeconfig": (["--kubeconfig=MISSING", "--server=http://127.0.0.1"], ["--kubeconfig=MISSING"]),
    "--server": (["--server=ftp://127.0.0.1"], None),
    "--config": (["--config=MISSING"], None),
    "--http": (["--http=127.0.0.1:65536"], ["--http=127.0.0.1:65535"]),
    "--health": (["--health=127.0.0.1:65536"], ["--health=127.0.0.1:65535"]),
    "--admin": (["--admin=127.0.0.1:1"],
                ["--admin=127.0.0.1:1", "--tls-cert-file=CERT", "--tls-private-key-file=KEY", "--client-ca-file=CERT"]),
    "--tls-cert-file": (["--tls-cert-file=CERT"], ["--tls-cert-file=CERT", "--tls-private-key-file=KEY"]),
    "--tls-private-key-file": (["--tls-private-key-file=KEY"], None),
    "--tls-self-signed": (["--tls-self-signed", "--tls-cert-file=CERT", "--tls-private-key-file=KEY"], ["--tls-self-signed"]),
    "--http-insecure": (["--http-insecure", "--tls-self-signed"], ["--http-insecure"]),
    "--client-ca-file": (["--client-ca-file=CERT"], ["--client-ca-file=CERT", "--tls-cert-file=CERT", "--tls-private-key-file=KEY"]),
    "--scheduler-name": (["--scheduler-name", ""], ["--scheduler-name", "a", "--scheduler-name", "b"]),
    "-v": (["-v6"], ["-v5"])}

# Where the initialiser of each stands: file and variable.
CONFIG, RULES, MIG = "scheduler/app/config/config.h", "api/gpu/gpu_rules.h", "scheduler/mig/mig_fleet.h"
INITIALISERS = {
    "schedulerNames": (CONFIG, "scheduler_names"), "defaultQueue": (CONFIG, "default_queue"),
    "withoutQueue": (CONFIG, "without_queue"), "leaderElection.enabled": (CONFIG, "enabled"),
    "leaderElection.leaseName": (CONFIG, "lease_name"), "leaderElection.leaseNamespace": (CONFIG, "lease_namespace"),
    "leaderElection.leaseDuration": (CONFIG, "lease_duration"), "leaderElection.renewDeadline": (CONFIG, "renew_deadline"),
    "leaderElection.retryPeriod": (CONFIG, "retry_period"), "client.maxInFlight": (CONFIG, "max_in_flight"),
    "client.qps": (CONFIG, "most_writes_per_second"), "events.perPod": (CONFIG, "pod_events"),
    "preemption.ignorePDB": (CONFIG, "ignore_pdb"), "holds.maxPerCohort": (CONFIG, "holds_per_cohort"),
    "timeouts.reservationAfter": (CONFIG, "reservation_after"), "fairSharing.enabled": ("scheduler/app/config/config.cc", "enabled"),
    "fairSharing.strategies": (CONFIG, "fair_strategies"), "plugins.filters.disabled": (CONFIG, "disabled_filters"),
    "gpu.nvlinkDomainLabels": ("scheduler/app/config/config_gpu.h", "nvlink_domain_labels"), "gpu.suspectNodes": (RULES, "suspects"),
    "gpu.productTable.*.family": ("api/gpu/product_table.h", "family"),
    "gpu.productTable.*.memoryMiB": ("api/gpu/product_table.h", "memory_mib"),
    "gpu.productTable.*.computeSlices": ("api/gpu/product_table.h", "compute_slices"),
    "gpu.productTable.*.linkage": ("api/gpu/product_table.h", "linkage"),
    **{f"gpu.labels.{key}": (RULES, variable) for key, variable in {
        "product": "product", "family": "family", "memory": "memory", "count": "count", "replicas": "replicas",
        "sharingStrategy": "sharing_strategy", "partition": "partition", "migStrategy": "mig_strategy",
        "migConfigState": "mig_config_state", "driverUpgradeState": "driver_upgrade_state", "nvlinkFabric": "fabric"}.items()},
    "gpu.linkageLabels": (RULES, "linkage = {"), "gpu.linkageLabels[].linkage": (RULES, "linkage = GpuLinkage"),
    "gpu.mig.reconfigure": (MIG, "reconfigure"), "gpu.mig.after": (MIG, "after"), "gpu.mig.holdOff": (MIG, "hold_off"),
    "gpu.mig.overdueAfter": (MIG, "overdue_after"), "gpu.mig.defaultConfigs": ("scheduler/app/config/config_mig.cc", "defaults"),
    "gpu.mig.configs[].model": ("api/gpu/mig_config.h", "model"),
    "gpu.mig.configs[].gpus[].count": ("api/gpu/mig_config.h", "gpus"),
    "gpu.mig.tables[].product": ("scheduler/app/config/config_mig.cc", "product"),
    f"{SLICE}.size": ("api/gpu/mig_tables.h", "size"), f"{SLICE}.starts": ("api/gpu/mig_tables.h", "starts"),
    "http.address": ("scheduler/app/config/config_http.h", "address"), "http.healthAddress": ("scheduler/app/config/config_http.h", "health_address"),
    "http.insecure": ("scheduler/app/config/config_http.h", "insecure"), "http.tls.certFile": ("scheduler/app/config/tls_files.h", "certificate"),
    "http.tls.privateKeyFile": ("scheduler/app/config/tls_files.h", "key"),
    "http.tls.clientCAFile": ("scheduler/app/config/tls_files.h", "client_authority"),
    "http.tls.selfSigned": ("scheduler/app/config/tls_files.h", "self_signed"),
    "producers.statuses.xk8s": ("scheduler/app/config/config_producers.h", "write_xk8s_status"),
    "producers.statuses.volcano": ("scheduler/app/config/config_producers.h", "write_volcano_status"),
    **{f"producers.rules[].{key}": ("api/model/foreign.h", variable) for key, variable in {
        "minimums": "minimums", "replicas": "replicas", "priorityClasses": "priority_classes", "queues": "queues",
        "partLabel": "part_label"}.items()}}


# The page.

def tables(*header):
    """The rows of every table whose first columns have these names, each as {column: cell}."""
    rows, names = [], None
    for line in PAGE.splitlines():
        if not line.startswith("|"):
            names = None
            continue
        cells = [cell.strip() for cell in line.strip()[1:-1].split("|")]
        if names is None:
            names = cells
        elif tuple(names[:len(header)]) == header and not set(cells[0]) <= {"-"}:
            if len(cells) != len(names):
                raise ValueError(f"{len(cells)} cells instead of {len(names)}: {line}")
            rows.append(dict(zip(names, cells)))
    return rows


def by_first(rows, column):
    found = {}
    for row in rows:
        for name in re.findall(r"`([^`]+)`", row[column]):
            if name in found:
                raise ValueError(f"{name} has two rows")
            found[name] = row
    return found


def plain(cell):
    return cell.replace("`", "")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


KEYS = by_first(tables("Key", "Type", "Default", "Bounds"), "Key")
FLAGS = by_first(tables("Flag", "Value", "Default", "Bounds"), "Flag")


# The programs.

def run(program, *arguments, folder=None):
    environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    return subprocess.run([str(build_folder() / program), *arguments], cwd=folder, env=environment, text=True, capture_output=True,
                          timeout=30)


@functools.cache
def scratch():
    """A folder with a certificate and its key, removed at the end."""
    folder = tempfile.TemporaryDirectory()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=a",
                    "-days", "2", "-keyout", "KEY", "-out", "CERT"], cwd=folder.name, check=True, capture_output=True)
    unittest.addModuleCleanup(folder.cleanup)
    return Path(folder.name)


def start(*arguments):
    """(was refused, what was said) by a scheduler whose kubeconfig is not there: that is what stops one that is not refused."""
    done = run("maniple-scheduler", *arguments, folder=scratch())
    if "MISSING: No such file or directory" in done.stderr and done.returncode == 1:
        return False, ""
    if done.returncode not in (1, 2) or not done.stderr:
        raise RuntimeError(f"{arguments}: status {done.returncode}: {done.stderr}")
    return True, done.stderr


def start_with(document):
    (scratch() / "tried.json").write_text(json.dumps(document))
    return start("--config", "tried.json", "--kubeconfig", "MISSING")


def complaints(document):
    """{path: [message]} of what the scheduler says of the document."""
    found = {}
    refused, said = start_with(document)
    for line in said.removeprefix("maniple-scheduler: ").splitlines() if refused else []:
        path, message = re.fullmatch(r"tried\.json:\d+: (\S+): (.*)", line).groups()
        found.setdefault(path, []).append(message)
    return found


def steps(key):
    for step in key.split("."):
        name, *places = re.findall(r"[^\[\]]+|\[\d*\]", step)
        yield ANY_KEY if name == "*" else name
        yield from (int(place[1:-1] or 0) for place in places)


def concrete(key):
    """The path in messages: entries by number, any key by one."""
    return key.replace("[]", "[0]").replace("*", ANY_KEY)


def put(document, key, value):
    here, way = document, list(steps(key))
    for step, after in zip(way, way[1:] + [None]):
        fresh = value if after is None else [] if isinstance(after, int) else {}
        if isinstance(step, int):
            if step == len(here):
                here.append(fresh)
            elif after is None:
                here[step] = value
        elif after is None or step not in here:
            here[step] = fresh
        here = here[step]


def changed(changes):
    document = copy.deepcopy(LEAST)
    for key, value in changes.items():
        put(document, key, value)
    return document


def without(key):
    document = copy.deepcopy(LEAST)
    *way, last = steps(key)
    here = document
    for step in way:
        here = here[step]
    del here[last]
    return document


# What the parser reads.

READING = re.compile(r"""\b\w+\.(?:Read|Part|Map|String|Bool|Int|Duration|Strings|Word(?:<\w+>)?)\(\s*"(\w+)"|\bRead\w+\(\w+,\s*"(\w+)\"""")


@functools.cache
def parser_sources():
    files = sorted((ROOT / "scheduler/app/config").glob("config*.cc"))
    text = "\n".join(file.read_text() for file in files)
    return set(re.findall(r'"([A-Za-z][A-Za-z0-9]*)"', text)), {one or other for one, other in READING.findall(text)}


@functools.cache
def parsed():
    """{key: what is expected there}, found out by trying every word in every map."""
    words = dict.fromkeys([*sorted(parser_sources()[0]), UNHEARD])
    found = {}

    def expected(messages):
        return next((match[1] for match in (re.fullmatch(r"expected (.*), got nothing", one) for one in messages) if match), "")

    def told_inside(key, content):
        """{name in the map: messages}, with this content at the key."""
        document = dict(HEAD) if key else content
        if key:
            put(document, key, content)
        told = complaints(document)
        return {name: told.get(f"{concrete(key)}.{name}".lstrip("."), []) for name in content}

    def explore(key):
        told = told_inside(key, dict(words))
        if told[UNHEARD] != ["unknown field"]:  # any key may stand there
            if key.endswith("[]"):
                return  # a list of something else than maps
            told = {"*": told_inside(key, {ANY_KEY: None})[ANY_KEY]}
        for name, messages in told.items():
            if messages == ["unknown field"]:
                continue
            child = f"{key}.{name}".lstrip(".")
            found[child] = expected(messages)
            if found[child].startswith("a map"):
                explore(child)
            elif found[child].startswith("a list"):
                explore(f"{child}[]")

    explore("")
    return found


# What the sources say.

def initialiser(key):
    """The value with which the key's variable begins, as YAML would hold it; None: nothing."""
    file, variable = INITIALISERS[key]
    name, _, begins = variable.partition(" ")
    text = re.sub(r"//.*", "", (ROOT / file).read_text())
    found = [value for value in re.findall(rf"[\w>] {name}(?: (= .*?);|[;,])|, {name};", text, re.DOTALL) if value.startswith(begins)]
    if len(found) != 1:
        raise ValueError(f"{file}: {len(found)} initialisers of {variable}: {found}")
    value = found[0].removeprefix("= ")
    if enumerator := re.fullmatch(r"\w+::k(\w+)", value):
        return enumerator[1]
    value = re.sub(r"absl::(\w)\w+\((\d+)\)", lambda match: match[2] + match[1].lower(), value)
    value = re.sub(r"\b\w+::k(\w+)", r"\1", value)
    value = yaml.safe_load(value.replace("{", "[").replace("}", "]"))
    return None if value in ("", []) else value


def default_of(key):
    """What the page should state; None for nothing."""
    value, words = initialiser(key), plain(KEYS[key]["Type"])
    bounds = re.fullmatch(r"(\d+) to \d+", KEYS[key]["Bounds"])
    if bounds and value is not None and value < int(bounds[1]):
        return None  # below the bounds: that is how nothing is written
    return next((word for word in re.split(", | or ", words) if word.lower() == str(value).lower()), value)


def stated(cell, kind):
    """What the page states, as YAML holds it; None for nothing."""
    if cell in ("none", "`[]`"):
        return None
    return yaml.safe_load(plain(cell)) if kind in TYPES.values() else plain(cell)


class KeysTest(unittest.TestCase):
    maxDiff = None

    def test_the_page_names_every_key_that_the_parser_reads_and_no_other(self):
        self.assertGreater(len(parsed()), 100)
        self.assertEqual(sorted(KEYS), sorted(parsed()))

    def test_no_key_of_the_sources_escapes_the_search(self):
        readers = [file for folder in ("api", "plugins", "queue", "scheduler") for file in (ROOT / folder).rglob("*.cc")
                   if re.search(r"config_section\.h|\bProblems&", file.read_text())]
        self.assertEqual(set(readers) - set((ROOT / "scheduler/app/config").glob("config*.cc")), set())
        _, read = parser_sources()
        self.assertGreater(len(read), 80)
        names = {key.removesuffix("[]").rsplit(".", 1)[-1] for key in parsed()}
        self.assertEqual(names - {"*"}, read)

    def test_types(self):
        wanted = {key: TYPES.get(expected, expected) for key, expected in parsed().items()}
        self.assertEqual({key: plain(row["Type"]) for key, row in KEYS.items()}, wanted)

    def test_bounds_of_numbers(self):
        document = copy.deepcopy(LEAST)
        numbers = [key for key, expected in parsed().items() if TYPES.get(expected) == "integer"]
        for key in numbers:
            put(document, key, 10**15)
        told, wanted = complaints(document), {}
        for key in numbers:
            least, most = re.search(r"(\d+)(?:\.\.| to )(\d+)", told[concrete(key)][0].replace(str(10**15), "")).groups()
            wanted[key] = f"{least} to {most}"
        self.assertEqual({key: KEYS[key]["Bounds"] for key in numbers}, wanted)

    def test_durations_are_never_negative(self):
        document = copy.deepcopy(LEAST)
        durations = [key for key, row in KEYS.items() if row["Type"] == "duration"]
        for key in durations:
            put(document, key, "-1s")
        told = complaints(document)
        for key in durations:
            self.assertIn("\"-1s\" is not a duration", told[key][0])

    def test_other_bounds(self):
        self.assertEqual({key for key, row in KEYS.items() if row["Bounds"] and not re.fullmatch(r"\d+ to \d+", row["Bounds"])},
                         set(BOUNDS))
        for key, (refused, accepted) in BOUNDS.items():
            for changes in refused:
                self.assertTrue(start_with(changed(changes))[0], f"{key}: {changes} is not refused")
            for changes in accepted:
                self.assertEqual(start_with(changed(changes)), (False, ""), f"{key}: {changes}")

    def test_what_is_required(self):
        self.assertEqual(start_with(LEAST), (False, ""))

        def keys(value, path):
            if isinstance(value, dict):
                for name, inner in value.items():
                    yield f"{path}.{name}".lstrip(".")
                    yield from keys(inner, f"{path}.{name}".lstrip("."))
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                yield from keys(value[0], path + "[]")

        required = {key for key in keys(LEAST, "") if start_with(without(key))[0]}
        self.assertEqual({key for key, row in KEYS.items() if row["Default"] == "required"},
                         required - {"producers.rules[].replicas"})

    def test_defaults(self):
        told_elsewhere = {"producers.kinds"}
        for key, row in KEYS.items():
            text = row["Default"]
            if text in ("required", "below") or key in told_elsewhere:
                continue
            if row["Type"] in ("map", "list of maps") or key.endswith(".*"):
                self.assertEqual(text, "none", key)
                continue
            self.assertIn(key, INITIALISERS)
            self.assertEqual(stated(text, row["Type"]), default_of(key), key)

    def test_defaults_below_the_table(self):
        below = {key for key, row in KEYS.items() if row["Default"] == "below"}
        block = next(yaml.safe_load(text) for text in blocks("yaml") if text.startswith("gpu:"))
        told = {f"gpu.labels.{key}": value for key, value in block["gpu"].pop("labels").items()}
        told |= {f"gpu.{key}": value for key, value in block["gpu"].items()}
        self.assertEqual(below, told.keys())
        for key, value in told.items():
            if key == "gpu.linkageLabels":
                value = [[one["label"], one["value"], one["linkage"]] for one in value]
            self.assertEqual(value, initialiser(key), key)

    def test_kinds(self):
        block = next(yaml.safe_load(text) for text in blocks("yaml") if text.startswith("producers:"))
        told = complaints({**HEAD, "producers": {"kinds": [UNHEARD]}})["producers.kinds[0]"][0]
        known = re.fullmatch(r"expected one of (.*), got .*", told)[1].split(", ")
        self.assertEqual(sorted(block["producers"]["kinds"]), known)

    def test_plugins(self):
        def known(document):
            return re.search(r"there are (.*)", start_with({**HEAD, "plugins": document})[1])[1].split(", ")

        weights = re.findall(r'{"(\w+)", (\d+), Make', (ROOT / "plugins/builtin.cc").read_text())
        scores = {plain(row["Score"]): row["Weight"] for row in tables("Score", "Weight")}
        self.assertEqual(list(scores), known({"scores": [{"name": UNHEARD, "weight": 1}]}))
        self.assertEqual(scores, dict(weights))
        self.assertEqual([plain(row["Filter"]) for row in tables("Filter")], known({"filters": {"disabled": [UNHEARD]}}))


class TextTest(unittest.TestCase):
    def test_the_example_is_valid_and_states_defaults(self):
        text = blocks("yaml")[0]
        (scratch() / "scheduler.yaml").write_text(text)
        self.assertEqual(start("--config", "scheduler.yaml", "--kubeconfig", "MISSING"), (False, ""))
        done = run("maniple", "validate", "scheduler.yaml", folder=scratch())
        self.assertEqual((done.returncode, f"$ maniple validate scheduler.yaml\n{done.stdout}"), (0, blocks("console")[0]))
        weights = {plain(row["Score"]): int(row["Weight"]) for row in tables("Score", "Weight")}

        def compare(value, path):
            if path in ("defaultQueue", "autoscaling", *HEAD):
                return
            if path == "plugins":
                for score in value["scores"]:
                    self.assertEqual(score["weight"], weights[score["name"]])
            elif isinstance(value, dict):
                for name, inner in value.items():
                    compare(inner, f"{path}.{name}".lstrip("."))
            else:
                self.assertEqual(value, stated(KEYS[path]["Default"], KEYS[path]["Type"]), path)

        compare(yaml.safe_load(text), "")

    def test_other_files_are_valid(self):
        for text in blocks("yaml"):
            document = yaml.safe_load(text)
            if "apiVersion" not in document:
                self.assertEqual(start_with({**HEAD, **document}), (False, ""))

    def test_a_flag_overrules_the_file_both_ways(self):
        (scratch() / "tried.json").write_text(json.dumps({**HEAD, "http": {"address": "0.0.0.0:1", "insecure": True}}))
        arguments = ["--config", "tried.json", "--kubeconfig", "MISSING"]
        self.assertFalse(start(*arguments)[0])
        self.assertTrue(start(*arguments, "--http-insecure=false")[0])

    def test_refusals_are_quoted_as_they_are(self):
        pairs = re.findall(r"^```yaml\n(apiVersion[^`]*)```\n\n```console\n\$ maniple-scheduler --config scheduler.yaml\n([^`]*)```",
                           PAGE, re.MULTILINE)
        self.assertEqual(len(pairs), 2)
        for text, quoted in pairs:
            (scratch() / "scheduler.yaml").write_text(text)
            done = run("maniple-scheduler", "--config", "scheduler.yaml", folder=scratch())
            self.assertEqual(done.returncode, 2)
            said = done.stderr
            if quoted.endswith("…\n"):
                quoted = quoted[:-2]
                said = said[:len(quoted)]
            self.assertEqual(said, quoted)

    def test_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
            self.assertTrue((ROOT / "deploy" / target).exists(), target)

    def test_what_the_chart_takes_from_elsewhere(self):
        schema = json.loads((ROOT / "deploy/helm/maniple/values.schema.json").read_text())["properties"]["configuration"]

        def refused(properties, path):
            for key in KEYS:
                inside = key.removeprefix(path)
                if key.startswith(path) and "." not in inside and "[" not in inside:
                    inner = properties.get(inside)
                    if inner is None:
                        yield key
                    elif inner.get("additionalProperties") is False:
                        yield from refused(inner["properties"], f"{key}.")

        self.assertEqual(sorted(by_first(tables("Key", "Comes from"), "Key")), sorted(refused(schema["properties"], "")))


class FlagsTest(unittest.TestCase):
    def help(self):
        """{names: value}, as the page writes them."""
        options = run("maniple-scheduler", "--help").stdout.split("Options:\n")[1].split("\n\n")[0]
        found = re.findall(r"^  (-\S+)(?: (\w+:INT in \[.*?\]|\S+(?: \.\.\.)?))?(?: .*)?$", options, re.MULTILINE)
        self.assertEqual(len(found), len(re.findall(r"^  -", options, re.MULTILINE)))
        return {frozenset(names.split(",")): value for names, value in found}

    def test_the_page_names_every_flag_and_no_other(self):
        told = {frozenset(re.findall(r"`([^`]+)`", row["Flag"])): row for row in FLAGS.values()}
        asked = self.help()
        self.assertEqual(told.keys(), asked.keys())
        for names, value in asked.items():
            choice = re.fullmatch(r"TEXT:\{(.*)\}", value)
            number = re.fullmatch(r"INT:INT in \[(\d+) - (\d+)\]", value)
            wanted = choice[1].replace(",", " or ") if choice else "INT" if number else value.replace("|", " or ")
            self.assertEqual(told[names]["Value"], wanted, names)
            if number:
                self.assertEqual(told[names]["Bounds"], f"{number[1]} to {number[2]}", names)

    def test_bounds(self):
        self.assertEqual({name for name, row in FLAGS.items() if row["Bounds"]}, set(FLAG_BOUNDS))
        for name, (refused, accepted) in FLAG_BOUNDS.items():
            # Beside a kubeconfig that is not there: else the want of a cluster would pass for a refusal.
            named = any(flag.startswith(("--kubeconfig", "--server")) for flag in refused)
            self.assertTrue(start(*refused, *([] if named else ["--kubeconfig=MISSING"]))[0], f"{name}: {refused}")
            if accepted is not None:
                kubeconfig = [] if "--kubeconfig=MISSING" in accepted else ["--kubeconfig=MISSING"]
                self.assertEqual(start(*accepted, *kubeconfig), (False, ""), name)

    def test_a_flag_that_takes_one_value_may_stand_once(self):
        for names, value in self.help().items():
            name = max(names, key=len)
            if value and not value.endswith("..."):
                good = {"--leader-elect": "true", "--log-format": "json", "-v": "1"}.get(name, "127.0.0.1:1")
                self.assertIn("At Most 1", start(name, good, name, good)[1], name)


class Nothing(http.server.BaseHTTPRequestHandler):
    """An API server that has nothing, and remembers what it was asked."""

    protocol_version = "HTTP/1.1"
    asked = []

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        Nothing.asked.append((self.command, self.path, body))
        raw = b'{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}'
        self.send_response(404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


class StartTest(unittest.TestCase):
    """A scheduler without a file and without flags beside --server shows some of its defaults."""

    @classmethod
    def setUpClass(cls):
        Nothing.asked = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nothing)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        log = scratch() / "started.log"
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        with log.open("w") as out:
            child = subprocess.Popen(
                [str(build_folder() / "maniple-scheduler"), "--server", f"http://127.0.0.1:{server.server_port}"],
                stderr=out, env={**environment, "XDG_RUNTIME_DIR": str(scratch())})
        kinds = [tuple(kind.split(".", 1)) for kind in yaml.safe_load(
            next(text for text in blocks("yaml") if text.startswith("producers:")))["producers"]["kinds"]]
        cls.unasked = kinds
        until = time.monotonic() + 20
        while time.monotonic() < until and (cls.unasked or not cls.lease()):
            paths = [path for _, path, _ in list(Nothing.asked)]
            cls.unasked = [(resource, group) for resource, group in kinds
                           if not any(re.match(rf"/apis/{re.escape(group)}/\w+/{resource}\b", path) for path in paths)]
            time.sleep(0.05)
        child.terminate()
        cls.status = child.wait(timeout=30)
        server.shutdown()
        server.server_close()
        cls.log = log.read_text()

    @staticmethod
    def lease():
        return next((json.loads(body) for method, path, body in list(Nothing.asked) if method == "POST" and "/leases" in path), None)

    def test_it_ends_well(self):
        self.assertEqual(self.status, 0, self.log)

    def test_defaults_of_the_election(self):
        lease = self.lease()
        self.assertIsNotNone(lease)
        told = {name: plain(KEYS[f"leaderElection.{name}"]["Default"])
                for name in ("enabled", "leaseName", "leaseNamespace", "leaseDuration", "renewDeadline")}
        renews = lease["metadata"]["annotations"]["scheduling.maniple.dev/renew-deadline"].split()[-1]
        self.assertEqual(told, {"enabled": "true", "leaseName": lease["metadata"]["name"],
                                "leaseNamespace": lease["metadata"]["namespace"],
                                "leaseDuration": f"{lease['spec']['leaseDurationSeconds']}s", "renewDeadline": renews})

    def test_all_kinds_are_watched(self):
        self.assertEqual(KEYS["producers.kinds"]["Default"], "all below")
        self.assertEqual(self.unasked, [])

    def test_defaults_of_flags(self):
        names = re.search(r"schedules for (.*) on http", self.log)[1]
        self.assertEqual(KEYS["schedulerNames"]["Default"], f"`[{names}]`")
        verbosity = re.search(r"int verbosity = (\d+);", (ROOT / "api/base/log.h").read_text())[1]
        self.assertIn(f"serving the admin surface on unix:{scratch()}/maniple/admin.sock", self.log)
        self.assertNotIn("serving HTTP", self.log)
        self.assertNotIn("serving health", self.log)
        self.assertRegex(self.log.splitlines()[0], r"^\d{4}-\S+Z info ")
        flags = (ROOT / "scheduler/app/config/options.h").read_text() + (ROOT / "scheduler/app/config/tls_files.h").read_text()
        for flag, variable in (("--http-insecure", "http_insecure"), ("--tls-self-signed", "self_signed")):
            self.assertEqual(plain(FLAGS[flag]["Default"]), re.search(rf"bool {variable} = (\w+);", flags)[1])
        told = {name: plain(row["Default"]) for name, row in FLAGS.items() if row["Default"] not in ("", "none", "`false`")}
        self.assertEqual(told, {"--scheduler-name": names, "--leader-elect": "true" if self.lease() else "false",
                                "--log-format": "text", "--admin": "a local socket", "-v": verbosity})


if __name__ == "__main__":
    sys.exit(run_unit_tests(sys.modules[__name__]))
