#include "scheduler/state/query_listing.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "api/base/sort_unique.h"

namespace maniple {
namespace {

// A query for more pairs of namespace and value than this is listed by its values alone.
constexpr size_t kMostPairs = 64;

const std::vector<std::string> kAny = {""};

const std::vector<std::string>& NamespacesOf(const QueryPlaces& places) {
  return places.namespaces.empty() ? kAny : places.namespaces;
}

template <typename Map, typename Key, typename QueryId>
void DropFrom(Map& map, const Key& key, const QueryId& query) {
  const auto at = map.find(key);
  CHECK(at != map.end()) << "a query is not listed";
  at->second.erase(query);
  if (at->second.empty()) map.erase(at);
}

}  // namespace

void NarrowestPlaces::Note(const SelectorRequirement& requirement) {
  QueryPlaces places;
  size_t pods = 0;
  switch (requirement.op) {
    case SelectorOperator::kNotIn:
    case SelectorOperator::kDoesNotExist:
      return;  // pods that have nothing in common
    case SelectorOperator::kIn:
      places.values = requirement.values;
      SortUnique(places.values);
      for (const std::string& value : places.values) {
        pods += labels_.CountOf({requirement.key, value});
      }
      break;
    case SelectorOperator::kExists:
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      pods = labels_.CountOfKey(requirement.key);
      break;
  }
  if (requirement.op == SelectorOperator::kIn && places.values.empty()) return;
  if (!best_.key.empty() && pods >= fewest_) return;
  best_.key = requirement.key;
  best_.values = std::move(places.values);
  fewest_ = pods;
}

void NarrowestPlaces::NoteNamespaces(const std::vector<std::string>& namespaces) {
  if (best_.namespaces.empty() || namespaces.size() < best_.namespaces.size()) {
    best_.namespaces = namespaces;
  }
}

QueryPlaces NarrowestPlaces::Take() {
  if (best_.namespaces.size() * best_.values.size() > kMostPairs) best_.namespaces.clear();
  return std::move(best_);
}

template <typename QueryId>
void ListingOf<QueryId>::AddIn(InNamespace& listed, const QueryPlaces& places,
                               const QueryId& query) {
  if (places.key.empty()) {
    listed.others.insert(query);
  } else if (places.values.empty()) {
    listed.by_key[places.key].insert(query);
  }
  for (const std::string& value : places.values) {
    listed.by_label[{places.key, value}].insert(query);
  }
}

template <typename QueryId>
void ListingOf<QueryId>::Add(const QueryPlaces& places, const QueryId& query) {
  for (const std::string& name : NamespacesOf(places)) AddIn(by_namespace_[name], places, query);
}

template <typename QueryId>
void ListingOf<QueryId>::RemoveFrom(absl::string_view namespace_name, const QueryPlaces& places,
                                    const QueryId& query) {
  const auto at = by_namespace_.find(namespace_name);
  CHECK(at != by_namespace_.end()) << "a query is not listed";
  InNamespace& listed = at->second;
  if (places.key.empty()) {
    listed.others.erase(query);
  } else if (places.values.empty()) {
    DropFrom(listed.by_key, places.key, query);
  }
  for (const std::string& value : places.values) {
    DropFrom(listed.by_label, PodLabels::Pair(places.key, value), query);
  }
  if (listed.empty()) by_namespace_.erase(at);
}

template <typename QueryId>
void ListingOf<QueryId>::Remove(const QueryPlaces& places, const QueryId& query) {
  for (const std::string& name : NamespacesOf(places)) RemoveFrom(name, places, query);
}

template <typename QueryId>
void ListingOf<QueryId>::ForEach(absl::string_view namespace_name, PodId pod,
                                 const PodLabels& labels,
                                 absl::FunctionRef<VisitNext(const QueryId&)> visit) const {
  const auto visit_all = [&](const Queries& queries) {
    for (const QueryId& query : queries) {
      if (visit(query) == VisitNext::kList) break;
    }
  };
  for (const absl::string_view name : {namespace_name, absl::string_view()}) {
    const auto at = by_namespace_.find(name);
    if (at == by_namespace_.end()) continue;
    const InNamespace& listed = at->second;
    if (!listed.by_label.empty() || !listed.by_key.empty()) {
      labels.ForEach(pod, [&](const PodLabels::Pair& label) {
        const auto with_label = listed.by_label.find(label);
        if (with_label != listed.by_label.end()) visit_all(with_label->second);
        const auto with_key = listed.by_key.find(label.first);
        if (with_key != listed.by_key.end()) visit_all(with_key->second);
      });
    }
    visit_all(listed.others);
    if (namespace_name.empty()) return;
  }
}

template <typename QueryId>
size_t ListingOf<QueryId>::CrowdAt(absl::string_view namespace_name,
                                   const QueryPlaces& places) const {
  const auto at = by_namespace_.find(namespace_name);
  if (at == by_namespace_.end()) return 0;
  const InNamespace& listed = at->second;
  if (places.key.empty()) return listed.others.size();
  if (places.values.empty()) {
    const auto with_key = listed.by_key.find(places.key);
    return with_key == listed.by_key.end() ? 0 : with_key->second.size();
  }
  size_t most = 0;
  for (const std::string& value : places.values) {
    const auto with_label = listed.by_label.find(PodLabels::Pair(places.key, value));
    if (with_label != listed.by_label.end()) most = std::max(most, with_label->second.size());
  }
  return most;
}

template class ListingOf<PodQueryId>;
template class ListingOf<std::string>;

}  // namespace maniple
