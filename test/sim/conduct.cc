#include "test/sim/conduct.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/check.h"
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
      !pod.empty() && !were_guests_.contains(GangOf(pod))) {
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

void Conduct::OnDecision(uint64_t life, absl::string_view line, absl::Time now,
                         absl::Duration skew) {
  if (absl::StartsWith(line, "reserve ")) ++holds_;
  if (absl::ConsumePrefix(&line, "backfill ")) return CheckGuest(life, line, now, skew);
  if (!absl::ConsumePrefix(&line, "preempt ")) return;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(": ", 1));
  for (const absl::string_view victim : absl::StrSplit(parts.second, ", ")) {
    if (absl::StrContains(victim, " surplus pods of ")) continue;
    ++preempted_[{std::string(victim), std::string(parts.first)}];
  }
}

void Conduct::OnHeld(uint64_t life, const std::vector<HeldStart>& held, absl::Duration patience,
                     absl::Time now) {
  // A loop that was stopped is late by so much at most.
  constexpr absl::Duration kLate = absl::Seconds(60);
  for (const HeldStart& hold : held) {
    // By the first plan: one that is put off again and again does not last for ever.
    const absl::Duration ahead = hold.first_start - hold.made;
    const absl::Duration least = hold.first_end == EndIs::kKnown ? patience : 6 * patience;
    const absl::Duration most = std::max(ahead + std::max(ahead, patience), least);
    if (now - hold.made <= most + kLate) continue;
    truth_.Violated(now, absl::StrCat("HoldsEnd: ", life, " has held room for ", hold.gang.name,
                                      " for ", absl::FormatDuration(now - hold.made),
                                      " and may for ", absl::FormatDuration(most)));
  }
  if (!calm_) return;
  for (Guest& guest : guests_of_[life]) CheckOverstayer(guest, held, now);
}

void Conduct::CheckOverstayer(Guest& guest, const std::vector<HeldStart>& held, absl::Time now) {
  // Grace, the next look at the hold, and the way of an eviction.
  constexpr absl::Duration kMost = absl::Seconds(120);
  // Room that is held for another may be in the way, too. A hold that was made since is another.
  const bool waits = held.size() == 1 &&
                     held[0].gang.namespace_name + "/" + held[0].gang.name == guest.holder &&
                     held[0].made <= guest.came;
  if (!waits || now <= guest.ends || !truth_.StaysSince(guest.name, guest.bound_by) ||
      !truth_.CouldStartWithout(guest.holder, guest.name)) {
    guest.in_the_way = absl::InfiniteFuture();
    return;
  }
  guest.in_the_way = std::min(guest.in_the_way, now);
  if (now - guest.in_the_way <= kMost) return;
  truth_.Violated(now,
                  absl::StrCat("GuestsLeave: ", guest.name, " should have ended ",
                               absl::FormatDuration(now - guest.ends), " ago, and ", guest.holder,
                               " could have started ", absl::FormatDuration(now - guest.in_the_way),
                               " ago with its room"));
}

// "default/g1 before default/g2, which starts at …"
void Conduct::CheckGuest(uint64_t life, absl::string_view line, absl::Time now,
                         absl::Duration skew) {
  ++guests_;
  const std::pair<absl::string_view, absl::string_view> guest =
      absl::StrSplit(line, absl::MaxSplits(" before ", 1));
  const std::pair<absl::string_view, absl::string_view> holder =
      absl::StrSplit(guest.second, absl::MaxSplits(" at ", 1));
  absl::Time start;
  std::string error;
  CHECK(absl::ParseTime(absl::RFC3339_full, holder.second, &start, &error)) << line;
  were_guests_.emplace(guest.first);
  const auto group = truth_.groups().find(std::string(guest.first));
  if (group == truth_.groups().end()) return;  // deleted meanwhile
  const std::optional<absl::Duration> says = group->second.says;
  if (says.has_value()) {
    guests_of_[life].push_back({.name = std::string(guest.first),
                                .holder = std::string(holder.first),
                                .came = now + skew,
                                .ends = now + skew + *says,
                                .bound_by = now + kScheduleTimeout});
  }
  if (says.has_value() && now + skew + *says <= start) return;
  truth_.Violated(now, absl::StrCat("GuestsEndInTime: ", guest.first, " says ",
                                    says.has_value() ? absl::FormatDuration(*says) : "nothing",
                                    " and uses room that is held for ", holder.first, ", to start ",
                                    absl::FormatDuration(start - now - skew), " from now"));
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
