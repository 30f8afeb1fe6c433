#include "scheduler/loop/quota/queue_directory.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "scheduler/report/quota_report.h"

namespace maniple {
namespace {

// Between two writes of a Queue's usage: while other parts of its status change,
// and while none does.
constexpr absl::Duration kUsageInterval = absl::Minutes(1);
constexpr absl::Duration kQuietUsageInterval = absl::Minutes(10);

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

std::string NotFoundText(const std::string& queue) {
  return absl::StrCat("queue \"", queue, "\" does not exist");
}
std::string NotAdmittedText(const std::string& queue, const std::string& namespace_name) {
  return absl::StrCat("queue \"", queue, "\" does not admit namespace \"", namespace_name, "\"");
}

// The PodGroup that stands for a foreign gang follows its producer: what is set there is lost.
std::string WhereToNameOne(const Gang& gang) {
  if (gang.foreign == nullptr) {
    return "spec.queue of the PodGroup, or of a single pod the label scheduling.maniple.dev/queue";
  }
  if (!gang.foreign->owner.has_value()) {
    return "the label scheduling.maniple.dev/queue of its pods";
  }
  const GangSource& source = gang.spec.source;
  return absl::StrCat("the label scheduling.maniple.dev/queue of its pods or of ", source.kind, " ",
                      source.name);
}

// A gang that is on hold or misses members is not kept waiting by its Queue.
bool CouldStart(const QueueCount& count) {
  return count.pending > 0 && count.reason != WaitReasonName(WaitReason::kSchedulingGated) &&
         count.reason != WaitReasonName(WaitReason::kWaitingForMembers);
}

}  // namespace

void QueueDirectory::Note(const ObjectEvent& event, absl::Time now) {
  cohorts_.Note(event);
  if (const auto* upserted = std::get_if<ObjectUpserted>(&event)) {
    if (const auto* queue = std::get_if<Queue>(&upserted->object)) {
      Entry& entry = Exists(queue->meta.name, queue->meta.uid, now);
      entry.queue = *queue;
      // It could not be read when the lead began.
      if (!std::exchange(entry.known, true) && leads_) meter_.Recall(queue->meta.name, queue->used);
      statuses_.Touch(queue->meta.name);
      statuses_.Seen(queue->meta.name, queue->meta.resource_version);
    } else if (const auto* space = std::get_if<Namespace>(&upserted->object)) {
      namespaces_[space->meta.name] = space->meta.labels;
    }
  } else if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) {
    if (deleted->key.kind == ResourceKind::kNamespace) namespaces_.erase(deleted->key.name);
    if (deleted->key.kind != ResourceKind::kQueue) return;
    if (const auto it = queues_.find(deleted->key.name); it != queues_.end()) {
      it->second.exists = it->second.known = false;
      by_name_.erase(it->first);
      it->second.history = {};
      it->second.queue.meta.uid.clear();
      it->second.queue.used = {};
      meter_.Restart(it->first, now);
      statuses_.Remove(it->first);
    }
  } else if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) {
    if (invalid->key.kind != ResourceKind::kQueue) return;
    Entry& entry = Exists(invalid->key.name, invalid->uid, now);
    entry.queue.meta.name = invalid->key.name;
    entry.queue.meta.uid = invalid->uid;
    statuses_.Touch(invalid->key.name);
  }
}

QueueDirectory::Entry& QueueDirectory::Exists(const std::string& name, const std::string& uid,
                                              absl::Time now) {
  Entry& entry = queues_[name];
  // It has been told as use without a Queue, and a counter must not fall.
  if (!entry.exists) meter_.GiveToNone(name, now);
  if (entry.queue.meta.uid != uid) {
    statuses_.Forget(name);
    meter_.Restart(name, now);
    entry.queue.used = {};
    entry.queue.conditions.clear();
  }
  entry.exists = true;
  by_name_[name] = &entry;
  return entry;
}

std::optional<QueueRefusal> QueueDirectory::RefusalWithoutQueue(const Gang& gang) const {
  switch (without_queue_) {
    case WithoutQueue::kAllow:
      return std::nullopt;
    case WithoutQueue::kRefuse:
      break;
  }
  return QueueRefusal{
      WaitReason::kQueueNotFound,
      absl::StrCat(
          "it names no Queue, and nothing starts without one here (withoutQueue: Refuse): set ",
          WhereToNameOne(gang),
          "; or have a default given to the namespace (label scheduling.maniple.dev/default-queue) "
          "or to all (defaultQueue of the configuration)")};
}

std::optional<QueueRefusal> QueueDirectory::RefusalOf(const Gang& gang,
                                                      const QuotaBook& book) const {
  if (gang.queue.empty()) return RefusalWithoutQueue(gang);
  const auto it = queues_.find(gang.queue);
  const std::string name = absl::StrCat("queue \"", gang.queue, "\"");
  if (it == queues_.end() || !it->second.exists) {
    return QueueRefusal{WaitReason::kQueueNotFound, NotFoundText(gang.queue)};
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
  if (!Selects(entry, gang.key.namespace_name)) {
    return QueueRefusal{WaitReason::kNamespaceNotAllowed,
                        NotAdmittedText(gang.queue, gang.key.namespace_name)};
  }
  return std::nullopt;
}

QueueRefusal QueueDirectory::RefusalOfMore(const std::string& queue,
                                           const std::string& namespace_name) const {
  const auto it = queues_.find(queue);
  const bool exists = it != queues_.end() && it->second.exists;
  return {exists ? WaitReason::kNamespaceNotAllowed : WaitReason::kQueueNotFound,
          absl::StrCat(exists ? NotAdmittedText(queue, namespace_name) : NotFoundText(queue),
                       " any more: members that are lost are replaced by pods that ask for no "
                       "more, and none is added")};
}

bool QueueDirectory::Selects(const Entry& entry, const std::string& namespace_name) const {
  if (!entry.known) return false;
  if (!entry.queue.namespace_selector.has_value()) return true;
  const auto space = namespaces_.find(namespace_name);
  const StringMap labels = space == namespaces_.end() ? StringMap() : space->second;
  return entry.queue.namespace_selector->Matches(labels);
}

bool QueueDirectory::Admits(const std::string& queue, const std::string& namespace_name) const {
  const auto it = queues_.find(queue);
  return it != queues_.end() && it->second.exists && Selects(it->second, namespace_name);
}

std::string QueueDirectory::WhyNotCharged(const Gang& gang) const {
  if (gang.queue.empty()) return "";
  const auto it = queues_.find(gang.queue);
  const bool exists = it != queues_.end() && it->second.exists;
  return absl::StrCat(
      "it is charged to no Queue: ",
      exists ? NotAdmittedText(gang.queue, gang.key.namespace_name) : NotFoundText(gang.queue));
}

void QueueDirectory::Add(const Counted& counted, int32_t sign) {
  if (counted.entry == nullptr) return;
  QueueCount& total = counted.entry->total;
  total.pending += sign * counted.count.pending;
  total.running += sign * counted.count.running;
  total.pending_pods += sign * counted.count.pending_pods;
  total.running_pods += sign * counted.count.running_pods;
  Entry& entry = *counted.entry;
  for (const ResourceAmount& part : counted.count.asked) {
    const auto asked = entry.asked.try_emplace(part.resource).first;
    asked->second += sign > 0 ? part.amount : Amount() - part.amount;
    if (asked->second == Amount()) entry.asked.erase(asked);
  }
  if (CouldStart(counted.count)) {
    const absl::Time since = counted.count.since;
    if (sign > 0) entry.waiting_since.insert(since);
    if (sign < 0) entry.waiting_since.erase(entry.waiting_since.find(since));
  }
  if (counted.count.pending > 0) {
    const auto gangs = entry.reasons.try_emplace(counted.count.reason).first;
    gangs->second += sign;
    if (gangs->second == 0) entry.reasons.erase(gangs);
  }
  if (counted.entry->exists) statuses_.Touch(counted.entry->queue.meta.name);
}

void QueueDirectory::Count(GangId gang, const std::string& queue, const QueueCount& count) {
  const auto it = counts_.find(gang);
  Counted now{.entry = queue.empty() ? &without_ : &queues_[queue], .count = count};
  if (count == QueueCount()) now.entry = nullptr;
  const Counted before = it == counts_.end() ? Counted() : it->second;
  if (now == before) return;
  Add(before, -1);
  Add(now, 1);
  if (it == counts_.end()) {
    counts_.emplace(gang, now);
  } else if (now.entry != nullptr) {
    it->second = now;
  } else {
    counts_.erase(it);
  }
}

QueueHistory& QueueDirectory::HistoryOf(const std::string& queue) {
  return queue.empty() ? without_.history : queues_[queue].history;
}

void QueueDirectory::BeginLeading() {
  leads_ = true;
  for (const auto& [name, entry] : queues_) {
    if (entry.exists) meter_.Recall(name, entry.queue.used);
  }
}

absl::Time QueueDirectory::UsedAsOf(const std::string& queue) const {
  const auto it = queues_.find(queue);
  return it == queues_.end() ? absl::InfinitePast() : it->second.queue.used.as_of;
}

void QueueDirectory::ForgetUnusedNames() {
  absl::flat_hash_set<const Entry*> counted;
  for (const auto& [gang, count] : counts_) counted.insert(count.entry);
  absl::erase_if(queues_, [&counted](const auto& named) {
    return !named.second.exists && !counted.contains(&named.second);
  });
}

void QueueDirectory::AllChanged() {
  statuses_.TouchAll();
  cohorts_.statuses().TouchAll();
}

QueueStatus QueueDirectory::StatusOf(const Entry& entry, const QuotaBook& book, absl::Time now) {
  const QueueCount& total = entry.total;
  const std::vector<QuotaUsageView> usage = UsageOfQueue(entry.queue, book);
  QueueStatus status{.pending = total.pending,
                     .running = total.running,
                     .pending_pods = total.pending_pods,
                     .running_pods = total.running_pods,
                     .usage = StatusRows(usage),
                     .summary = UsageSummary(usage),
                     .fair_share = FairShareOf(book.QueueNamed(entry.queue.meta.name), book),
                     .used = {}};
  // What an earlier leader told stands until it can be read.
  if (entry.known) status.used = meter_.ToTell(entry.queue.meta.name, kUsageInterval, now);
  // What an earlier leader wrote keeps its times.
  const QueueStatus* written = statuses_.Written(entry.queue.meta.name);
  status.conditions = written != nullptr ? written->conditions : entry.queue.conditions;
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
  TouchThoseInUse(now);
  std::vector<DueStatus> due;
  for (const std::string& name : statuses_.Due(now)) {
    const Entry& entry = queues_.at(name);
    if (auto news = statuses_.Take(name, StatusOf(entry, book, now), now)) {
      due.push_back({.queue = entry.queue.meta, .status = *std::move(news)});
    }
  }
  return due;
}

void QueueDirectory::TouchThoseInUse(absl::Time now) {
  if (meter_.QueuesInUse().empty()) {
    usage_due_ = absl::InfiniteFuture();
    return;
  }
  if (usage_due_ > now && usage_due_ != absl::InfiniteFuture()) return;
  if (usage_due_ <= now) {
    for (const auto& [queue, gangs] : meter_.QueuesInUse()) {
      if (queues_[queue].exists) statuses_.Touch(queue);
    }
  }
  usage_due_ = now + kQuietUsageInterval;
}

absl::Time QueueDirectory::NextDeadline() const {
  return std::min({cohorts_.statuses().NextDeadline(), statuses_.NextDeadline(), usage_due_});
}

void QueueDirectory::Forget() {
  leads_ = false;
  counts_.clear();
  for (auto& [name, entry] : queues_) {
    entry.total = {};
    entry.waiting_since.clear();
    entry.reasons.clear();
    entry.asked.clear();
    entry.history = {};
  }
  without_ = {};
  meter_.Clear();
  usage_due_ = absl::InfiniteFuture();
  statuses_.ForgetAll();
  cohorts_.statuses().ForgetAll();
}

std::vector<QueueView> QueueDirectory::Views(const QuotaBook& book, absl::Time now) const {
  std::vector<QueueView> views;
  AddViews("", by_name_.size(), book, now, views);
  return views;
}

bool QueueDirectory::AddViews(const std::string& after, size_t most, const QuotaBook& book,
                              absl::Time now, std::vector<QueueView>& views) const {
  auto next = by_name_.upper_bound(after);
  for (; next != by_name_.end() && most > 0; ++next, --most) {
    views.push_back(ViewOf(next->first, *next->second, book, now));
  }
  return next != by_name_.end();
}

QueueView QueueDirectory::ViewOf(const std::string& name, const Entry& entry, const QuotaBook& book,
                                 absl::Time now) const {
  QueueView view{.name = name,
                 .cohort = entry.queue.cohort,
                 .stop_policy = std::string(StopPolicyName(entry.queue.stop)),
                 .problem = book.ProblemOfQueue(name),
                 .pending = entry.total.pending,
                 .running = entry.total.running,
                 .pending_pods = entry.total.pending_pods,
                 .running_pods = entry.total.running_pods,
                 .fair_share = FairShareOf(book.QueueNamed(name), book),
                 .oldest_pending = entry.waiting_since.empty() ? absl::InfiniteFuture()
                                                               : *entry.waiting_since.begin(),
                 .history = entry.history,
                 .usage = UsageOfQueue(entry.queue, book),
                 .used = meter_.RecordOf(name, now).rows};
  for (const auto& [resource, amount] : entry.asked) view.asked.push_back({resource, amount});
  view.pending_by_reason.assign(entry.reasons.begin(), entry.reasons.end());
  return view;
}

QueueView QueueDirectory::WithoutQueueView(absl::Time now) const {
  const auto exists = [this](const std::string& name) { return by_name_.contains(name); };
  QueueView view{.history = without_.history, .used = meter_.RecordBeside(exists, now).rows};
  absl::btree_map<absl::string_view, int64_t> reasons = without_.reasons;
  for (const auto& [name, entry] : queues_) {
    if (entry.exists) continue;
    for (const auto& [reason, gangs] : entry.reasons) reasons[reason] += gangs;
  }
  view.pending_by_reason.assign(reasons.begin(), reasons.end());
  return view;
}

std::vector<CohortView> QueueDirectory::CohortViews(const QuotaBook& book, NameQueues names) const {
  std::map<std::string, CohortView> views;
  for (const auto& [name, cohort] : book.cohorts()) {
    views[name].parent = cohort.parent;
    if (!cohort.parent.empty()) views.try_emplace(cohort.parent);
  }
  for (const auto& [name, entry] : by_name_) {
    if (entry->queue.cohort.empty()) continue;
    CohortView& view = views[entry->queue.cohort];
    if (names == NameQueues::kYes) view.queues.push_back(name);
  }
  std::vector<CohortView> all;
  for (auto& [name, view] : views) {
    view.name = name;
    view.problem = book.ProblemOfCohort(name);
    view.fair_share = FairShareOf(book.CohortNamed(name), book);
    view.usage = UsageOfCohort(name, book);
    all.push_back(std::move(view));
  }
  return all;
}

}  // namespace maniple
