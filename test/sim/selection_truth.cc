#include "test/sim/selection_truth.h"

#include "test/sim/quota_truth.h"

namespace maniple::sim {

void SelectionTruth::NoteNamespace(const std::string& name, const Json& labels, absl::Time now) {
  namespaces_[name].push_back({.since = now, .value = labels});
}

void SelectionTruth::NoteSelector(const std::string& queue, const Json& selector, absl::Time now) {
  selectors_[queue].push_back({.since = now, .value = selector});
}

// It was so at some time since then.
bool SelectionTruth::WasSoSince(const std::vector<Version>& versions, size_t number,
                                absl::Time then) {
  return number + 1 == versions.size() || versions[number + 1].since >= then;
}

bool SelectionTruth::AnySelection(const std::string& queue, const std::string& namespace_name,
                                  absl::Time then, Selection of_what) const {
  const auto selectors = selectors_.find(queue);
  const auto labels = namespaces_.find(namespace_name);
  if (selectors == selectors_.end() || labels == namespaces_.end()) return of_what == kNone;
  // Queues and namespaces are watched by streams of their own: whoever has heard of one change may
  // not have heard of an earlier one of the other.
  for (size_t i = 0; i < selectors->second.size(); ++i) {
    if (!WasSoSince(selectors->second, i, then)) continue;
    for (size_t k = 0; k < labels->second.size(); ++k) {
      if (!WasSoSince(labels->second, k, then)) continue;
      const Json& selector = selectors->second[i].value;
      const bool selects = QuotaTruth::Selects(selector, labels->second[k].value);
      if (selects == (of_what == kSome)) return true;
    }
  }
  return false;
}

bool SelectionTruth::MaySelectSince(const std::string& queue, const std::string& namespace_name,
                                    absl::Time then) const {
  return AnySelection(queue, namespace_name, then, kSome);
}

bool SelectionTruth::SelectsSince(const std::string& queue, const std::string& namespace_name,
                                  absl::Time then) const {
  return !AnySelection(queue, namespace_name, then, kNone);
}

}  // namespace maniple::sim
