// The nodes as the API shows them, those that were there, and the offers of theirs that a scheduler
// may still believe. Part of the Truth.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "api/codec/json.h"
#include "test/sim/truth_facts.h"

namespace maniple::sim {

inline constexpr char kRackLabel[] = "example.com/rack";

// A watch may fall silent for so long before its reader notices: idle timeout and a new connection.
inline constexpr absl::Duration kBlind = absl::Seconds(180);

// GPUs and slices of GPUs, by resource.
[[nodiscard]] std::map<std::string, int64_t> DevicesIn(const Json& amounts);
[[nodiscard]] int64_t AmountOf(const std::string& resource,
                               const std::map<std::string, int64_t>& devices);

class NodeTruth final {
 public:
  // Null: it is gone. True: its labels are others than before.
  bool Apply(const std::string& name, const Json& object, absl::Time now);
  // The watch was cut; all that are there will be shown anew.
  void Forget(absl::Time now);

  [[nodiscard]] const std::map<std::string, NodeFacts>& all() const { return nodes_; }
  // Also of a node that was; null: nobody has seen one of this name.
  [[nodiscard]] const Json* LabelsOf(const std::string& name) const;
  [[nodiscard]] std::optional<absl::Time> RelabeledAt(const std::string& name) const;
  [[nodiscard]] std::optional<absl::Time> LostAt(const std::string& name) const;
  // The most that a scheduler may believe the node to have, used or not.
  [[nodiscard]] int64_t MostOffered(const std::string& name, const std::string& resource,
                                    absl::Time now) const;

 private:
  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, Json> labels_;  // of nodes that are or were
  std::map<std::string, absl::Time> relabeled_, lost_at_;
  // The offers of a node, each with its last moment.
  std::map<std::string, std::deque<std::pair<absl::Time, std::map<std::string, int64_t>>>> offered_;
};

}  // namespace maniple::sim
