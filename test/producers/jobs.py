"""Jobs, and what makes Jobs: JobSet and Trainer."""

from producers.stage import TEMPLATE, XK8S, custom, names, pods, stage, stands_for

JOBSET = "jobset.x-k8s.io/v1alpha2"


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


def replicated(name, replicas, parallelism, **more):
    return {"name": name, "replicas": replicas, "template": {"spec": {"parallelism": parallelism, "completions": parallelism, "template": TEMPLATE}}, **more}


def child(job_set, part, index, parallelism):
    """The Job of a JobSet."""
    name = f"{job_set}-{part}-{index}"
    return custom("batch/v1", "Job", "jobs", name, {"completionMode": "Indexed", "parallelism": parallelism, "completions": parallelism, "template": TEMPLATE}, f"JobSet/{job_set}")


def members(job_set, part, job_index, indices, **labels):
    """The pods of such a Job."""
    return pods(f"{job_set}-{part}-{job_index}", indices, f"Job/{job_set}-{part}-{job_index}", {
        "jobset.sigs.k8s.io/jobset-name": job_set, "jobset.sigs.k8s.io/replicatedjob-name": part,
        "jobset.sigs.k8s.io/job-index": str(job_index), "jobset.sigs.k8s.io/restart-attempt": "0",
        "batch.kubernetes.io/job-completion-index": "{n}", **labels})


def in_stages(*jobs, **spec):
    """The second replicated job of two Jobs is made once the first, of two pods, is ready: a gang per replicated job."""
    first = names("js-first-0", range(2))
    return [
        stage(custom(JOBSET, "JobSet", "jobsets", "js", {"replicatedJobs": list(jobs), **spec}), child("js", "first", 0, 2), members("js", "first", 0, [0])),
        stage(members("js", "first", 0, [1]), bound=first),
        stage(child("js", "then", 0, 1), child("js", "then", 1, 1), members("js", "then", 0, [0]), bound=first),
        stage(members("js", "then", 1, [0]), bound=first | {"js-then-0-0", "js-then-1-0"}),
    ]


def jobset_with_depends_on():
    return in_stages(replicated("first", 1, 2), replicated("then", 2, 1, dependsOn=[{"name": "first", "status": "Ready"}]))


def jobset_in_order():
    return in_stages(replicated("first", 1, 2), replicated("then", 2, 1), startupPolicy={"startupPolicyOrder": "InOrder"})


def exclusive_jobset():
    """The webhook refuses all pods of a Job but the first until that one is bound."""
    job_set = custom(JOBSET, "JobSet", "jobsets", "js", {"replicatedJobs": [replicated("w", 2, 2)]},
                     annotations={"alpha.jobset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"})
    leaders = {"js-w-0-0", "js-w-1-0"}
    return [
        stage(job_set, child("js", "w", 0, 2), child("js", "w", 1, 2), members("js", "w", 0, [0])),
        stage(members("js", "w", 1, [0]), bound=leaders),
        stage(members("js", "w", 0, [1]), bound=leaders),
        stage(members("js", "w", 1, [1]), bound=leaders | {"js-w-0-1", "js-w-1-1"}),
    ]


def train_job_with_initializers():
    """Trainer v2: its group counts the initializers and the nodes, which are made once those are complete."""
    group = {"scheduling.x-k8s.io/pod-group": "tune"}
    done = [{"name": name, "status": "Complete"} for name in ("dataset-initializer", "model-initializer")]
    job_set = custom(JOBSET, "JobSet", "jobsets", "tune", {"replicatedJobs": [
        replicated("dataset-initializer", 1, 1), replicated("model-initializer", 1, 1), replicated("node", 1, 3, dependsOn=done)]}, "TrainJob/tune")
    initializers = {"tune-dataset-initializer-0-0", "tune-model-initializer-0-0"}
    return [
        stage(custom("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainjobs", "tune", {"trainer": {"numNodes": 3}}), job_set,
              custom(XK8S, "PodGroup", "podgroups", "tune", {"minMember": 5}, "TrainJob/tune"),
              *(child("tune", part, 0, 1) for part in ("dataset-initializer", "model-initializer")),
              members("tune", "dataset-initializer", 0, [0], **group), members("tune", "model-initializer", 0, [0], **group), bound=initializers),
        stage(child("tune", "node", 0, 3), members("tune", "node", 0, range(2), **group), bound=initializers),
        stage(members("tune", "node", 0, [2], **group), bound=initializers | names("tune-node-0", range(3))),
    ]
