// Is the gang whole enough to be decided? Pure functions of a Gang.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "queue/gang.h"

namespace maniple {

// Members still to be placed before quorum stands, in all and per sub-group; negative never occurs.
struct QuorumNeed {
  int32_t total = 0;
  std::vector<int32_t> sub_groups;  // parallel to spec.subGroups
  [[nodiscard]] bool Met() const;
};

enum class GangPhase { kWaiting, kPending, kBinding, kRunning, kCompleted, kFailed };

struct Assembly {
  MemberCounts counts;
  int32_t live = 0;            // pending + bound
  bool members_ready = false;  // live + succeeded reach quorum, in every sub-group too
  QuorumNeed need;             // with bound and succeeded members counted
  // Set when members are lacking: "3 of 4 pods exist", "sub-group leader: 0 of 1 pods exist", "1 of
  // 2 pods is gated".
  std::string lacking;
  bool gated = false;  // quorum is missing only because of gated members
  // Nobody is left to run, gated or not; some succeeded; none failed, or the quorum has succeeded.
  bool completed = false;
  bool failed = false;  // nobody is left to run, some failed, and quorum is not reached
};
[[nodiscard]] Assembly Assemble(const Gang& gang);

// Its members, in all: those of minMember, or of the sub-groups if these are more.
[[nodiscard]] int32_t QuorumOf(const PodGroupSpec& spec);

// For each sub-group, the members that succeeded and were cleaned away.
// Members whose sub-group is not known any more count wherever a minimum still lacks one.
[[nodiscard]] std::vector<int32_t> CleanedBySubGroup(const Gang& gang);

// The need of the quorum, counted member by member; members that were cleaned away after
// their success count from the beginning.
class QuorumCount final {
 public:
  explicit QuorumCount(const Gang& gang);
  void Add(const Member& member);
  [[nodiscard]] QuorumNeed Need() &&;

 private:
  int64_t total_;
  QuorumNeed need_;
};

// The need of the quorum when exactly the members are there for which `counts` is true.
[[nodiscard]] QuorumNeed NeedWith(const Gang& gang, absl::FunctionRef<bool(const Member&)> counts);

// May the gang preempt, since no member of its quorum says that it never does? The quorum
// is taken in order of rank, gated members included.
[[nodiscard]] bool QuorumMayPreempt(const Gang& gang);

// The longest run of the gang, by its owner's word: its expected run time, else the largest
// activeDeadlineSeconds, if no member may run for ever.
[[nodiscard]] std::optional<absl::Duration> ExpectedRuntime(const Gang& gang);

// By member: a number for its sub-group and job or role. Ranks count within it.
[[nodiscard]] std::vector<int32_t> RankGroupsOf(const Gang& gang);

// The position of the sub-group in spec.subGroups; an unknown name is behind all of them.
[[nodiscard]] int32_t SubGroupIndex(absl::string_view sub_group, const PodGroupSpec& spec);

// The rank labels of a pod of the sub-group, used for placement order and slices.
[[nodiscard]] Rank RankOf(const StringMap& labels, absl::string_view sub_group,
                          const PodGroupSpec& spec);

}  // namespace maniple
