#include "scheduler/state/pod_queries.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

const StringMap kNoLabels;

}  // namespace

std::optional<PodSelection> SelectionOf(const PodAffinityTerm& term) {
  if (!term.selector.has_value()) return std::nullopt;
  return PodSelection{.namespaces = term.namespaces,
                      .namespace_selector = term.namespace_selector,
                      .selector = *term.selector};
}

// An empty selector counts nobody.
std::optional<PodSelection> SelectionOf(const TopologySpreadConstraint& constraint) {
  if (!constraint.selector.has_value() || constraint.selector->requirements.empty()) {
    return std::nullopt;
  }
  return PodSelection{.namespaces = {constraint.namespace_name},
                      .namespace_selector = std::nullopt,
                      .selector = *constraint.selector};
}

std::vector<PodLabels::Pair> PodQueries::LabelsToListUnder(const PodQuery& query) const {
  std::vector<PodLabels::Pair> best;
  size_t fewest = 0;
  for (const PodSelection& part : query) {
    for (const SelectorRequirement& requirement : part.selector.requirements) {
      if (requirement.op != SelectorOperator::kIn || requirement.values.empty()) continue;
      std::vector<PodLabels::Pair> labels;
      size_t pods = 0;
      for (const std::string& value : requirement.values) {
        labels.emplace_back(requirement.key, value);
        pods += labels_.CountOf(labels.back());
      }
      if (!best.empty() && pods >= fewest) continue;
      best = std::move(labels);
      fewest = pods;
    }
  }
  return best;
}

PodCountId PodQueries::Intern(PodQuery query, PodCountKind kind, absl::string_view topology_key) {
  const PodQueryId next_query(static_cast<uint32_t>(queries_.size()));
  const auto [known, is_new] = query_ids_.try_emplace(std::move(query), next_query);
  const PodQueryId id = known->second;
  if (is_new) {
    Query made{
        .what = &known->first, .counts = {}, .listed_under = LabelsToListUnder(known->first)};
    for (const PodLabels::Pair& label : made.listed_under) by_label_[label].push_back(id);
    const PodSelection& first = made.what->front();
    if (made.listed_under.empty()) {
      const bool in_one = first.namespaces.size() == 1 && !first.namespace_selector.has_value();
      (in_one ? by_namespace_[first.namespaces.front()] : broad_).push_back(id);
    }
    selects_namespaces_ =
        selects_namespaces_ || std::ranges::any_of(*made.what, [](const PodSelection& part) {
          return part.namespace_selector.has_value() &&
                 !part.namespace_selector->requirements.empty();
        });
    queries_.push_back(std::move(made));
  }
  Facts facts{.query = id, .kind = kind, .topology_key = std::string(topology_key)};
  const PodCountId next_count(static_cast<uint32_t>(counts_.size()));
  const auto [count, is_new_count] = count_ids_.try_emplace(facts, next_count);
  if (is_new_count) {
    counts_.push_back(std::move(facts));
    queries_[id.index()].counts.push_back(count->second);
    if (std::ranges::find(fresh_, id) == fresh_.end()) fresh_.push_back(id);
  }
  return count->second;
}

std::vector<PodQueryId> PodQueries::TakeFresh() { return std::exchange(fresh_, {}); }

std::optional<std::vector<PodId>> PodQueries::Candidates(PodQueryId query) const {
  const Query& asked = queries_[query.index()];
  if (asked.listed_under.empty()) return std::nullopt;
  std::vector<PodId> pods;
  for (const PodLabels::Pair& label : asked.listed_under) {
    const std::vector<PodId> more = labels_.PodsWith(label);
    pods.insert(pods.end(), more.begin(), more.end());
  }
  std::sort(pods.begin(), pods.end());
  return pods;
}

bool PodQueries::InNamespaces(const PodSelection& part, absl::string_view name,
                              Unknown unknown) const {
  if (std::binary_search(part.namespaces.begin(), part.namespaces.end(), name)) return true;
  if (!part.namespace_selector.has_value()) return false;
  if (part.namespace_selector->requirements.empty()) return true;  // every one
  const auto known = namespaces_.find(name);
  if (known != namespaces_.end()) return part.namespace_selector->Matches(known->second);
  return unknown == Unknown::kHasNoLabels && part.namespace_selector->Matches(kNoLabels);
}

bool PodQueries::Selects(const Query& query, const PodIdentity& pod, Unknown unknown) const {
  return std::ranges::all_of(*query.what, [&](const PodSelection& part) {
    return InNamespaces(part, pod.namespace_name, unknown) &&
           labels_.Matches(pod.pod, part.selector);
  });
}

void PodQueries::AddMatches(PodQueryId query, const PodIdentity& pod,
                            std::vector<PodCountId>& out) const {
  const Query& asked = queries_[query.index()];
  if (!Selects(asked, pod, Unknown::kHasNoLabels)) return;
  const bool listed = Selects(asked, pod, Unknown::kIsNotListed);
  for (const PodCountId count : asked.counts) {
    const PodCountKind kind = Of(count).kind;
    const bool of_pods = kind == PodCountKind::kPresent || kind == PodCountKind::kLive;
    if (of_pods && !listed) continue;
    if (pod.terminating && kind == PodCountKind::kLive) continue;
    out.push_back(count);
  }
}

std::vector<PodCountId> PodQueries::MatchesOf(const PodIdentity& pod) const {
  std::vector<PodCountId> matches;
  if (queries_.empty()) return matches;
  const auto add = [&](const std::vector<PodQueryId>& queries) {
    for (const PodQueryId query : queries) AddMatches(query, pod, matches);
  };
  labels_.ForEach(pod.pod, [&](const PodLabels::Pair& label) {
    if (const auto listed = by_label_.find(label); listed != by_label_.end()) add(listed->second);
  });
  if (const auto listed = by_namespace_.find(pod.namespace_name); listed != by_namespace_.end()) {
    add(listed->second);
  }
  add(broad_);
  std::sort(matches.begin(), matches.end());
  return matches;
}

std::vector<PodCountId> PodQueries::MatchesOfSlowly(const PodIdentity& pod) const {
  std::vector<PodCountId> matches;
  for (uint32_t i = 0; i < queries_.size(); ++i) AddMatches(PodQueryId(i), pod, matches);
  std::sort(matches.begin(), matches.end());
  return matches;
}

bool PodQueries::SetNamespaceLabels(absl::string_view name,
                                    const std::optional<StringMap>& labels) {
  const auto known = namespaces_.find(name);
  if (!labels.has_value()) {
    if (known == namespaces_.end()) return false;
    namespaces_.erase(known);
    return selects_namespaces_;
  }
  if (known != namespaces_.end() && known->second == *labels) return false;
  namespaces_[std::string(name)] = *labels;
  return selects_namespaces_;
}

}  // namespace maniple
