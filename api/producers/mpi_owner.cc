// MPIJob of kubeflow.org/v2beta1 and v1.
#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"
#include "api/producers/owner_rules.h"

namespace maniple {

ForeignSpec ReadMpiJob(const Cursor& root) {
  static const auto* const kRule = new OwnerRule(KubeflowRule("mpiReplicaSpecs"));
  ForeignSpec spec = ReadByRule(*kRule, root);
  bool late = false;
  ForMember(root, "spec", [&](const Cursor& of) {
    ForMember(of, "launcherCreationPolicy",
              [&](const Cursor& policy) { late = policy.View() == "WaitForWorkersReady"; });
  });
  for (ForeignPart& part : spec.parts) part.late = late && part.name == "launcher";
  return spec;
}

}  // namespace maniple
