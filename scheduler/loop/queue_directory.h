// Queues as the loop needs them: who may start from which, what is charged to each, and the status
// that says so.
//
// Quotas limit nothing yet: usage is counted and shown. Owned by the scheduling loop. Totals are
// kept as gangs change; nothing is recomputed from all gangs.
//
//   directory.Note(event);                       // Queues and Namespaces pass by
//   if (auto refusal = directory.RefusalOf(gang)) …
//   directory.Charge(gang.id, share);            // replaces what the gang was charged before
//   for (auto& due : directory.TakeDue(now, tables)) write(due);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "api/client/requests.h"
#include "api/model/object.h"
#include "plugins/framework/snapshot.h"
#include "queue/gang.h"
#include "scheduler/report/status.h"
#include "scheduler/report/view.h"

namespace maniple {

// What one gang adds to its queue.
struct QueueShare {
  std::string queue;  // "" = none
  int32_t pending = 0, running = 0, pending_pods = 0, running_pods = 0;
  absl::btree_map<ShapeId, int64_t> placed;  // pods that take room, by shape
  friend bool operator==(const QueueShare&, const QueueShare&) = default;
};

struct QueueRefusal {
  WaitReason reason = WaitReason::kQueueNotFound;
  std::string message;
};

class QueueDirectory final {
 public:
  explicit QueueDirectory(absl::Duration interval) : interval_(interval) {}

  void Note(const ObjectEvent& event);
  [[nodiscard]] std::optional<QueueRefusal> RefusalOf(const Gang& gang) const;
  void Charge(GangId gang, QueueShare share);

  struct DueStatus {
    ObjectMeta queue;
    QueueStatus status;
  };
  // Statuses that differ from what was written last, at most one per queue and interval.
  [[nodiscard]] std::vector<DueStatus> TakeDue(absl::Time now, const Tables& tables);
  [[nodiscard]] absl::Time NextDeadline() const;
  // The write did not arrive: it is due again.
  void Unwritten(const std::string& queue, absl::Time now);
  // Nothing is charged and nothing written: another leader may have written since.
  void Forget();

  [[nodiscard]] std::vector<QueueView> Views(const Tables& tables) const;  // by name

 private:
  struct Entry {
    bool exists = false;
    Queue queue;
    std::string problem;  // not empty: the object cannot be used
    QueueShare total;
    bool changed = true;
    absl::Time not_before = absl::InfinitePast();
    std::optional<QueueStatus> written;
  };
  void Add(const QueueShare& share, int32_t sign);
  [[nodiscard]] static QueueStatus StatusOf(const Entry& entry, const Tables& tables,
                                            absl::Time now);

  absl::Duration interval_;
  std::map<std::string, Entry> queues_;
  std::map<std::string, StringMap> namespaces_;
  absl::btree_map<GangId, QueueShare> shares_;
};

}  // namespace maniple
