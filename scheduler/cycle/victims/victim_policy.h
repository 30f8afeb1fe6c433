// The gangs that quota policies let be evicted for another:
// Kueue's rules for one demand of one Queue.
//
// A gang has a claim on another one, or none; that follows from the tree as it is.
// Whether some victims are legal together depends on the tree once all of them are gone. A Queue
// or Cohort that no longer borrows is left alone, and a share may not be passed. An order in which
// each victim is legal when its turn comes is enough; the nearest ones of the tree go first.
//
// Holds a copy of the tree, from which units are taken and to which they are given back. One
// thread, for the length of a decision.
//
//   VictimRules rules(input, contest);
//   std::optional<VictimClaim> claim = rules.ClaimOn(gang);
//   rules.Take(unit);                                      // …
//   if (rules.Fits(mode) && rules.Justify(taken, mode).legal()) …
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "queue/quota_tree.h"
#include "scheduler/cycle/victims/preemption_question.h"

namespace maniple {

// The contested quota. Without a Queue: no tree, and everything else empty.
struct QuotaContest {
  const QuotaTree* tree = nullptr;
  QuotaNodeId queue;
  Demand demand;                     // of the gang
  std::vector<QuotaCellId> lacking;  // cells of the demand that are not available
  // The cells in which victims must borrow: lacking ones,
  // or the whole demand where room is lacking.
  std::vector<QuotaCellId> cells;
};

// Where room is lacking. REQUIRES: the tree stays as long as the contest.
[[nodiscard]] QuotaContest ContestForRoom(const QuotaTree& tree, QuotaNodeId queue, Demand demand);

enum class VictimClaim : uint8_t {
  kNoQueue,                 // has no Queue, and lower priority: frees room, never quota
  kOwnQueue,                // of the preemptor's own
  kHierarchy,               // sits in quota that belongs to a Cohort of the preemptor's
  kPriority,                // borrows; only for a plan that does not borrow
  kPriorityWhileBorrowing,  // borrows, and is unimportant enough
  kShare,                   // fair sharing decides
};

// Why a gang could not be evicted.
enum class NoClaim : uint8_t { kPolicy, kPriority, kDoesNotBorrow, kHasQueue };

// One thing to evict: a surplus member, or a whole gang.
struct VictimCharge {
  QuotaNodeId queue;
  VictimClaim claim = VictimClaim::kNoQueue;
  Demand charge;
  // The part of a whole gang's charge that is for its surplus. Surplus goes first, so that a quorum
  // within nominal is not taken because the surplus borrows.
  Demand surplus = {};
};

// One of the ways in which a plan may be legal, in the order in which they are tried.
struct PreemptionMode {
  bool may_borrow = true;
  // With fair sharing. The second takes at most one victim of each Queue.
  std::span<const FairStrategy> strategies;
};

struct Justification {
  bool entitled = false;            // the preemptor's Queue stays within nominal
  bool used_initial_share = false;  // some victim is legal by kLessThanInitialShare only
  std::vector<size_t> illegal;      // positions in the given units
  [[nodiscard]] bool legal() const { return illegal.empty(); }
};

class VictimRules final {
 public:
  VictimRules(const PreemptionInput& input, QuotaContest contest);

  [[nodiscard]] const QuotaContest& contest() const { return contest_; }
  // The tree without the taken units; for a decision on the rest.
  [[nodiscard]] const QuotaTree& tree() const { return work_; }

  // "" when the gang may preempt at all, else why it may not.
  [[nodiscard]] std::string WhyNever() const;
  [[nodiscard]] std::optional<VictimClaim> ClaimOn(const RunningGang& gang);
  // REQUIRES: there is no claim on it.
  [[nodiscard]] NoClaim WhyNoClaimOn(const RunningGang& gang) const;
  // REQUIRES: `claims` holds the claims on all candidates.
  [[nodiscard]] std::vector<PreemptionMode> Modes(std::span<const VictimClaim> claims) const;
  [[nodiscard]] static bool Allows(const PreemptionMode& mode, VictimClaim claim) {
    return mode.may_borrow ? claim != VictimClaim::kPriority : true;
  }

  void Take(const VictimCharge& unit);
  void GiveBack(const VictimCharge& unit);
  // The demand is available now.
  [[nodiscard]] bool Fits(const PreemptionMode& mode) const;
  // Would the unit be legal as the next one to take? REQUIRES: it is not taken.
  [[nodiscard]] bool MayTake(const VictimCharge& unit, const PreemptionMode& mode);
  // Could the unit alone be a legal plan? REQUIRES: it is not taken.
  [[nodiscard]] bool MayTakeAlone(const VictimCharge& unit);
  // REQUIRES: exactly these are taken.
  [[nodiscard]] Justification Justify(std::span<const VictimCharge* const> taken,
                                      const PreemptionMode& mode);
  // Some candidates are nearer in the tree than others.
  [[nodiscard]] bool has_nested_forks() const;
  // Shares on the way from the root to the Queue: greater means that it is to be taken from first.
  [[nodiscard]] std::vector<DominantShare> ShareKey(QuotaNodeId queue) const;

 private:
  // How the Queue of a victim lies to the preemptor's.
  struct Path {
    bool related = false;
    bool advantage = false;          // the preemptor's side has enough of its own, below `fork`
    int32_t fork_depth = 0;          // of the lowest common Cohort
    QuotaNodeId own_side, its_side;  // the children of the fork
    std::vector<QuotaNodeId> below;  // from the Queue up to its_side
  };
  class Restoration;

  [[nodiscard]] const Path& PathOf(QuotaNodeId queue);
  [[nodiscard]] bool AllBorrow(const Path& path) const;
  [[nodiscard]] bool BorrowsToTheLast(const VictimCharge& unit, const Path& path);
  [[nodiscard]] bool WithinNominal(std::span<const CellAmount> more) const;
  [[nodiscard]] bool PassesShare(const VictimCharge& unit, const Path& path, FairStrategy strategy);
  [[nodiscard]] std::optional<VictimClaim> ClassicalClaim(const RunningGang& gang,
                                                          const Path& path) const;

  const PreemptionInput& input_;
  QuotaContest contest_;
  QuotaTree work_;
  Demand none_;
  // By the Cohorts above the preemptor's Queue, from below: had the demand enough below it?
  std::vector<std::pair<QuotaNodeId, bool>> advantage_;
  absl::flat_hash_map<QuotaNodeId, Path> paths_;
};

}  // namespace maniple
