#include "api/producers/kinds.h"

namespace maniple {

const ForeignKinds& BuiltinForeignKinds() {
  static const ForeignKinds* const kKinds = new ForeignKinds{
      {.group = "scheduling.x-k8s.io",
       .versions = {"v1alpha1"},
       .resource = "podgroups",
       .kind = "PodGroup"},
      {.group = "scheduling.volcano.sh",
       .versions = {"v1beta1"},
       .resource = "podgroups",
       .kind = "PodGroup"},
      {.group = "batch", .versions = {"v1"}, .resource = "jobs", .kind = "Job"},
  };
  return *kKinds;
}

}  // namespace maniple
