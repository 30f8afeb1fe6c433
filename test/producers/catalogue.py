"""The producers that are played: {name: function that makes the stages}. Sources of the shapes: the projects' own controllers.

Every stage says which pods are bound after it, so a gang that is bound by halves, or too early, or never, fails its stage.
"""

from producers.stage import custom, has_phase, names, pods, stage, stands_for

XK8S, VOLCANO = "scheduling.x-k8s.io/v1alpha1", "scheduling.volcano.sh/v1beta1"
TEMPLATE = {"spec": {"restartPolicy": "Never", "schedulerName": "maniple", "containers": [{"name": "main", "image": "registry.example/train:1"}]}}


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


def indexed_job():
    """A Job with as many indices as it runs at once is a gang; any other Job is none."""
    def job(name, **spec):
        return custom("batch/v1", "Job", "jobs", name, {"parallelism": 3, "completions": 3, "template": TEMPLATE, **spec})

    def members(name, indices):
        return pods(name, indices, f"Job/{name}", {"batch.kubernetes.io/job-name": name, "batch.kubernetes.io/job-completion-index": "{n}"})

    return [
        stage(job("whole", completionMode="Indexed"), job("plain"), members("whole", range(2)), members("plain", range(2)),
              bound=names("plain", range(2)), holds=[stands_for("Job", "whole", 3, "Waiting"), stands_for("Job", "plain", 1, count=0)]),
        stage(members("whole", [2]), bound=names("plain", range(2)) | names("whole", range(3)), holds=[stands_for("Job", "whole", 3, "Running")]),
    ]


def jobset_with_depends_on():
    """The second replicated job is made once the first is ready: a gang per replicated job."""
    def job(name, parallelism):
        return custom("batch/v1", "Job", "jobs", name, {"completionMode": "Indexed", "parallelism": parallelism, "completions": parallelism, "template": TEMPLATE}, "JobSet/js")

    def members(part, job_index, indices):
        labels = {"jobset.sigs.k8s.io/jobset-name": "js", "jobset.sigs.k8s.io/replicatedjob-name": part,
                  "jobset.sigs.k8s.io/job-index": str(job_index), "jobset.sigs.k8s.io/restart-attempt": "0",
                  "batch.kubernetes.io/job-completion-index": "{n}"}
        return pods(f"js-{part}-{job_index}", indices, f"Job/js-{part}-{job_index}", labels)

    def replicated(name, replicas, parallelism, **more):
        return {"name": name, "replicas": replicas, "template": {"spec": {"parallelism": parallelism, "completions": parallelism, "template": TEMPLATE}}, **more}

    js = custom("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", "js",
                {"replicatedJobs": [replicated("first", 1, 2), replicated("then", 2, 1, dependsOn=[{"name": "first", "status": "Ready"}])]})
    first = names("js-first-0", range(2))
    return [
        stage(js, job("js-first-0", 2), members("first", 0, [0])),
        stage(members("first", 0, [1]), bound=first),
        stage(job("js-then-0", 1), job("js-then-1", 1), members("then", 0, [0]), bound=first),
        stage(members("then", 1, [0]), bound=first | {"js-then-0-0", "js-then-1-0"}),
    ]


def leader_worker_set(startup="LeaderCreated"):
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
                 {"replicas": 1, "startupPolicy": startup, "leaderWorkerTemplate": {"size": 3}})
    leader = names("lws", range(1))
    leader_starts = leader if startup == "LeaderReady" else frozenset()
    return [
        stage(lws, replica_set("lws", "LeaderWorkerSet/lws"), pods("lws", range(1), "StatefulSet/lws", labels("0"), size), bound=leader_starts),
        stage(replica_set("lws-0", "Pod/lws-0"), pods("lws-0", [1], "StatefulSet/lws-0", labels("{n}"), size), bound=leader_starts),
        stage(pods("lws-0", [2], "StatefulSet/lws-0", labels("{n}"), size), bound=leader | names("lws-0", [1, 2])),
    ]


def leader_worker_set_whose_leader_comes_first():
    return leader_worker_set("LeaderReady")


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


PRODUCERS = (
    kubeflow_with_xk8s_groups,
    volcano_job,
    indexed_job,
    jobset_with_depends_on,
    leader_worker_set,
    leader_worker_set_whose_leader_comes_first,
    mpi_job_whose_launcher_waits,
    ray_cluster,
)
