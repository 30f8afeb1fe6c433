#include "test/sim/conduct.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "test/sim/workload.h"

namespace maniple::sim {

std::string PodOf(const HttpRequest& request) {
  if (!absl::StartsWith(request.target, "/api/v1/namespaces/")) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(request.target, '/');
  return parts.size() < 7 || parts[5] != "pods" ? "" : absl::StrCat(parts[4], "/", parts[6]);
}

std::string BoundPod(const HttpRequest& request) {
  const bool binds =
      request.method == HttpMethod::kPost && absl::EndsWith(request.target, "/binding");
  return binds ? PodOf(request) : "";
}

std::string EvictedPod(const HttpRequest& request) {
  const bool evicts =
      request.method == HttpMethod::kPost && absl::EndsWith(request.target, "/eviction");
  return evicts ? PodOf(request) : "";
}

namespace {

// By its name: the pod may be gone already.
std::string GangOf(const std::string& pod) { return pod.substr(0, pod.rfind('-')); }

// "default/g0" of a request about that PodGroup; "" when it is about something else.
std::string GroupOf(const HttpRequest& request) {
  if (!absl::StartsWith(request.target, "/apis/scheduling.maniple.dev/")) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(request.target, '/');
  return parts.size() < 8 || parts[6] != "podgroups" ? "" : absl::StrCat(parts[5], "/", parts[7]);
}

}  // namespace

void Conduct::OnSent(uint64_t life, const HttpRequest& request, absl::Time now) {
  const std::string bound = BoundPod(request);
  // What is late must not change what somebody else wrote meanwhile.
  const bool creates =
      request.method == HttpMethod::kPost && bound.empty() && EvictedPod(request).empty();
  if (!creates && !absl::StrContains(request.body, "\"uid\":\"") &&
      !absl::StrContains(request.body, "\"resourceVersion\":\"")) {
    truth_.Violated(now, absl::StrCat("EveryWriteHasAPrecondition: ", life, " sends ",
                                      request.target, " without one"));
  }
  // A guest that outstays its word leaves whatever the policies say.
  if (const std::string pod = EvictedPod(request);
      !pod.empty() && !kept_.SendsGuestAway(life, GangOf(pod), now)) {
    truth_.CheckEviction(GangOf(pod), absl::StrCat(life, " evicts ", pod), now);
  }
  if (request.method == HttpMethod::kDelete) CheckUndo(life, PodOf(request), now);
  // Whoever writes the status hands on his clock, which may be wrong by minutes.
  if (const auto told = attempts_.find(GroupOf(request)); told != attempts_.end()) {
    told->second.lives.insert(life);
  }
  if (bound.empty()) return;
  first_sent_.try_emplace({life, request.target + request.body}, now);
  const Attempt fresh{.began = now, .lives = {}};
  const auto attempt = attempts_.try_emplace(GangOf(bound), fresh).first;
  attempt->second.lives.insert(life);
}

absl::Time Conduct::FirstSent(uint64_t life, const HttpRequest& bind) const {
  return first_sent_.at({life, bind.target + bind.body});
}

void Conduct::OnReply(uint64_t life, const HttpRequest& request, absl::string_view body,
                      absl::Time now) {
  const std::string pod = BoundPod(request);
  if (pod.empty()) return;
  if (absl::StrContains(body, "already assigned to node")) truth_.NoteTold(pod, life, now);
  if (!absl::StrContains(body, "\"code\":403")) return;
  if (const auto it = attempts_.find(GangOf(pod)); it != attempts_.end()) it->second.refused = true;
}

// A gang that was begun by this process, that has time left, and of which nobody was refused or
// bound by others is completed, not undone.
void Conduct::CheckUndo(uint64_t life, const std::string& pod, absl::Time now) {
  const std::string gang = GangOf(pod);
  const auto it = attempts_.find(gang);
  if (it == attempts_.end()) return;
  const Attempt& attempt = it->second;
  // A process that leads once more goes by the status, where times are whole seconds.
  const bool time_is_up = now + absl::Seconds(1) >= attempt.began + kScheduleTimeout;
  const bool others = truth_.BoundByOthers(gang);
  const bool alone = attempt.lives.size() == 1 && attempt.lives.contains(life);
  if (time_is_up || others || !alone || attempt.refused) return;
  truth_.Violated(now, absl::StrCat("NoUndoWithoutCause: ", life, " deletes ", pod, " ",
                                    absl::FormatDuration(now - attempt.began),
                                    " after the first bind of its gang"));
}

void Conduct::OnDecision(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, "preempt ")) return;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(": ", 1));
  for (const absl::string_view victim : absl::StrSplit(parts.second, ", ")) {
    if (absl::StrContains(victim, " surplus pods of ")) continue;
    ++preempted_[{std::string(victim), std::string(parts.first)}];
  }
}

void Conduct::CheckNoPreemptionLoop(absl::Time now) {
  // Once more when the first time came to nothing, as when a pod was recreated in the middle.
  constexpr int kMost = 3;
  for (const auto& [pair, times] : preempted_) {
    const auto& [victim, preemptor] = pair;
    const bool reversed = preempted_.contains({preemptor, victim});
    if (times <= kMost && !reversed) continue;
    truth_.Violated(
        now, absl::StrCat("NoPreemptionLoop: ", preemptor, " made ", victim, " leave ", times,
                          " times", reversed ? ", and the other way round" : ""));
  }
}

}  // namespace maniple::sim
