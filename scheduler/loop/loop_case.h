// What the sources of the loop hand to each other: a gang in hand, what became of asking for it,
// and what is held for others. All borrowed, for the length of a call.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/model/ids.h"
#include "queue/assembly.h"
#include "queue/gang.h"
#include "queue/quota_book.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/decision.h"
#include "scheduler/loop/gang_record.h"
#include "scheduler/loop/quota_ledger.h"

namespace maniple {

// One gang in hand: what is known of it, taken together for the length of a call.
struct Case {
  const Gang& gang;
  GangRecord& record;
  Assembly assembly;
  absl::Time now;
};

struct Answer {
  Decision decision;
  std::vector<GangId> used;           // the plan needs the room of these holders
  std::vector<GangId> guest_of;       // … of these, because the gang ends before they start
  std::optional<GangId> kept_out_by;  // rejected, and would fit but for what this one holds
};
// Since when the gang waits its turn.
[[nodiscard]] absl::Time QueuedAt(const Gang& gang, const GangRecord& record);
// Its members are to go, or gone, because of this; "": it had lost its quorum.
void NoteEvicted(GangRecord& record, const Gang& gang, std::string why);
// Room for who replaces its lost members, and for whom others make room: with an invalid node where
// there is quota only.
[[nodiscard]] std::vector<PlacedPods> HeldPods(const GangRecord& record);

[[nodiscard]] Demand Sum(const Demand& a, const Demand& b);

// Since when a gang's quorum is bound, and when it is expected to end.
struct RunSpan {
  absl::Time started, end;
  EndIs told;
};
[[nodiscard]] RunSpan SpanOf(const Gang& gang, const GangRecord& record, absl::Time now);

enum class ClaimGround : uint8_t { kPolicy, kOverstay };

// Who stands in the head's way to a reservation: nobody, or one to be displaced, or others.
struct Opening {
  bool free = true;
  std::optional<GangId> displaced;
};
enum class Beside : uint8_t { kOthers, kNobody };  // what other holders hold

}  // namespace maniple
