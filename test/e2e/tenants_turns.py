"""Attacks on the scheduler's time: by gangs that take long to search for. run_tenants.py plays them."""

from e2e.tenants_town import SOON, group, groups, pod, pods, post, town
from support.scheduler import GPU, await_that

NODES, GANGS, MEMBERS = 100, 12, 200
SAMPLES = 12


def hard_to_place(gang):
    """Unlike members, spread over three levels; on each node there is room for one."""
    name = f"loud-{gang}"
    spread = [{"topologyKey": key, "maxSkew": 5, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": name}}}
              for key in ("zone", "rack", "kubernetes.io/hostname")]
    return [pod(f"{name}-{index}", group=name, queue="red", cpu=f"{1000 + index}m", asks={GPU: "4"}, labels={"app": name},
                topologySpreadConstraints=spread) for index in range(MEMBERS)]


def taker(number):
    """Of another scheduler: it leaves six of a node's eight GPUs."""
    return pod(f"other-{number}", scheduler="other", asks={GPU: "2"}, nodeName=f"n{number % NODES}")


def waits(one, first):
    """Of pods of blue, while a pod of somebody else ends and another comes, each time."""
    found = []
    for number in range(first, first + SAMPLES):
        one.api.must("DELETE", f"{pods('default')}/other-{number}")
        one.api.must("POST", pods("default"), taker(number + NODES))
        found.append(one.serve_blue(queue="blue"))
    return found


def to_take_the_time_that_others_need(server):
    with town(server) as one:
        for number in range(10):
            one.add_nodes([f"n{number * 10 + each}" for each in range(10)], gpus=8, rack=f"r{number}", zone=f"z{number % 3}")
        for team in ("red", "blue"):
            one.add_queue(team, team, 1_000_000)
        post(one.api, pods("default"), map(taker, range(NODES)))
        alone = waits(one, 0)
        post(one.red, groups("red"), (group(f"loud-{gang}", MEMBERS, queue="red") for gang in range(GANGS)))
        post(one.red, pods("red"), (one_pod for gang in range(GANGS) for one_pod in hard_to_place(gang)))
        beside = waits(one, SAMPLES)
        print(f"      seconds that blue waited: alone {told(alone)}; beside {told(beside)}", flush=True)
        assert max(beside) < SOON, beside
        await_that("a loud gang is told why it waits",
                   lambda: one.api.must("GET", f"{groups('red')}/loud-0").get("status", {}).get("reason"))


def told(found):
    found = sorted(found)
    return f"median {found[len(found) // 2]:.2f}, most {found[-1]:.2f}"


TURN_ATTACKS = (to_take_the_time_that_others_need,)
