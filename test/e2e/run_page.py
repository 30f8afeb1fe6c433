#!/usr/bin/python3
"""The operator's page in a real browser, against a real scheduler: what a person does with it, and what others must not see.

    test/e2e/run_page.py             # every case; those on kube-apiserver are skipped, loudly, where that is not built
    test/e2e/run_page.py TEXT        # only cases whose name contains TEXT
    PICTURES=FOLDER test/e2e/run_page.py TEXT   # also leaves a picture of each case's last moment

Debian's own Python, since its Selenium is a package of Debian. The last line is `N passed, M failed, K skipped`.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from e2e.http_access import own_address, served, token_of  # noqa: E402
from support.browser import browser  # noqa: E402
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import Process, RealControlPlane, free_ports, program  # noqa: E402
from support.scheduler import GPU, GROUP, Scheduler, add_nodes, await_that, is_bound, pod, pod_group, pods_by_gang, submit  # noqa: E402

SHOWS_THE_MAP = ("create", "clusterrolebinding", "maniple-viewer-nodes", "--clusterrole", "maniple-nodes-viewer", "--serviceaccount",
                 "kube-system:maniple-viewer")
PICTURES = os.environ.get("PICTURES")
AXE = ("axe-core", "4.14.1", "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c")
LONG_STORY_IS_WHOLE = """
    const text = document.querySelector('.story-text');
    const longer = text.cloneNode();
    longer.textContent = 'why it waits '.repeat(60);
    text.parentElement.append(longer);
    const whole = longer.scrollHeight <= longer.clientHeight;
    longer.remove();
    return whole;
"""
QUEUE = {"apiVersion": "scheduling.maniple.dev/v1alpha1", "kind": "Queue"}


def queue(api, name, gpus):
    quotas = [{"flavor": "", "resources": [{"name": GPU, "nominal": gpus}]}]
    api.must("POST", f"{GROUP}/queues", {**QUEUE, "metadata": {"name": name}, "spec": {"cohort": "company", "quotas": quotas}})


def end(api, gang):
    for one in pods_by_gang(api)[gang]:
        api.must("DELETE", f"/api/v1/namespaces/default/pods/{one['metadata']['name']}")
    api.must("DELETE", f"{GROUP}/namespaces/default/podgroups/{gang}")


@contextmanager
def a_page(server, **how):
    """(browser on the page, scheduler): four nodes of 8 GPUs, three of which a gang has, and one gang that waits for two."""
    queue(server.api, "research", 24)
    queue(server.api, "production", 16)
    add_nodes(server.api, 4)
    submit(server.api, "old", 3, queue="research")
    scheduler = Scheduler(server).start()
    await_that("the first gang runs", lambda: sum(map(is_bound, pods_by_gang(server.api)["old"])) == 3)
    submit(server.api, "next", 2, queue="production")
    try:
        with browser(**how) as seen:
            seen.open(f"http://127.0.0.1:{scheduler.port}/")
            seen.await_text("header", "live")
            yield seen, scheduler
            if PICTURES:
                seen.picture(Path(PICTURES) / f"{sys._getframe(2).f_code.co_name}.png")
            assert not seen.complaints(), seen.complaints()
    finally:
        scheduler.stop()


def the_three_questions_are_answered_without_a_click_and_help_is_followed(server):
    with a_page(server) as (seen, scheduler):
        seen.await_text(".waiting", "NoFit")
        seen.await_text(".waiting", "2 × 8")
        seen.await_text("header", "24 of 32 GPUs used")
        assert "24 / 24" in seen.text(".queues") and "0 / 16" in seen.text(".queues"), seen.text(".queues")
        seen.await_text(".waiting .help", "would help")
        assert "the end of default/old" in seen.text(".waiting .help"), seen.text(".waiting .help")
        end(server.api, "old")
        seen.await_text(".waiting", "0")
        await_that("the list is empty", lambda: not seen.all(".waiting .gang-name"))
        seen.await_text("header", "16 of 32 GPUs used")


def one_gang_is_told_in_full_as_the_command_line_tells_it(server):
    with a_page(server) as (seen, scheduler):
        seen.await_text(".waiting", "NoFit")
        seen.click(".waiting .gang-name")
        seen.await_text(".drawer", "What would help")
        told = scheduler.ask("explain", "next")
        shown = seen.text(".drawer")
        assert told["message"] in shown and "next-0" in shown and "next-1" in shown, shown
        assert "maniple explain next -n default" in shown and "kubectl get podgroups.scheduling.maniple.dev next -n default" in shown, shown
        seen.await_text(".drawer .story", "refused")
        [refused] = scheduler.ask("log", "next")["items"]
        assert refused["what"] == "park" and refused["text"] in seen.text(".drawer .story"), refused
        assert seen.run(LONG_STORY_IS_WHOLE), "the story is cut, and nothing leads to the rest"
        for help_ in told["help"]:
            assert help_["sentence"] in shown, (help_, shown)
        seen.press("ESCAPE")
        await_that("the drawer is closed", lambda: not seen.all(".drawer"))
        assert seen.focused() == "next in default", seen.focused()


def the_keyboard_alone_is_enough(server):
    with a_page(server) as (seen, scheduler):
        seen.await_text(".waiting", "NoFit")
        seen.press("/")
        seen.press("n", "e", "x")
        seen.await_text("#search-hits", "next")
        seen.press("ENTER")
        seen.await_text(".drawer", "next-0")
        seen.press("ESCAPE")
        for _ in range(40):
            seen.press("TAB")
            if seen.focused() == "next in default":
                break
        seen.press("ENTER")
        seen.await_text(".drawer", "next-1")


def the_map_has_a_twin_that_is_a_table(server):
    with a_page(server) as (seen, scheduler):
        seen.click(".map button[aria-pressed]")
        seen.await_text("table.nodes", "node-000")
        seen.click("[aria-label='Filter nodes']")
        seen.press(*"node-000")
        await_that("one node is told as one", lambda: "1 node" in seen.texts(".filters [role=status]"))
        seen.press(*["BACKSPACE"] * len("node-000"))
        rows = [text.replace("\n", " ") for text in seen.texts("table.nodes tbody tr")]
        assert len(rows) == 4 and sum("default/old" in row for row in rows) == 3, rows
        server.api.must("PATCH", "/api/v1/nodes/node-003", {"spec": {"unschedulable": True}}, "application/merge-patch+json")
        seen.await_text("table.nodes", "cordoned")
        seen.await_text("header", "8 cordoned")


def the_map_shows_nvlink_domains_where_there_are_some(server):
    with a_page(server) as (seen, scheduler):
        seen.await_text(".map", "used")
        assert not seen.all(".by-nvlink"), "a switch that leads nowhere"
        for index in range(4):
            server.api.must("PATCH", f"/api/v1/nodes/node-{index:03}", {"metadata": {"labels": {"nvidia.com/gpu.clique": f"fabric.{index // 2}"}}},
                            "application/merge-patch+json")
        await_that("there is a switch", lambda: seen.all(".by-nvlink"))
        seen.click(".by-nvlink")
        seen.await_text(".map", "by NVLink domain")
        seen.click(".by-nvlink")
        await_that("it is the map by levels again", lambda: "by NVLink domain" not in seen.texts(".map")[0])


def a_scheduler_that_dies_is_told_and_its_successor_followed(server):
    with a_page(server) as (seen, scheduler):
        seen.await_text(".waiting", "NoFit")
        scheduler.kill()
        seen.await_text("header", "reconnecting")
        assert "next" in seen.text(".waiting"), "what is known stays"
        scheduler.start()
        seen.await_text("header", "live")
        end(server.api, "old")
        await_that("the list is empty", lambda: not seen.all(".waiting .gang-name"))
        refused = [line for line in seen.complaints() if "ERR_CONNECTION" not in line and "ERR_INCOMPLETE" not in line]
        assert not refused, refused


def an_api_server_that_is_gone_is_named(server):
    with a_page(server) as (seen, scheduler):
        seen.await_text(".waiting", "NoFit")
        assert not seen.all(".problems")
        server.children[-1].stop()
        seen.await_text(".problems", "Trouble with the API server: ")
        assert "next" in seen.text(".waiting"), "what is known stays"


def a_page_left_behind_a_namespace_shows_that_one(server):
    with a_page(server) as (seen, scheduler):
        seen.open(f"http://127.0.0.1:{scheduler.port}/?namespace=elsewhere")
        seen.await_text("header", "24 of 32 GPUs used")
        seen.await_text(".waiting", "No gang of namespace elsewhere is known.")
        assert "next" not in seen.text(".waiting"), seen.text(".waiting")
        seen.click(".map button[aria-pressed]")
        seen.await_text("table.nodes", "other")
        assert "default/old" not in seen.text("main"), seen.text("main")


def axe_script():
    """The source of axe-core, from the npm registry; None where there is no npm."""
    name, version, digest = AXE
    kept = Path.home() / ".cache/maniple/axe" / f"axe-{version}.min.js"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(["npm", "pack", "--silent", f"{name}@{version}"], cwd=kept.parent, check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.SubprocessError):
            return None
        with tarfile.open(kept.parent / f"{name}-{version}.tgz") as packed:
            kept.write_bytes(packed.extractfile("package/axe.min.js").read())
    script = kept.read_text()
    assert hashlib.sha256(script.encode()).hexdigest() == digest, f"{kept} is not {name} {version}"
    return script


def check_accessible(seen, script):
    await_that("nothing moves any more", lambda: seen.run("return document.getAnimations().every((one) => one.playState !== 'running')"))
    seen.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": script})  # past the page's own policy
    found = seen.driver.execute_async_script("axe.run().then(arguments[0])")
    assert not found["violations"], [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found["violations"]]


def axe_finds_nothing_in_either_theme(server):
    script = axe_script()
    for scheme in ("light", "dark"):
        with a_page_again(server, scheme) as seen:
            seen.await_text(".waiting", "NoFit")
            check_accessible(seen, script)
            seen.click(".map button[aria-pressed]")
            seen.click(".waiting .gang-name")
            seen.await_text(".drawer", "What would help")
            check_accessible(seen, script)


def its_readers_see_what_rbac_lets_them_see_through_the_proxy(server):
    address = own_address()
    assert address, "this machine has no address that a Service could lead to"
    with served(server) as one:
        one.publish(address)
        for name in ("ours", "theirs"):
            member = pod("w-0", f"gang-{name}")
            member["metadata"]["namespace"] = name
            one.api.must("POST", f"/api/v1/namespaces/{name}/pods", member)
        port = free_ports(1)[0]
        proxy = Process([program("kubectl"), "--kubeconfig", server.kubeconfig, "proxy", "--port", str(port)], server.folder / "proxy.log")
        url = f"http://127.0.0.1:{port}/api/v1/namespaces/kube-system/services/https:maniple-scheduler:http/proxy/"
        viewer = token_of(one.api, "kube-system", "maniple-viewer")
        with browser() as seen:
            await_that("the proxy leads to the page", lambda: (seen.open(url), "maniple" in seen.text("h1"))[1])
            seen.await_text(".access", "A token is needed")
            seen.click(".access input")
            seen.press(one.alice, "ENTER")
            seen.await_text(".access", "may not get podgroups.scheduling.maniple.dev in all namespaces")
            seen.click(".access input")
            seen.press("ours", "ENTER")
            seen.await_text(".waiting", "gang-ours")
            assert "theirs" not in seen.text("body"), seen.text("body")
            assert "Nodes are not shown to you" in seen.text(".map"), seen.text(".map")
            run = subprocess.run([program("kubectl"), "--kubeconfig", server.kubeconfig, *SHOWS_THE_MAP], capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            seen.open(url)
            seen.await_text(".access", "A token is needed")
            seen.click(".access input")
            seen.press(viewer, "ENTER")
            seen.await_text(".waiting", "gang-theirs")
            seen.await_text(".map", "There is no node")
            kept = seen.run("return JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])")
            assert viewer not in kept and one.alice not in kept, kept
        proxy.stop()


@contextmanager
def a_page_again(server, scheme):
    """The same cluster, for another look."""
    if not pods_by_gang(server.api):
        with a_page(server, scheme=scheme) as (seen, _):
            yield seen
        return
    scheduler = Scheduler(server).start()
    try:
        with browser(scheme=scheme) as seen:
            await_that("the page is there", lambda: (seen.open(f"http://127.0.0.1:{scheduler.port}/"), "maniple" in seen.text("h1"))[1])
            yield seen
    finally:
        scheduler.stop()


EMBEDDED = (the_three_questions_are_answered_without_a_click_and_help_is_followed,
            one_gang_is_told_in_full_as_the_command_line_tells_it, the_keyboard_alone_is_enough, the_map_has_a_twin_that_is_a_table,
            the_map_shows_nvlink_domains_where_there_are_some, a_scheduler_that_dies_is_told_and_its_successor_followed,
            an_api_server_that_is_gone_is_named, a_page_left_behind_a_namespace_shows_that_one, axe_finds_nothing_in_either_theme)
REAL = (its_readers_see_what_rbac_lets_them_see_through_the_proxy,)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    embedded = [play for play in on_servers(EMBEDDED, RealControlPlane)[0] if play[0].endswith("embedded")]
    real, skipped = on_servers((), RealControlPlane, real_only=REAL)
    plays = embedded + real
    if axe_script() is None:
        print(f"SKIPPED: {AXE[0]} comes by npm, which is not here: nobody looks for what keeps readers out")
        plays, skipped = [play for play in plays if "axe" not in play[0]], skipped + 1
    return play_all(plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
