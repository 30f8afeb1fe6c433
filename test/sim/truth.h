// What really is the case on the server, followed by a watch of its own, and the promises that must
// hold there.
//
// Knows nothing of the scheduler: pods, nodes and PodGroups as the API server tells them. Each
// promise is one named function; violations are collected with the time and the objects they name.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/api_server.h"

namespace maniple::sim {

class Truth final {
 public:
  struct PodFacts {
    std::string key, uid, gang, node, phase;
    bool deleting = false;
    int64_t gpus = 0;
    [[nodiscard]] bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
  };
  struct NodeFacts {
    int64_t gpus = 0;
    bool schedulable = true;
  };
  struct GroupFacts {
    int64_t min_member = 0;
    std::string phase, reason;
  };

  explicit Truth(devcluster::ApiServer& server) : server_(server) {}

  void Start(absl::Time now);
  // Reads what changed and checks NeverOversubscribed and BoundAtMostOnce for it.
  void Observe(absl::Time now);

  // At quiescence: no gang has some but fewer than its quorum.
  void CheckGangAllOrNothing(absl::Time now);
  // At quiescence: no whole gang waits although its room is free, by plain counting of GPUs per
  // node.
  void CheckNothingRunnableWaits(absl::Time now);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] const std::map<std::string, PodFacts>& pods() const {
    return pods_;
  }  // by "namespace/name"
  [[nodiscard]] const std::map<std::string, NodeFacts>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, GroupFacts>& groups() const { return groups_; }
  // A fingerprint of every change seen, in order: equal for equal seeds.
  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }
  [[nodiscard]] uint64_t binds() const { return binds_; }

 private:
  void Apply(absl::string_view kind, const Json& event, absl::Time now);
  void ApplyPod(const Json& object, absl::Time now);
  void CheckNeverOversubscribed(const std::string& node, const std::string& because,
                                absl::Time now);
  void Violated(absl::Time now, std::string what);
  [[nodiscard]] std::map<std::string, int64_t> FreeGpus() const;

  devcluster::ApiServer& server_;
  std::vector<std::pair<std::string, devcluster::WatchId>> watches_;  // kind, its watch
  std::map<std::string, PodFacts> pods_;
  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, GroupFacts> groups_;
  std::map<std::string, std::string> bound_;  // uid → node, for ever
  std::vector<std::string> violations_;
  uint64_t fingerprint_ = 1469598103934665603ULL;
  uint64_t binds_ = 0;
};

}  // namespace maniple::sim
