// The ready items of gangs without a Queue, in one lane per namespace. Of this room only; owned by
// Lanes.
//
// Borrows every ItemStanding from Insert until Erase; its order stays as it is meanwhile.
//
// Invariant: heads_ holds the first of each lane that does not stand aside, and nothing else.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "queue/standing.h"

namespace maniple {

class LooseLanes final {
 public:
  void Insert(ItemStanding& standing);
  void Erase(ItemStanding& standing);
  // The next item to serve, of lanes that do not stand aside; it stays here. Null: none.
  [[nodiscard]] ItemStanding* Best() const { return heads_.empty() ? nullptr : *heads_.begin(); }
  [[nodiscard]] size_t size() const { return size_; }

  void StandAside(const std::string& namespace_name);
  // False: no lane stood aside.
  bool BringBack();
  // Takes out the items for which `which` is true.
  [[nodiscard]] OrderedStandings Take(absl::FunctionRef<bool(const ItemStanding&)> which);

 private:
  struct Lane {
    OrderedStandings ready;
    bool aside = false;
  };
  // Calls `change` with the lane while its head is out of heads_.
  void Change(const std::string& namespace_name, absl::FunctionRef<void(Lane&)> change);

  std::map<std::string, Lane> lanes_;  // one that is empty stands aside
  OrderedStandings heads_;
  size_t size_ = 0;
  bool some_aside_ = false;
};

}  // namespace maniple
