// The members of a gang, in the order of (rank, name), and those that succeeded and are gone.
//
// Functions of data; GangTable calls them.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/model/model.h"
#include "queue/gang.h"

namespace maniple {

// The facts of a member that the pod itself does not tell.
struct MemberFacts {
  PodId pod;
  ShapeId shape;
  NodeId node;
  MemberState state = MemberState::kPending;
  bool started_elsewhere = false;
  absl::string_view sub_group = "";    // the part that it belongs to; borrowed for the call
  absl::string_view passed_over = "";  // its marks for other gangs; likewise
  absl::string_view awaited = "";      // the object that must declare the gang; likewise
};

// By rank, then by name.
[[nodiscard]] bool InOrder(const Member& a, const Member& b);
[[nodiscard]] std::vector<Member>::iterator FindMember(std::vector<Member>& members, PodId pod);
// Finds a pod with a known place fast, if its rank has not changed.
[[nodiscard]] std::vector<Member>::iterator FindMember(std::vector<Member>& members, PodId pod,
                                                       const Rank& rank, const std::string& name);
void AddInOrder(std::vector<Member>& members, Member member);

// Brings the changeable fields of a member up to date, in place: most events change one field.
// True: one changed.
bool UpdateMember(Member& member, const MemberFacts& facts, const Pod& pod, Rank rank);

// The PodGroup, or a pod that has none, says that nothing of its gang may start.
[[nodiscard]] bool IsOnHold(const ObjectMeta& meta);

// Bound, or on its way out.
[[nodiscard]] bool StandsSomewhere(const Member& member);
[[nodiscard]] bool HasEnded(MemberState state);

// Called before a member of the rank joins. Where all members had succeeded, a new run begins.
void ForgetCleaned(Gang& gang, const Rank& rank);
// A member of the rank had succeeded, and its pod is gone. REQUIRES: it is no member any more.
void RememberCleaned(Gang& gang, const Rank& rank);
// The spec had these sub-groups before: those who were cleaned away stay in theirs.
void RerankCleaned(Gang& gang, const std::vector<SubGroup>& before);
// Members that the PodGroup's status counts as succeeded, and that are not known here, were
// cleaned away before. False: there are none. REQUIRES: all pods are known.
bool RecallCleaned(Gang& gang);

}  // namespace maniple
