// Whether gangs are whole and stand where they must: the promises of Truth that are about them.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "test/sim/truth.h"

namespace maniple::sim {
namespace {

// So far from each other at most are the first and the last bind of a quorum, if nothing is lost.
constexpr absl::Duration kBoundTogether = absl::Seconds(10);

}  // namespace

void Truth::NoteOverwritten(const std::string& gang, absl::Time now) {
  GangFacts& facts = gangs_[gang];
  facts.forged = true;
  facts.succeeded_told = 0;
  if (facts.whole_since <= now) facts.whole_since = now;
}

void Truth::NoteGroupGone(const std::string& gang, absl::Time now) {
  GangFacts& facts = gangs_[gang];
  facts.seen = facts.group_gone_at = now;
  facts.whole_since = absl::InfiniteFuture();
  const bool some = std::ranges::any_of(pods_, [&gang](const auto& pod) {
    return pod.second.gang == gang && pod.second.stands() && pod.second.ours;
  });
  if (some && !facts.was_whole && !BoundByOthers(gang)) facts.half_since = now;
}

std::string Truth::AdmittedQueueOf(const std::string& gang) const {
  const auto placed = std::ranges::find_if(pods_, [&gang](const auto& entry) {
    const PodFacts& pod = entry.second;
    return pod.gang == gang && !pod.node.empty() && !pod.ended();
  });
  return placed == pods_.end() ? gangs_.at(gang).queue : placed->second.admitted;
}

bool Truth::StandsApart(const std::string& gang) const {
  const auto group = groups_.find(gang);
  if (group == groups_.end()) return false;
  std::map<std::string, std::set<std::string>> racks;  // by what must be together; "" is the gang
  for (const auto& [key, pod] : pods_) {
    const auto node = nodes().find(pod.node);
    if (pod.gang != gang || node == nodes().end() || pod.ended()) continue;
    const auto part = group->second.sub_groups.find(pod.sub_group);
    if (group->second.in_one_rack) racks[""].insert(node->second.rack);
    if (part != group->second.sub_groups.end() && part->second.in_one_rack) {
      racks[pod.sub_group].insert(node->second.rack);
    }
  }
  return std::ranges::any_of(racks, [](const auto& part) { return part.second.size() > 1; });
}

std::string Truth::QueueAtBind(const PodFacts& pod, absl::Time now) const {
  const bool tells = expected_.pod == pod.key;
  const std::string told = tells ? expected_.queue : "";
  if (IsOfTenant(pod.key)) return told;
  const GangFacts& gang = gangs_.at(pod.gang);
  const bool late = tells && gang.queue_since > now - blind_for_ && told == gang.queue_before;
  if (late || (tells && told == gang.queue && IsOnlyBoundByOthers(pod.gang))) return told;
  return AdmittedQueueOf(pod.gang);
}

// What others have bound a leader charges to the Queue that the gang names when it hears of that:
// it may hear of an edit first.
bool Truth::IsOnlyBoundByOthers(const std::string& gang) const {
  return std::ranges::none_of(pods_, [&gang](const auto& entry) {
    const PodFacts& pod = entry.second;
    return pod.gang == gang && pod.ours && !pod.node.empty() && !pod.ended();
  });
}

void Truth::AdmitThoseBoundByOthers(const std::string& gang, const std::string& queue) {
  for (auto& [key, pod] : pods_) {
    if (pod.gang != gang || pod.ours || pod.node.empty() || pod.ended()) continue;
    pod.admitted = queue;
    bound_.at(pod.uid).queue = queue;
  }
}

// Where everybody had succeeded, who comes now begins anew.
void Truth::NoteNewRun(const std::string& gang) {
  const auto group = groups_.find(gang);
  if (group == groups_.end()) return;
  GangFacts& facts = gangs_[gang];
  const bool over = std::ranges::none_of(pods_, [&gang](const auto& pod) {
    return pod.second.gang == gang && !pod.second.ended() && !pod.second.deleting;
  });
  const auto ever = static_cast<int64_t>(facts.succeeded.size());
  if (!over || ever < group->second.min_member) return;
  facts.of_past_runs.clear();
  for (const std::string& key : facts.succeeded) {
    if (!pods_.contains(key)) facts.of_past_runs.insert(key);
  }
}

// While the status still says Completed, a leader that comes takes who lives for a new run.
void Truth::NoteCleaned(const PodFacts& pod) {
  const auto group = groups_.find(pod.gang);
  if (pod.phase != "Succeeded" || group == groups_.end() || group->second.phase != "Completed") {
    return;
  }
  const bool some_live = std::ranges::any_of(pods_, [&pod](const auto& other) {
    return other.second.gang == pod.gang && !other.second.ended() && !other.second.deleting;
  });
  if (some_live) gangs_[pod.gang].of_past_runs.insert(pod.key);
}

int64_t Truth::CleanedOf(const std::string& gang) const {
  const GangFacts& facts = gangs_.at(gang);
  const auto there = std::ranges::count_if(pods_, [&gang](const auto& pod) {
    return pod.second.gang == gang && pod.second.phase == "Succeeded";
  });
  const auto ever = static_cast<int64_t>(facts.succeeded.size() - facts.of_past_runs.size());
  return std::max<int64_t>(0, std::min(facts.succeeded_told, ever) - there);
}

void Truth::NoteQuorum(const std::string& gang, absl::Time now) {
  const auto group = groups_.find(gang);
  GangFacts& facts = gangs_[gang];
  if (group == groups_.end()) {
    // The rest of its quorum was on its way when its PodGroup went; who was bound a moment before
    // counts even if it had to leave at once, which its leader may have learnt later.
    const absl::Time lately = facts.group_gone_at - kBoundTogether;
    int64_t counts = std::ranges::count_if(pods_, [&](const auto& entry) {
      const PodFacts& pod = entry.second;
      const bool there = pod.phase == "Succeeded" || pod.stands();
      return pod.gang == gang && there && pod.bound_at < lately;
    });
    counts += std::ranges::count_if(bound_, [&](const auto& entry) {
      const BindFacts& bound = entry.second;
      return bound.gang == gang && bound.at >= lately;
    });
    if (counts >= facts.last_quorum) facts.half_since = absl::InfiniteFuture();
    return;
  }
  facts.last_quorum = group->second.min_member;
  std::map<std::string, int64_t> count;  // of each sub-group, and in all
  for (const auto& [key, pod] : pods_) {
    if (pod.gang != gang) continue;
    if (pod.phase != "Succeeded" && !pod.stands()) continue;
    ++count[""];
    if (!pod.sub_group.empty()) ++count[pod.sub_group];
  }
  count[""] += CleanedOf(gang);
  const bool whole = count[""] >= group->second.min_member &&
                     std::ranges::all_of(group->second.sub_groups, [&count](const auto& sub) {
                       return count[sub.first] >= sub.second.min_member;
                     });
  facts.was_whole = facts.was_whole || whole;
  if (whole) facts.quorum_met = group->second.min_member;
  facts.whole_since = whole ? std::min(facts.whole_since, now) : absl::InfiniteFuture();
}

// Where somebody else has bound one of them a moment ago nobody knows it yet, and a node that was
// gone a moment ago may be so still, as far as the scheduler knows.
void Truth::CheckDomainsHold(const PodFacts& pod, absl::Time now) {
  const auto group = groups_.find(pod.gang);
  const Json* labels = nodes_.LabelsOf(pod.node);
  if (group == groups_.end() || labels == nullptr || IsOfTenant(pod.key)) return;
  const auto may_be_gone = [&](const std::string& node) {
    const std::optional<absl::Time> lost = nodes_.LostAt(node);
    return !nodes().contains(node) || (lost.has_value() && *lost >= now - blind_for_);
  };
  // The bind was sent before, and lands after others of them were replaced elsewhere.
  if (may_be_gone(pod.node)) return;
  const auto sub_group = group->second.sub_groups.find(pod.sub_group);
  const bool together =
      sub_group != group->second.sub_groups.end() && sub_group->second.in_one_rack;
  for (const auto& [key, other] : pods_) {
    if (other.gang != pod.gang || !other.stands() || key == pod.key) continue;
    const bool near = group->second.in_one_rack || (together && other.sub_group == pod.sub_group);
    const bool known = other.ours || other.bound_at < now - blind_for_;
    if (!near || !known || may_be_gone(other.node)) continue;
    if (nodes().at(other.node).rack == (*labels)[kRackLabel].AsString()) continue;
    Violated(now, absl::StrCat("DomainsHold: ", pod.key, " is bound on ", pod.node, ", in another ",
                               "rack than ", key, " on ", other.node));
    return;
  }
}

}  // namespace maniple::sim
