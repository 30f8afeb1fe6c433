#include "scheduler/state/pod_queries.h"

#include "api/base/sort_unique.h"

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

// An empty selector counts no pod.
std::optional<PodSelection> SelectionOf(const TopologySpreadConstraint& constraint) {
  if (!constraint.selector.has_value() || constraint.selector->requirements.empty()) {
    return std::nullopt;
  }
  return PodSelection{.namespaces = {constraint.namespace_name},
                      .namespace_selector = std::nullopt,
                      .selector = *constraint.selector};
}

QueryPlaces PodQueries::PlacesFor(const PodQuery& query) const {
  NarrowestPlaces narrowest(labels_);
  for (const PodSelection& part : query) {
    if (!part.namespace_selector.has_value() && !part.namespaces.empty()) {
      narrowest.NoteNamespaces(part.namespaces);
    }
    for (const SelectorRequirement& requirement : part.selector.requirements) {
      narrowest.Note(requirement);
    }
  }
  return narrowest.Take();
}

PodQueryId PodQueries::Put(PodQuery query) {
  const auto [known, is_new] = query_ids_.try_emplace(std::move(query));
  if (!is_new) return known->second;
  const PodQueryId id(query_numbers_.Take());
  known->second = id;
  Query made{.what = &known->first, .counts = {}, .places = PlacesFor(known->first)};
  listing_.Add(made.places, id);
  const bool selects_namespaces = std::ranges::any_of(*made.what, [](const PodSelection& part) {
    return part.namespace_selector.has_value() && !part.namespace_selector->requirements.empty();
  });
  if (selects_namespaces) selecting_namespaces_.push_back(id);
  if (id.index() >= queries_.size()) queries_.resize(id.index() + 1);
  queries_[id.index()] = std::move(made);
  return id;
}

PodCountId PodQueries::Intern(PodQuery query, PodCountKind kind, absl::string_view topology_key) {
  const PodQueryId id = Put(std::move(query));
  Facts facts{.query = id, .kind = kind, .topology_key = std::string(topology_key)};
  const auto [known, is_new] = count_ids_.try_emplace(facts);
  if (!is_new) return known->second;
  const PodCountId count(count_numbers_.Take());
  known->second = count;
  if (count.index() >= counts_.size()) counts_.resize(count.index() + 1);
  counts_[count.index()] = std::move(facts);
  Query& asked = queries_[id.index()];
  asked.counts.push_back(count);
  if (!std::exchange(asked.fresh, true)) fresh_.push_back(id);
  return count;
}

void PodQueries::Drop(PodQueryId query) {
  Query& dropped = queries_[query.index()];
  listing_.Remove(dropped.places, query);
  std::erase(selecting_namespaces_, query);
  query_ids_.erase(query_ids_.find(*dropped.what));
  dropped = {};
  query_numbers_.GiveBack(query.index());
}

void PodQueries::KeepOnly(const UsedIds& counts) {
  for (uint32_t i = 0; i < counts_.size(); ++i) {
    const PodCountId count(i);
    if (!counts_[i].query.valid() || counts.Has(count)) continue;
    count_ids_.erase(counts_[i]);
    const PodQueryId query = std::exchange(counts_[i], {}).query;
    std::vector<PodCountId>& left = queries_[query.index()].counts;
    std::erase(left, count);
    if (left.empty()) Drop(query);
    count_numbers_.GiveBack(i);
  }
}

AskedAnew PodQueries::Anew(std::vector<PodQueryId> queries) const {
  AskedAnew anew{.queries = std::move(queries), .places = {}, .listing = {}};
  std::sort(anew.queries.begin(), anew.queries.end());
  for (const PodQueryId query : anew.queries) {
    const QueryPlaces& places = queries_[query.index()].places;
    anew.listing.Add(places, query);
    anew.places.push_back(places);
  }
  SortUnique(anew.places);
  return anew;
}

AskedAnew PodQueries::TakeFresh() {
  for (const PodQueryId query : fresh_) queries_[query.index()].fresh = false;
  return Anew(std::exchange(fresh_, {}));
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
  listing_.ForEach(pod.namespace_name, pod.pod, labels_, [&](PodQueryId query) {
    AddMatches(query, pod, matches);
    return VisitNext::kQuery;
  });
  std::sort(matches.begin(), matches.end());
  return matches;
}

std::vector<PodCountId> PodQueries::MatchesAnew(const PodIdentity& pod,
                                                const std::vector<PodCountId>& before,
                                                const AskedAnew& anew) const {
  std::vector<PodCountId> matches;
  for (const PodCountId count : before) {
    if (!std::ranges::binary_search(anew.queries, Of(count).query)) matches.push_back(count);
  }
  const auto kept = static_cast<int64_t>(matches.size());
  anew.listing.ForEach(pod.namespace_name, pod.pod, labels_, [&](PodQueryId query) {
    AddMatches(query, pod, matches);
    return VisitNext::kQuery;
  });
  std::sort(matches.begin() + kept, matches.end());
  std::inplace_merge(matches.begin(), matches.begin() + kept, matches.end());
  return matches;
}

std::vector<PodCountId> PodQueries::MatchesOfSlowly(const PodIdentity& pod) const {
  std::vector<PodCountId> matches;
  for (uint32_t i = 0; i < queries_.size(); ++i) {
    if (queries_[i].what != nullptr) AddMatches(PodQueryId(i), pod, matches);
  }
  std::sort(matches.begin(), matches.end());
  return matches;
}

std::vector<bool> PodQueries::SelectionsOf(absl::string_view namespace_name) const {
  std::vector<bool> selections;
  for (const PodQueryId query : selecting_namespaces_) {
    for (const PodSelection& part : *queries_[query.index()].what) {
      for (const Unknown unknown : {Unknown::kIsNotListed, Unknown::kHasNoLabels}) {
        selections.push_back(InNamespaces(part, namespace_name, unknown));
      }
    }
  }
  return selections;
}

AskedAnew PodQueries::SetNamespaceLabels(absl::string_view name,
                                         const std::optional<StringMap>& labels) {
  const auto known = namespaces_.find(name);
  const bool is_known = known != namespaces_.end();
  if (is_known == labels.has_value() && (!is_known || known->second == *labels)) return {};
  const std::vector<bool> before = SelectionsOf(name);
  if (labels.has_value()) {
    namespaces_[std::string(name)] = *labels;
  } else {
    namespaces_.erase(known);
  }
  const std::vector<bool> after = SelectionsOf(name);
  std::vector<PodQueryId> changed;
  size_t at = 0;
  for (const PodQueryId query : selecting_namespaces_) {
    const size_t end = at + 2 * queries_[query.index()].what->size();
    bool differs = false;
    for (; at < end; ++at) differs = differs || before[at] != after[at];
    if (differs) changed.push_back(query);
  }
  return Anew(std::move(changed));
}

}  // namespace maniple
