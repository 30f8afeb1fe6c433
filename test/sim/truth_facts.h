// What the Truth knows of each object, as the API server shows it, and of gangs that are gone.
// Plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple::sim {

struct PodFacts {
  std::string key, uid, gang, node, phase;
  std::string owner;      // the uid of the object that made it; "" = none did
  std::string nominated;  // the node whose room is kept for it
  bool deleting = false;
  bool minds_company = false;  // it has terms on the pods around it
  bool uses_volumes = false;
  bool slow = false;  // a finalizer holds it after it was deleted
  bool never_preempts = false;
  std::string sub_group;
  bool ours = true;                        // bound by a living leader of ours, if it is bound
  std::map<std::string, int64_t> devices;  // GPUs and slices of GPUs, by resource
  int64_t gpus = 0, priority = 0;
  std::string admitted;  // the Queue that its gang named when it was bound
  absl::Time bound_at = absl::InfinitePast(), ended_at = absl::InfinitePast();
  uint64_t bound_by = 0;  // the process, where it is ours and known
  uint64_t told_to = 0;   // the process that a reply has told of another's bind
  absl::Time told_at = absl::InfiniteFuture();
  [[nodiscard]] bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
  [[nodiscard]] bool stands() const { return !node.empty() && !ended() && !deleting; }
  [[nodiscard]] bool asks_slices() const { return gpus == 0 && !devices.empty(); }
};
struct NodeFacts {
  absl::Time since;  // under this name
  std::map<std::string, int64_t> devices;
  int64_t gpus = 0;
  bool can_be_divided = false, is_being_divided = false;  // its GPUs, by MIG
  bool cordoned = false, tainted = false;
  std::string rack;
  Json labels;
};
struct GroupFacts {
  absl::Time since;  // under this name
  int64_t min_member = 0;
  std::string phase, reason;
  std::string source;          // the uid of the Job or RayCluster that it stands for; "" = of none
  int64_t says_succeeded = 0;  // its status, now
  int64_t says_met = 0;        // … of the quorum, when that was met last
  bool says_stands = false;    // … and since then it has not ended or left as a whole
  bool kept = false;           // after a loss the rest of it may go on running …
  absl::Duration keeps_for;    // … or does so for a while
  bool in_one_rack = false;
  bool sliced = false;
  struct SubGroup {
    int64_t min_member = 0;
    bool in_one_rack = false;
  };
  std::map<std::string, SubGroup> sub_groups;
  std::string queue;
  std::optional<absl::Duration> says;  // its expected run time
};
// The memory of a gang, also when it is gone.
struct GangFacts {
  std::string queue;
  std::optional<int64_t> most;  // its PodGroup's class
  int64_t highest = 0;          // of the priorities of its members
  std::string uid;              // of its PodGroup, the last of that name
  bool preempts = true;         // as far as its PodGroup says
  bool class_preempts = true;   // … its class, if it has one
  bool members_preempt = true;  // … and its members
  bool moved = false;           // to another Queue while some of it ran
  absl::Time queue_since = absl::InfinitePast();
  std::string queue_before;            // until then
  std::set<std::string> succeeded;     // pods, also pods that are gone
  std::set<std::string> of_past_runs;  // … of which so many are gone, and count no more
  bool forged = false;                 // another has written its PodGroup's status
  std::set<std::string> nodes;         // on which members of it have stood
  int64_t succeeded_told = 0;          // as its PodGroup's status says, or has said
  bool some_came_again = false;        // a new leader knows only a number, and counts them twice
  bool was_whole = false;              // under this uid, or since it stood under one before
  int64_t last_quorum = 0;             // its minMember, also when its PodGroup is gone
  int64_t quorum_met = 0;              // … as it was when it was whole last; 0: it never was
  int64_t most_let_in = 0;  // of it that stood at once, while its Queue let its namespace in
  absl::Time whole_since = absl::InfiniteFuture();  // its quorum has been there, as far as it is
  absl::Time group_since = absl::InfinitePast();    // its PodGroup, the last of that name
  absl::Time group_gone_at = absl::InfinitePast();
  absl::Time half_since = absl::InfiniteFuture();       // its PodGroup went before it was whole
  absl::Duration protected_for = absl::ZeroDuration();  // at most
  absl::Time seen = absl::InfinitePast();
  [[nodiscard]] bool MayPreempt() const { return preempts && class_preempts && members_preempt; }
  [[nodiscard]] int64_t priority() const { return std::min(highest, most.value_or(highest)); }
};
struct ClassFacts {
  int64_t value = 0;
  bool preempts = true;
};
struct BudgetFacts {
  std::string gang;
  absl::Time since;
};
struct BindFacts {
  std::string gang, node, queue;
  absl::Time at;
  bool ours = true;
  uint64_t by = 0;       // the process, as PodFacts has it
  uint64_t told_to = 0;  // likewise
  absl::Time told_at = absl::InfiniteFuture();
};
// The last request to have a node's GPUs divided anew, and the process that sent it.
struct DivisionFacts {
  uint64_t life = 0;
  absl::Time sent;
};
// A leader whose Lease was changed by hand finds out at its next renewal, or stops by its deadline.
inline constexpr absl::Duration kTamperedFor = absl::Seconds(20);
struct LeaseFacts {
  std::string holder;  // "" = none
  absl::Time tampered = absl::InfinitePast();
  [[nodiscard]] bool IsTampered(absl::Time now) const { return now < tampered + kTamperedFor; }
};

}  // namespace maniple::sim
