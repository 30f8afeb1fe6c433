#include "test/sim/world_parts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "test/support/crds.h"

namespace maniple::sim {
namespace {

// Versions that a restored store gives out are far below these.
constexpr uint64_t kFirstVersion = 1'000'000;

}  // namespace

std::string GangName(const Truth::PodFacts& pod) { return pod.gang.substr(pod.gang.find('/') + 1); }

WorldParts::WorldParts(const SimOptions& sim_options, Processes::Hooks hooks)
    : options(sim_options),
      random(options.seed),
      faults(options.seed * 7919 + 1),
      events(clock),
      server({.delete_delay = absl::Seconds(options.seed % 3),
              .volume_delay = VolumeUsers::Delay(options.seed),
              .first_version = kFirstVersion,
              .seed = options.seed}),
      network(server, events, faults, options.seed * 31 + 7),
      truth(server),
      kept(truth),
      evictions(truth, kept),
      raised_quorums(truth),
      users(network, truth, random, Variety::RacksOf(options.seed)),
      economy(users, options.seed),
      variety(users, options.seed),
      mig_users(users, options.seed),
      volume_users(users, options.seed),
      workload(users, economy, variety, mig_users, volume_users),
      disturbances(users, truth, events, faults, InstalledCrds()),
      tenant(users, truth, events, faults, {.seed = options.seed, .rates = options.rates}),
      producers(users, truth, options.seed),
      late_changes(users, producers, faults),
      processes(network, events, faults, std::move(hooks)) {}

void WorldParts::Strike(Fault fault, const std::string& gang) {
  disturbances.Strike(fault, gang);
  late_changes.Strike(fault, gang);
  tenant.Strike(fault);
}

void WorldParts::RunUntil(absl::Time when) {
  if (!Sound()) return;
  while (!events.empty() && events.NextTime() <= when && Sound()) events.RunNext();
  clock.AdvanceTo(std::max(clock.Now(), when));
  evictions.CheckVictimsLeaveWhole([this](uint64_t life) { return processes.Leads(life); },
                                   events.Now());
  for (const auto& process : processes) {
    if (!process->alive()) continue;
    if (process->spins()) {
      truth.Violated(events.Now(), absl::StrCat("NothingSpins: ", process->identity()));
    }
    if (!process->help_flaw().empty()) {
      truth.Violated(events.Now(), absl::StrCat("HelpIsAsOfItsEnd: ", process->help_flaw()));
    }
    kept.OnHeld(
        {.life = process->life(), .now = events.Now(), .skew = process->Now() - events.Now()},
        process->loop().HeldStarts(), economy.reservation_after());
    if (const absl::Status status = process->loop().CheckInvariants(); !status.ok()) {
      truth.Violated(events.Now(), absl::StrCat("ReservationsMatchState: ", status.message()));
    }
  }
}

}  // namespace maniple::sim
