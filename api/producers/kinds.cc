#include "api/producers/kinds.h"

namespace maniple {
namespace {

struct KnownKind {
  ProducerRole role;
  ForeignKind kind;
};

std::vector<KnownKind> MakeKnownKinds() {
  using enum ProducerRole;
  return {
      {kXk8s, {"scheduling.x-k8s.io", {"v1alpha1"}, "podgroups", "PodGroup"}},
      {kVolcano, {"scheduling.volcano.sh", {"v1beta1"}, "podgroups", "PodGroup"}},
      {kJob, {"batch", {"v1"}, "jobs", "Job"}},
      {kUpstream,
       {"scheduling.k8s.io", {"v1beta1", "v1alpha3", "v1alpha2"}, "podgroups", "PodGroup"}},
      {kKai, {"scheduling.run.ai", {"v2alpha2"}, "podgroups", "PodGroup"}},
      {kGrove, {"scheduler.grove.io", {"v1alpha1"}, "podgangs", "PodGang"}},
      {kKoordinator, {"scheduling.sigs.k8s.io", {"v1alpha1"}, "podgroups", "PodGroup"}},
      {kStatefulSet, {"apps", {"v1"}, "statefulsets", "StatefulSet"}},
      {kJobSet, {"jobset.x-k8s.io", {"v1alpha2"}, "jobsets", "JobSet"}},
      {kLeaderWorkerSet,
       {"leaderworkerset.x-k8s.io", {"v1"}, "leaderworkersets", "LeaderWorkerSet"}},
      {kRayCluster, {"ray.io", {"v1"}, "rayclusters", "RayCluster"}},
      {kRule, {"kubeflow.org", {"v1"}, "pytorchjobs", "PyTorchJob"}},
      {kRule, {"kubeflow.org", {"v1"}, "tfjobs", "TFJob"}},
      {kRule, {"kubeflow.org", {"v1"}, "xgboostjobs", "XGBoostJob"}},
      {kRule, {"kubeflow.org", {"v1"}, "paddlejobs", "PaddleJob"}},
      {kRule, {"kubeflow.org", {"v1"}, "jaxjobs", "JAXJob"}},
      {kMpiJob, {"kubeflow.org", {"v2beta1", "v1"}, "mpijobs", "MPIJob"}},
      {kTrainJob, {"trainer.kubeflow.org", {"v1alpha1"}, "trainjobs", "TrainJob"}},
      {kComposite, {"scheduling.k8s.io", {"v1alpha3"}, "compositepodgroups", "CompositePodGroup"}},
      {kHyperNode, {"topology.volcano.sh", {"v1alpha1"}, "hypernodes", "HyperNode"}},
  };
}

const std::vector<KnownKind>& KnownKinds() {
  static const auto* const kKinds = new std::vector<KnownKind>(MakeKnownKinds());
  return *kKinds;
}

ForeignKinds MakeBuiltin() {
  ForeignKinds kinds;
  for (const KnownKind& known : KnownKinds()) kinds.push_back(known.kind);
  return kinds;
}

}  // namespace

const ForeignKinds& BuiltinForeignKinds() {
  static const auto* const kKinds = new ForeignKinds(MakeBuiltin());
  return *kKinds;
}

ProducerRole RoleOf(const ForeignKind& kind) {
  for (const KnownKind& known : KnownKinds()) {
    if (known.kind.kind == kind.kind && known.kind.group == kind.group) return known.role;
  }
  return ProducerRole::kRule;
}

bool IsGroupObject(ProducerRole role) { return role <= ProducerRole::kKoordinator; }
bool IsOwner(ProducerRole role) {
  return !IsGroupObject(role) && role != ProducerRole::kComposite &&
         role != ProducerRole::kHyperNode;
}

std::optional<uint8_t> KindIndexOf(const ForeignKinds& kinds, absl::string_view api_version,
                                   absl::string_view kind) {
  const size_t slash = api_version.find('/');
  const absl::string_view group =
      slash == absl::string_view::npos ? absl::string_view() : api_version.substr(0, slash);
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].kind == kind && kinds[i].group == group) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

}  // namespace maniple
