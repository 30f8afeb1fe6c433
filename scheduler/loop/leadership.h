// A lead: with the cluster that it knows, a leader looks at gangs, decides, binds, makes room,
// holds room, and reports. It is made when the lead is won and destroyed when the lead is lost,
// with everything that only this lead knew.
//
// Owned by SchedulingLoop; works on its WarmState. It consists of owners, each with a few fields
// that nobody else writes; each may use the owners before it. They share the desk.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/bind/bind_state.h"
#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/node_asks.h"
#include "scheduler/loop/desk/parking.h"
#include "scheduler/loop/desk/reversals.h"
#include "scheduler/loop/desk/room_holders.h"
#include "scheduler/loop/desk/searches.h"
#include "scheduler/loop/desk/stand_ins.h"
#include "scheduler/loop/desk/use_counts.h"
#include "scheduler/loop/desk/warm_state.h"
#include "scheduler/loop/desk/yielding_holds.h"
#include "scheduler/loop/flight/flights.h"
#include "scheduler/loop/records/turn_output.h"
#include "scheduler/loop/records/write_budget.h"
#include "scheduler/loop/room/claims.h"
#include "scheduler/loop/room/evictions.h"
#include "scheduler/loop/room/mig_division.h"
#include "scheduler/loop/room/preemptions.h"
#include "scheduler/loop/room/reservations.h"
#include "scheduler/loop/serve/help_notes.h"
#include "scheduler/loop/serve/help_questions.h"
#include "scheduler/loop/serve/reporter.h"
#include "scheduler/loop/serve/serving.h"
#include "scheduler/loop/serve/standings.h"
#include "scheduler/loop/serve/wakes.h"

namespace maniple {

class Leadership final {
 public:
  explicit Leadership(WarmState& warm);
  Leadership(const Leadership&) = delete;  // its owners refer to each other
  Leadership& operator=(const Leadership&) = delete;
  // Gives back what it holds in the state. REQUIRES: nothing is asked of it afterwards.
  void Resign();

  // Adds gangs that earlier steps of the turn have changed.
  template <typename Gangs>
  void Touch(const Gangs& gangs) {
    desk_.touched.insert(gangs.begin(), gangs.end());
  }
  void NodesGone(const absl::btree_set<NodeId>& gone);
  void QuotaChanged(WarmState::QuotaChange change);
  void NoteForMig() { mig_.NoteForMig(); }
  // The steps of a turn, beginning with the replies to its writes.
  [[nodiscard]] TurnOutput Turn(std::vector<WriteResult> results, absl::Time now);

  [[nodiscard]] bool Binds() const;  // some binding is under way
  // Shapes that it knows between turns by their ids alone: their pods may be gone.
  [[nodiscard]] std::vector<ShapeId> ShapesKept() const;
  void ForgetUnusedNotes() { parking_.ForgetUnusedNotes(); }

  [[nodiscard]] HelpQuestions& help_questions() { return help_questions_; }
  [[nodiscard]] HelpNotes& help_notes() { return help_notes_; }

  // For views and metrics.
  [[nodiscard]] const Desk& desk() const { return desk_; }
  [[nodiscard]] std::optional<Standing> StandingOf(const Case& c) const {
    return standings_.StandingOf(c);
  }
  [[nodiscard]] const absl::btree_set<GangId>& holders() const { return room_holders_.holders(); }
  [[nodiscard]] const absl::btree_set<GangId>& mending() const { return flights_.mending(); }
  [[nodiscard]] const absl::btree_set<GangId>& unadmitted() const { return charges_.unadmitted(); }

  // For tests and the simulation (scheduling_loop.h).
  [[nodiscard]] absl::Status CheckInvariants() const;
  [[nodiscard]] absl::Status CheckParkedCannotStart(absl::Time now);
  [[nodiscard]] absl::Status CheckNothingHeld() const;
  [[nodiscard]] std::array<int32_t, kBindStates> MemberStates() const;
  [[nodiscard]] std::vector<HeldStart> HeldStarts() const { return reservations_.HeldStarts(); }

 private:
  void ListenToReplies(std::vector<WriteResult> results, absl::Time now);
  void Hear(const Errand& errand, const WriteResult& result, absl::Time now);
  void NoteRefusal(const Errand& errand, WriteResult& result, absl::Time now);
  void LookAtGangs(absl::Time now);
  // Gangs that stand come first, by priority, then by name. So the order in which this process has
  // heard of them does not decide for whose lost members free room is held.
  [[nodiscard]] std::vector<GangId> TakeTouched();
  void LookAt(GangId gang, absl::Time now);
  void Requeue(Case& c);
  void Forget(GangId gang, absl::Time now);
  [[nodiscard]] TurnOutput Finish(absl::Time now);

  Desk desk_;
  UseCounts uses_{desk_};
  RoomHolders room_holders_{desk_};
  Charges charges_{desk_, room_holders_};
  Parking parking_{desk_, charges_};
  Searches searches_{desk_, parking_};
  Flights flights_{desk_, uses_, charges_};
  YieldingHolds yielding_{desk_, room_holders_, charges_};
  Reversals reversals_{desk_};
  Claims claims_{desk_, {charges_, parking_, flights_}};
  Evictions evictions_{desk_, {uses_, flights_, reversals_, claims_}};
  Preemptions preemptions_{desk_, charges_, yielding_, reversals_, evictions_};
  Reservations reservations_{
      desk_, {room_holders_, charges_, searches_, yielding_, evictions_, preemptions_}};
  MigDivision mig_{desk_, {charges_, preemptions_}};
  Wakes wakes_{desk_, {room_holders_, charges_, flights_, preemptions_, reservations_}};
  Serving serving_{desk_,
                   {room_holders_, charges_, parking_, searches_, flights_, yielding_, claims_,
                    preemptions_, reservations_, mig_, wakes_}};
  NodeAsks node_asks_{desk_};
  StandIns stand_ins_{desk_};
  Standings standings_{desk_, charges_};
  HelpQuestions help_questions_{desk_, {room_holders_, charges_, yielding_, preemptions_}};
  HelpNotes help_notes_{desk_};
  Reporter reporter_{desk_, {charges_, node_asks_, stand_ins_, standings_, help_notes_}};
  WriteBudget<Right> complaint_budget_{{.interval = absl::Minutes(1)}};  // of lines in the log
};

}  // namespace maniple
