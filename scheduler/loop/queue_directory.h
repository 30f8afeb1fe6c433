// Queues as the loop needs them: who may start from which, how many gangs are where, and the status
// that says so; and the status of their Cohorts.
//
// Owned by the scheduling loop. Totals are kept as gangs change; nothing is recomputed from all
// gangs. What is used of which quota stands in the quota book.
//
//   directory.Note(event);                       // Queues and Namespaces pass by
//   if (auto refusal = directory.RefusalOf(gang, book)) …
//   directory.Count(gang.id, queue, count);      // replaces what was counted of the gang before
//   directory.AllChanged();                      // usage did
//   for (auto& due : directory.TakeDue(now, book)) write(due);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/time/time.h"
#include "api/client/requests.h"
#include "api/model/object.h"
#include "queue/gang.h"
#include "queue/quota_book.h"
#include "scheduler/loop/cohort_directory.h"
#include "scheduler/loop/loop_options.h"
#include "scheduler/loop/paced_statuses.h"
#include "scheduler/loop/usage_meter.h"
#include "scheduler/report/status.h"
#include "scheduler/report/view.h"

namespace maniple {

// What one gang adds to its queue, or all of them.
struct QueueCount {
  int32_t pending = 0, running = 0, pending_pods = 0, running_pods = 0;
  // Of one gang that is pending: its creation, and the name of its reason.
  absl::Time since = absl::InfiniteFuture();
  absl::string_view reason;
  // What the pods without a node ask for; by resource, each once.
  ResourceAmounts asked;
  friend bool operator==(const QueueCount&, const QueueCount&) = default;
};

struct QueueRefusal {
  WaitReason reason = WaitReason::kQueueNotFound;
  std::string message;
};

enum class NameQueues : uint8_t { kNo, kYes };

class QueueDirectory final {
 public:
  QueueDirectory(absl::Duration interval, WithoutQueue without_queue)
      : without_queue_(without_queue), statuses_(interval), cohorts_(interval) {}

  void Note(const ObjectEvent& event);
  [[nodiscard]] std::optional<QueueRefusal> RefusalOf(const Gang& gang,
                                                      const QuotaBook& book) const;
  // Of a gang that it has let in once: why nothing is added to it. REQUIRES: Admits does not hold.
  [[nodiscard]] QueueRefusal RefusalOfMore(const std::string& queue,
                                           const std::string& namespace_name) const;
  // Whether the Queue is there and lets in gangs of the namespace, whatever else is wrong with it.
  [[nodiscard]] bool Admits(const std::string& queue, const std::string& namespace_name) const;
  // Of a gang that runs without having been admitted: why no quota pays for it; "" = it names none.
  [[nodiscard]] std::string WhyNotCharged(const Gang& gang) const;
  void Count(GangId gang, const std::string& queue, const QueueCount& count);  // "" = none
  // To be added to; "" = of gangs without a Queue.
  [[nodiscard]] QueueHistory& HistoryOf(const std::string& queue);
  // What was used is counted from what earlier leaders have told.
  void BeginLeading();
  [[nodiscard]] UsageMeter& meter() { return meter_; }
  // Up to when the status of the Queue tells what was used; the infinite past: it does not.
  [[nodiscard]] absl::Time UsedAsOf(const std::string& queue) const;
  // What is used, or borrowed of it, of any of them may not be what it was.
  void AllChanged();

  struct DueStatus {
    ObjectMeta queue;
    QueueStatus status;
  };
  // Statuses that differ from what was written last, at most one per queue and interval.
  [[nodiscard]] std::vector<DueStatus> TakeDue(absl::Time now, const QuotaBook& book);
  [[nodiscard]] absl::Time NextDeadline() const;
  // What became of each write is told here.
  [[nodiscard]] PacedStatuses<QueueStatus>& statuses() { return statuses_; }
  // Names of no Queue that nothing is counted for.
  void ForgetUnusedNames();
  // Nothing is counted and nothing written: another leader may have written since.
  void Forget();

  [[nodiscard]] CohortDirectory& cohorts() { return cohorts_; }

  // By name.
  [[nodiscard]] std::vector<QueueView> Views(const QuotaBook& book, absl::Time now) const;
  // Adds those that come after this name, and `most` at the most. False: there are no more.
  bool AddViews(const std::string& after, size_t most, const QuotaBook& book, absl::Time now,
                std::vector<QueueView>& views) const;
  // Nameless, of the gangs without a Queue: reasons, history and what they have used only.
  [[nodiscard]] QueueView WithoutQueueView(absl::Time now) const;
  // By name; also those that nobody has created. Whether their Queues are told costs a name each.
  [[nodiscard]] std::vector<CohortView> CohortViews(const QuotaBook& book, NameQueues names) const;

 private:
  struct Entry {
    bool exists = false;
    Queue queue;
    QueueCount total;
    absl::btree_multiset<absl::Time> waiting_since;  // of those that are pending
    absl::btree_map<absl::string_view, int64_t> reasons;
    absl::btree_map<std::string, Amount> asked;  // by resource; none that is 0
    QueueHistory history;
  };
  struct Counted {
    Entry* entry = nullptr;  // null: nothing is counted
    QueueCount count;
    friend bool operator==(const Counted&, const Counted&) = default;
  };
  void Add(const Counted& counted, int32_t sign);
  // Of a Queue that is there.
  Entry& Exists(const std::string& name);
  [[nodiscard]] QueueView ViewOf(const std::string& name, const Entry& entry, const QuotaBook& book,
                                 absl::Time now) const;
  static void TellReasons(const Entry& entry, QueueView& view);
  [[nodiscard]] std::optional<QueueRefusal> RefusalWithoutQueue() const;
  [[nodiscard]] bool Selects(const Entry& entry, const std::string& namespace_name) const;
  [[nodiscard]] QueueStatus StatusOf(const Entry& entry, const QuotaBook& book, absl::Time now);
  // What runs on without any other change is told now and then.
  void TouchThoseInUse(absl::Time now);

  const WithoutQueue without_queue_;
  PacedStatuses<QueueStatus> statuses_;  // of those that exist
  CohortDirectory cohorts_;
  UsageMeter meter_;
  absl::Time usage_due_ = absl::InfiniteFuture();
  absl::node_hash_map<std::string, Entry> queues_;      // what is counted borrows from it
  absl::btree_map<std::string, const Entry*> by_name_;  // those of them that exist
  Entry without_;                                       // gangs without a Queue; likewise
  std::map<std::string, StringMap> namespaces_;
  absl::btree_map<GangId, Counted> counts_;
};

}  // namespace maniple
