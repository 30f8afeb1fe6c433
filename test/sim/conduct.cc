#include "test/sim/conduct.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/gpu/mig_config.h"
#include "test/sim/job_recipes.h"
#include "test/sim/users.h"

namespace maniple::sim {

std::string BoundPod(const HttpRequest& request) {
  const bool binds =
      request.method == HttpMethod::kPost && absl::EndsWith(request.target, "/binding");
  return binds ? PodOf(request) : "";
}

std::string DividedNode(const HttpRequest& request) {
  absl::string_view node = request.target;
  const bool patches = request.method == HttpMethod::kPatch &&
                       absl::ConsumePrefix(&node, "/api/v1/nodes/") &&
                       absl::StrContains(request.body, kMigConfigLabel);
  return patches ? std::string(node) : "";
}

namespace {

// An undo that was decided may go on for so long.
constexpr absl::Duration kDecidedBefore = absl::Minutes(2);

// "default/g0" of a request about that PodGroup; "" when it is about something else.
std::string GroupOf(const HttpRequest& request) {
  if (!absl::StartsWith(request.target, "/apis/scheduling.maniple.dev/")) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(request.target, '/');
  return parts.size() < 8 || parts[6] != "podgroups" ? "" : absl::StrCat(parts[5], "/", parts[7]);
}

}  // namespace

void Conduct::OnSent(uint64_t life, const HttpRequest& request, absl::Time decided,
                     absl::Time now) {
  const std::string bound = BoundPod(request);
  // What is late must not change what somebody else wrote meanwhile.
  const bool creates =
      request.method == HttpMethod::kPost && bound.empty() && EvictedPod(request).empty();
  if (!creates && !absl::StrContains(request.body, "\"uid\":\"") &&
      !absl::StrContains(request.body, "\"resourceVersion\":\"")) {
    truth_.Violated(now, absl::StrCat("EveryWriteHasAPrecondition: ", life, " sends ",
                                      request.target, " without one"));
  }
  if (request.method == HttpMethod::kDelete) {
    truth_.Observe(now);  // its own watch may have been cut a moment ago
    CheckUndo(life, PodOf(request), now);
  }
  // Whoever writes the status hands on his clock, which may be wrong by minutes.
  if (const auto told = attempts_.find(GroupOf(request)); told != attempts_.end()) {
    told->second.lives.insert(life);
  }
  if (bound.empty()) return;
  decided_.try_emplace({life, request.target + request.body}, decided);
  const Attempt fresh{.began = decided, .lives = {}};
  const auto attempt = attempts_.try_emplace(GangOf(bound), fresh).first;
  attempt->second.lives.insert(life);
}

absl::Time Conduct::Decided(uint64_t life, const HttpRequest& bind) const {
  return decided_.at({life, bind.target + bind.body});
}

void Conduct::OnReply(uint64_t life, const HttpRequest& request, absl::string_view body,
                      absl::Time now) {
  const std::string pod = BoundPod(request);
  if (pod.empty()) return;
  if (absl::StrContains(body, "already assigned to node")) truth_.NoteTold(pod, life, now);
  if (!absl::StrContains(body, "\"code\":403")) return;
  if (const auto it = attempts_.find(GangOf(pod)); it != attempts_.end()) it->second.refused = true;
}

// A gang that has had its quorum for longer than a scheduler may be blind loses nobody, whatever
// members have succeeded and are gone.
void Conduct::CheckItLacksSomebody(uint64_t life, const std::string& pod, absl::Time now) {
  const auto gang = truth_.gangs().find(GangOf(pod));
  if (gang == truth_.gangs().end() || !truth_.groups().contains(GangOf(pod))) return;
  const absl::Duration whole_for = now - gang->second.whole_since;
  if (whole_for < truth_.blind_for() + kDecidedBefore) return;
  if (truth_.StandsApart(GangOf(pod)) && truth_.BoundByOthers(GangOf(pod))) return;
  // Who wrote over the status may have closed the run in which members succeeded that are gone.
  if (gang->second.forged && truth_.CleanedOf(GangOf(pod)) > 0) return;
  truth_.Violated(
      now, absl::StrCat("NoUndoWithoutCause: ", life, " deletes ", pod,
                        ", whose gang has had its quorum for ", absl::FormatDuration(whole_for)));
}

// A gang that was begun by this process, that has time left, and of which nobody was refused or
// bound by others is completed, not undone.
void Conduct::CheckUndo(uint64_t life, const std::string& pod, absl::Time now) {
  if (IsOfTenant(pod) || IsOfProducer(pod)) return;
  CheckItLacksSomebody(life, pod, now);
  const std::string gang = GangOf(pod);
  const auto it = attempts_.find(gang);
  if (it == attempts_.end()) return;
  Attempt& attempt = it->second;
  // A node that came again may stand in another domain, and a late bind of ours have found it.
  attempt.stood_apart = attempt.stood_apart || truth_.StandsApart(gang);
  // A process that leads once more goes by the status, where times are whole seconds.
  const bool time_is_up = now + absl::Seconds(1) >= attempt.began + kScheduleTimeout;
  const bool others = truth_.BoundByOthers(gang);
  // Its PodGroup has been deleted in the middle.
  const bool orphaned = truth_.gangs().at(gang).group_gone_at + truth_.blind_for() >= attempt.began;
  const bool alone = attempt.lives.size() == 1 && attempt.lives.contains(life);
  if (time_is_up || orphaned || others || !alone) return;
  if (attempt.refused || attempt.stood_apart) return;
  truth_.Violated(now, absl::StrCat("NoUndoWithoutCause: ", life, " deletes ", pod, " ",
                                    absl::FormatDuration(now - attempt.began),
                                    " after the first bind of its gang"));
}

}  // namespace maniple::sim
