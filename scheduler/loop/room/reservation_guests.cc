// Guests: gangs let into held room because they were to end in time, and those that outstay.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/loop/room/reservations.h"
#include "scheduler/report/message.h"

namespace maniple {

void Reservations::NoteGuest(const Case& c, const Answer& answer) {
  c.record.backfill.reset();
  for (const GangId holder : parts_.room_holders.holders()) {
    if (desk_.state.FindGang(holder)->queue != c.gang.queue) continue;
    desk_.records.at(holder)->reservation->newcomers.push_back(c.gang.id);
  }
  for (const GangId holder : answer.used) {
    if (std::ranges::find(answer.guest_of, holder) == answer.guest_of.end()) continue;
    Reservation& reservation = *desk_.records.at(holder)->reservation;
    reservation.guests.push_back(c.gang.id);
    ++desk_.counters.backfills;
    desk_.Log(c, "backfill",
              absl::StrCat(" before ", GangText(desk_.state.FindGang(holder)->key), " at ",
                           absl::FormatTime(reservation.start, absl::UTCTimeZone())));
    c.record.backfill = Backfill{.end = c.now + ExpectedRuntime(c.gang).value()};
  }
  NoteBeside(c, answer);
}

// Whoever was passed in its Queue may want to know why.
void Reservations::NoteBeside(const Case& c, const Answer& answer) {
  for (const GangId holder : answer.beside) {
    desk_.Log(
        c, "let in",
        absl::StrCat(" beside ", GangText(desk_.state.FindGang(holder)->key),
                     ", which is to start at ", StartText(*desk_.records.at(holder)->reservation)));
  }
}

void Reservations::NoteYielded(const Answer& answer) {
  for (const GangId holder : answer.used) {
    if (std::ranges::find(answer.guest_of, holder) != answer.guest_of.end()) continue;
    desk_.records.at(holder)->reservation->lost = changed_ = true;
  }
}

// Guests that outstay leave as soon as their room is enough for the holder to start.
bool Reservations::SendOverstayersAway(Case& c, const GangRequest& request) {
  std::vector<RunningGang> late;
  for (const GangId guest : c.record.reservation->guests) {
    const auto it = desk_.records.find(guest);
    const Gang* gang = desk_.state.FindGang(guest);
    if (it == desk_.records.end() || gang == nullptr) continue;
    const GangRecord& record = *it->second;
    if (!record.backfill.has_value() || c.now < record.backfill->end + kEndGrace) continue;
    if (!Preemptions::Stands(*gang, record)) continue;
    RunningGang entry = parts_.preemptions.RunningGangOf(*gang, record, c.now);
    if (!entry.members.empty()) late.push_back(std::move(entry));
  }
  if (late.empty()) return false;
  const Supposition as_is = parts_.charges.Suppose(c, request);
  // Tries each of them alone, then all together.
  std::optional<PreemptionPlan> plan;
  for (size_t i = 0; i <= late.size() && !plan.has_value(); ++i) {
    PreemptionPlan trial;
    OpenHolds gone;
    for (size_t k = 0; k < late.size(); ++k) {
      if (i < late.size() && k != i) continue;
      Victim victim{
          .running = k, .pods = {}, .past_budgets = desk_.options.ignore_pdb == IgnorePdb::kAlways};
      for (const VictimPod& pod : late[k].members) {
        victim.pods.push_back(pod.pod);
        gone.rooms.push_back({pod.node, pod.shape});
        if (late[k].queue.valid()) gone.quota.emplace_back(late[k].queue, pod.charge);
      }
      gone.rooms.insert(gone.rooms.end(), late[k].held.begin(), late[k].held.end());
      if (late[k].queue.valid()) gone.quota.emplace_back(late[k].queue, late[k].held_charge);
      trial.victims.push_back(std::move(victim));
    }
    Supposition without = as_is;
    without.Free(gone);
    if (std::optional<Plan> found = FindPlan(without.Input(), desk_.options.profile)) {
      trial.plan = *std::move(found);
      plan = std::move(trial);
    }
  }
  if (!plan.has_value()) return false;
  parts_.evictions.StartClaim(c, request, late, *plan, LeavingPods(), ClaimGround::kOverstay,
                              "guests that end in time may stay");
  desk_.queue.Offer({c.gang.id, ItemKind::kQuorum}, parts_.charges.OrderOf(c, ItemKind::kQuorum));
  desk_.to_report.insert(c.gang.id);
  return true;
}

}  // namespace maniple
