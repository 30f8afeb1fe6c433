// The parked items by what they wait for: those of one class failed for the same reason with the
// same request, so one is asked for all. Of this room only; owned by GangQueue.
//
// Borrows the Standings.
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
  Standing* speaker = nullptr;  // awake on behalf of all and not answered yet
  int32_t awake = 0;            // woken from here and not answered yet, the speaker included
};

class ParkedClasses final {
 public:
  // Roots of trees are asked of it until the next call.
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
  // Those that the event may help and whose question is not out already.
  [[nodiscard]] std::vector<ParkedClassId> Hit(uint32_t relief, const Questions& ask);
  [[nodiscard]] std::vector<ParkedClassId> WaitingForQuotaOf(
      QuotaNodeId root, absl::FunctionRef<bool(const ParkedClass&)> asking);
  // How many classes were looked at since the start.
  [[nodiscard]] uint64_t looked_at() const { return looked_at_; }

 private:
  // The tree in whose quota the class has a share; invalid: it waits for none.
  [[nodiscard]] QuotaNodeId RootOf(const ParkedClassName& name) const;

  const QuotaTree* tree_ = nullptr;
  std::map<ParkedClassId, ParkedClass> classes_;
  std::map<ParkedClassName, ParkedClassId> ids_;
  std::map<ShapeId, std::set<ParkedClassId>> by_shape_;
  std::map<QuotaNodeId, std::set<ParkedClassId>> by_root_;
  ParkedClassId last_ = 0;  // given out in order of first sight
  uint64_t looked_at_ = 0;
};

}  // namespace maniple
