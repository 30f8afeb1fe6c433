"""The producers that are played. Sources of the shapes: the projects' own controllers.

Every stage says which pods are bound after it, so a gang that is bound by halves, or too early, or never, fails its stage.
"""

from producers import jobs, kubeflow, marked, serving

# All are played one after the other on one server. These make members in stages, or somebody reads the status that we write: each is
# played on a server of its own, too, with a scheduler that is killed in each stage.
STAGED = (
    kubeflow.kubeflow_with_xk8s_groups,
    kubeflow.volcano_job,
    kubeflow.volcano_jobs_in_tiers,
    kubeflow.mpi_job_whose_launcher_waits,
    jobs.indexed_job,
    jobs.jobset_with_depends_on,
    jobs.exclusive_jobset,
    jobs.train_job_with_initializers,
    serving.leader_worker_set,
    serving.leader_worker_set_whose_leader_comes_first,
    serving.ray_cluster,
)

# The others.
AT_ONCE = (
    *kubeflow.TRAINING_JOBS,
    kubeflow.mpi_job,
    jobs.jobset_in_order,
    serving.leader_worker_set_in_one_domain,
    serving.ray_cluster_of_several_hosts,
    marked.kueue_pod_group,
    marked.koordinator_gang,
    marked.koordinator_group,
    marked.yunikorn_application,
    marked.kai_group,
    marked.grove_gang,
    marked.spark_application,
)

# The kube-apiserver of the tests is 1.36, which neither serves their kind nor keeps what their pods say of it.
EMBEDDED_ONLY = (marked.composite_pod_groups,)
