// LeaderWorkerSet of leaderworkerset.x-k8s.io/v1.
#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {

ForeignSpec ReadLeaderWorkerSet(const Cursor& root) {
  ForeignSpec spec;
  spec.minimum = 1;
  bool workers_alike = true;  // without a template of its own the leader is like the workers
  ForMember(root, "spec", [&](const Cursor& of) {
    ForMember(of, "startupPolicy",
              [&](const Cursor& policy) { spec.leader_first |= policy.View() == "LeaderReady"; });
    ForMember(of, "leaderWorkerTemplate", [&](const Cursor& replica) {
      ForMember(replica, "size", [&](const Cursor& size) { spec.minimum = ReadCount(size, spec); });
      ForMember(replica, "leaderTemplate", [&](const Cursor&) { workers_alike = false; });
    });
  });
  // Its workers are made once it is known in which domain the leader is.
  ForMember(root, "metadata", [&](const Cursor& meta) {
    ForMember(meta, "annotations", [&](const Cursor& annotations) {
      ForMember(annotations, "leaderworkerset.sigs.k8s.io/exclusive-topology",
                [&](const Cursor&) { spec.leader_first = spec.bound_to_lead = true; });
    });
  });
  spec.bound_to_lead &= workers_alike;
  return spec;
}

}  // namespace maniple
