#include "scheduler/state/pod_labels.h"

#include <algorithm>

namespace maniple {

bool PodLabels::Put(PodId pod, const StringMap& labels) {
  const auto known = pods_.find(pod);
  if (known == pods_.end() ? labels.empty()
                           : std::equal(known->second.begin(), known->second.end(),
                                        labels.entries().begin(), labels.entries().end(),
                                        [](const Pairs::value_type* carried, const Pair& label) {
                                          return carried->first == label;
                                        })) {
    return false;
  }
  Forget(pod);
  std::vector<Pairs::value_type*> carries;
  carries.reserve(labels.entries().size());
  for (const Pair& label : labels.entries()) {
    Pairs::value_type& pair = *pairs_.try_emplace(label).first;
    pair.second.insert(pod);
    OfKey& of_key = keys_[label.first];
    of_key.pairs.insert(&pair);
    ++of_key.pods;
    carries.push_back(&pair);
  }
  if (!carries.empty()) pods_.emplace(pod, std::move(carries));
  return true;
}

void PodLabels::Forget(PodId pod) {
  const auto known = pods_.find(pod);
  if (known == pods_.end()) return;
  GiveBack(pod, known->second);
  pods_.erase(known);
}

void PodLabels::GiveBack(PodId pod, const std::vector<Pairs::value_type*>& carried) {
  for (Pairs::value_type* pair : carried) {
    pair->second.erase(pod);
    const auto of_key = keys_.find(pair->first.first);
    if (--of_key->second.pods == 0) {
      keys_.erase(of_key);
    } else if (pair->second.empty()) {
      of_key->second.pairs.erase(pair);
    }
    if (!pair->second.empty()) continue;
    const Pair last = pair->first;  // the key must outlive the erasure
    pairs_.erase(last);
  }
}

const std::string* PodLabels::Find(PodId pod, absl::string_view key) const {
  const auto known = pods_.find(pod);
  if (known == pods_.end()) return nullptr;
  const auto at = std::ranges::lower_bound(
      known->second, key, {},
      [](const Pairs::value_type* carried) { return absl::string_view(carried->first.first); });
  return at != known->second.end() && (*at)->first.first == key ? &(*at)->first.second : nullptr;
}

void PodLabels::ForEach(PodId pod, absl::FunctionRef<void(const Pair&)> visit) const {
  const auto known = pods_.find(pod);
  if (known == pods_.end()) return;
  for (const Pairs::value_type* carried : known->second) visit(carried->first);
}

bool PodLabels::Matches(PodId pod, const LabelSelector& selector) const {
  return std::ranges::all_of(selector.requirements, [&](const SelectorRequirement& requirement) {
    return Satisfies(requirement, Find(pod, requirement.key));
  });
}

size_t PodLabels::CountOf(const Pair& label) const {
  const auto at = pairs_.find(label);
  return at == pairs_.end() ? 0 : at->second.size();
}

std::vector<PodId> PodLabels::PodsWith(const Pair& label) const {
  const auto at = pairs_.find(label);
  if (at == pairs_.end()) return {};
  std::vector<PodId> pods(at->second.begin(), at->second.end());
  std::sort(pods.begin(), pods.end());
  return pods;
}

size_t PodLabels::CountOfKey(absl::string_view key) const {
  const auto at = keys_.find(key);
  return at == keys_.end() ? 0 : at->second.pods;
}

std::vector<PodId> PodLabels::PodsWithKey(absl::string_view key) const {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return {};
  std::vector<PodId> pods;
  pods.reserve(at->second.pods);
  for (const Pairs::value_type* pair : at->second.pairs) {
    pods.insert(pods.end(), pair->second.begin(), pair->second.end());
  }
  std::sort(pods.begin(), pods.end());
  return pods;
}

}  // namespace maniple
