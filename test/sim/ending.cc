#include "test/sim/ending.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/client/watch_session.h"
#include "scheduler/report/message.h"
#include "test/sim/asked_help.h"
#include "test/sim/at_rest.h"

namespace maniple::sim {
namespace {

// Longer than every timeout of the protocol: quorum loss (300 s), undo and its backoff, lease,
// client backoff, a watch that has fallen silent.
constexpr absl::Duration kQuiet = absl::Seconds(1200);
// It ends early when nobody has done anything for so long. Whatever the loop waits for (quorum
// loss, undo, the end of a backoff) it tells by itself; a watch that has fallen silent it cannot
// know of, so this is twice the time after which its client gives that up.
const absl::Duration kSettled = 2 * WatchSessionOptions().idle_timeout;
constexpr absl::Duration kArrived = absl::Seconds(10);  // whatever was sent before
constexpr absl::Duration kCalm = absl::Minutes(5);
constexpr absl::Duration kLook = absl::Minutes(1);  // how often that is looked at

// In so many histories there is a siege at the end. While it begins requests fail, one in so many.
constexpr uint64_t kOneSiege = 4;
constexpr uint32_t kRough = 4;
constexpr absl::Duration kStorm = absl::Seconds(20), kPatience = absl::Minutes(14);

// Beside the tenant: so many others come one after the other, each kind of its acts has one chance
// in so many whenever somebody looks.
constexpr int kNeighbours = 2;
constexpr uint32_t kHostile = 8;
constexpr absl::Duration kBearing = absl::Seconds(60), kGlance = absl::Seconds(3);

}  // namespace

Ending::Ending(WorldParts& world)
    : world_(world),
      pieces_(world.users),
      siege_(world.users, world.options.seed),
      neighbours_(world.users, world.truth) {}

void Ending::Play() {
  if (!world_.Sound()) return;
  world_.faults.set_rates(FaultRates::None());
  world_.RunFor(absl::Seconds(100));  // what was begun comes to its end
  world_.disturbances.Restore();
  world_.late_changes.Restore();
  world_.volume_users.Mend();
  BearTheTenant();
  if (world_.economy.exists()) StayCalm();
  world_.controllers_run = false;
  ComeToRest();
  // Whom closed nodes alone kept waiting nothing else wakes now.
  world_.disturbances.OpenNodes();
  ComeToRest();
  if (world_.economy.contested()) {
    world_.economy.LetMakeRoom();
    ComeToRest();
  }
  const bool stored = world_.volume_users.exist();
  if (world_.economy.exists() || world_.tenant.exists() || world_.producers.exist() || stored)
    EndAll();
  if (stored) UseAllStorage();
  if (world_.mig_users.exist()) JoinADivision();
  if (!world_.economy.exists() || world_.options.seed % kOneSiege != 0) return;
  PlaySetPieces();
  BesiegeAll();
}

// It goes on alone, and others come. A watch that has fallen silent would leave them unseen.
void Ending::BearTheTenant() {
  const bool silent = world_.options.rates.of(Fault::kHalfOpenWatch) != 0;
  if (!world_.Sound() || !world_.tenant.exists() || silent) return;
  FaultRates hostile;
  for (const Fault fault : HostileTenant::Kinds()) {
    if (world_.options.rates.of(fault) != 0) hostile.of(fault) = kHostile;
  }
  const absl::Time began = Now();
  const int gluts = world_.tenant.gluts();
  for (int come = 0; come < kNeighbours; ++come) {
    neighbours_.MoveIn();
    world_.faults.set_rates(hostile);
    const absl::Time end = Now() + kBearing;
    while (world_.Sound() && Now() < end) {
      WorldParts::ForEachKind([this](Fault fault) {
        if (world_.faults.Chosen(fault)) world_.Strike(fault, "");
      });
      world_.RunFor(kGlance);
      neighbours_.Look(RoomIsKept(), Now());
    }
  }
  world_.faults.set_rates(FaultRates::None());
  if (world_.tenant.gluts() > gluts + kNotYetSwept) CheckMemoryReturns(began);
}

// Who has led since then has seen more than it may keep, and nothing of it is used any more.
void Ending::CheckMemoryReturns(absl::Time began) {
  for (const auto& process : world_.processes) {
    if (!world_.Sound() || !process->leading() || process->led_since() >= began) continue;
    if (process->loop().counters().sweeps > 0) continue;
    world_.truth.Violated(
        Now(), absl::StrCat("MemoryReturns: ", process->identity(),
                            " has given back nothing of what the tenant has left behind"));
  }
}

Neighbours::Room Ending::RoomIsKept() const {
  const bool nominated = std::ranges::any_of(world_.truth.pods(), [](const auto& pod) {
    return !pod.second.nominated.empty() && pod.second.node.empty();
  });
  const bool held =
      world_.processes.Leaders() != 1 || SomeHold() || world_.producers.SomeAreMissing();
  return nominated || held ? Neighbours::Room::kMayBeKept : Neighbours::Room::kOpen;
}

HeldNodes Ending::Held() const {
  HeldNodes held;
  for (const auto& process : world_.processes) {
    if (!process->alive()) continue;
    for (const HeldStart& start : process->loop().HeldStarts()) {
      held[GangText(start.gang)].insert(start.nodes.begin(), start.nodes.end());
    }
  }
  return held;
}
bool Ending::SomeHold() const { return !Held().empty(); }

SetPieces::Stage Ending::Stage() {
  return {
      .pass = [this](absl::Duration time) { world_.RunFor(time); },
      .refuse_binds =
          [this](const std::string& target, absl::Duration time) {
            world_.network.RefuseBinds(target, Now() + time);
          },
      .delay_binds = [this](
                         const std::string& target,
                         absl::Duration time) { world_.network.DelayBinds(target, Now() + time); },
      .hold_pods =
          [this](absl::Duration time) { world_.network.HoldWatches("/api/v1/pods", Now() + time); },
      .bind_as_another =
          [this](const std::string& pod, const std::string& node) {
            world_.disturbances.BindAsAnother(pod, node);
          },
      .look =
          [this] {
            if (!world_.Sound()) return;
            CheckGangAllOrNothing(world_.truth, world_.processes.LedSince(), Now());
          },
      .hold_out = [this] { HoldOut(); },
      .must_run = [this](const std::string& gang) { CheckRuns(gang); },
      .reservation_after = world_.economy.reservation_after()};
}

void Ending::CheckRuns(const std::string& gang) {
  if (!world_.Sound()) return;
  int pods = 0;
  for (const auto& [key, pod] : world_.truth.pods()) {
    if (GangName(pod) != gang) continue;
    ++pods;
    if (!pod.node.empty()) continue;
    world_.truth.Violated(Now(),
                          absl::StrCat("NothingLeaks: ", key, " has no node, and nothing is in ",
                                       "its way that may stay"));
    return;
  }
  if (pods == 0) world_.truth.Violated(Now(), absl::StrCat("NothingLeaks: ", gang, " has no pods"));
}

void Ending::UseAllStorage() {
  if (!world_.Sound()) return;
  world_.volumes->CheckNothingIsSetAside(Now());
  world_.disturbances.OpenNodes();
  pieces_.UseAllStorage(*world_.volumes, Stage());
}

void Ending::JoinADivision() {
  if (!world_.Sound() || !world_.truth.pods().empty()) return;
  world_.disturbances.OpenNodes();
  pieces_.JoinADivision(Stage());
  world_.disturbances.OpenNodes();
}

void Ending::PlaySetPieces() {
  if (!world_.Sound()) return;
  world_.disturbances.OpenNodes();
  world_.controllers_run = true;
  pieces_.Play(Stage());
}

// Whoever may be made to leave does leave, whatever has become of it.
void Ending::BesiegeAll() {
  if (!world_.Sound()) return;
  world_.disturbances.OpenNodes();
  world_.controllers_run = true;
  siege_.Settle();
  world_.RunFor(kLook);
  siege_.Maim();
  world_.RunFor(kLook);
  FaultRates rough;
  for (const Fault fault : {Fault::kThrottled, Fault::kUnavailable, Fault::kCrashAtEvict}) {
    if (world_.options.rates.of(fault) != 0) rough.of(fault) = kRough;
  }
  world_.faults.set_rates(rough);
  siege_.Besiege();
  world_.RunFor(kStorm);
  world_.faults.set_rates(FaultRates::None());
  HoldOut();
  siege_.Injure();
  HoldOut();
  siege_.Humble();
  HoldOut();
}

// Everything that may be waited for comes to its end: claims, pauses, pods that leave.
void Ending::HoldOut() {
  const absl::Time end = Now() + kPatience;
  while (world_.Sound() && Now() < end) world_.RunFor(kLook);
  if (world_.Sound()) CheckNobodyIsImmune(world_.truth, world_.evictions, Held(), Now());
}

// Whoever is made to leave comes back, and may make others leave: that must come to an end.
void Ending::StayCalm() {
  world_.economy.Restore();
  if (world_.economy.contested()) {
    world_.workload.Crowd();
    world_.RunFor(kLook);
    world_.variety.Maim();
    world_.workload.Rush();
  }
  world_.evictions.BeginCalm();
  world_.kept.BeginCalm();
  const absl::Time end = Now() + kCalm;
  while (world_.Sound() && Now() < end) {
    world_.RunUntil(std::min(end, Now() + absl::Seconds(10)));
  }
  if (world_.Sound()) world_.evictions.CheckNobodyLeavesAgainAndAgain(Now());
}

void Ending::EndAll() {
  if (!world_.Sound()) return;
  world_.workload.DeleteAll();
  world_.tenant.DeleteAll();
  world_.producers.DeleteAll();
  const absl::Time end = Now() + kQuiet;
  do {
    world_.RunFor(kLook);
  } while (world_.Sound() && Now() < end && !world_.truth.pods().empty());
  for (const auto& process : world_.processes) {
    if (!world_.Sound() || !process->leading()) continue;
    if (const absl::Status status = process->loop().CheckNothingHeld(); !status.ok()) {
      world_.truth.Violated(Now(), absl::StrCat("NothingLeaks: ", status.message()));
    }
  }
}

void Ending::ComeToRest() {
  const absl::Time end = Now() + kQuiet;
  while (world_.Sound() && Now() < end && !Settled()) {
    world_.RunUntil(std::min(end, Now() + kLook));
  }
  LetArrive();
  if (!world_.Sound()) return;
  CheckGangAllOrNothing(world_.truth, world_.processes.LedSince(), Now());
  CheckNothingRunnableWaits(world_.truth, SomeHold() ? Holds::kSome : Holds::kNone, Now());
  if (Settled() && world_.tenant.exists()) {
    CheckAdmittedStaysCharged(world_.truth, world_.processes.LedSince(), Now());
    if (!SomeHold()) CheckNobodyElsesQuotaIsUsed(world_.truth, world_.processes.LedSince(), Now());
  }
  if (Settled()) CheckNobodyIsImmune(world_.truth, world_.evictions, Held(), Now());
  if (Quiet() && !SomeHold()) world_.producers.CheckAtRest(Now());
  if (Settled() || NobodyMakesRoom()) CheckNobodyIsNominated(world_.truth, Now());
  for (const auto& process : world_.processes) {
    if (process->leading()) CheckAtRest(*process);
  }
  if (world_.processes.Leaders() != 1) {
    world_.truth.Violated(
        Now(), absl::StrCat("OneLeader: ", world_.processes.Leaders(), " processes lead"));
  }
}

// The time for rest may be over just when a reservation ends and others start: that is no remnant.
void Ending::LetArrive() {
  const absl::Time end = Now() + kLook;
  const auto arrives = [this] { return world_.last_sent + kArrived; };
  while (world_.Sound() && Now() < std::min(end, arrives())) {
    world_.RunUntil(std::min(end, arrives()));
  }
  // A start that is put off again and again is told each time, so one telling may be under way.
  const absl::Time told = Now() + kArrived;
  while (world_.Sound() && Now() < told && !Idle()) world_.RunFor(absl::Milliseconds(100));
}

bool Ending::Idle() const {
  return std::ranges::all_of(world_.processes, [](const auto& process) {
    return !process->leading() || process->loop().Idle();
  });
}

// One leads, none waits for a moment of its own, and for a while nothing was changed and nothing
// asked but to keep Leases and watches.
bool Ending::Settled() const {
  return world_.processes.Leaders() == 1 &&
         Now() >= std::max(world_.last_sent, world_.truth.last_change()) + kSettled &&
         std::ranges::none_of(world_.processes,
                              [](const auto& process) { return process->waits(); });
}

// One leads, and has had nothing to write for a while.
bool Ending::Quiet() const {
  return world_.processes.Leaders() == 1 && Now() >= world_.last_sent + kSettled &&
         Now() >= world_.truth.last_change() + kArrived;
}

// Plans for later starts are made again and again, so it may never settle while gangs wait.
bool Ending::NobodyMakesRoom() const {
  if (Now() < world_.last_sent + kArrived) return false;
  return std::ranges::all_of(world_.processes, [](const auto& process) {
    if (!process->leading()) return true;
    const ClusterViewPtr view = process->loop().View(process->Now());
    return std::ranges::none_of(view->gangs, [](const GangView& gang) {
      // A start that came to nothing keeps the room that was made for it.
      return gang.reason == "WaitingForPreemption" || gang.reason == "BackingOff" ||
             gang.reason == "VolumesNotReady";
    });
  });
}

void Ending::CheckAtRest(Process& process) {
  if (const absl::Status status = process.loop().CheckParkedCannotStart(process.Now());
      !status.ok()) {
    world_.truth.Violated(Now(), absl::StrCat("ParkedCannotStart: ", status.message()));
  }
  CheckHelpIsPure(world_.truth, process.loop(), process.Now());
  if (!process.loop().Idle()) {
    world_.truth.Violated(Now(), "NothingUnderWay: writes are left");
  }
}

}  // namespace maniple::sim
