// Queues as the loop needs them: the gangs that may start from each, the number of gangs in each,
// and the status of Queues and Cohorts.
//
// Owned by the scheduling loop. Totals are kept as gangs change; nothing is recomputed from all
// gangs. The quota book knows what is used of each quota.
//
//   directory.Note(event, now);                  // Queues and Namespaces pass by
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
#include "scheduler/loop/quota/cohort_directory.h"
#include "scheduler/loop/quota/usage_meter.h"
#include "scheduler/loop/records/loop_options.h"
#include "scheduler/loop/records/paced_statuses.h"
#include "scheduler/report/queue_view.h"
#include "scheduler/report/status.h"

namespace maniple {

// The counts that one gang adds to its queue, or the sum of them.
struct QueueCount {
  int32_t pending = 0, running = 0, pending_pods = 0, running_pods = 0;
  // For one pending gang: its creation, and the name of its reason.
  absl::Time since = absl::InfiniteFuture();
  absl::string_view reason;
  // The requests of pods without a node; by resource, each once.
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

  void Note(const ObjectEvent& event, absl::Time now);
  [[nodiscard]] std::optional<QueueRefusal> RefusalOf(const Gang& gang,
                                                      const QuotaBook& book) const;
  // Why nothing is added to a gang that the Queue has let in once. REQUIRES: Admits does not hold.
  [[nodiscard]] QueueRefusal RefusalOfMore(const std::string& queue,
                                           const std::string& namespace_name) const;
  // Whether the Queue exists and lets in gangs of the namespace, whatever else is wrong with it.
  [[nodiscard]] bool Admits(const std::string& queue, const std::string& namespace_name) const;
  [[nodiscard]] bool Has(const std::string& queue) const { return by_name_.contains(queue); }
  // Why no quota pays for a gang that runs without having been admitted, or was admitted to a Queue
  // that is gone; "" = it names no Queue.
  [[nodiscard]] std::string WhyNotCharged(const Gang& gang) const;
  void Count(GangId gang, const std::string& queue, const QueueCount& count);  // "" = none
  // For additions; "" = of gangs without a Queue.
  [[nodiscard]] QueueHistory& HistoryOf(const std::string& queue);
  // Counting of usage goes on from the totals of earlier leaders.
  void BeginLeading();
  [[nodiscard]] UsageMeter& meter() { return meter_; }
  // The time up to which the Queue's status tells its usage; the infinite past: it does not.
  [[nodiscard]] absl::Time UsedAsOf(const std::string& queue) const;
  // The usage of any Queue, or the borrowed part of it, may have changed.
  void AllChanged();

  struct DueStatus {
    ObjectMeta queue;
    QueueStatus status;
  };
  // Statuses that differ from what was written last, at most one per queue and interval.
  [[nodiscard]] std::vector<DueStatus> TakeDue(absl::Time now, const QuotaBook& book);
  [[nodiscard]] absl::Time NextDeadline() const;
  // The outcome of each write is told here.
  [[nodiscard]] PacedStatuses<QueueStatus>& statuses() { return statuses_; }
  // Forgets names without a Queue for which nothing is counted.
  void ForgetUnusedNames();
  // Counts and writes nothing from now on: another leader may have written since.
  void Forget();

  [[nodiscard]] CohortDirectory& cohorts() { return cohorts_; }

  // Views of the Queues, by name.
  [[nodiscard]] std::vector<QueueView> Views(const QuotaBook& book, absl::Time now) const;
  // Adds the Queues after this name, `most` at the most. False: there are no more.
  bool AddViews(const std::string& after, size_t most, const QuotaBook& book, absl::Time now,
                std::vector<QueueView>& views) const;
  // A nameless view of the gangs without a Queue: reasons, history and usage only. Reasons and
  // usage are also those of gangs whose Queue does not exist: tenants write such names, and each
  // would be a series of metrics.
  [[nodiscard]] QueueView WithoutQueueView(absl::Time now) const;
  // Cohorts by name, with those that nobody has created. Telling their Queues costs a name each.
  [[nodiscard]] std::vector<CohortView> CohortViews(const QuotaBook& book, NameQueues names) const;

 private:
  struct Entry {
    bool exists = false;
    bool known = false;  // some version of it could be read
    Queue queue;
    QueueCount total;
    absl::btree_multiset<absl::Time> waiting_since;  // of the pending gangs that could start
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
  // The entry of a Queue that exists. Nothing that the one of its name before it used or was told
  // counts for another uid.
  Entry& Exists(const std::string& name, const std::string& uid, absl::Time now);
  [[nodiscard]] QueueView ViewOf(const std::string& name, const Entry& entry, const QuotaBook& book,
                                 absl::Time now) const;
  [[nodiscard]] std::optional<QueueRefusal> RefusalWithoutQueue(const Gang& gang) const;
  [[nodiscard]] bool Selects(const Entry& entry, const std::string& namespace_name) const;
  [[nodiscard]] QueueStatus StatusOf(const Entry& entry, const QuotaBook& book, absl::Time now);
  // Usage that runs on without any other change is told now and then.
  void TouchThoseInUse(absl::Time now);

  const WithoutQueue without_queue_;
  PacedStatuses<QueueStatus> statuses_;  // of the Queues that exist
  CohortDirectory cohorts_;
  UsageMeter meter_;
  bool leads_ = false;
  absl::Time usage_due_ = absl::InfiniteFuture();
  absl::node_hash_map<std::string, Entry> queues_;      // `Counted` borrows from it
  absl::btree_map<std::string, const Entry*> by_name_;  // the Queues that exist
  Entry without_;                                       // gangs without a Queue; likewise
  std::map<std::string, StringMap> namespaces_;
  absl::btree_map<GangId, Counted> counts_;
};

}  // namespace maniple
