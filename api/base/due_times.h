// The times at which each of many things is due next, and the first of all. A value.
//
//   DueTimes<std::string> due;
//   due.Set("a", now + interval);                           // replaces its time from before
//   while (const auto key = due.PopDue(now)) LookAt(*key);  // the earliest first, ties by key
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"

namespace maniple {

template <typename Key>
class DueTimes final {
 public:
  // The infinite future: never.
  void Set(const Key& key, absl::Time at) {
    const auto it = at_.find(key);
    const absl::Time before = it == at_.end() ? absl::InfiniteFuture() : it->second;
    if (before == at) return;
    if (it != at_.end()) order_.erase({before, key});
    if (at == absl::InfiniteFuture()) {
      at_.erase(it);
      return;
    }
    at_.insert_or_assign(key, at);
    order_.emplace(at, key);
  }
  void Erase(const Key& key) { Set(key, absl::InfiniteFuture()); }
  void Clear() {
    at_.clear();
    order_.clear();
  }
  [[nodiscard]] absl::Time Next() const {
    return order_.empty() ? absl::InfiniteFuture() : order_.begin()->first;
  }
  // The earliest key that is due by `now`, taken out.
  std::optional<Key> PopDue(absl::Time now) {
    if (Next() > now || order_.empty()) return std::nullopt;
    Key key = order_.begin()->second;
    at_.erase(key);
    order_.erase(order_.begin());
    return key;
  }
  // The keys that are due by `now`, in their order.
  [[nodiscard]] std::vector<Key> Until(absl::Time now) const {
    std::set<Key> due;
    for (auto it = order_.begin(); it != order_.end() && it->first <= now; ++it) {
      due.insert(it->second);
    }
    return {due.begin(), due.end()};
  }
  [[nodiscard]] std::optional<absl::Time> At(const Key& key) const {
    const auto it = at_.find(key);
    return it == at_.end() ? std::nullopt : std::optional(it->second);
  }
  [[nodiscard]] bool Has(const Key& key) const { return at_.contains(key); }
  [[nodiscard]] size_t size() const { return at_.size(); }
  // REQUIRES: Next() is finite.
  [[nodiscard]] const Key& First() const { return order_.begin()->second; }

 private:
  absl::btree_map<Key, absl::Time> at_;
  std::set<std::pair<absl::Time, Key>> order_;
};

}  // namespace maniple
