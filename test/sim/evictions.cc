#include "test/sim/evictions.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "test/sim/leave_rules.h"

namespace maniple::sim {
namespace {

// Once the first of them has gone, the others are asked, and asked again within so long.
constexpr absl::Duration kAllAreAskedWithin = absl::Seconds(120);
constexpr absl::Duration kAskedAgainWithin = absl::Seconds(90);
// Then room is held no more, and who is left goes by the rule for lost quorums.
constexpr absl::Duration kAskedFor = absl::Seconds(280);

bool TakesRoom(const Truth::PodFacts& pod) {
  return !pod.node.empty() && !pod.ended() && !pod.deleting;
}

std::string WhoseItIs(const Truth::GangFacts& gang) {
  return absl::StrCat("priority ", gang.priority(), " in queue \"", gang.queue, "\"");
}

}  // namespace

std::string PodOf(const HttpRequest& request) {
  if (!absl::StartsWith(request.target, "/api/v1/namespaces/")) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(request.target, '/');
  return parts.size() < 7 || parts[5] != "pods" ? "" : absl::StrCat(parts[4], "/", parts[6]);
}

std::string EvictedPod(const HttpRequest& request) {
  const bool evicts =
      request.method == HttpMethod::kPost && absl::EndsWith(request.target, "/eviction");
  return evicts ? PodOf(request) : "";
}

std::string GangOf(const std::string& pod) { return pod.substr(0, pod.rfind('-')); }

std::string Evictions::UidOf(const std::string& gang) const {
  // A gang without a PodGroup is itself by its name.
  const auto it = truth_.gangs().find(gang);
  return it == truth_.gangs().end() || it->second.uid.empty() ? gang : it->second.uid;
}

bool Evictions::HasLeft(const std::string& pod, const std::string& uid) const {
  const auto it = truth_.pods().find(pod);
  return it == truth_.pods().end() || it->second.uid != uid || !TakesRoom(it->second);
}

// "preempt default/g1: default/g2, 1 surplus pod of default/g3"; "stays default/g2"
void Evictions::OnDecision(const Speaker& speaker, absl::string_view line) {
  // Called off before the first of them was granted, it owes nobody anything.
  if (absl::string_view gang = line; absl::ConsumePrefix(&gang, "stays ")) {
    std::erase_if(leaving_, [&](const Leaving& leaving) {
      return leaving.life == speaker.life && leaving.gang == gang &&
             leaving.began == absl::InfiniteFuture();
    });
  }
  if (EndsLead(line)) {
    std::erase_if(leaving_, [&](const Leaving& gang) { return gang.life == speaker.life; });
  }
  if (!absl::ConsumePrefix(&line, "preempt ")) return;
  const std::pair<std::string, std::string> parts = absl::StrSplit(line, absl::MaxSplits(": ", 1));
  for (const absl::string_view victim : absl::StrSplit(parts.second, ", ")) {
    if (absl::StrContains(victim, " surplus pod")) continue;
    OnPreemption(speaker, parts.first, std::string(victim));
  }
}

void Evictions::OnPreemption(const Speaker& speaker, const std::string& preemptor,
                             const std::string& victim) {
  Leaving leaving{.life = speaker.life, .gang = victim, .pods = {}};
  for (const auto& [key, pod] : truth_.pods()) {
    if (pod.gang == victim && TakesRoom(pod)) leaving.pods[key] = pod.uid;
  }
  leaving_.push_back(std::move(leaving));
  // A guest that outstays its word leaves whatever the policies say.
  if (kept_.SendsGuestAway(speaker.life, victim, speaker.now)) return;
  const Made made{.preemptor = preemptor,
                  .victim = victim,
                  .preemptor_uid = UidOf(preemptor),
                  .victim_uid = UidOf(victim),
                  .at = speaker.now};
  // What a tenant makes anew has another name each time, or none.
  if (IsOfTenant(victim)) return;
  CheckPreemption(speaker, made);
  if (!IsOfTenant(preemptor)) ++repeated_[{made.victim_uid, made.preemptor_uid}];
  made_.push_back(made);
}

void Evictions::CheckPreemption(const Speaker& speaker, const Made& made) const {
  const auto preemptor = truth_.gangs().find(made.preemptor);
  const auto victim = truth_.gangs().find(made.victim);
  if (preemptor == truth_.gangs().end() || victim == truth_.gangs().end()) return;
  if (speaker.now < truth_.rules_changed() + truth_.blind_for()) return;
  if (!MayBeMadeToLeave(truth_, made.preemptor, made.victim, speaker.now)) {
    truth_.Violated(speaker.now,
                    absl::StrCat("EvictionsFollowPolicy: ", speaker.life, " makes ", made.victim,
                                 " leave for ", made.preemptor, ", which may not make it leave: ",
                                 WhoseItIs(AsCharged(truth_, made.victim)), " against ",
                                 WhoseItIs(AsCharged(truth_, made.preemptor))));
  }
  for (const Made& before : made_) {
    const bool reversed =
        before.victim_uid == made.preemptor_uid && before.preemptor_uid == made.victim_uid;
    if (!reversed || truth_.rules_changed() + truth_.blind_for() >= before.at) continue;
    truth_.Violated(speaker.now,
                    absl::StrCat("NoPreemptionLoop: ", made.preemptor, " makes ", made.victim,
                                 " leave, which made it leave ",
                                 absl::FormatDuration(speaker.now - before.at), " ago"));
  }
}

void Evictions::OnSent(uint64_t life, const HttpRequest& request, absl::Time now) {
  const std::string pod = EvictedPod(request);
  if (pod.empty()) return;
  asked_[pod] = now;
  if (kept_.SendsGuestAway(life, GangOf(pod), now)) return;
  CheckEviction(truth_, GangOf(pod), absl::StrCat(life, " evicts ", pod), now);
}

void Evictions::OnGranted(uint64_t life, const std::string& pod, absl::Time now) {
  for (Leaving& leaving : leaving_) {
    if (leaving.life != life || !leaving.pods.contains(pod)) continue;
    leaving.began = std::min(leaving.began, now);
  }
}

void Evictions::CheckVictimsLeaveWhole(const std::function<bool(uint64_t)>& leads, absl::Time now) {
  std::erase_if(leaving_, [&](const Leaving& leaving) {
    return !leads(leaving.life) || now > leaving.began + kAskedFor ||
           std::ranges::all_of(leaving.pods,
                               [&](const auto& pod) { return HasLeft(pod.first, pod.second); });
  });
  for (const Leaving& leaving : leaving_) {
    if (IsOfTenant(leaving.gang)) continue;
    if (now < leaving.began + kAllAreAskedWithin || truth_.BudgetsOver(leaving.gang, now) > 0)
      continue;
    for (const auto& [pod, uid] : leaving.pods) {
      const auto asked = asked_.find(pod);
      const bool lately = asked != asked_.end() && asked->second + kAskedAgainWithin > now;
      if (lately || HasLeft(pod, uid)) continue;
      truth_.Violated(now, absl::StrCat("VictimsLeaveWhole: ", pod,
                                        " stays and nobody asks it to "
                                        "leave, though others of its gang left for somebody ",
                                        absl::FormatDuration(now - leaving.began), " ago"));
      return;
    }
  }
}

void Evictions::CheckNobodyLeavesAgainAndAgain(absl::Time now) {
  // Once more when the first time came to nothing, as when a pod was recreated in the middle.
  constexpr int kMost = 2;
  for (const auto& [pair, times] : repeated_) {
    if (times <= kMost) continue;
    truth_.Violated(now, absl::StrCat("NoPreemptionLoop: PodGroup ", pair.second, " made ",
                                      pair.first, " leave ", times, " times"));
  }
}

Evictions::Bar Evictions::BarOf(const std::string& gang, const std::string& victim) const {
  Bar bar = Bar::kNone;
  for (const Made& made : made_) {
    if (made.victim != gang) continue;
    const bool by_this_one = made.preemptor_uid == UidOf(victim) && made.victim_uid == UidOf(gang);
    const bool is_there =
        UidOf(made.preemptor) == made.preemptor_uid && truth_.groups().contains(made.preemptor);
    const bool on_these_terms = truth_.rules_changed() < made.at;
    const bool stands = on_these_terms && (by_this_one || is_there);
    if (stands) return Bar::kStands;
    bar = Bar::kOutlived;
  }
  return bar;
}

}  // namespace maniple::sim
