// The question of what would help a gang that waits, as values that outlive the turn. It is
// gathered piece by piece, no turn is late for it; the answer is made elsewhere
// (scheduler/advice/help.h).
//
// Owned by Leadership; one thread.
#pragma once

#include <optional>

#include "scheduler/advice/help_question.h"
#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/yielding_holds.h"
#include "scheduler/loop/room/preemptions.h"
#include "scheduler/loop/serve/gangs_that_may_end.h"

namespace maniple {

class HelpQuestions final {
 public:
  // The owners that it works with.
  struct Parts {
    RoomHolders& room_holders;
    Charges& charges;
    YieldingHolds& yielding;
    Preemptions& preemptions;
  };
  HelpQuestions(Desk& desk, const Parts& parts)
      : desk_(desk), parts_(parts), may_end_(desk, parts.room_holders, parts.preemptions) {}

  // None until the call that ends a round; a call for another gang begins one.
  [[nodiscard]] std::optional<HelpQuestionPtr> More(const GangKey& gang, absl::Time now);

  // Told by the turn.
  [[nodiscard]] GangsThatMayEnd& may_end() { return may_end_; }

 private:
  // The item that could start with more room or quota, or with fewer members; none: there is none.
  [[nodiscard]] std::optional<ItemKind> HelpableItem(const Case& c);
  [[nodiscard]] bool ComesAfterAHead(const Case& c) const;
  [[nodiscard]] HelpQuestionPtr QuestionOf(const Case& c, ItemKind item);

  Desk& desk_;
  Parts parts_;
  GangsThatMayEnd may_end_;
  std::optional<GangKey> asked_;  // whose round is under way
};

}  // namespace maniple
