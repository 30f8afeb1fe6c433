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
  std::vector<Pairs::value_type*> carries;
  carries.reserve(labels.entries().size());
  for (const Pair& label : labels.entries()) {
    Pairs::value_type& pair = *pairs_.try_emplace(label, 0).first;
    ++pair.second;
    carries.push_back(&pair);
  }
  Forget(pod);
  if (!carries.empty()) pods_.emplace(pod, std::move(carries));
  return true;
}

void PodLabels::Forget(PodId pod) {
  const auto known = pods_.find(pod);
  if (known == pods_.end()) return;
  GiveBack(known->second);
  pods_.erase(known);
}

void PodLabels::GiveBack(const std::vector<Pairs::value_type*>& carried) {
  for (Pairs::value_type* pair : carried) {
    if (--pair->second > 0) continue;
    const Pair last = pair->first;  // the key must outlive the erasure
    pairs_.erase(last);
  }
}

const std::string* PodLabels::Find(PodId pod, absl::string_view key) const {
  const auto known = pods_.find(pod);
  if (known == pods_.end()) return nullptr;
  for (const Pairs::value_type* carried : known->second) {
    if (carried->first.first == key) return &carried->first.second;
  }
  return nullptr;
}

}  // namespace maniple
