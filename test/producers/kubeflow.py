"""training-operator v1, vcjob and mpi-operator: with group objects of other schedulers, and without any."""

from producers.stage import TEMPLATE, VOLCANO, XK8S, cluster_wide, custom, has_phase, names, pods, spans, stage, stands_for


def kubeflow_with_xk8s_groups():
    """training-operator v1: PodGroup of the job's name, then pods that carry its label."""
    def labels(role):
        return {"scheduling.x-k8s.io/pod-group": "train", "training.kubeflow.org/job-name": "train",
                "training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": "{n}"}

    job = custom("kubeflow.org/v1", "PyTorchJob", "pytorchjobs", "train",
                 {"pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 3}}})
    group = custom(XK8S, "PodGroup", "podgroups", "train", {"minMember": 4, "minResources": {"cpu": "4"}}, "PyTorchJob/train")
    return [
        stage(job, group, pods("train-worker", range(3), "PyTorchJob/train", labels("worker")),
              holds=[stands_for("PodGroup", "train", 4, "Waiting"), has_phase(XK8S, "podgroups", "train", "Pending")]),
        stage(pods("train-master", range(1), "PyTorchJob/train", labels("master")),
              bound=names("train-worker", range(3)) | names("train-master", range(1)),
              holds=[stands_for("PodGroup", "train", 4, "Running"), has_phase(XK8S, "podgroups", "train", "Running")]),
    ]


def volcano_job():
    """vcjob and training-operator v1 in Volcano mode make no pod before the phase has left Pending."""
    def members(role, count):
        return pods(f"train-{role}", range(count), annotations={"scheduling.k8s.io/group-name": "train", "volcano.sh/task-spec": role})

    group = custom(VOLCANO, "PodGroup", "podgroups", "train", {"minMember": 3, "minTaskMember": {"master": 1, "worker": 2}})
    everybody = names("train-worker", range(2)) | names("train-master", range(1))
    return [
        stage(group, holds=[has_phase(VOLCANO, "podgroups", "train", "Inqueue")]),
        stage(members("worker", 2)),
        stage(members("master", 1), bound=everybody,
              holds=[has_phase(VOLCANO, "podgroups", "train", "Running"), stands_for("PodGroup", "train", 3, "Running")]),
    ]


def hyper_node(name, tier, *members):
    """`members`: (type, selector)."""
    spec = {"tier": tier, "members": [{"type": kind, "selector": selector} for kind, selector in members]}
    return cluster_wide("topology.volcano.sh/v1alpha1", "HyperNode", "hypernodes", name, spec)


def volcano_job_within(tier, name, members, gpus):
    group = custom(VOLCANO, "PodGroup", "podgroups", name,
                   {"minMember": members, "networkTopology": {"mode": "hard", "highestTierAllowed": tier}})
    return [group, *pods(name, range(members), annotations={"scheduling.k8s.io/group-name": name}, gpus=gpus)]


def volcano_jobs_in_tiers():
    """HyperNodes say which nodes are close; there is no Topology. On both nodes together is more room than on one."""
    leaves = [hyper_node("leaf-a", 1, ("Node", {"exactMatch": {"name": "node-000"}})),
              hyper_node("leaf-b", 1, ("Node", {"regexMatch": {"pattern": "^node-00[1-9]$"}}))]
    spine = hyper_node("spine", 2, *(("HyperNode", {"exactMatch": {"name": leaf}}) for leaf in ("leaf-a", "leaf-b")))
    near, wide = names("near", range(3)), names("wide", range(5))
    return [
        stage(*leaves, spine, volcano_job_within(1, "near", 3, gpus=2), bound=near, holds=[spans("near", 1)]),
        stage(volcano_job_within(1, "large", 5, gpus=2), bound=near, holds=[stands_for("PodGroup", "large", 5, "Pending")]),
        stage(volcano_job_within(2, "wide", 5, gpus=2), bound=near | wide, holds=[spans("wide", 2)]),
    ]


def mpi_job_whose_launcher_waits():
    """WaitForWorkersReady: the group counts the launcher from the start, the operator makes it when all workers are ready."""
    def labels(role, index="{n}"):
        return {"scheduling.x-k8s.io/pod-group": "mpi", "training.kubeflow.org/job-name": "mpi",
                "training.kubeflow.org/job-role": role, "training.kubeflow.org/replica-index": index}

    job = custom("kubeflow.org/v2beta1", "MPIJob", "mpijobs", "mpi",
                 {"launcherCreationPolicy": "WaitForWorkersReady", "mpiReplicaSpecs": {"Launcher": {"replicas": 1}, "Worker": {"replicas": 2}}})
    group = custom(XK8S, "PodGroup", "podgroups", "mpi", {"minMember": 3, "scheduleTimeoutSeconds": 0}, "MPIJob/mpi")
    workers = names("mpi-worker", range(2))
    launcher = custom("batch/v1", "Job", "jobs", "mpi-launcher", {"template": TEMPLATE}, "MPIJob/mpi")
    return [
        stage(job, group, pods("mpi-worker", [0], "MPIJob/mpi", labels("worker"))),
        stage(pods("mpi-worker", [1], "MPIJob/mpi", labels("worker")), bound=workers),
        stage(launcher, pods("mpi-launcher", [0], "Job/mpi-launcher", labels("launcher", "0")), bound=workers | {"mpi-launcher-0"},
              holds=[stands_for("PodGroup", "mpi", 3, "Running")]),
    ]


def mpi_job():
    """Without a group object: launcher and workers come at once."""
    def labels(role):
        return {"training.kubeflow.org/job-name": "mpi", "training.kubeflow.org/job-role": role}

    job = custom("kubeflow.org/v2beta1", "MPIJob", "mpijobs", "mpi", {"mpiReplicaSpecs": {"Launcher": {"replicas": 1}, "Worker": {"replicas": 2}}})
    launcher = custom("batch/v1", "Job", "jobs", "mpi-launcher", {"template": TEMPLATE}, "MPIJob/mpi")
    return [
        stage(job, launcher, pods("mpi-worker", range(2), "MPIJob/mpi", labels("worker"))),
        stage(pods("mpi-launcher", [0], "Job/mpi-launcher", labels("launcher")), bound=names("mpi-worker", range(2)) | {"mpi-launcher-0"},
              holds=[stands_for("MPIJob", "mpi", 3, "Running")]),
    ]


def training_job(kind, field, replicas, minimum=None, **spec):
    """A producer: the job of a kind of training-operator v1 without a group object. `replicas`: how many of each type, two types or one."""
    def producer():
        job = custom("kubeflow.org/v1", kind, f"{kind.lower()}s", "train", {field: {role: {"replicas": count} for role, count in replicas.items()}, **spec})

        def members(role, indices):
            labels = {"training.kubeflow.org/job-name": "train", "training.kubeflow.org/replica-type": role.lower()}
            return pods(f"train-{role.lower()}", indices, f"{kind}/train", labels)

        (first, count), *others = replicas.items()
        quorum = minimum or sum(replicas.values())
        early = [members(role, range(several)) for role, several in others]
        everybody = frozenset().union(*(names(f"train-{role.lower()}", range(several)) for role, several in replicas.items()))
        return [
            stage(job, *early, members(first, range(count - 1))),
            stage(members(first, [count - 1]), bound=everybody, holds=[stands_for(kind, "train", quorum, "Running")]),
        ]

    producer.__name__ = producer.__qualname__ = kind.lower()
    return producer


TRAINING_JOBS = (
    training_job("PyTorchJob", "pytorchReplicaSpecs", {"Worker": 3, "Master": 1}),
    training_job("TFJob", "tfReplicaSpecs", {"Worker": 2, "PS": 1, "Chief": 1}),
    training_job("XGBoostJob", "xgbReplicaSpecs", {"Worker": 2, "Master": 1}),
    training_job("PaddleJob", "paddleReplicaSpecs", {"Worker": 2, "Master": 1}),
    training_job("JAXJob", "jaxReplicaSpecs", {"Worker": 3}),
)
