// The use of each node, by gang: what gangs use, leave and hold there.
// It is gathered for a view that is arranged later.
//
//   NodeUses uses(view->nodes);
//   uses.Of("default/a");
//   uses.Stands("n1");
//   uses.Takes("n1", "nvidia.com/gpu", 8, Leaving::kNo);
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "scheduler/report/node_view.h"

namespace maniple {

enum class Leaving : uint8_t { kNo, kYes };

class NodeUses final {
 public:
  // REQUIRES: the rows outlive it, and keep their place. Uses of other nodes are left out.
  explicit NodeUses(std::vector<NodeRow>& rows);

  // The calls that follow are for this gang, "namespace/name".
  void Of(std::string gang) { gang_ = std::move(gang); }
  void Stands(absl::string_view node);
  void Takes(absl::string_view node, const std::string& resource, int64_t amount, Leaving leaving);
  void Keeps(absl::string_view node, const std::string& resource, int64_t amount);

 private:
  [[nodiscard]] NodeRow* Find(absl::string_view node) const;
  NodeUseView& UseIn(std::vector<NodeUseView>& uses, const std::string& resource) const;

  std::vector<NodeRow>& rows_;
  absl::flat_hash_map<absl::string_view, size_t> by_name_;
  std::string gang_;
};

}  // namespace maniple
