// What each producer's gang needs, in words: the page for users says the same.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace maniple {

struct QuorumRule {
  absl::string_view producer;  // "Job (batch)"; marks have no group
  absl::string_view quorum;
};

inline constexpr absl::string_view kReplicaTypes =
    "minAvailable of its scheduling policy, at most the sum of all replicas, which it is by "
    "default; "
    "a part per replica type";

inline constexpr QuorumRule kQuorumRules[] = {
    {"PodGroup (scheduling.x-k8s.io)",
     "minMember; at most the stage where a JobSet or TrainJob makes its members in stages; at most "
     "what a RayCluster has come down to"},
    {"PodGroup (scheduling.volcano.sh)",
     "minMember, and minTaskMember of each task unless these are more; minSubGroups partitions of "
     "a task; 0 counts as 1"},
    {"Job (batch)",
     "parallelism if it is Indexed and completions are as many and more than one, less the indexes "
     "that failed for good; else no gang"},
    {"PodGroup (scheduling.k8s.io)", "minCount of a gang policy; a basic policy asks for no gang"},
    {"PodGroup (scheduling.run.ai)",
     "minMember, and minMember of each sub-group; with minSubGroup the smallest so many"},
    {"PodGang (scheduler.grove.io)", "minReplicas of each group of pods"},
    {"PodGroup (scheduling.sigs.k8s.io)", "minMember"},
    {"StatefulSet (apps)",
     "no gang; by annotation up to its replicas, if its pods are made all at once"},
    {"JobSet (jobset.x-k8s.io)",
     "all pods of all replicated Jobs, less the indexes that failed for good; of each alone if "
     "they start in order or depend on each "
     "other; with exclusive placement the first pod of each Job, then all"},
    {"LeaderWorkerSet (leaderworkerset.x-k8s.io)",
     "the size of one replica; the leader alone, then the size, if workers wait for it"},
    {"RayCluster (ray.io)",
     "the head and all workers, times hosts; with autoscaling minReplicas of each group"},
    {"PyTorchJob (kubeflow.org)",
     "minAvailable of its scheduling policy, else minReplicas of an elastic job, at most the sum "
     "of "
     "all replicas, which it is by default; a part per replica type"},
    {"TFJob (kubeflow.org)", kReplicaTypes},
    {"XGBoostJob (kubeflow.org)", kReplicaTypes},
    {"PaddleJob (kubeflow.org)", kReplicaTypes},
    {"JAXJob (kubeflow.org)", kReplicaTypes},
    {"MPIJob (kubeflow.org)",
     "minAvailable of its scheduling policy, at most launcher and workers, which it is by default; "
     "a "
     "launcher that waits for the workers counts once it is there"},
    {"TrainJob (trainer.kubeflow.org)", "that of its JobSet"},
    {"CompositePodGroup (scheduling.k8s.io)",
     "minGroupCount of its groups, the oldest, and the quorum of each; a basic one asks for no "
     "gang"},
    {"HyperNode (topology.volcano.sh)", "no gang: it says which nodes are close to each other"},
    {"Kueue pod group",
     "its total count; one with fast admission or for serving; where Kueue names an owner "
     "(`pod-suspending-parent`), what the owner says"},
    {"Koordinator gang",
     "min-available, at the start: once bound its members stay, also when some go"},
    {"YuniKorn application",
     "minMember of each task group that has a pod, at the start: once bound its members stay, also "
     "when some go"},
    {"any other controller", "no gang; by annotation on its pods"},
};

// In the order of the table of kinds, then marks.
inline absl::Span<const QuorumRule> QuorumRules() { return kQuorumRules; }

}  // namespace maniple
