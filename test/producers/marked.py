"""Pods that name their gang by marks, with or without an object of that name; and Spark, whose pods come one after the other."""

import json

from producers.stage import custom, names, pods, stage, stands_for


def gang_by_marks(name, labels=None, annotations=None, objects=(), source="Pod"):
    """Two pods of three wait, all three start."""
    def some(indices):
        return pods("p", indices, labels=labels, annotations=annotations)

    return [
        stage(*objects, some(range(2))),
        stage(some([2]), bound=names("p", range(3)), holds=[stands_for(source, name, 3, "Running")]),
    ]


def kueue_pod_group():
    return gang_by_marks("team", {"kueue.x-k8s.io/pod-group-name": "team"}, {"kueue.x-k8s.io/pod-group-total-count": "3"})


def koordinator_gang():
    return gang_by_marks("koord", annotations={"gang.scheduling.koordinator.sh/name": "koord", "gang.scheduling.koordinator.sh/min-available": "3"})


def koordinator_group():
    group = custom("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "podgroups", "koord", {"minMember": 3})
    return gang_by_marks("koord", {"pod-group.scheduling.sigs.k8s.io": "koord"}, objects=[group], source="PodGroup")


def yunikorn_application():
    groups = json.dumps([{"name": "workers", "minMember": 3, "minResource": {"cpu": "1"}}])
    return gang_by_marks("app", {"applicationId": "app"}, {"yunikorn.apache.org/task-group-name": "workers", "yunikorn.apache.org/task-groups": groups})


def kai_group():
    group = custom("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups", "kai", {"minMember": 3})
    return gang_by_marks("kai", annotations={"pod-group-name": "kai"}, objects=[group], source="PodGroup")


def grove_gang():
    """Two groups of pods, which it lists by name."""
    def listed(name, indices):
        return {"name": name, "minReplicas": len(indices), "podReferences": [{"namespace": "default", "name": f"p-{n}"} for n in indices]}

    gang = custom("scheduler.grove.io/v1alpha1", "PodGang", "podgangs", "grove", {"podgroups": [listed("decode", [0, 1]), listed("prefill", [2])]})
    return gang_by_marks("grove", {"grove.io/podgang": "grove"}, objects=[gang], source="PodGang")


def composite_pod_groups():
    """Groups of groups: a driver, and two replicas of which both have to be there."""
    def grouped(group, indices):
        for path, one, owner in pods(group, indices):
            one["spec"]["schedulingGroup"] = {"podGroupName": group}
            yield path, one, owner

    def group(kind, plural, name, parent, policy):
        parents = {"parentCompositePodGroupName": parent} if parent else {}
        return custom("scheduling.k8s.io/v1alpha3", kind, plural, name, {"schedulingPolicy": {"gang": policy}, **parents})

    def composite(name, parent, least):
        return group("CompositePodGroup", "compositepodgroups", name, parent, {"minGroupCount": least})

    def pod_group(name, parent, least):
        return group("PodGroup", "podgroups", name, parent, {"minCount": least})

    everybody = names("replica-a", range(2)) | names("replica-b", range(2)) | {"driver-0"}
    return [
        stage(pod_group("replica-a", "workers", 2), grouped("replica-a", range(2))),
        stage(composite("workers", "train", 2), composite("train", None, 2), pod_group("driver", "train", 1), grouped("driver", [0]),
              holds=[stands_for("CompositePodGroup", "train", 4, "Waiting")]),
        stage(pod_group("replica-b", "workers", 2), grouped("replica-b", range(2)), bound=everybody,
              holds=[stands_for("CompositePodGroup", "train", 5, "Running")]),
    ]


def spark_application():
    """The driver makes the executors once it runs, and they start as they come."""
    def labels(role):
        return {"spark-role": role, "spark-app-selector": "spark-1"}

    driver = pods("driver", [0], labels=labels("driver"))
    return [
        stage(driver, bound={"driver-0"}),
        stage(pods("executor", range(2), "Pod/driver-0", labels("executor")), bound={"driver-0"} | names("executor", range(2))),
    ]
