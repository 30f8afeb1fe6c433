#include "test/sim/kept_room.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/check.h"
#include "scheduler/loop/records/reservation.h"
#include "test/sim/free_room.h"
#include "test/sim/users.h"
#include "test/sim/waiting.h"

namespace maniple::sim {
namespace {

// What was decided may be on its way for so long.
constexpr absl::Duration kOnItsWay = absl::Minutes(1);

std::string NameOf(const GangKey& key) { return absl::StrCat(key.namespace_name, "/", key.name); }

std::pair<absl::string_view, absl::string_view> Halves(absl::string_view line,
                                                       absl::string_view between) {
  return absl::StrSplit(line, absl::MaxSplits(between, 1));
}

// "g1-0=n1 g1-1=n2"
std::vector<std::pair<std::string, std::string>> PlacesIn(absl::string_view gang,
                                                          absl::string_view text) {
  std::vector<std::pair<std::string, std::string>> places;
  for (const absl::string_view place : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const auto [pod, node] = Halves(place, "=");
    places.emplace_back(absl::StrCat(Halves(gang, "/").first, "/", pod), node);
  }
  return places;
}

}  // namespace

void KeptRoom::OnDecision(const Speaker& speaker, absl::string_view line) {
  if (absl::ConsumePrefix(&line, "reserve ")) {
    ++holds_;
  } else if (absl::ConsumePrefix(&line, "backfill ")) {
    OnGuest(speaker, line);
  } else if (absl::ConsumePrefix(&line, "preempt ")) {
    OnPreemption(speaker, line);
  } else if (absl::ConsumePrefix(&line, "claim ")) {
    OnClaim(speaker, line);
  } else if (absl::ConsumePrefix(&line, "place ")) {
    OnPlaces(speaker, line);
  } else if (absl::ConsumePrefix(&line, "give up the room of ")) {
    NobodyLeavesFor(speaker, line);
  } else if (EndsLead(line)) {
    std::erase_if(claims_, [&](const auto& claim) { return claim.first.first == speaker.life; });
  }
}

// "default/g1: g1-0=n1 g1-1=n2"
void KeptRoom::OnClaim(const Speaker& speaker, absl::string_view line) {
  const auto [gang, places] = Halves(line, ": ");
  claims_[{speaker.life, std::string(gang)}] = {.gpus = GpusOf(PlacesIn(gang, places)),
                                                .since = speaker.now};
}

// "default/g1 quorum: g1-0=n1 g1-1=n2"
void KeptRoom::OnPlaces(const Speaker& speaker, absl::string_view line) {
  const auto [item, places] = Halves(line, ": ");
  const std::string gang(Halves(item, " ").first);
  NobodyLeavesFor(speaker, gang);
  CheckClaims(speaker, gang, PlacesIn(gang, places));
}

std::map<std::string, int64_t> KeptRoom::GpusOf(const Places& places) const {
  std::map<std::string, int64_t> gpus;
  for (const auto& [pod, node] : places) {
    const auto facts = truth_.pods().find(pod);
    if (facts != truth_.pods().end()) gpus[node] += facts->second.gpus;
  }
  return gpus;
}

void KeptRoom::CheckClaims(const Speaker& speaker, const std::string& gang,
                           const Places& places) const {
  std::set<std::string> placed;
  for (const auto& [pod, node] : places) placed.insert(pod);
  for (const auto& [node, taken] : GpusOf(places)) {
    const auto facts = truth_.nodes().find(node);
    int64_t kept = 0;
    std::string whose;
    for (const auto& [who, claim] : claims_) {
      const auto group = truth_.groups().find(who.second);
      const auto room = claim.gpus.find(node);
      // What it was made for, or where it is, may be gone, and another of that name be there; of
      // the node a watch may have told late.
      if (who.first != speaker.life || room == claim.gpus.end() || facts == truth_.nodes().end() ||
          facts->second.since + truth_.blind_for() > claim.since ||
          group == truth_.groups().end() || group->second.since > claim.since) {
        continue;
      }
      kept += room->second;
      absl::StrAppend(&whose, " ", who.second);
    }
    const int64_t free = MostFree(truth_, node, placed, speaker.now);
    if (kept == 0 || taken == 0 || taken + kept <= free) continue;
    truth_.Violated(speaker.now, absl::StrCat("ClaimKept: ", speaker.life, " places ", gang, " on ",
                                              taken, " GPUs of ", node, ", where ", free,
                                              " are free and ", kept, " are kept for", whose));
  }
}

// "default/g1 before default/g2 at …"
void KeptRoom::OnGuest(const Speaker& speaker, absl::string_view line) {
  ++guests_;
  const auto [name, rest] = Halves(line, " before ");
  const auto [holder, at] = Halves(rest, " at ");
  absl::Time start;
  std::string error;
  CHECK(absl::ParseTime(absl::RFC3339_full, at, &start, &error)) << line;
  Guest guest{.name = std::string(name),
              .holder = std::string(holder),
              .came = speaker.own_time(),
              .ends = speaker.own_time(),
              .bound_by = speaker.now + kScheduleTimeout};
  const auto group = truth_.groups().find(guest.name);
  if (group != truth_.groups().end()) {  // else deleted meanwhile, and nobody knows what it said
    const std::optional<absl::Duration> says = group->second.says;
    guest.ends += says.value_or(absl::ZeroDuration());
    if (!says.has_value() || guest.ends > start) {
      truth_.Violated(speaker.now,
                      absl::StrCat("GuestsEndInTime: ", name, " says ",
                                   says.has_value() ? absl::FormatDuration(*says) : "nothing",
                                   " and uses room that is held for ", holder, ", to start ",
                                   absl::FormatDuration(start - speaker.own_time()), " from now"));
    }
  }
  guests_of_[speaker.life].push_back(std::move(guest));
}

// "default/g1: default/g2, 1 surplus pod of default/g3"
void KeptRoom::OnPreemption(const Speaker& speaker, absl::string_view line) {
  const auto [gang, victims] = Halves(line, ": ");
  for (const absl::string_view victim : absl::StrSplit(victims, ", ")) {
    const auto& guests = guests_of_[speaker.life];
    const bool outstays = std::ranges::any_of(guests, [&, preemptor = gang](const Guest& guest) {
      return guest.name == victim && guest.holder == preemptor &&
             guest.ends + kEndGrace <= speaker.own_time();
    });
    if (outstays) {
      sent_away_[{speaker.life, std::string(victim)}] = {.holder = std::string(gang)};
    }
  }
}

void KeptRoom::NobodyLeavesFor(const Speaker& speaker, absl::string_view gang) {
  claims_.erase({speaker.life, std::string(gang)});
  for (auto& [who, away] : sent_away_) {
    if (who.first != speaker.life || away.holder != gang) continue;
    away.until = std::min(away.until, speaker.now + kOnItsWay);
  }
}

bool KeptRoom::SendsGuestAway(uint64_t life, const std::string& gang, absl::Time now) const {
  const auto away = sent_away_.find({life, gang});
  return away != sent_away_.end() && now <= away->second.until;
}

void KeptRoom::OnHeld(const Speaker& speaker, const std::vector<HeldStart>& held,
                      absl::Duration patience) {
  // A loop that was stopped is late by so much at most.
  constexpr absl::Duration kLate = absl::Seconds(60);
  const absl::Time now = speaker.own_time();
  for (const HeldStart& hold : held) {
    // By the first plan: one that is put off again and again does not last for ever.
    const absl::Duration ahead = hold.first_start - hold.made;
    const absl::Duration least = hold.first_end == EndIs::kKnown ? patience : 6 * patience;
    const absl::Duration most = std::max(ahead + std::max(ahead, patience), least);
    if (now - hold.made <= most + kLate) continue;
    truth_.Violated(speaker.now,
                    absl::StrCat("HoldsEnd: ", speaker.life, " has held room for ", hold.gang.name,
                                 " for ", absl::FormatDuration(now - hold.made), " and may for ",
                                 absl::FormatDuration(most)));
  }
  if (!calm_) return;
  for (Guest& guest : guests_of_[speaker.life]) CheckOverstayer(guest, held, now, speaker.now);
}

void KeptRoom::CheckOverstayer(Guest& guest, const std::vector<HeldStart>& held,
                               absl::Time own_time, absl::Time now) {
  // Grace, the next look at the hold, and the way of an eviction.
  constexpr absl::Duration kMost = absl::Seconds(120);
  // Room that is held for another may be in the way, too. A hold that was made since is another.
  const bool waits =
      held.size() == 1 && NameOf(held[0].gang) == guest.holder && held[0].made <= guest.came;
  if (!waits || own_time <= guest.ends || !truth_.StaysSince(guest.name, guest.bound_by) ||
      !CouldStartWithout(truth_, guest.holder, guest.name)) {
    guest.in_the_way = absl::InfiniteFuture();
    return;
  }
  guest.in_the_way = std::min(guest.in_the_way, own_time);
  if (own_time - guest.in_the_way <= kMost) return;
  truth_.Violated(
      now, absl::StrCat("GuestsLeave: ", guest.name, " should have ended ",
                        absl::FormatDuration(own_time - guest.ends), " ago, and ", guest.holder,
                        " could have started ", absl::FormatDuration(own_time - guest.in_the_way),
                        " ago with its room"));
}

}  // namespace maniple::sim
