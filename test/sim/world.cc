#include "test/sim/world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/sim/beliefs.h"
#include "test/sim/ending.h"
#include "test/sim/onlooker.h"
#include "test/sim/world_parts.h"
#include "test/support/crds.h"

namespace maniple::sim {
namespace {

constexpr absl::Duration kControllerPeriod = absl::Seconds(2);

// For how long a scheduler may not know of a change where no watch falls silent: it is stopped, or
// reads a watch late, or gets stale lists.
constexpr absl::Duration kNeverBlindFor = absl::Seconds(180);

// In so many histories one begins with a cluster that others have filled before there was a
// scheduler of ours.
constexpr uint64_t kOneFullHouse = 13;

// For so long the binds of a gang fail whose PodGroup goes in mid-burst.
constexpr absl::Duration kShortBurst = absl::Seconds(2);

// So many pairs of a fault and a state are lain in wait for, and others after so many steps.
constexpr int kAmbushPairs = 40;
constexpr int kStepsInWait = 100;

class World final {
 public:
  explicit World(const SimOptions& options)
      : parts_(options, {.options = [this] { return NextProcess(); },
                         .on_line = [this](uint64_t life, absl::Duration skew,
                                           const std::string& line) { OnLine(life, skew, line); },
                         .on_held_up = [this] { OnHeldUp(); },
                         .on_strike = [this](const std::string& what) { Log(what); }}),
        onlooker_(parts_) {}

  SimReport Run() {
    SetUp();
    for (int step = 0; step < parts_.options.steps && parts_.Sound(); ++step) {
      if (step % kStepsInWait == 0) {
        parts_.faults.LieInWait(parts_.options.seed * 613 + step, kAmbushPairs);
      }
      parts_.workload.Act();
      parts_.economy.Act();
      parts_.producers.Act();
      WorldParts::ForEachKind([this](Fault fault) {
        if (parts_.faults.Chosen(fault)) parts_.Strike(fault, "");
      });
      parts_.RunFor(absl::Milliseconds(parts_.random.Below(2500)));
      parts_.processes.Disturb();
      for (const auto& process : parts_.processes) Ambush(process->life(), "");
    }
    Ending(parts_).Play();
    if (!parts_.Sound()) {
      for (const auto& process : parts_.processes) {
        if (process != nullptr) TellBeliefs(*process, log_);
      }
    }
    SimReport report;
    report.violations = parts_.truth.violations();
    report.faults = parts_.faults.counts();
    report.coverage = coverage_;
    report.binds = parts_.truth.binds();
    report.judged_binds = parts_.truth.judged_binds();
    report.holds = parts_.kept.holds();
    report.guests = parts_.kept.guests();
    report.quota_checks = parts_.truth.quota_checks();
    report.divisions = onlooker_.divisions();
    report.units = parts_.producers.started();
    report.fingerprint = parts_.truth.fingerprint();
    report.log = std::move(log_);
    return report;
  }

 private:
  template <typename... Parts>
  void Log(const Parts&... parts) {
    if (parts_.options.log == SimOptions::Log::kDropped) return;
    log_.push_back(absl::StrCat(
        absl::FormatTime("%H:%M:%E3S ", parts_.events.Now(), absl::UTCTimeZone()), parts...));
  }

  // The log tells of whatever names what the options ask about.
  void Tell(absl::string_view what, const std::string& text) {
    if (absl::StrContains(text, parts_.options.about)) Log(what, " ", text);
  }

  void TellWrite(const Sender& sender, const HttpRequest& request, int status) {
    Tell(absl::StrCat("#", sender.life, " got ", status, " for"),
         absl::StrCat(HttpMethodName(request.method), " ", request.target, " ", request.body));
  }

  void SetUp() {
    parts_.network.set_hooks(
        {.on_server_change =
             [this] {
               parts_.truth.Observe(parts_.events.Now());
               if (parts_.volumes.has_value()) parts_.volumes->Observe(parts_.events.Now());
               parts_.producers.OnServerChange(parts_.events.Now());
               parts_.raised_quorums.Observe(parts_.events.Now());
             },
         .on_sent = [this](uint64_t life, const HttpRequest& request) { OnSent(life, request); },
         .on_left_late = [this](
                             uint64_t life,
                             const HttpRequest& request) { onlooker_.CheckFence(life, request); },
         .on_reply = [this](uint64_t life, const HttpRequest& request,
                            absl::string_view body) { OnReply(life, request, body); },
         .on_write = [this](const Sender& sender,
                            const HttpRequest& request) { onlooker_.OnWrite(sender, request); },
         .on_written =
             [this](const Sender& sender, const HttpRequest& request, int status) {
               if (!parts_.options.about.empty()) TellWrite(sender, request, status);
               onlooker_.OnWritten(sender, request, status);
             }});
    parts_.faults.set_on_strike([this](Fault fault) { Cover(fault); });
    parts_.faults.set_states([this] { return parts_.processes.StatesNow(); });
    parts_.workload.SetUp(InstalledCrds());
    parts_.economy.SetUp();
    if (!parts_.options.about.empty()) {
      parts_.truth.set_on_change(
          [this](absl::string_view kind, const devcluster::WatchEvent& event) {
            Tell(absl::StrCat(event.type, " ", kind), event.object.Dump());
          });
    }
    parts_.truth.Start(parts_.events.Now());
    parts_.truth.Observe(parts_.events.Now());
    if (parts_.volume_users.exist()) {
      parts_.volumes.emplace(parts_.server, parts_.truth).Observe(parts_.events.Now());
    }
    parts_.tenant.SetUp();
    parts_.producers.SetUp();
    parts_.faults.set_rates(parts_.options.rates);
    if (!parts_.faults.Enabled(Fault::kHalfOpenWatch)) parts_.truth.set_blind_for(kNeverBlindFor);
    if (FullHouse()) {
      parts_.workload.MoveIn();
      parts_.disturbances.BindEverybody();
      parts_.RunFor(kControllerPeriod);
      parts_.workload.Rush();
    }
    parts_.processes.Start(parts_.options.seed % 4 == 0 ? 2 : 1);
    parts_.events.After(kControllerPeriod, [this] { ControllerTurn(); });
  }

  void ControllerTurn() {
    if (parts_.controllers_run) parts_.workload.ControllerTurn(parts_.events.Now());
    parts_.variety.LetGo();
    if (parts_.volumes.has_value()) parts_.volume_users.ControllerTurn(*parts_.volumes);
    parts_.producers.ControllerTurn(parts_.events.Now());
    parts_.events.After(kControllerPeriod, [this] { ControllerTurn(); });
  }

  [[nodiscard]] bool FullHouse() const {
    return parts_.options.seed % kOneFullHouse == 1 && parts_.economy.exists();
  }

  ProcessOptions NextProcess() {
    using Election = ProcessOptions::Election;
    return {.life = parts_.options.seed * 1000 + ++lives_,
            .election = parts_.Elects() ? Election::kOn : Election::kOff,
            .fair_sharing = parts_.options.seed % 5 < 3 ? FairSharing::kOn : FairSharing::kOff,
            .reservation_after = parts_.economy.reservation_after(),
            .holds_per_cohort = parts_.economy.holds_per_cohort(),
            .sweep_slack = SweepSlack(),
            .mig = parts_.mig_users.exist() ? MigReconfigure::kOn : MigReconfigure::kOff,
            .producers = parts_.producers.exist() ? Watched::kAll : Watched::kNone};
  }

  [[nodiscard]] size_t SweepSlack() const {
    if (parts_.options.sweeps == SimOptions::Sweeps::kAlways) return 0;
    return parts_.tenant.exists() ? kNotYetSwept : ClusterStateOptions{}.sweep_slack;
  }

  void OnLine(uint64_t life, absl::Duration skew, const std::string& line) {
    Log("#", life, " ", line);
    const Speaker speaker{.life = life, .now = parts_.events.Now(), .skew = skew};
    parts_.kept.OnDecision(speaker, line);
    parts_.evictions.OnDecision(speaker, line);
    onlooker_.OnLine(life, line);
  }

  // What lies in wait for a state that some member is in now.
  void Ambush(uint64_t life, const std::string& gang) {
    WorldParts::ForEachKind([this, &gang](Fault fault) {
      if (parts_.faults.Awaited(fault)) parts_.Strike(fault, gang);
    });
    Process* process = parts_.processes.Of(life);
    if (process == nullptr || !process->alive()) return;
    if (parts_.faults.Awaited(Fault::kPaused)) {
      parts_.faults.Note(Fault::kPaused);
      parts_.processes.Pause(*process);
    }
    if (parts_.faults.Awaited(Fault::kHeldUp)) {
      parts_.faults.Note(Fault::kHeldUp);
      parts_.processes.HoldUp(*process);
    }
    const bool steps =
        parts_.faults.Awaited(Fault::kClockStep) && parts_.faults.Enabled(Fault::kCrash);
    if (!steps && !parts_.faults.Awaited(Fault::kCrash)) return;
    parts_.faults.Note(Fault::kCrash);
    parts_.processes.Kill(*process);
  }

  void AmbushSoon(uint64_t life, const HttpRequest& request) {
    const std::string pod = PodOf(request);
    if (pod.empty()) return;
    const auto facts = parts_.truth.pods().find(pod);
    const std::string gang = facts == parts_.truth.pods().end() ? "" : GangName(facts->second);
    parts_.events.After(absl::ZeroDuration(), [this, life, gang] { Ambush(life, gang); });
  }

  void OnSent(uint64_t life, const HttpRequest& request) {
    AmbushSoon(life, request);
    // Kinds that are not there are asked for again and again.
    if (request.lane == HttpLane::kWrite) parts_.last_sent = parts_.events.Now();
    Process* process = parts_.processes.Of(life);
    if (process == nullptr || request.method == HttpMethod::kGet) return;
    if (request.lane == HttpLane::kLease) {
      if (parts_.faults.Strikes(Fault::kCrashAtRenewal)) parts_.processes.Kill(*process);
      return;
    }
    onlooker_.OnSent(*process, request);
    const bool in_order = FullHouse() && lives_ == parts_.processes.size() && !process->held_up();
    onlooker_.CheckFirstWords(life, request, in_order);
    if (!EvictedPod(request).empty() && parts_.faults.Strikes(Fault::kCrashAtEvict)) {
      parts_.processes.Kill(*process);
    }
    if (const std::string pod = BoundPod(request); !pod.empty()) DisturbBind(pod);
    if (parts_.faults.Strikes(Fault::kCrashAfterSend)) parts_.processes.Kill(*process);
  }

  // The client may lose the lead meanwhile, and win it again before the loop hears of either.
  void OnHeldUp() {
    const Fault fault =
        parts_.faults.Draw(Fault::kHeldUp, 3) == 0 ? Fault::kLeaseEdited : Fault::kLeaseDeleted;
    if (parts_.faults.Enabled(fault) && parts_.faults.Draw(Fault::kHeldUp, 2) == 0)
      parts_.Strike(fault, "");
  }

  // Something happens to the gang, or to the cluster, while a bind is under way.
  void DisturbBind(const std::string& pod) {
    const auto facts = parts_.truth.pods().find(pod);
    if (facts == parts_.truth.pods().end()) return;
    const std::string gang = GangName(facts->second);
    WorldParts::ForEachKind([this, &gang](Fault fault) {
      if (!parts_.faults.Chosen(fault)) return;
      parts_.events.After(
          parts_.faults.Between(fault, absl::ZeroDuration(), absl::Milliseconds(12)),
          [this, fault, gang] { parts_.Strike(fault, gang); });
      if (fault == Fault::kGroupDeleted) StopShort(gang);
    });
  }

  // The rest of the burst fails for a while, so that half of the gang is what its PodGroup leaves.
  void StopShort(const std::string& gang) {
    if (!parts_.faults.Enabled(Fault::kUnavailable)) return;
    parts_.network.RefuseBinds(absl::StrCat(kPodsTarget, "/", gang, "-"),
                               parts_.events.Now() + kShortBurst);
  }

  void OnReply(uint64_t life, const HttpRequest& request, absl::string_view body) {
    onlooker_.OnReply(life, request, body);
    AmbushSoon(life, request);
    Process* process = parts_.processes.Of(life);
    if (process != nullptr && parts_.faults.Strikes(Fault::kCrashAtReply))
      parts_.processes.Kill(*process);
  }

  void Cover(Fault fault) {
    Log("fault: ", FaultName(fault));
    const StateSet states = parts_.processes.StatesNow();
    for (int state = 0; state < kBindStates; ++state) {
      if ((states & SetOf(static_cast<BindState>(state))) == 0) continue;
      ++coverage_[static_cast<size_t>(fault)][state];
    }
  }

  Coverage coverage_{};
  std::vector<std::string> log_;
  uint64_t lives_ = 0;
  WorldParts parts_;
  Onlooker onlooker_;
};

}  // namespace

SimReport RunSim(const SimOptions& options) { return World(options).Run(); }

}  // namespace maniple::sim
