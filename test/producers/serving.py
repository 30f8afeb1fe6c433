"""LeaderWorkerSet and KubeRay."""

from producers.stage import TEMPLATE, custom, names, pods, stage, stands_for


def leader_worker_set(startup="LeaderCreated", annotations=None):
    """A gang per replica; with LeaderReady, or exclusive topology, the workers are made once the leader is bound."""
    def labels(index):
        return {"leaderworkerset.sigs.k8s.io/name": "lws", "leaderworkerset.sigs.k8s.io/group-index": "0",
                "leaderworkerset.sigs.k8s.io/worker-index": index, "leaderworkerset.sigs.k8s.io/template-revision-hash": "r1"}

    def replica_set(name, owner):
        return custom("apps/v1", "StatefulSet", "statefulsets", name,
                      {"serviceName": "lws", "replicas": 1, "podManagementPolicy": "Parallel", "selector": {"matchLabels": labels("x")},
                       "template": {"metadata": {"labels": labels("x")}, "spec": {"containers": TEMPLATE["spec"]["containers"]}}}, owner)

    size = {"leaderworkerset.sigs.k8s.io/size": "3"}
    lws = custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets", "lws",
                 {"replicas": 1, "startupPolicy": startup, "leaderWorkerTemplate": {"size": 3}}, annotations=annotations)
    leader = names("lws", range(1))
    leader_starts = leader if startup == "LeaderReady" or annotations else frozenset()
    return [
        stage(lws, replica_set("lws", "LeaderWorkerSet/lws"), pods("lws", range(1), "StatefulSet/lws", labels("0"), size), bound=leader_starts),
        stage(replica_set("lws-0", "Pod/lws-0"), pods("lws-0", [1], "StatefulSet/lws-0", labels("{n}"), size), bound=leader_starts),
        stage(pods("lws-0", [2], "StatefulSet/lws-0", labels("{n}"), size), bound=leader | names("lws-0", [1, 2])),
    ]


def leader_worker_set_whose_leader_comes_first():
    return leader_worker_set("LeaderReady")


def leader_worker_set_in_one_domain():
    """Its workers are made once it is known in which domain the leader is."""
    return leader_worker_set(annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"})


def ray_cluster():
    """Head and workers at once; with in-tree autoscaling only the least number of workers is waited for."""
    def members(group, indices):
        return pods(f"ray-{group}", indices, "RayCluster/ray", {"ray.io/cluster": "ray", "ray.io/group": group, "ray.io/is-ray-node": "yes"})

    cluster = custom("ray.io/v1", "RayCluster", "rayclusters", "ray",
                     {"enableInTreeAutoscaling": True, "headGroupSpec": {},
                      "workerGroupSpecs": [{"groupName": "small", "replicas": 3, "minReplicas": 2, "maxReplicas": 4}]})
    whole = names("ray-headgroup", [0]) | names("ray-small", range(2))
    return [
        stage(cluster, members("headgroup", [0]), members("small", [0])),
        stage(members("small", [1]), bound=whole, holds=[stands_for("RayCluster", "ray", 3, "Running")]),
        stage(members("small", [2]), bound=whole | {"ray-small-2"}),
    ]


def ray_cluster_of_several_hosts():
    """Each replica of the workers is two pods: all of them, and the head, start together."""
    def members(group, indices):
        return pods(f"ray-{group}", indices, "RayCluster/ray", {"ray.io/cluster": "ray", "ray.io/group": group, "ray.io/is-ray-node": "yes"})

    cluster = custom("ray.io/v1", "RayCluster", "rayclusters", "ray",
                     {"headGroupSpec": {}, "workerGroupSpecs": [{"groupName": "tpu", "replicas": 2, "numOfHosts": 2}]})
    return [
        stage(cluster, members("headgroup", [0]), members("tpu", range(3))),
        stage(members("tpu", [3]), bound=names("ray-headgroup", [0]) | names("ray-tpu", range(4)), holds=[stands_for("RayCluster", "ray", 5, "Running")]),
    ]
