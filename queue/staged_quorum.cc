#include "queue/staged_quorum.h"

#include <algorithm>
#include <cstddef>

namespace maniple {
namespace {

struct PartMembers {
  int32_t present = 0;  // live, gated or succeeded
  int32_t placed = 0;   // on a node, or through
};

std::vector<PartMembers> CountParts(size_t parts, const std::vector<Member>& members) {
  std::vector<PartMembers> counts(parts);
  for (const Member& member : members) {
    const auto part = static_cast<size_t>(member.rank.sub_group);
    if (part >= parts) continue;
    switch (member.state) {
      case MemberState::kBound:
      case MemberState::kSucceeded:
        ++counts[part].placed;
        ++counts[part].present;
        break;
      case MemberState::kPending:
      case MemberState::kGated:
        ++counts[part].present;
        break;
      case MemberState::kTerminating:
      case MemberState::kFailed:
        break;
    }
  }
  return counts;
}

}  // namespace

PodGroupSpec StagedSpec(const ForeignGang& declared, const std::vector<Member>& members) {
  PodGroupSpec spec = declared.spec;
  const size_t parts = std::min(declared.starts.size(), spec.sub_groups.size());
  if (parts == 0) return spec;
  const std::vector<PartMembers> counts = CountParts(parts, members);
  const bool lead_is_placed = counts[0].placed >= spec.sub_groups[0].min_member;
  int64_t quorum = int64_t{spec.min_member} + declared.spare;
  for (size_t i = 0; i < parts; ++i) {
    const bool exists = counts[i].present > 0;
    bool counted = true;
    switch (declared.starts[i]) {
      case PartStart::kTogether:
        break;
      case PartStart::kOnceOneExists:
        counted = exists;
        break;
      case PartStart::kOnceLeadIsBound:
        // Before any of them exists, the leader alone is no remnant of a gang that
        // lost its workers.
        counted = lead_is_placed && exists;
        break;
    }
    if (counted) continue;
    quorum -= spec.sub_groups[i].min_member;
    spec.sub_groups[i].min_member = 0;
  }
  spec.min_member = static_cast<int32_t>(std::clamp<int64_t>(quorum, 1, spec.min_member));
  return spec;
}

}  // namespace maniple
