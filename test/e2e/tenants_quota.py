"""Attacks on quota: to run more than one's own Queue gives, at another team's cost. run_tenants.py plays them."""

from e2e.run_policies import apply_policies
from e2e.tenants_town import MERGE, OURS, STRATEGIC, group, groups, pod, pods, town
from support.scheduler import GROUP, await_that

QUOTA = 4
BUDGETS = "/apis/policy/v1/namespaces/red/poddisruptionbudgets"


def two_teams(one, **spec):
    one.add_nodes(["n1"])
    for team in ("red", "blue"):
        one.add_queue(team, team, QUOTA, **spec)


def red_gets_no_more_and_blue_gets_its_own(one, name):
    """All of red's quota is used and none of blue's, whatever red's objects say."""
    one.red.must("POST", pods("red"), pod(name, queue="red"))
    await_that(f"{name} is told why it waits", lambda: "QuotaExceeded" in one.why("red", name))
    assert 'queue "red"' in one.why("red", name).lower(), one.why("red", name)
    one.served_soon(queue="blue", cpu=str(QUOTA))
    assert not one.bound("red", name)


def start(one, name, **more):
    one.red.must("POST", pods("red"), pod(name, queue="red", **more))
    await_that(f"{name} is bound", lambda: one.bound("red", name))


def to_relabel_what_runs(server):
    with town(server) as one:
        two_teams(one)
        start(one, "thief", cpu=str(QUOTA))
        one.red.must("PATCH", f"{pods('red')}/thief", {"metadata": {"labels": {f"{OURS}/queue": "blue"}}}, MERGE)
        red_gets_no_more_and_blue_gets_its_own(one, "more")
        one.restart()
        red_gets_no_more_and_blue_gets_its_own(one, "yet-more")


def to_remake_the_group_of_what_runs(server):
    with town(server) as one:
        two_teams(one)
        one.red.must("POST", groups("red"), group("thieves", 2, queue="red"))
        for index in range(2):
            one.red.must("POST", pods("red"), pod(f"thieves-{index}", group="thieves", cpu=str(QUOTA // 2)))
        await_that("the gang is bound", lambda: all(one.bound("red", f"thieves-{index}") for index in range(2)))
        one.red.must("DELETE", f"{groups('red')}/thieves")
        one.red.must("POST", groups("red"), group("thieves", 2, queue="blue"))
        red_gets_no_more_and_blue_gets_its_own(one, "more")
        one.restart()
        red_gets_no_more_and_blue_gets_its_own(one, "yet-more")


def to_grow_under_a_queue_that_was_closed(server):
    """A gang that runs there keeps its Queue. By a higher minMember it would get as many members as it likes."""
    with town(server) as one:
        one.add_nodes(["n1"])
        one.add_queue("shared", "red", QUOTA)
        one.red.must("POST", groups("red"), group("foothold", 1, queue="shared"))
        one.red.must("POST", pods("red"), pod("foothold-0", group="foothold"))
        await_that("the gang is bound", lambda: one.bound("red", "foothold-0"))
        one.api.must("PATCH", f"{GROUP}/queues/shared", {"spec": {"namespaceSelector": {"matchLabels": {"team": "blue"}}}}, MERGE)
        one.served_soon(queue="shared", cpu=str(QUOTA - 1))  # by now the scheduler has heard of it
        one.red.must("PATCH", f"{groups('red')}/foothold", {"spec": {"minMember": QUOTA}}, MERGE)
        for index in range(1, QUOTA):
            one.red.must("POST", pods("red"), pod(f"foothold-{index}", group="foothold"))
        told = "and none is added"
        await_that("the gang is told", lambda: told in one.api.must("GET", f"{groups('red')}/foothold")["status"].get("message", ""))
        one.served_soon(queue="shared", cpu=str(QUOTA - 1))
        assert not any(one.bound("red", f"foothold-{index}") for index in range(1, QUOTA))


def to_burden_the_queue_of_others(server):
    """By pods that choose their node themselves; and by a gang of which such a pod is a member."""
    with town(server) as one:
        two_teams(one)
        one.red.must("POST", pods("red"), pod("direct", queue="blue", cpu=str(QUOTA), nodeName="n1"))
        one.red.must("POST", groups("red"), group("half", 2, queue="blue"))
        one.red.must("POST", pods("red"), pod("half-0", group="half", nodeName="n1"))
        one.red.must("POST", pods("red"), pod("half-1", group="half"))
        one.served_soon(queue="blue", cpu=str(QUOTA))
        assert not one.bound("red", "half-1"), "a Queue that does not select red let a member in"
        start(one, "own", cpu=str(QUOTA))
        red_gets_no_more_and_blue_gets_its_own(one, "more")


def to_do_so_where_the_policy_holds(server):
    with town(server) as one:
        two_teams(one)
        apply_policies(one.api)
        direct, trial = pod("direct", queue="blue", nodeName="n1"), f"{pods('red')}?dryRun=All"
        await_that("the policy holds", lambda: one.red.request("POST", trial, direct).status == 403)
        assert "does not choose its node itself" in one.red.request("POST", trial, direct).body["message"]
        start(one, "thief", cpu=str(QUOTA))
        for relabelled in ({f"{OURS}/queue": "blue"}, {f"{OURS}/pod-group": "other"}):
            reply = one.red.request("PATCH", f"{pods('red')}/thief", {"metadata": {"labels": relabelled}}, MERGE)
            assert reply.status == 403 and "of a pod that runs cannot change" in reply.body["message"], reply
        red_gets_no_more_and_blue_gets_its_own(one, "more")


def to_keep_what_was_lent_by_a_budget(server):
    """And by protectedRuntimeSeconds of ten years."""
    with town(server, preemption={"ignorePDB": "Reclaim"}) as one:
        two_teams(one, cohort="all", preemption={"reclaimWithinCohort": "Any"})
        one.red.must("POST", groups("red"), group("squatter", 2, queue="red", preemption={"protectedRuntimeSeconds": 315360000}))
        for index in range(2):
            one.red.must("POST", pods("red"), pod(f"squatter-{index}", group="squatter", cpu=str(QUOTA)))
        await_that("red runs on what blue has lent", lambda: all(one.bound("red", f"squatter-{index}") for index in range(2)))
        for index in range(2):  # as a kubelet says
            status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
            one.api.must("PATCH", f"{pods('red')}/squatter-{index}/status", {"status": status}, STRATEGIC)
        one.red.must("POST", BUDGETS, {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "keep"},
                                       "spec": {"minAvailable": "100%", "selector": {}}})
        counts = {"disruptionsAllowed": 0, "observedGeneration": 1, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2}
        one.api.must("PATCH", f"{BUDGETS}/keep/status", {"status": counts}, MERGE)
        one.serve_blue(queue="blue", cpu=str(QUOTA))
        await_that("the gang is told by whom", lambda: one.api.must("GET", f"{groups('red')}/squatter")["status"].get("preemptedBy"))
        await_that("both are counted", lambda: one.metric("maniple_budgets_passed_total") == 2)


QUOTA_ATTACKS = (to_relabel_what_runs, to_remake_the_group_of_what_runs, to_grow_under_a_queue_that_was_closed,
                 to_burden_the_queue_of_others, to_do_so_where_the_policy_holds, to_keep_what_was_lent_by_a_budget)
