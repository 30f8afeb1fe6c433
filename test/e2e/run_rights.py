#!/usr/bin/env python3
"""The scheduler as its ServiceAccount on a real API server: its roles give what it asks for and nothing else, and whatever is taken
away is named.

    test/e2e/run_rights.py          # skipped, loudly, where the real server is not built
    test/e2e/run_rights.py TEXT     # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from e2e.rights_work import (  # noqa: E402
    OURS, USED_BY, Reviewed, Stage, clear, give_roles, granted, prepare, seen_by, user_name, within_reach,
)
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import RealControlPlane  # noqa: E402
from support.faulty_server import FaultyServer  # noqa: E402
from support.scheduler import GROUP, await_that  # noqa: E402

ACCOUNT = "maniple-scheduler"
FORBIDDEN = "maniple_requests_forbidden_total"
READS = ("list", "watch")
LEASES = "leases"
BESIDE = 6  # schedulers at once, each without one right to read
# A gang that waits for one of these is told so in its status.
TOLD_TO_THE_GANG = [("create", "", "pods/binding"), ("create", "", "pods/eviction"), ("delete", "", "pods"),
                    ("patch", "", "persistentvolumeclaims"), ("patch", "", "persistentvolumes")]


class Audited(RealControlPlane):
    """Notes every request but its content. The policy cannot name the account: it is asked before impersonation."""

    AUDIT_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""

    def __init__(self, folder):
        super().__init__(folder, audit=True)


def asked(server, account):
    """({(verb, group, resource) of each request of the account}, [those that were answered with 403])"""
    rights, refused = set(), []
    for line in server.audit_log.read_text().splitlines():
        event = json.loads(line)
        if event.get("impersonatedUser", event["user"])["username"] != user_name(account):
            continue
        what = event.get("objectRef", {"resource": event["requestURI"]})
        resource = "/".join(filter(None, (what["resource"], what.get("subresource"))))
        right = (event["verb"], what.get("apiGroup", ""), resource)
        rights.add(right)
        if event.get("responseStatus", {}).get("code") == 403:
            refused.append(right)
    return rights, refused


def difference(rights, granted_rights):
    lines = [f"asked, not granted: {' '.join(right)}" for right in sorted(rights - granted_rights)]
    lines += [f"granted, not asked: {' '.join(right)}" for right in sorted(granted_rights - rights)]
    return "\n".join(lines)


def the_roles_give_what_is_asked_and_nothing_else(server):
    prepare(server.api)
    give_roles(server.api, ACCOUNT)
    with FaultyServer(server, percent=("0",)) as faulty:
        scheduler = Reviewed(seen_by(faulty, ACCOUNT), "scheduler", leader_elect=True).start()
        try:
            scheduler.await_ready()
            stage = Stage(faulty, scheduler)
            for index, work in enumerate(dict.fromkeys(USED_BY.values())):
                work(stage, f"work-{index}")
            whole = set(within_reach())
            try:
                await_that("each right is used", lambda: whole <= asked(server, ACCOUNT)[0], seconds=40, pause=1)
            except AssertionError as error:
                raise AssertionError(difference(asked(server, ACCOUNT)[0], whole)) from error
            assert FORBIDDEN not in scheduler.metrics(), scheduler.metrics()
        finally:
            scheduler.stop()
    rights, refused = asked(server, ACCOUNT)
    assert whole <= rights <= set(granted()), difference(rights, whole)
    assert not refused, refused
    assert "forbid" not in scheduler.log.read_text(), scheduler.log.read_text()[-800:]


def lacking(right):
    """The scheduler's own words for a write."""
    verb, group, resource = right
    return f"forbids Maniple to {verb} {resource}" + (f" in {group}" if group else "")


def counted(scheduler, right):
    verb, group, resource = right
    return f'{FORBIDDEN}{{group="{group}",resource="{resource}",verb="{verb}"}}' in scheduler.metrics()


def conditions(api, gang):
    status = api.must("GET", f"{GROUP}/namespaces/default/podgroups/{gang}").get("status", {})
    return json.dumps(status.get("conditions", []))


def each_read_that_is_taken_away_is_named(server):
    prepare(server.api)
    rights = [right for right in within_reach() if right[0] in READS]

    def play(numbered):
        index, right = numbered
        give_roles(server.api, f"blind-{index}", without=right)
        scheduler = Reviewed(seen_by(server, f"blind-{index}"), f"blind-{index}").start()
        verb, group, resource = right  # sessions have words of their own
        said = f"not allowed to {verb} /api{'s/' + group if group else ''}/"
        try:
            await_that(f"{right} is named", lambda: any(
                said in line and f"/{resource}:" in line for line in scheduler.log.read_text().splitlines()))
            await_that("it is counted", lambda: counted(scheduler, right))
            return None
        except AssertionError as error:
            return f"{error}; the log ends: {scheduler.log.read_text()[-400:]}"
        finally:
            scheduler.stop()

    with ThreadPoolExecutor(BESIDE) as pool:
        problems = [one for one in pool.map(play, enumerate(rights)) if one]
    assert not problems, "\n".join(problems)


def each_write_that_is_taken_away_is_named(server):
    prepare(server.api)
    problems = []
    with FaultyServer(server, percent=("0",)) as faulty:
        for index, right in enumerate(right for right in within_reach() if right[0] not in READS):
            began = time.monotonic()
            try:
                play_without(faulty, f"lacks-{index}", right)
            except AssertionError as error:
                problems.append(f"{' '.join(right)}: {error}")
            print(f"      without {' '.join(right)} ({time.monotonic() - began:.1f} s)", flush=True)
    assert not problems, "\n".join(problems)


def play_without(faulty, account, right):
    give_roles(faulty.api, account, without=right)
    leases = right[2] == LEASES
    scheduler = Reviewed(seen_by(faulty, account), account, leader_elect=leases).start()
    review = right[2].endswith("reviews")
    said = f"create {right[2]}" if review else lacking(right)
    try:
        if not leases:
            scheduler.await_ready()
        gang = USED_BY[right](Stage(faulty, scheduler), account)
        await_that(f"the log says: {said}", lambda: said in scheduler.log.read_text())
        await_that("it is counted", lambda: counted(scheduler, right))
        if right in TOLD_TO_THE_GANG:
            await_that("the gang is told", lambda: said in conditions(faulty.api, gang))
    finally:
        scheduler.kill()  # it would wait for what it has been refused
        clear(faulty.api)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = (the_roles_give_what_is_asked_and_nothing_else, each_read_that_is_taken_away_is_named, each_write_that_is_taken_away_is_named)
    # A watch of one case is noted when it ends, maybe in the next case.
    plays, skipped = on_servers((), Audited, cases, is_shared=False)
    return play_all(plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
