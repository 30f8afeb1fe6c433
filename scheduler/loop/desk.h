// What all parts of a lead work on: the gangs and what is remembered of each, the queue, what this
// turn still has to look at, and what it is to write.
//
// Owned by Leadership, one thread; shared by its owners, each of which keeps what is its own
// besides. Of a record each part has one writer (gang_record.h).
//
//   std::optional<Case> c = desk.Open(id, now);  // a gang in hand
//   desk.Log(*c, "place", …);
//   desk.Send({.kind = ErrandKind::kBind, …}, BindRequest(…));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "queue/gang_queue.h"
#include "scheduler/loop/gang_record.h"
#include "scheduler/loop/gang_request.h"
#include "scheduler/loop/loop_case.h"
#include "scheduler/loop/warm_state.h"
#include "scheduler/loop/write_budget.h"
#include "scheduler/report/events.h"

namespace maniple {

struct Desk {
  explicit Desk(WarmState& given);

  // None: there is no such gang any more.
  [[nodiscard]] std::optional<Case> Open(GangId id, absl::Time now);
  // Null: nobody has opened it yet.
  [[nodiscard]] GangRecord* FindRecord(GangId gang) const;
  // What is remembered of a gang at first, by what its status tells.
  [[nodiscard]] static std::unique_ptr<GangRecord> FirstRecord(const Gang& gang, absl::Time now);
  void ForgetLeaving(GangRecord& record);

  const Snapshot& Picture() { return warm.Picture(); }
  // What of the gang is to be decided next; none: nothing.
  [[nodiscard]] std::optional<ItemKind> ItemOf(const Case& c) const;
  [[nodiscard]] GangRequest RequestOf(const Case& c, ItemKind kind) const;
  // "a-0=n1 a-1=n2"
  [[nodiscard]] std::string PlacesText(const std::vector<Placement>& placements) const;

  // It is looked at by then, and not before unless something changes.
  void ArmTimer(GangId gang, GangRecord& record, absl::Time next);
  // To be looked at, by time.
  [[nodiscard]] absl::Time NextTimer() const;
  void TouchThoseDue(absl::Time now);

  void Send(Errand errand, HttpRequest request) {
    writes.push_back(errands.Send(std::move(errand), std::move(request)));
  }
  void SendEvent(const EventNote& note, absl::Time now);
  // `rest` begins with what separates it from the gang.
  void Log(const Case& c, absl::string_view what, std::string rest = "", int64_t steps = 0);
  void LogOf(absl::string_view what, absl::string_view subject, std::string rest, absl::Time now);

  WarmState& warm;
  // … of which it is mostly:
  const LoopOptions& options;
  Random& random;
  ClusterState& state;
  QueueDirectory& directory;
  QuotaLedger& ledger;
  Errands& errands;
  Delta& news;
  LoopCounters& counters;

  GangQueue queue;
  absl::btree_map<GangId, std::unique_ptr<GangRecord>> records;
  absl::btree_set<GangId> touched;    // to be looked at
  absl::btree_set<GangId> to_report;  // to be reported on at the end of this turn
  std::vector<WriteCommand> writes;
  int64_t bans = 0;  // gangs that remember whom they left for

 private:
  void MeetGroup(GangRecord& record, const Gang& gang);

  std::set<std::pair<absl::Time, GangId>> timetable_;  // GangRecord::timer
  // As kube-scheduler's, by namespace and uid.
  // What is forgotten early may say a little more, and whoever makes so many objects says more
  // anyway.
  WriteBudget<std::string> event_budget_{
      {.burst = 25, .interval = absl::Minutes(5), .most_objects = 8'192}};
};

}  // namespace maniple
