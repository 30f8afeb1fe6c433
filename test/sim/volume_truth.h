// What is so with claims and volumes on the server, and what must hold there for each bind of ours.
//
// Knows nothing of the scheduler. Violations go to the Truth. One thread.
//
//   VolumeTruth volumes(server, truth);
//   volumes.Observe(now);                          // after truth.Observe
//   volumes.CheckBind("default/g1-0", now);        // which the server has just taken from who
//   leads volumes.CheckNothingIsSetAside(now);           // at rest
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "test/sim/mirror.h"
#include "test/sim/truth.h"

namespace maniple::sim {

class VolumeTruth final {
 public:
  VolumeTruth(devcluster::ApiServer& server, Truth& truth);

  void Observe(absl::Time now);
  // ClaimsFirst, VolumesReached, AttachLimitHolds, OnePodPerClaim.
  void CheckBind(const std::string& pod, absl::Time now);
  void CheckNothingIsSetAside(absl::Time now);
  // Nodes, and the made volumes that pods there use.
  using Attachments = std::set<std::pair<std::string, std::string>>;
  [[nodiscard]] Attachments InUse() const;
  // Disks that a pod on the node could have.
  [[nodiscard]] int FreeDisks(const std::string& node) const;
  // Made volumes that it can attach at most; INT64_MAX = no limit.
  [[nodiscard]] int64_t AttachLimit(const std::string& node) const;
  [[nodiscard]] const std::map<std::string, Json>& volumes() const { return volumes_.objects(); }

 private:
  [[nodiscard]] std::vector<std::string> ClaimsOf(const std::string& pod) const;
  // "" = it is bound to none.
  [[nodiscard]] std::string VolumeOf(const std::string& claim) const;
  [[nodiscard]] bool Reaches(const std::string& node, const Json& volume) const;
  [[nodiscard]] bool IsKnown(const Truth::PodFacts& pod, absl::Time now) const;
  [[nodiscard]] std::vector<std::string> MadeVolumesOf(const std::string& pod) const;
  void CheckAttachLimit(const std::string& pod, absl::Time now);
  void CheckLoneClaims(const std::string& pod, absl::Time now);

  Truth& truth_;
  Mirror pods_, claims_, volumes_, csi_nodes_, attachments_;
  std::map<std::string, absl::Time> attached_since_;  // by attachment
};

}  // namespace maniple::sim
