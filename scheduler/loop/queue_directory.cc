#include "scheduler/loop/queue_directory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

Amount Used(const QueueShare& share, const std::string& resource, const Tables& tables) {
  Amount used;
  for (const auto& [shape, count] : share.placed) {
    for (const ResourceAmount& request : tables.ShapeOf(shape).constraints.requests) {
      if (request.resource == resource) used = used + request.amount * count;
    }
  }
  return used;
}

// One row per quota; what is used of a resource is shown in the first row that names it.
std::vector<QueueUsage> UsageOf(const std::vector<FlavorQuota>& quotas, const QueueShare& share,
                                const Tables& tables) {
  std::vector<QueueUsage> rows;
  for (const FlavorQuota& flavor : quotas) {
    for (const QuotaAmount& quota : flavor.resources) {
      const bool seen = std::ranges::any_of(
          rows, [&quota](const QueueUsage& row) { return row.resource == quota.resource; });
      QueueUsage row{.flavor = flavor.flavor, .resource = quota.resource};
      if (!seen) row.used = Used(share, quota.resource, tables);
      row.borrowed = std::max(Amount(), row.used - quota.nominal);
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
      entry.problem.clear();
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
    entry.problem = invalid->problem;
    entry.changed = true;
  }
}

std::optional<QueueRefusal> QueueDirectory::RefusalOf(const Gang& gang) const {
  if (gang.queue.empty()) return std::nullopt;
  const auto it = queues_.find(gang.queue);
  const std::string name = absl::StrCat("queue \"", gang.queue, "\"");
  if (it == queues_.end() || !it->second.exists) {
    return QueueRefusal{WaitReason::kQueueNotFound, absl::StrCat(name, " does not exist")};
  }
  const Entry& entry = it->second;
  if (!entry.problem.empty()) {
    return QueueRefusal{WaitReason::kQueueInactive,
                        absl::StrCat(name, " is inactive: ", entry.problem)};
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

void QueueDirectory::Add(const QueueShare& share, int32_t sign) {
  if (share.queue.empty()) return;
  Entry& entry = queues_[share.queue];
  QueueShare& total = entry.total;
  total.pending += sign * share.pending;
  total.running += sign * share.running;
  total.pending_pods += sign * share.pending_pods;
  total.running_pods += sign * share.running_pods;
  for (const auto& [shape, count] : share.placed) {
    int64_t& sum = total.placed[shape];
    sum += sign * count;
    if (sum == 0) total.placed.erase(shape);
  }
  entry.changed = true;
}

void QueueDirectory::Charge(GangId gang, QueueShare share) {
  const auto it = shares_.find(gang);
  if (it == shares_.end()) {
    if (share.queue.empty()) return;
  } else {
    if (it->second == share) return;
    Add(it->second, -1);
    shares_.erase(it);
  }
  if (share.queue.empty()) return;
  Add(share, 1);
  shares_.emplace(gang, std::move(share));
}

QueueStatus QueueDirectory::StatusOf(const Entry& entry, const Tables& tables, absl::Time now) {
  const QueueShare& total = entry.total;
  QueueStatus status{.pending = total.pending,
                     .running = total.running,
                     .pending_pods = total.pending_pods,
                     .running_pods = total.running_pods,
                     .usage = UsageOf(entry.queue.quotas, total, tables)};
  if (entry.written.has_value()) status.conditions = entry.written->conditions;
  const bool stopped = entry.queue.stop != StopPolicy::kNone;
  Condition active{.type = "Active", .status = "True", .reason = "Ready"};
  if (!entry.problem.empty()) {
    active = {.type = "Active", .status = "False", .reason = "Invalid", .message = entry.problem};
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
                                                               const Tables& tables) {
  std::vector<DueStatus> due;
  for (auto& [name, entry] : queues_) {
    if (!entry.exists || !entry.changed || entry.not_before > now) continue;
    entry.changed = false;
    QueueStatus status = StatusOf(entry, tables, now);
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
  shares_.clear();
  for (auto& [name, entry] : queues_) {
    entry.total = {};
    entry.written.reset();
    entry.changed = true;
  }
}

std::vector<QueueView> QueueDirectory::Views(const Tables& tables) const {
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
    for (const QueueUsage& row : UsageOf(entry.queue.quotas, entry.total, tables)) {
      const auto known = std::ranges::find(view.used, row.resource, &ResourceAmount::resource);
      if (known == view.used.end()) view.used.push_back({row.resource, row.used});
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace maniple
