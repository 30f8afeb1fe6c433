// Nodes whose GPUs can be divided by MIG, by their labels, and the changes asked of them.
//
// Owned by the scheduling loop. Facts that must survive a restart stand on the node itself.
// With a new configuration we set the label nvidia.com/mig.config.state to "pending". From that
// write on no Maniple scheduler, a new leader included, counts on the node's present GPUs.
// Annotations of ours tell when we changed the node and from which configuration.
//
//   fleet.Note(event);
//   for (const auto& [name, node] : fleet.nodes()) if (fleet.MayChange(node, now)) …
//   fleet.Asked(name, config, until);    // a write is under way: hands off until it shows
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/gpu/mig_config.h"
#include "api/gpu/mig_tables.h"
#include "api/model/object.h"
#include "scheduler/mig/mig_plan.h"

namespace maniple {

// The time in RFC 3339, and the configuration before the change.
inline constexpr char kMigChangedAt[] = "scheduling.maniple.dev/mig-changed-at";
inline constexpr char kMigChangedFrom[] = "scheduling.maniple.dev/mig-changed-from";
// "never" on a node: only its owner changes its configuration.
inline constexpr char kMigReconfigure[] = "scheduling.maniple.dev/mig-reconfigure";

enum class MigReconfigure : uint8_t { kOff, kDryRun, kOn };

struct MigOptions {
  MigReconfigure reconfigure = MigReconfigure::kOff;
  MigTables tables;
  std::vector<MigConfig> configs;
  MigPlanInput::Defaults defaults = MigPlanInput::Defaults::kOffered;
  // Only for gangs that have waited so long.
  absl::Duration after = absl::Minutes(1);
  // A node is left alone for so long after a change of it, however the change ended.
  absl::Duration hold_off = absl::Minutes(10);
  // A node that has not carried out a change by then may have no MIG manager: no other is changed.
  absl::Duration overdue_after = absl::Minutes(15);
};

class MigFleet final {
 public:
  explicit MigFleet(const MigOptions& options) : options_(options) {}  // borrowed

  enum class State : uint8_t { kSettled, kChanging, kOther };
  struct Node {
    std::string uid, resource_version;
    const MigTable* table = nullptr;  // null: not to be changed, and `why_not` says why
    std::string why_not;
    int32_t gpus = 0;
    std::string config;
    State state = State::kSettled;
    bool cordoned = false;
    absl::Time changed_at = absl::InfinitePast();  // by us, or an earlier leader

    // Our own writes and messages; not on the node.
    std::string asked;  // for this configuration: the write does not show yet
    absl::Time asked_until = absl::InfinitePast();
    absl::Time left_alone_until = absl::InfinitePast();
    std::pair<std::string, absl::Time> told;
  };

  // True: a fact that a plan looks at has changed.
  bool Note(const ObjectEvent& event);

  [[nodiscard]] const std::map<std::string, Node>& nodes() const { return nodes_; }
  [[nodiscard]] bool MayChange(const Node& node, absl::Time now) const;
  // The configuration that it is about to have; none: it keeps its present one.
  [[nodiscard]] std::optional<std::string> Becoming(const Node& node, absl::Time now) const;
  // A node whose change by us is overdue; "" = there is none.
  [[nodiscard]] std::string Overdue(absl::Time now) const;
  // The next time at which one of the answers above changes by itself.
  [[nodiscard]] absl::Time NextChange(absl::Time now) const;

  // A write is on its way; it counts as done until then, unless it fails before. REQUIRES: the
  // node is known.
  void Asked(const std::string& name, const std::string& config, absl::Time until);
  // The write failed. Does nothing if the node has gone.
  void Failed(const std::string& name, absl::Time left_alone_until);
  // Nodes that have shown our requested change since the last call.
  [[nodiscard]] std::vector<std::string> TakeShown() { return std::exchange(shown_, {}); }
  // False if the same was told of the node not long ago. REQUIRES: the node is known.
  bool Tell(const std::string& name, const std::string& what, absl::Time now);
  // Changes under way are the next leader's business.
  void Forget();

 private:
  [[nodiscard]] Node Read(const maniple::Node& node) const;
  // The time of our last change of it; a time that cannot be ours counts as none.
  [[nodiscard]] absl::Time ChangedAt(const Node& node, absl::Time now) const;

  const MigOptions& options_;
  std::map<std::string, Node> nodes_;  // nodes with the label of MIG
  std::vector<std::string> shown_;
  std::set<std::string> logged_;  // reasons why some node is not to be changed
};

}  // namespace maniple
