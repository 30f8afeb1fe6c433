#include "api/producers/lws_owner.h"

#include "api/producers/fields.h"

namespace maniple {

ForeignSpec ReadLeaderWorkerSet(const Cursor& root) {
  ForeignSpec spec;
  spec.minimum = 1;
  ForMember(root, "spec", [&](const Cursor& of) {
    ForMember(of, "startupPolicy",
              [&](const Cursor& policy) { spec.leader_first |= policy.View() == "LeaderReady"; });
    ForMember(of, "leaderWorkerTemplate", [&](const Cursor& replica) {
      ForMember(replica, "size", [&](const Cursor& size) { spec.minimum = ReadCount(size, spec); });
    });
  });
  // Its workers are made once it is known in which domain the leader is.
  ForMember(root, "metadata", [&](const Cursor& meta) {
    ForMember(meta, "annotations", [&](const Cursor& annotations) {
      ForMember(annotations, "leaderworkerset.sigs.k8s.io/exclusive-topology",
                [&](const Cursor&) { spec.leader_first = true; });
    });
  });
  return spec;
}

}  // namespace maniple
