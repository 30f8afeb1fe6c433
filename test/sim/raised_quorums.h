// Nobody leaves for a raised quorum: those who come late are late, and not lost.
//
// Follows gangs by the PodGroups that have met their quorum, as their status says, also those that
// stand for a Job or a RayCluster of somebody else. Violations go to the Truth. One thread.
//
//   RaisedQuorums quorums(truth);
//   quorums.Observe(now);                // once truth has seen a change
//   quorums.OnSent(life, request, now);  // each write that leaves a process
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "api/http/http.h"
#include "test/sim/truth.h"

namespace maniple::sim {

class RaisedQuorums final {
 public:
  explicit RaisedQuorums(Truth& truth) : truth_(truth) {}

  void Observe(absl::Time now);
  void OnSent(uint64_t life, const HttpRequest& request, absl::Time now);

 private:
  // NobodyLeavesForARaise: who is deleted is of a gang that has lost more than it had met its
  // quorum with. Victims and who is drained are evicted, which other promises are about.
  void CheckNobodyLeavesForARaise(uint64_t life, const std::string& pod, absl::Time now);
  void NoteWhoRunsAlone(absl::Time now);
  [[nodiscard]] int64_t MetOf(const std::string& group) const;
  [[nodiscard]] absl::Time StandsSince(const std::string& group, absl::Time now) const;
  [[nodiscard]] bool Stands(const std::string& group, int64_t met) const;
  [[nodiscard]] bool IsMember(const Truth::PodFacts& pod, const std::string& group) const;

  Truth& truth_;
  uint64_t seen_ = 0;  // the truth's fingerprint when it was last looked at
  // By PodGroup: since when as many have stood as once met its quorum.
  std::map<std::string, absl::Time> stand_since_;
  // By the uid of their owner: pods that ran before there was a gang, and since when.
  std::map<std::string, absl::Time> alone_since_;
};

}  // namespace maniple::sim
