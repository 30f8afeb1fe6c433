#!/usr/bin/env python3
"""Real processes, wired as a user wires them: scheduler, command line and an API server, embedded and real.

    test/e2e/run_end_to_end.py              # both servers; the real one is skipped, loudly, where it is not built
    test/e2e/run_end_to_end.py TEXT         # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from e2e.rough_handling import ROUGH_HANDLING  # noqa: E402
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import RealControlPlane, build_folder  # noqa: E402
from support.scheduler import (  # noqa: E402
    GROUP, Scheduler, add_nodes, await_that, half_bound, is_bound, matches, oversubscribed, pod, pods_by_gang, submit, submit_many,
)

KILLS = 20
FLOOD_GANGS, FLOOD_MEMBERS, FLOOD_GPUS = 200, 4, 1


def status_of(api, gang):
    return api.must("GET", f"{GROUP}/namespaces/default/podgroups/{gang}").get("status", {})


def bound_count(api, gang):
    return sum(map(is_bound, pods_by_gang(api).get(gang, [])))


# ---- cases that run against either server


def a_gang_is_bound_whole_and_one_that_does_not_fit_says_why(server):
    add_nodes(server.api, 2)
    with_scheduler(server, lambda scheduler: check_two_gangs(server.api, scheduler))


def check_two_gangs(api, scheduler):
    submit(api, "fits", 2)
    await_that("fits is bound", lambda: bound_count(api, "fits") == 2)
    submit(api, "waits", 3)
    await_that("waits has a reason", lambda: status_of(api, "waits").get("reason") in ("NoFit", "NeverFits"))
    assert bound_count(api, "waits") == 0
    await_that("fits is Running", lambda: status_of(api, "fits").get("phase") == "Running")
    status, text, _ = scheduler.maniple("explain", "waits")
    assert status == 0 and matches("nvidia.com/gpu", text), text
    for command in ("gangs", "nodes", "queues"):
        assert isinstance(scheduler.ask(command)["items"], list)
    names = [one["name"] for one in scheduler.ask("gangs")["items"]]
    assert names == ["fits", "waits"], names
    status, _, error = scheduler.maniple("explain", "nobody")
    assert status == 1 and error.count("\n") == 1 and "nobody" in error, error
    pages = {path: page(scheduler, path) for path in ("/livez", "/readyz", "/metrics", "/gangs", "/nodes", "/explain?name=waits")}
    assert "maniple_gangs_bound_total 1" in pages["/metrics"], pages["/metrics"]
    assert json.loads(pages["/explain?name=waits"])["reason"] in ("NoFit", "NeverFits")


def page(scheduler, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{scheduler.port}{path}", timeout=5) as reply:
        return reply.read().decode()


def a_flood_survives_twenty_kills_in_mid_bind(server):
    """Room for 150 of 200 gangs: in the end each is complete or waits whole, whenever the scheduler was killed."""
    api = server.api
    add_nodes(api, FLOOD_GANGS * FLOOD_MEMBERS * FLOOD_GPUS * 3 // 4 // 8)
    moments = random.Random(20)
    scheduler = Scheduler(server).start()
    try:
        submit_many(api, FLOOD_GANGS, FLOOD_MEMBERS, FLOOD_GPUS)
        for _ in range(KILLS):
            time.sleep(moments.uniform(0.02, 0.35))
            scheduler.kill()
            assert not oversubscribed(api)
            scheduler.start()
        fits = FLOOD_GANGS * 3 // 4
        await_that(f"{fits} gangs are bound", lambda: whole_gangs(api) == fits, seconds=120, pause=0.5)
        await_that("no gang is half bound", lambda: not half_bound(api), seconds=90, pause=0.5)
        assert not oversubscribed(api), oversubscribed(api)
        time.sleep(2)
        assert whole_gangs(api) == fits and not half_bound(api), (whole_gangs(api), half_bound(api))
    finally:
        scheduler.stop()


def whole_gangs(api):
    return sum(all(map(is_bound, members)) for members in pods_by_gang(api).values())


def on_sigterm_it_gives_the_lease_back_and_another_takes_over_at_once(server):
    gives_the_lease_back_on(signal.SIGTERM, server)


def on_sighup_it_does_the_same(server):
    gives_the_lease_back_on(signal.SIGHUP, server)


def gives_the_lease_back_on(kind, server):
    api = server.api
    add_nodes(api, 2)
    first = Scheduler(server, "first", flags=("--leader-elect=true",)).start()
    submit(api, "a", 1)
    await_that("the first leads and binds", lambda: bound_count(api, "a") == 1)
    second = Scheduler(server, "second", flags=("--leader-elect=true",)).start()
    try:
        await_that("the standby is ready", lambda: "leader_election_master_status{name=\"maniple-scheduler\"} 0" in page(second, "/metrics"))
        assert first.stop(kind=kind) == 0
        submit(api, "b", 1)
        await_that("the second leads and binds", lambda: bound_count(api, "b") == 1, seconds=12)
    finally:
        code = second.stop()
        assert code == 0, (code, second.log.read_text()[-800:])


def what_waits_is_told_once_and_then_left_alone(server):
    """A waiting gang is told once; after that nothing is written while nothing changes."""
    api = server.api
    add_nodes(api, 1)

    def versions():
        paths = ("/api/v1/pods", f"{GROUP}/podgroups", "/apis/events.k8s.io/v1/namespaces/default/events")
        return {one["metadata"]["uid"]: (one["metadata"]["name"], one["metadata"]["resourceVersion"])
                for path in paths for one in api.must("GET", path)["items"]}

    def check(_):
        submit(api, "big", 4)
        await_that("big has a reason", lambda: status_of(api, "big").get("reason"))
        time.sleep(1.5)
        before = versions()
        time.sleep(2.5)
        changed = [seen for uid, seen in versions().items() if before.get(uid) != seen]
        assert len(before) > 4 and not changed, changed

    with_scheduler(server, check)


def a_pod_whose_group_is_missing_waits_and_says_so(server):
    api = server.api
    add_nodes(api, 1)

    def check(_):
        api.must("POST", "/api/v1/namespaces/default/pods", pod("lonely-0", "lonely"))
        path = "/api/v1/namespaces/default/pods/lonely-0"

        def told():
            conditions = api.must("GET", path)["status"].get("conditions", [])
            return [c for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False" and "lonely" in c.get("message", "")]

        await_that("the pod's condition names the group", told)
        assert not is_bound(api.must("GET", path))

    with_scheduler(server, check)


# ---- cases that need no server of their own


def wrong_flags_and_files_are_refused_in_one_line(_):
    with tempfile.TemporaryDirectory() as folder:
        bad_config, bad_kubeconfig = Path(folder, "config.yaml"), Path(folder, "kubeconfig")
        bad_config.write_text("apiVersion: config.maniple.dev/v1alpha1\nkind: SchedulerConfiguration\nclient:\n  maxInFlight: many\n")
        bad_kubeconfig.write_text("apiVersion: v1\nkind: Config\ncurrent-context: gone\nusers: [{name: u, user: {token: s3cr3t-t0k3n}}]\n")
        cases = [
            (["--no-such-flag"], "no-such-flag"),
            (["-v", "9"], "-v"),
            (["--server", "ftp://x"], "--server: is no http or https URL"),
            (["--config", str(Path(folder, "none.yaml"))], "none.yaml"),
            (["--config", str(bad_config)], "config.yaml:4: client.maxInFlight"),
            (["--kubeconfig", str(bad_kubeconfig)], "gone"),
            (["--kubeconfig", str(Path(folder, "none"))], "none"),
            (["--server", "http://127.0.0.1:1", "--http", "nonsense"], "nonsense"),
        ]
        for flags, expected in cases:
            done = run("maniple-scheduler", *flags)
            assert done.returncode in (1, 2), (flags, done.returncode)
            assert expected in done.stderr and "s3cr3t" not in done.stderr, (flags, done.stderr)
            assert done.stderr.strip().count("\n") == 0, (flags, done.stderr)


def help_and_version_need_nothing(_):
    for program in ("maniple-scheduler", "maniple", "maniple-devcluster"):
        done = run(program, "--help")
        assert done.returncode == 0 and "Example" in done.stdout, (program, done)
        assert run(program, "--version").returncode == 0
    for command in ("explain", "gangs", "nodes", "queues", "validate", "completion"):
        done = run("maniple", command, "--help")
        assert done.returncode == 0 and "Example" in done.stdout, (command, done)
    for shell in ("bash", "zsh", "fish"):
        assert "explain" in run("maniple", "completion", shell).stdout
    script = run("maniple", "completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


def validate_names_file_line_and_path(_):
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder, "group.yaml")
        manifest.write_text("apiVersion: scheduling.maniple.dev/v1alpha1\nkind: PodGroup\nmetadata: {name: a}\nspec:\n  minMember: 0\n")
        done = run("maniple", "validate", str(manifest))
        assert done.returncode == 1 and "group.yaml:5: spec.minMember" in done.stderr, done.stderr
        manifest.write_text(manifest.read_text().replace("minMember: 0", "minMember: 2"))
        assert run("maniple", "validate", str(manifest)).returncode == 0


def run(program, *arguments):
    return subprocess.run([str(build_folder() / program), *arguments], capture_output=True, text=True, timeout=30,
                          env={**os.environ, "KUBECONFIG": ""})


def with_scheduler(server, check):
    scheduler = Scheduler(server).start()
    try:
        check(scheduler)
    finally:
        code = scheduler.stop()
    assert code == 0, f"the scheduler ended with status {code}: {scheduler.log.read_text()[-600:]}"


ANYWHERE = (
    a_gang_is_bound_whole_and_one_that_does_not_fit_says_why,
    a_pod_whose_group_is_missing_waits_and_says_so,
    on_sigterm_it_gives_the_lease_back_and_another_takes_over_at_once,
    on_sighup_it_does_the_same,
    what_waits_is_told_once_and_then_left_alone,
    a_flood_survives_twenty_kills_in_mid_bind,
)
ALONE = (wrong_flags_and_files_are_refused_in_one_line, help_and_version_need_nothing, validate_names_file_line_and_path, *ROUGH_HANDLING)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    alone = [(case.__name__, partial(case, None)) for case in ALONE]
    plays, skipped = on_servers(ANYWHERE, RealControlPlane)
    return play_all(alone + plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
