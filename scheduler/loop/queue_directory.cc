#include "scheduler/loop/queue_directory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "queue/lending.h"

namespace maniple {
namespace {

// One row per quota.
std::vector<QueueUsage> UsageOf(const Queue& queue, const QuotaBook& book) {
  std::vector<QueueUsage> rows;
  const QuotaNodeId id = book.QueueNamed(queue.meta.name);
  for (const FlavorQuota& flavor : queue.quotas) {
    for (const QuotaAmount& quota : flavor.resources) {
      QueueUsage row{.flavor = flavor.flavor, .resource = quota.resource};
      if (const QuotaCellId cell = book.CellNamed(flavor.flavor, quota.resource);
          id.valid() && cell.valid()) {
        row.used = book.tree().Usage(id, cell);
        row.borrowed = std::max(Amount(), row.used - quota.nominal);
        row.lent = LentOf(book.tree(), id, cell);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

absl::string_view StopPolicyName(StopPolicy policy) {
  switch (policy) {
    case StopPolicy::kNone:
      return "None";
    case StopPolicy::kHold:
      return "Hold";
    case StopPolicy::kHoldAndDrain:
      return "HoldAndDrain";
  }
  return "";
}

}  // namespace

void QueueDirectory::Note(const ObjectEvent& event) {
  if (const auto* upserted = std::get_if<ObjectUpserted>(&event)) {
    if (const auto* queue = std::get_if<Queue>(&upserted->object)) {
      Entry& entry = queues_[queue->meta.name];
      if (entry.queue.meta.uid != queue->meta.uid) entry.written.reset();
      entry.exists = true;
      entry.queue = *queue;
      entry.changed = true;
    } else if (const auto* space = std::get_if<Namespace>(&upserted->object)) {
      namespaces_[space->meta.name] = space->meta.labels;
    }
  } else if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) {
    if (deleted->key.kind == ResourceKind::kNamespace) namespaces_.erase(deleted->key.name);
    if (deleted->key.kind != ResourceKind::kQueue) return;
    if (const auto it = queues_.find(deleted->key.name); it != queues_.end()) {
      it->second.exists = false;
      it->second.written.reset();
    }
  } else if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) {
    if (invalid->key.kind != ResourceKind::kQueue) return;
    Entry& entry = queues_[invalid->key.name];
    entry.exists = true;
    entry.queue.meta.name = invalid->key.name;
    entry.queue.meta.uid = invalid->uid;
    entry.changed = true;
  }
}

std::optional<QueueRefusal> QueueDirectory::RefusalOf(const Gang& gang,
                                                      const QuotaBook& book) const {
  if (gang.queue.empty()) return std::nullopt;
  const auto it = queues_.find(gang.queue);
  const std::string name = absl::StrCat("queue \"", gang.queue, "\"");
  if (it == queues_.end() || !it->second.exists) {
    return QueueRefusal{WaitReason::kQueueNotFound, absl::StrCat(name, " does not exist")};
  }
  const Entry& entry = it->second;
  if (const std::string problem = book.ProblemOfQueue(gang.queue); !problem.empty()) {
    return QueueRefusal{WaitReason::kQueueInactive, absl::StrCat(name, " is inactive: ", problem)};
  }
  if (entry.queue.stop != StopPolicy::kNone) {
    return QueueRefusal{
        WaitReason::kQueueStopped,
        absl::StrCat(name, " is stopped: spec.stopPolicy is ", StopPolicyName(entry.queue.stop))};
  }
  if (entry.queue.namespace_selector.has_value()) {
    const auto space = namespaces_.find(gang.key.namespace_name);
    const StringMap labels = space == namespaces_.end() ? StringMap() : space->second;
    if (!entry.queue.namespace_selector->Matches(labels)) {
      return QueueRefusal{
          WaitReason::kNamespaceNotAllowed,
          absl::StrCat(name, " does not admit namespace \"", gang.key.namespace_name, "\"")};
    }
  }
  return std::nullopt;
}

void QueueDirectory::Add(const QueueCount& count, int32_t sign) {
  if (count.queue.empty()) return;
  Entry& entry = queues_[count.queue];
  QueueCount& total = entry.total;
  total.pending += sign * count.pending;
  total.running += sign * count.running;
  total.pending_pods += sign * count.pending_pods;
  total.running_pods += sign * count.running_pods;
  entry.changed = true;
}

void QueueDirectory::Count(GangId gang, QueueCount count) {
  const auto it = counts_.find(gang);
  if (it == counts_.end()) {
    if (count.queue.empty()) return;
  } else {
    if (it->second == count) return;
    Add(it->second, -1);
    counts_.erase(it);
  }
  if (count.queue.empty()) return;
  Add(count, 1);
  counts_.emplace(gang, std::move(count));
}

void QueueDirectory::UsageChanged(absl::string_view queue) {
  const auto it = queues_.find(std::string(queue));
  if (it != queues_.end()) it->second.changed = true;
}

void QueueDirectory::AllChanged() {
  for (auto& [name, entry] : queues_) entry.changed = true;
}

QueueStatus QueueDirectory::StatusOf(const Entry& entry, const QuotaBook& book, absl::Time now) {
  const QueueCount& total = entry.total;
  QueueStatus status{.pending = total.pending,
                     .running = total.running,
                     .pending_pods = total.pending_pods,
                     .running_pods = total.running_pods,
                     .usage = UsageOf(entry.queue, book)};
  if (const QuotaNodeId id = book.QueueNamed(entry.queue.meta.name); id.valid()) {
    status.fair_share = book.tree().ShareWith(id, id, {}).RoundedUp();
  }
  if (entry.written.has_value()) status.conditions = entry.written->conditions;
  const bool stopped = entry.queue.stop != StopPolicy::kNone;
  Condition active{.type = "Active", .status = "True", .reason = "Ready"};
  if (const std::string problem = book.ProblemOfQueue(entry.queue.meta.name); !problem.empty()) {
    active = {.type = "Active", .status = "False", .reason = "Invalid", .message = problem};
  } else if (stopped) {
    active = {.type = "Active",
              .status = "False",
              .reason = "Stopped",
              .message = absl::StrCat("spec.stopPolicy is ", StopPolicyName(entry.queue.stop))};
  }
  active.observed_generation = entry.queue.meta.generation;
  SetCondition(status.conditions, std::move(active), now);
  return status;
}

std::vector<QueueDirectory::DueStatus> QueueDirectory::TakeDue(absl::Time now,
                                                               const QuotaBook& book) {
  std::vector<DueStatus> due;
  for (auto& [name, entry] : queues_) {
    if (!entry.exists || !entry.changed || entry.not_before > now) continue;
    entry.changed = false;
    QueueStatus status = StatusOf(entry, book, now);
    if (entry.written == status) continue;
    entry.not_before = now + interval_;
    entry.written = status;
    due.push_back({.queue = entry.queue.meta, .status = std::move(status)});
  }
  return due;
}

absl::Time QueueDirectory::NextDeadline() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [name, entry] : queues_) {
    if (entry.exists && entry.changed) next = std::min(next, entry.not_before);
  }
  return next;
}

void QueueDirectory::Unwritten(const std::string& queue, absl::Time now) {
  const auto it = queues_.find(queue);
  if (it == queues_.end()) return;
  it->second.written.reset();
  it->second.changed = true;
  it->second.not_before = now + interval_;
}

void QueueDirectory::Forget() {
  counts_.clear();
  for (auto& [name, entry] : queues_) {
    entry.total = {};
    entry.written.reset();
    entry.changed = true;
  }
}

std::vector<QueueView> QueueDirectory::Views(const QuotaBook& book) const {
  std::vector<QueueView> views;
  for (const auto& [name, entry] : queues_) {
    if (!entry.exists) continue;
    QueueView view{.name = name,
                   .cohort = entry.queue.cohort,
                   .stop_policy = std::string(StopPolicyName(entry.queue.stop)),
                   .pending = entry.total.pending,
                   .running = entry.total.running,
                   .pending_pods = entry.total.pending_pods,
                   .running_pods = entry.total.running_pods,
                   .quotas = entry.queue.quotas};
    for (const QueueUsage& row : UsageOf(entry.queue, book)) {
      const auto known = std::ranges::find(view.used, row.resource, &ResourceAmount::resource);
      if (known == view.used.end()) {
        view.used.push_back({row.resource, row.used});
      } else {
        known->amount += row.used;
      }
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace maniple
