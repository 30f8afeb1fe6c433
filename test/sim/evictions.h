// Evictions, with victims and preemptors, by the decision logs and by the traffic on the wire,
// and the promises about them.
//
// Knows a process by its life only, and gangs by the uid of their PodGroups. Violations go to the
// Truth. One thread.
//
//   Evictions evictions(truth, kept);
//   evictions.OnDecision(speaker, line);              // each line of each log, after `kept`
//   evictions.OnSent(life, request, now);             // each write that leaves a process
//   evictions.OnGranted(life, pod, now);              // … and each eviction that is granted
//   evictions.CheckVictimsLeaveWhole(leads, now);     // now and then
#pragma once

#include <cstdint>
#include <functional>
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
// "" when the request is no eviction.
[[nodiscard]] std::string EvictedPod(const HttpRequest& request);
// By its name: the pod may be gone already.
[[nodiscard]] std::string GangOf(const std::string& pod);

class Evictions final {
 public:
  Evictions(Truth& truth, const KeptRoom& kept) : truth_(truth), kept_(kept) {}

  // Checks that the preemptor's own policy allows it, and NoPreemptionLoop: no gang evicts another
  // that has evicted it, unless a quota, weight or priority has changed since.
  void OnDecision(const Speaker& speaker, absl::string_view line);
  // Checks EvictionsFollowPolicy.
  void OnSent(uint64_t life, const HttpRequest& request, absl::Time now);
  void OnGranted(uint64_t life, const std::string& pod, absl::Time now);
  // Once a member of a gang has left for another gang, all of them leave, or are asked again
  // and again. Excepted: the process that began it (`leads`) is no longer at work.
  void CheckVictimsLeaveWhole(const std::function<bool(uint64_t)>& leads, absl::Time now);
  // From now on nothing changes but by the schedulers and the pods' controllers.
  void BeginCalm() { repeated_.clear(); }
  // Since BeginCalm, no gang has made the same others leave again and again.
  void CheckNobodyLeavesAgainAndAgain(absl::Time now);

  // A ban against loops may still keep the gang from making the other leave.
  enum class Bar : uint8_t { kNone, kStands, kOutlived };
  [[nodiscard]] Bar BarOf(const std::string& gang, const std::string& victim) const;

 private:
  struct Made {  // one made another leave
    std::string preemptor, victim;
    std::string preemptor_uid, victim_uid;
    absl::Time at;
  };
  struct Leaving {  // a gang that leaves as a whole
    uint64_t life = 0;
    std::string gang;
    std::map<std::string, std::string> pods;  // name → uid
    absl::Time began = absl::InfiniteFuture();
  };
  void OnPreemption(const Speaker& speaker, const std::string& preemptor,
                    const std::string& victim);
  void CheckPreemption(const Speaker& speaker, const Made& made) const;
  [[nodiscard]] bool HasLeft(const std::string& pod, const std::string& uid) const;
  [[nodiscard]] std::string UidOf(const std::string& gang) const;

  Truth& truth_;
  const KeptRoom& kept_;
  std::vector<Made> made_;
  std::vector<Leaving> leaving_;
  std::map<std::string, absl::Time> asked_;  // by pod: when it was asked to leave last
  std::map<std::pair<std::string, std::string>, int> repeated_;  // (victim, preemptor), by uid
};

}  // namespace maniple::sim
