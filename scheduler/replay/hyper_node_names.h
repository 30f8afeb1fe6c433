// HyperNodes whose members are chosen by name, whatever chose them before: for when names become
// others, and a pattern would choose nobody or tell of the old ones.
//
// Immutable; any thread.
#pragma once

#include <string>
#include <vector>

#include "api/codec/json.h"

namespace maniple {

class HyperNodeNames final {
 public:
  // Knows the nodes and HyperNodes among the objects.
  explicit HyperNodeNames(const std::vector<Json>& objects);

  [[nodiscard]] static bool IsHyperNode(const Json& object);
  // Every member that a pattern chose is a member by name. REQUIRES: IsHyperNode(object).
  [[nodiscard]] Json WithoutPatterns(const Json& object) const;

 private:
  std::vector<std::string> nodes_, hyper_nodes_;
};

}  // namespace maniple
