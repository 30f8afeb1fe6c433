// The parked items in classes: items of one class failed for the same reason with the same request,
// so one is asked for all. Of this room only; owned by GangQueue.
//
// Borrows every ItemStanding while it is in a class.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "queue/standing.h"

namespace maniple {

struct ParkedClassName {
  std::string key;
  uint32_t relief = 0;
  ShapeId smallest_shape;
  QuotaNodeId queue;  // invalid: the class spans all Queues
  friend auto operator<=>(const ParkedClassName&, const ParkedClassName&) = default;
};

struct ParkedClass {
  ParkedClassName name;
  OrderedStandings asleep;
  ItemStanding* speaker = nullptr;  // awake on behalf of all and not answered yet
  int32_t awake = 0;                // woken from here and not answered yet, the speaker included
  // For a class that waits for quota: the node of the tree within which usage must fall first.
  // It follows from the shortage of the first asleep; the root while that is unknown.
  // Invalid: it waits for no quota.
  QuotaNodeId watched;
};

class ParkedClasses final {
 public:
  // Borrows the tree until the next call, to find roots.
  void SetTree(const QuotaTree* tree);

  // The class of that name, an empty one if there is none yet.
  [[nodiscard]] ParkedClassId IdOf(ParkedClassName name);
  [[nodiscard]] ParkedClass& At(ParkedClassId id) { return classes_.at(id); }
  void DropIfEmpty(ParkedClassId id);

  struct Questions {
    absl::FunctionRef<bool(ShapeId)> fits;               // asked once per shape
    absl::FunctionRef<bool(const ParkedClass&)> asking;  // its question is out already
    absl::FunctionRef<bool(const ParkedClass&)> has_quota;
  };
  // Classes that the event may help and whose question is not out already.
  [[nodiscard]] std::vector<ParkedClassId> Hit(uint32_t relief, const Questions& ask);
  // Classes that watch the node and whose question is not out already.
  [[nodiscard]] std::vector<ParkedClassId> Watching(
      QuotaNodeId node, absl::FunctionRef<bool(const ParkedClass&)> asking);
  void Watch(ParkedClassId id, QuotaNodeId node);
  void WatchRoot(ParkedClassId id);  // for the known shortage no longer holds
  void WatchRoots();                 // … of any class
  // Shapes by which classes are woken.
  void ForEachShape(absl::FunctionRef<void(ShapeId)> visit) const {
    for (const auto& [needs, ids] : by_needs_) {
      if (needs.first.valid()) visit(needs.first);
    }
  }
  // How many classes were looked at since the start.
  [[nodiscard]] uint64_t looked_at() const { return looked_at_; }

 private:
  // The tree in whose quota the class has a share; invalid: it waits for no quota.
  [[nodiscard]] QuotaNodeId RootOf(const ParkedClassName& name) const;

  const QuotaTree* tree_ = nullptr;
  std::map<ParkedClassId, ParkedClass> classes_;
  std::map<ParkedClassName, ParkedClassId> ids_;
  std::map<std::pair<ShapeId, uint32_t>, std::set<ParkedClassId>> by_needs_;  // shape and relief
  std::map<QuotaNodeId, std::set<ParkedClassId>> by_watched_;
  ParkedClassId last_ = 0;  // given out in order of first sight
  uint64_t looked_at_ = 0;
};

}  // namespace maniple
