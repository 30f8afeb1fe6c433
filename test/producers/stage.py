"""What a producer of gangs does, step by step, and what must hold after each step.

A producer is a list of stages. Its objects are made in its order, with its waits: what the real one makes only after pods run is a
stage of its own. A stage may be played with a scheduler that was killed just before.
"""

import itertools
from dataclasses import dataclass, field

from support.scheduler import GROUP, await_that, is_bound, pod

CORE = "/api/v1"
XK8S, VOLCANO = "scheduling.x-k8s.io/v1alpha1", "scheduling.volcano.sh/v1beta1"
TEMPLATE = {"spec": {"restartPolicy": "Never", "schedulerName": "maniple", "containers": [{"name": "main", "image": "registry.example/train:1"}]}}


@dataclass(frozen=True)
class Stage:
    """`make`: [(path of the collection, object)]; then exactly the pods `bound` have a node, within the time that a gang needs."""

    make: tuple
    bound: frozenset = frozenset()
    holds: tuple = ()  # functions of the API, true in the end


@dataclass
class Made:
    """Objects that exist, so that later ones can be owned by them."""

    api: object
    objects: dict = field(default_factory=dict)  # "Kind/name" -> object as the server answered it

    def create(self, path, thing, owner=None):
        if owner:
            thing["metadata"]["ownerReferences"] = [self.reference(owner)]
        made = self.api.must("POST", path, thing)
        self.objects[f"{made['kind']}/{made['metadata']['name']}"] = made

    def reference(self, owner):
        of = self.objects[owner]
        return {"apiVersion": of["apiVersion"], "kind": of["kind"], "name": of["metadata"]["name"], "uid": of["metadata"]["uid"], "controller": True}


def collection(api_version, plural):
    root = CORE if api_version == "v1" else f"/apis/{api_version}"
    return f"{root}/namespaces/default/{plural}"


def custom(api_version, kind, plural, name, spec, owner=None, annotations=None):
    """(path, object, owner) of an object that is not a pod."""
    meta = {"name": name, "namespace": "default", **({"annotations": annotations} if annotations else {})}
    return collection(api_version, plural), {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}, owner


def cluster_wide(api_version, kind, plural, name, spec):
    return f"/apis/{api_version}/{plural}", {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}, None


def pods(prefix, indices, owner=None, labels=None, annotations=None, gpus=1):
    """Pods PREFIX-INDEX; `{n}` in a value of a label is the index."""
    for n in indices:
        one = pod(f"{prefix}-{n}", gpus=gpus)
        one["metadata"]["labels"] = {key: value.replace("{n}", str(n)) for key, value in (labels or {}).items()}
        one["metadata"]["annotations"] = dict(annotations or {})
        yield collection("v1", "pods"), one, owner


def names(prefix, indices):
    return frozenset(f"{prefix}-{n}" for n in indices)


def stage(*made, bound=frozenset(), holds=()):
    return Stage(tuple(itertools.chain.from_iterable([one] if isinstance(one, tuple) else list(one) for one in made)), frozenset(bound), tuple(holds))


def bound_pods(api):
    return frozenset(one["metadata"]["name"] for one in api.must("GET", f"{CORE}/pods")["items"] if is_bound(one))


def is_told(one):
    """The scheduler has decided on it."""
    conditions = (one.get("status") or {}).get("conditions") or []
    return is_bound(one) or any(condition["type"] == "PodScheduled" for condition in conditions)


def stand_ins(api, kind, name):
    """PodGroups of ours that stand for the object."""
    groups = api.must("GET", f"{GROUP}/podgroups")["items"]
    return [one for one in groups if (one["spec"].get("source") or {}).get("kind") == kind and one["spec"]["source"]["name"] == name]


def stands_for(kind, name, minimum, phase=None, count=1):
    """A condition of a stage: so many PodGroups of ours stand for the object, with this quorum and phase."""
    def holds(api):
        found = stand_ins(api, kind, name)
        return len(found) == count and all(
            one["spec"]["minMember"] == minimum and (phase is None or (one.get("status") or {}).get("phase") == phase) for one in found)

    holds.__name__ = f"{count} PodGroup for {kind}/{name} with minMember {minimum}, phase {phase or 'any'}"
    return holds


def has_phase(api_version, plural, name, phase):
    def holds(api):
        one = api.must("GET", f"{collection(api_version, plural)}/{name}")
        return (one.get("status") or {}).get("phase") == phase

    holds.__name__ = f"{plural}/{name} has phase {phase}"
    return holds


def spans(prefix, count):
    """A condition of a stage: the pods PREFIX-… stand on so many nodes."""
    def holds(api):
        mine = [one for one in api.must("GET", f"{CORE}/pods")["items"] if one["metadata"]["name"].startswith(f"{prefix}-")]
        return len({one["spec"].get("nodeName") for one in mine}) == count

    holds.__name__ = f"pods {prefix}-… stand on {count} nodes"
    return holds


def play(api, stages, before=lambda index: None):
    """Plays every stage; before(index) is called ahead of each one. Nothing but our own objects and the phases is ever written.

    What it made.
    """
    made = Made(api)
    for index, one in enumerate(stages):
        before(index)
        for path, thing, owner in one.make:
            made.create(path, thing, owner)
        await_that(f"stage {index}: exactly {sorted(one.bound)} bound", lambda: bound_pods(api) == one.bound)
        if not one.bound:  # it has been decided on, and not only not yet
            await_that(f"stage {index}: who waits is told why", lambda: all(is_told(pod) for pod in api.must("GET", f"{CORE}/pods")["items"]))
        for condition in one.holds:
            await_that(f"stage {index}: {condition.__name__}", lambda: condition(api))
        assert bound_pods(api) == one.bound, f"stage {index}: {sorted(bound_pods(api))} bound instead of {sorted(one.bound)}"
    unchanged(made)
    return made


def remove(made):
    """Everything that was made, and the PodGroups of ours that stood for it, are gone."""
    for thing in reversed(made.objects.values()):  # a Job's own way is to wait for a garbage collector, which is not there
        made.api.request("DELETE", f"{path_of(thing)}?gracePeriodSeconds=0&propagationPolicy=Background")
    ours = f"{GROUP}/namespaces/default/podgroups"
    for group in made.api.must("GET", ours)["items"]:
        made.api.request("DELETE", f"{ours}/{group['metadata']['name']}")
    for thing in made.objects.values():
        await_that(f"{path_of(thing)} is gone", lambda: made.api.request("GET", path_of(thing)).status == 404)


def path_of(thing):
    plural = "pods" if thing["kind"] == "Pod" else PLURALS[thing["kind"]]
    many = collection(thing["apiVersion"], plural) if "namespace" in thing["metadata"] else f"/apis/{thing['apiVersion']}/{plural}"
    return f"{many}/{thing['metadata']['name']}"


def unchanged(made):
    """No spec, label or annotation of a producer's object is other than the producer wrote it."""
    for title, ours in made.objects.items():
        if ours["kind"] == "Pod":
            continue
        meta = ours["metadata"]
        now = made.api.must("GET", path_of(ours))
        for part in ("labels", "annotations", "ownerReferences", "finalizers"):
            assert now["metadata"].get(part) == meta.get(part), f"{title}: metadata.{part} was written"
        assert now.get("spec") == ours.get("spec"), f"{title}: spec was written"


PLURALS = {
    "CompositePodGroup": "compositepodgroups",
    "HyperNode": "hypernodes",
    "JAXJob": "jaxjobs",
    "Job": "jobs",
    "JobSet": "jobsets",
    "LeaderWorkerSet": "leaderworkersets",
    "MPIJob": "mpijobs",
    "PaddleJob": "paddlejobs",
    "PodGang": "podgangs",
    "PodGroup": "podgroups",
    "PyTorchJob": "pytorchjobs",
    "RayCluster": "rayclusters",
    "StatefulSet": "statefulsets",
    "TFJob": "tfjobs",
    "TrainJob": "trainjobs",
    "XGBoostJob": "xgboostjobs",
}
