// The limits of Queues, Cohorts and flavors, by the server's objects alone: the closed form of
// legality from first principles, one resource, no running sums.
//
// Knows nothing of the scheduler's quota tree. T(queue) = N - U and T(cohort) = N + sum of
// min(L, T) over its children; legal is T >= -B on the whole path and T >= 0 at its root.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::sim {

class QuotaTruth final {
 public:
  // (Queue, flavor of the node) → GPUs in use. No flavor: "".
  using Usage = std::map<std::pair<std::string, std::string>, int64_t>;
  struct Queue {
    std::string cohort, stop, within, reclaim;
    bool strict = false;
    Json spec;
    int64_t told = 0;  // GPUs that its status says are used
  };

  enum class Change { kNone, kRules, kLimits };  // of rules, or of amounts
  // "Queue", "Cohort" or "ResourceFlavor", as the server shows it; null: it is gone.
  Change Apply(absl::string_view kind, const std::string& name, const Json& object);

  [[nodiscard]] const std::map<std::string, Queue>& queues() const { return queues_; }
  // The names of all objects of one of these kinds; of another kind there are none.
  [[nodiscard]] std::set<std::string> NamesOf(absl::string_view kind) const;
  [[nodiscard]] std::string FlavorOf(const Json& node_labels) const;
  // The cell in which GPUs on nodes of this flavor are counted for the Queue: "" without a name,
  // nothing where it limits none.
  struct Cell {
    enum class Rule { kUnlimited, kCounted, kForbidden } rule = Rule::kUnlimited;
    std::string name;
    friend bool operator==(const Cell&, const Cell&) = default;
    friend auto operator<=>(const Cell&, const Cell&) = default;
  };
  [[nodiscard]] Cell CellOf(const std::string& queue, const std::string& flavor) const;
  // Why the Queue's usage on nodes of this flavor is illegal; "" = it is legal.
  [[nodiscard]] std::string Illegal(const std::string& queue, const std::string& flavor,
                                    const Usage& usage) const;
  // The Queue's own quota on nodes of this flavor; without end where it has no limit.
  [[nodiscard]] int64_t NominalOf(const std::string& queue, const std::string& flavor) const;
  // The Queue's selector of namespaces, which selects all when it has none; null without a Queue.
  [[nodiscard]] Json SelectorOf(const std::string& queue) const;
  [[nodiscard]] static bool Selects(const Json& selector, const Json& namespace_labels);
  // The root of the tree of Cohorts that the Queue is in; "" for no Queue.
  [[nodiscard]] std::string RootOf(const std::string& queue) const;

 private:
  struct Limits {
    int64_t nominal = 0;
    std::optional<int64_t> borrowing, lending;
  };
  static Limits LimitsOf(const Json& spec, const std::string& cell);
  [[nodiscard]] int64_t UsedBy(const std::string& queue, const std::string& cell,
                               const Usage& usage) const;
  [[nodiscard]] int64_t LeftOf(const std::string& cohort, const std::string& cell,
                               const Usage& usage) const;
  [[nodiscard]] std::string ParentOf(const std::string& cohort) const;

  std::map<std::string, Queue> queues_;
  std::map<std::string, Json> cohorts_, flavors_;  // specs
};

}  // namespace maniple::sim
