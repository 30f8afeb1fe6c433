// Values with dense numbers, as an Interner gives them, that can be given back.
// Unused values are swept away at times, and their numbers go to other values later.
//
// Owned by the tables of ClusterState; scheduling thread. Numbers that were given back longest ago
// are used first, so that a stale number is more likely found out than misread.
//
//   SweptIds<HostPort, HostPortId> ports;
//   const auto [id, is_new] = ports.Intern(port);
//   ports.KeepOnly(used);   // used[id.index()]
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"

namespace maniple {

// Numbers below a bound that grows only with the number in use at once.
class SweptNumbers final {
 public:
  [[nodiscard]] uint32_t Take() {
    if (vacant_.empty()) return next_++;
    const uint32_t number = vacant_.front();
    vacant_.pop_front();
    return number;
  }
  void GiveBack(uint32_t number) { vacant_.push_back(number); }
  [[nodiscard]] uint32_t bound() const { return next_; }  // every number is below it

 private:
  uint32_t next_ = 0;
  std::deque<uint32_t> vacant_;
};

// The numbers that a sweep found in use, by index. Beyond the end: not in use.
class UsedIds final {
 public:
  template <typename IdType>
  bool Note(IdType id) {  // whether it was not noted before
    if (id.index() >= used_.size()) used_.resize(id.index() + 1);
    if (used_[id.index()]) return false;
    used_[id.index()] = true;
    return true;
  }
  template <typename IdType>
  [[nodiscard]] bool Has(IdType id) const {
    return id.index() < used_.size() && used_[id.index()];
  }

 private:
  std::vector<bool> used_;
};

template <typename Value, typename IdType>
class SweptIds final {
 public:
  struct Interned {
    IdType id;
    bool is_new = false;
  };
  [[nodiscard]] Interned Intern(const Value& value) {
    if (const std::optional<IdType> known = Find(value)) return {.id = *known};
    const IdType id(numbers_.Take());
    ids_.emplace(value, id);
    return {.id = id, .is_new = true};
  }
  [[nodiscard]] std::optional<IdType> Find(const Value& value) const {
    const auto at = ids_.find(value);
    if (at == ids_.end()) return std::nullopt;
    return at->second;
  }
  void KeepOnly(const UsedIds& used) {
    for (auto at = ids_.begin(); at != ids_.end();) {
      if (used.Has(at->second)) {
        ++at;
      } else {
        numbers_.GiveBack(at->second.index());
        at = ids_.erase(at);
      }
    }
  }
  [[nodiscard]] size_t size() const { return ids_.size(); }

 private:
  absl::btree_map<Value, IdType> ids_;
  SweptNumbers numbers_;
};

}  // namespace maniple
