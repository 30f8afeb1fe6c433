// The desk, on which all owners of a lead work. It has the gangs and their records, the queue,
// the gangs that this turn has still to look at, and its writes.
//
// Owned by Leadership, one thread; shared by its owners, each of which also keeps fields of its
// own. Each part of a record has one writer (gang_record.h).
//
//   std::optional<Case> c = desk.Open(id, now);  // a gang in hand
//   desk.Log(*c, "place", …);
//   desk.Send({.kind = ErrandKind::kBind, …}, BindRequest(…));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/due_times.h"
#include "queue/gang_queue.h"
#include "scheduler/loop/desk/warm_state.h"
#include "scheduler/loop/quota/loop_case.h"
#include "scheduler/loop/records/gang_record.h"
#include "scheduler/loop/records/gang_request.h"
#include "scheduler/loop/records/write_budget.h"
#include "scheduler/report/events.h"

namespace maniple {

// What an entry of the decision log says beside its text, as there.
struct LogMore {
  std::string refused = {};
  int64_t steps = 0;
};

struct Desk {
  explicit Desk(WarmState& given);

  // None: the gang is gone.
  [[nodiscard]] std::optional<Case> Open(GangId id, absl::Time now);
  // Null: no owner has opened it yet.
  [[nodiscard]] GangRecord* FindRecord(GangId gang) const;
  // The first record of a gang, filled from its status.
  [[nodiscard]] static std::unique_ptr<GangRecord> FirstRecord(const Gang& gang, absl::Time now);
  void ForgetLeaving(GangRecord& record);

  const Snapshot& Picture() { return warm.Picture(); }
  // The item of the gang that is to be decided next; none: nothing is.
  [[nodiscard]] std::optional<ItemKind> ItemOf(const Case& c) const;
  // The quorum stands: all of it, and of each sub-group.
  static void NoteMet(GangRecord& record, const PodGroupSpec& spec);
  // By how much its user has raised it since it stood last.
  [[nodiscard]] static QuorumNeed GrowthOf(const Case& c);
  // … and its producer, which makes members in stages.
  [[nodiscard]] static QuorumNeed StageOf(const Case& c);
  // By its user: what the gang lacks is not only what it has lost.
  [[nodiscard]] static bool QuorumWasRaised(const Case& c);
  // Room was there, perhaps made by evictions, and the gang did not start.
  static void NoteStartInVain(GangRecord& record, absl::Time now);
  [[nodiscard]] GangRequest RequestOf(const Case& c, ItemKind kind) const;
  // "a-0=n1 a-1=n2"
  [[nodiscard]] std::string PlacesText(const std::vector<Placement>& placements) const;

  void TouchThoseDue(absl::Time now);

  void Send(Errand errand, HttpRequest request) {
    writes.push_back(errands.Send(std::move(errand), std::move(request)));
  }
  void SendEvent(const EventNote& note, absl::Time now);
  // `rest` begins with its own separator.
  void Log(const Case& c, absl::string_view what, std::string rest = "", LogMore more = {});
  void LogPlan(const Case& c, ItemKind kind, const Plan& plan, int64_t steps);
  void LogOf(absl::string_view what, absl::string_view subject, std::string rest, absl::Time now);

  WarmState& warm;
  // The parts of the warm state that owners use most.
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
  absl::btree_set<GangId> touched;    // gangs to be looked at
  DueTimes<GangId> timers;            // a gang is looked at by then, and sooner if it changes
  absl::btree_set<GangId> to_report;  // gangs to be reported on at the end of this turn
  std::vector<WriteCommand> writes;
  bool promises_fell = false;  // of what budgets allow: whoever looks for victims may count on it
  int64_t bans = 0;            // gangs that remember for whom they left

 private:
  void MeetGroup(GangRecord& record, const Gang& gang, absl::Time now);
  static void Recall(GangRecord& record, const Gang& gang, absl::Time now);

  // The same budget as kube-scheduler's, by namespace and uid. An object that is forgotten early
  // may get a few events more; a tenant that makes so many objects gets more anyway.
  WriteBudget<std::string> event_budget_{
      {.burst = 25, .interval = absl::Minutes(5), .most_objects = 8'192}};
};

}  // namespace maniple
