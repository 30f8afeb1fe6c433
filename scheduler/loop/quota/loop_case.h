// Values that the sources of the loop hand to each other: a gang in hand, the answer for it, and
// what is held for others. All borrowed, for the length of a call.
#pragma once

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "api/model/ids.h"
#include "queue/assembly.h"
#include "queue/gang.h"
#include "queue/quota_book.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/loop/quota/quota_ledger.h"
#include "scheduler/loop/records/gang_record.h"

namespace maniple {

// One gang in hand: all that is known of it, for the length of a call.
struct Case {
  const Gang& gang;
  GangRecord& record;
  Assembly assembly;
  absl::Time now;
};

struct Answer {
  Decision decision;
  std::vector<GangId> used;           // the plan needs the room of these holders
  std::vector<GangId> guest_of;       // … of these holders, as a guest: it ends before they start
  std::vector<GangId> beside;         // it uses their nodes or quota: they start as planned
  std::optional<GangId> kept_out_by;  // rejected, and would fit but for the room of this holder
};
// What its pods alone declare is as old as the oldest of them, whatever its status remembers of
// earlier ones.
[[nodiscard]] absl::Time CreatedAt(const Gang& gang);
// Since when the gang waits its turn.
[[nodiscard]] absl::Time QueuedAt(const Gang& gang, const GangRecord& record);
// The members must go, or are gone.
void NoteEvicted(GangRecord& record, const Gang& gang, WaitReason reason, std::string why);
// Room held for replacements of lost members, and room claimed by preemption.
// The node is invalid where only quota is held.
[[nodiscard]] std::vector<PlacedPods> HeldPods(const GangRecord& record);

[[nodiscard]] Demand Sum(const Demand& a, const Demand& b);

enum class ClaimGround : uint8_t { kPolicy, kOverstay };

// Whether the head of a line may hold room: at once, when one holder is displaced, or not now.
struct Opening {
  bool free = true;
  std::optional<GangId> displaced;
};
enum class Beside : uint8_t { kOthers, kNobody };  // leave room to other holders, or ignore them

}  // namespace maniple
