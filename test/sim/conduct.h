// What the schedulers send and are told, as it passes on the wire, and the promises that it must
// keep: those that the server's objects alone do not show.
//
// Knows a process by its life only. Violations go to the Truth. One thread.
//
//   Conduct conduct(truth, kept);
//   conduct.OnSent(life, request, now);          // each write that leaves a process
//   conduct.OnReply(life, request, body, now);   // each answer that reaches one
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/http/http.h"
#include "test/sim/kept_room.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// "default/g0-1" of the target of a bind, a read, a delete, …; "" when it is about no single pod.
[[nodiscard]] std::string PodOf(const HttpRequest& request);
// "" when the request is no bind.
[[nodiscard]] std::string BoundPod(const HttpRequest& request);
// "" when the request is no eviction.
[[nodiscard]] std::string EvictedPod(const HttpRequest& request);

class Conduct final {
 public:
  Conduct(Truth& truth, const KeptRoom& kept) : truth_(truth), kept_(kept) {}

  // Checks EveryWriteHasAPrecondition, NoUndoWithoutCause and EvictionsFollowPolicy.
  void OnSent(uint64_t life, const HttpRequest& request, absl::Time now);
  void OnReply(uint64_t life, const HttpRequest& request, absl::string_view body, absl::Time now);
  // A line of a scheduler's decision log.
  void OnDecision(absl::string_view line);
  // From now on nobody changes anything any more but the schedulers and the pods' controllers.
  void BeginCalm() { preempted_.clear(); }
  // Since then nobody made those leave who made it leave, nor the same ones again and again.
  void CheckNoPreemptionLoop(absl::Time now);
  // When this life sent this very bind for the first time. REQUIRES: it did.
  [[nodiscard]] absl::Time FirstSent(uint64_t life, const HttpRequest& bind) const;

 private:
  struct Attempt {
    absl::Time began;          // the first bind was sent
    std::set<uint64_t> lives;  // … and who has bound, or written its status, since
    bool refused = false;      // the server will not have one of its members
  };
  void CheckUndo(uint64_t life, const std::string& pod, absl::Time now);

  Truth& truth_;
  const KeptRoom& kept_;
  std::map<std::string, Attempt> attempts_;  // by "namespace/name" of the gang
  std::map<std::pair<uint64_t, std::string>, absl::Time> first_sent_;
  std::map<std::pair<std::string, std::string>, int> preempted_;  // (victim, for whom), whole gangs
};

}  // namespace maniple::sim
