// The truth about claims and volumes on the server, and the promises on each bind of ours there.
//
// Knows nothing of the scheduler. Violations go to the Truth. One thread.
//
//   VolumeTruth volumes(server, truth);
//   volumes.NoteBind("default/g1-0");     // which the server has just taken
//   volumes.Observe(now);                 // after truth.Observe; checks the binds
//   volumes.CheckNothingIsSetAside(now);  // at rest
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

  void NoteBind(const std::string& pod) { fresh_.insert(pod); }
  // Checks ClaimsFirst, VolumesReached, AttachLimitHolds and OnePodPerClaim for binds of ours.
  void Observe(absl::Time now);
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
  void CheckBind(const std::string& pod, absl::Time now);
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
  std::map<std::string, absl::Time> limited_since_;   // by CSINode
  std::set<std::string> fresh_;                       // pods that were bound since the last look
};

}  // namespace maniple::sim
