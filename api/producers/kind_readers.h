// What an object of each kind says of its gang, one reader a file. An object that makes no sense is
// told by the problem of its spec. reader.h finds the reader of a kind.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// Job of batch/v1 and StatefulSet of apps/v1: gangs of equal members.
// A gang of its parallelism if it is Indexed and runs all its completions at once.
[[nodiscard]] ForeignSpec ReadJob(const Cursor& root);
// None unless an annotation asks for it, and then only if its pods are made all at once.
[[nodiscard]] ForeignSpec ReadStatefulSet(const Cursor& root);

// JobSet of jobset.x-k8s.io/v1alpha2.
// A part per replicated Job. In stages if they start in order or depend on each other.
[[nodiscard]] ForeignSpec ReadJobSet(const Cursor& root);

// LeaderWorkerSet of leaderworkerset.x-k8s.io/v1.
// Of one replica: each is a gang of its own.
[[nodiscard]] ForeignSpec ReadLeaderWorkerSet(const Cursor& root);

// RayCluster of ray.io/v1.
// Its head and those workers that are made without anybody asking for them.
[[nodiscard]] ForeignSpec ReadRayCluster(const Cursor& root);

// MPIJob of kubeflow.org/v2beta1 and v1.
// Its launcher is late if it is made only once all workers are Ready.
[[nodiscard]] ForeignSpec ReadMpiJob(const Cursor& root);

// PodGroup of scheduling.x-k8s.io/v1alpha1, and Koordinator's of scheduling.sigs.k8s.io/v1alpha1,
// which has the same fields.
[[nodiscard]] ForeignSpec ReadXk8sGroup(const Cursor& root);

// PodGroup of scheduling.volcano.sh/v1beta1.
[[nodiscard]] ForeignSpec ReadVolcanoGroup(const Cursor& root);

// PodGroup of scheduling.k8s.io: v1beta1, v1alpha3 and v1alpha2; CompositePodGroup, a group of
// them.
// A basic one asks for no gang.
[[nodiscard]] ForeignSpec ReadUpstreamGroup(const Cursor& root);
// Its minimum counts groups. The members of a basic one need not start together.
[[nodiscard]] ForeignSpec ReadCompositeGroup(const Cursor& root);

// PodGroup of scheduling.run.ai/v2alpha2, the group object of KAI.
// Nested sub-groups are read as the flat list of those that have members.
[[nodiscard]] ForeignSpec ReadKaiGroup(const Cursor& root);

// PodGang of scheduler.grove.io/v1alpha1, the group object of Grove.
// It lists the pods of each part by name.
[[nodiscard]] ForeignSpec ReadGroveGroup(const Cursor& root);

}  // namespace maniple
