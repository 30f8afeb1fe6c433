"""Attacks on work and memory: by objects that are strange, many, or edited all the time. run_tenants.py plays them."""

import json
import time
from collections import Counter

from e2e.tenants_town import MERGE, group, groups, pod, pods, post, send, town
from support.scheduler import GPU, await_that

TERMS, INVENTED, OTHERS = 1700, 1100, 1000
UNLIKE, STRANGE_KEYS = 500, 150
MOST_GROWTH = 0.25
EDITS = 1000
EVENTS_AT_ONCE = 25


def very_many_terms(name, scheduler):
    def term(number):
        labels = {"app": f"a{number}", f"example.com/{'k' * 40}-{number}": "v" * 40}
        return {"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}}

    apart = {"preferredDuringSchedulingIgnoredDuringExecution": [term(number) for number in range(TERMS)]}
    return pod(name, scheduler=scheduler, affinity={"podAntiAffinity": apart})


def to_stop_everything_by_one_pod_of_many_terms(server):
    with town(server) as one:
        one.add_nodes(["n1", "n2"])
        post(one.red, pods("red"), (pod(f"p{n}", scheduler="other", labels={"app": f"a{n}"}) for n in range(OTHERS)))
        for name, scheduler in (("theirs", "other"), ("ours", "maniple")):
            one.red.must("POST", pods("red"), very_many_terms(name, scheduler))
        one.served_soon()
        await_that("the pod is told the limit", lambda: "at most 128" in one.why("red", "ours"))
        assert f"{TERMS} terms" in one.why("red", "ours"), one.why("red", "ours")
        left_out = one.metric("maniple_pod_parts_left_out_total")
        assert left_out == TERMS - 128, left_out  # of the pod of another scheduler, which cannot be told
        one.restart()
        one.served_soon()


def to_make_nodes_useless_by_invented_resources(server):
    invented = {f"example.com/r{number}": "1" for number in range(INVENTED)}
    with town(server) as one:
        for name, scheduler in (("theirs", "other"), ("ours", "maniple")):
            one.red.must("POST", pods("red"), pod(name, scheduler=scheduler, asks=invented))
        await_that("the pod is told the limit", lambda: "at most 64" in one.why("red", "ours"))
        one.add_nodes(["joins-later"], gpus=8)
        one.served_soon(asks={GPU: "8"})
        one.red.must("DELETE", pods("red"))
        one.add_nodes(["joins-after"], gpus=16)
        one.served_soon(asks={GPU: "16"})


def unlike(number):
    """It shares nothing with any other."""
    long = "x" * 50
    own = {f"example.com/{long}-{number}-{index}": "v" for index in range(STRANGE_KEYS)}
    return pod(f"p{number}", queue=f"q{number}", cpu=f"{1000 + number}m", image=f"registry.example/{long}:{number}",
               asks={f"example.com/r{number}": "1"}, nodeSelector=own, labels={f"example.com/l{number}": "v"})


def to_fill_its_memory_by_pods_that_share_nothing(server):
    with town(server) as one:
        one.add_nodes(["n1"])
        sizes = []
        for round_number in range(4):
            numbers = range(round_number * UNLIKE, (round_number + 1) * UNLIKE)
            post(one.red, pods("red"), map(unlike, numbers))
            one.served_soon()
            one.red.must("DELETE", pods("red"))
            await_that("all are gone", lambda: one.metric("maniple_gangs ") == 0)
            one.served_soon()
            sizes.append(round(one.rss_mib(), 1))
        print(f"      RSS after each round: {sizes} MiB", flush=True)
        # What the first round leaves is swept away in the course of the second, when as many have come again. From then on
        # little comes on top: by how much what is swept overlaps what comes.
        assert sizes[3] <= sizes[1] * (1 + MOST_GROWTH), sizes


def to_have_very_many_statuses_and_events_written(server):
    with town(server) as one:
        one.add_nodes(["n1"])
        one.red.must("POST", groups("red"), group("edited", 2))
        for index in range(2):
            one.red.must("POST", pods("red"), pod(f"edited-{index}", group="edited", cpu="1000"))
        await_that("it waits", lambda: one.api.must("GET", f"{groups('red')}/edited").get("status", {}).get("reason"))
        began = time.monotonic()
        send(one.red, (("PATCH", f"{groups('red')}/edited", {"spec": {"minMember": 1 + n % 3}}, MERGE) for n in range(EDITS)))
        took = time.monotonic() - began
        one.served_soon()
        wrote = written(server)
        print(f"      {EDITS} edits in {took:.1f} s: {dict(wrote)}", flush=True)
        most = time.monotonic() - began + 3  # the status of the beginning, one a second, and the last
        assert 1 <= wrote["podgroups/status"] <= most and 1 <= wrote["pods/status"] <= 2 * most, wrote
        assert wrote["events"] <= EVENTS_AT_ONCE * 3, wrote  # of a gang and its two pods


def written(server):
    """How many statuses and events of red's objects have been written."""
    found = Counter()
    for line in server.audit_log.read_text().splitlines():
        what = json.loads(line).get("objectRef", {})
        if what.get("namespace") == "red" and (what.get("subresource") == "status" or what["resource"] == "events"):
            found["/".join(filter(None, (what["resource"], what.get("subresource"))))] += 1
    return found


COST_ATTACKS = (to_stop_everything_by_one_pod_of_many_terms, to_make_nodes_useless_by_invented_resources,
                to_fill_its_memory_by_pods_that_share_nothing, to_have_very_many_statuses_and_events_written)
