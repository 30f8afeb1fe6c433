// When each of many things is due: at most one time per key.
//
// A value; ties go by key, so that the same inputs give the same order.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/time.h"

namespace maniple::devcluster {

template <typename Key>
class Deadlines final {
 public:
  void Set(const Key& key, absl::Time when) {
    Clear(key);
    times_.emplace(key, when);
    order_.emplace(when, key);
  }
  void Clear(const Key& key) {
    const auto found = times_.find(key);
    if (found == times_.end()) return;
    order_.erase({found->second, key});
    times_.erase(found);
  }
  [[nodiscard]] bool Has(const Key& key) const { return times_.count(key) > 0; }
  [[nodiscard]] absl::Time Next() const {
    return order_.empty() ? absl::InfiniteFuture() : order_.begin()->first;
  }
  // The earliest key whose time has come, taken out.
  std::optional<Key> PopDue(absl::Time now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    Key key = order_.begin()->second;
    Clear(key);
    return key;
  }

 private:
  std::map<Key, absl::Time> times_;
  std::set<std::pair<absl::Time, Key>> order_;
};

}  // namespace maniple::devcluster
