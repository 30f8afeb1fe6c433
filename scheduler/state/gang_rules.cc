#include "scheduler/state/gang_rules.h"

#include <algorithm>

#include "queue/assembly.h"
#include "scheduler/state/gang_members.h"

namespace maniple {

void GangRules::SetClass(absl::string_view priority_class, std::optional<ClassFacts> facts) {
  if (facts.has_value()) {
    classes_[priority_class] = *facts;
  } else {
    classes_.erase(priority_class);
  }
}

bool GangRules::SetNamespaceQueue(absl::string_view namespace_name, absl::string_view queue) {
  const auto it = namespace_queues_.find(namespace_name);
  const absl::string_view had =
      it == namespace_queues_.end() ? absl::string_view() : absl::string_view(it->second);
  if (had == queue) return false;
  if (queue.empty()) {
    namespace_queues_.erase(it);
  } else {
    namespace_queues_[namespace_name] = std::string(queue);
  }
  return true;
}

int32_t GangRules::PriorityOf(const Gang& gang) const {
  std::optional<int32_t> among_live, among_all;
  for (const Member& member : gang.members) {
    among_all = std::max(among_all.value_or(member.priority), member.priority);
    if (!IsLive(member) || member.state == MemberState::kGated) continue;  // it may never start
    among_live = std::max(among_live.value_or(member.priority), member.priority);
  }
  const std::optional<int32_t> members = among_live.has_value() ? among_live : among_all;
  const auto it = classes_.find(gang.spec.priority_class_name);
  if (it == classes_.end()) return members.value_or(0);
  return std::min(it->second.value, members.value_or(it->second.value));
}

bool GangRules::LacksClass(const Gang& gang) const {
  return !gang.spec.priority_class_name.empty() &&
         !classes_.contains(gang.spec.priority_class_name);
}

bool GangRules::MayPreempt(const Gang& gang) const {
  if (!gang.spec.preempts) return false;
  const auto it = classes_.find(gang.spec.priority_class_name);
  if (it != classes_.end() && !it->second.preempts) return false;
  const auto says_so = [](const Member& member) { return member.preempts; };
  return std::all_of(gang.members.begin(), gang.members.end(), says_so) || QuorumMayPreempt(gang);
}

absl::string_view GangRules::QueueOf(const Gang& gang) const {
  if (gang.admitted_queue.has_value()) return *gang.admitted_queue;
  if (!gang.spec.queue.empty() || gang.brings_quota) return gang.spec.queue;
  const auto it = namespace_queues_.find(gang.key.namespace_name);
  return it != namespace_queues_.end() ? it->second : default_queue_;
}

}  // namespace maniple
