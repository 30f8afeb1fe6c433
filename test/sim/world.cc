#include "test/sim/world.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/check.h"
#include "api/client/watch_session.h"
#include "api/devcluster/api_server.h"
#include "api/model/maniple_types.h"
#include "scheduler/report/message.h"
#include "test/sim/asked_help.h"
#include "test/sim/beliefs.h"
#include "test/sim/conduct.h"
#include "test/sim/disturbances.h"
#include "test/sim/economy.h"
#include "test/sim/evictions.h"
#include "test/sim/first_words.h"
#include "test/sim/hostile_tenant.h"
#include "test/sim/immunity.h"
#include "test/sim/kept_room.h"
#include "test/sim/mig_users.h"
#include "test/sim/neighbours.h"
#include "test/sim/network.h"
#include "test/sim/processes.h"
#include "test/sim/producers.h"
#include "test/sim/set_pieces.h"
#include "test/sim/siege.h"
#include "test/sim/truth.h"
#include "test/sim/variety.h"
#include "test/sim/volume_truth.h"
#include "test/sim/volume_users.h"
#include "test/sim/waiting.h"
#include "test/sim/workload.h"
#include "test/support/crds.h"

namespace maniple::sim {
namespace {

constexpr absl::Duration kControllerPeriod = absl::Seconds(2);
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
// Versions that a restored store gives out are far below these.
constexpr uint64_t kFirstVersion = 1'000'000;

// For how long a scheduler may not know of a change where no watch falls silent: it is stopped, or
// reads a watch late, or gets stale lists.
constexpr absl::Duration kNeverBlindFor = absl::Seconds(180);

// In so many histories one begins with a cluster that others have filled before there was a
// scheduler of ours.
constexpr uint64_t kOneFullHouse = 13;

// In so many histories there is a siege at the end. While it begins requests fail, one in so many.
constexpr uint64_t kOneSiege = 4;
constexpr uint32_t kRough = 4;
constexpr absl::Duration kStorm = absl::Seconds(20), kPatience = absl::Minutes(14);

// Beside the tenant: so many others come one after the other, each kind of its acts has one chance
// in so many whenever somebody looks.
constexpr int kNeighbours = 2;
constexpr uint32_t kHostile = 8;
// Shapes and selectors that may be left behind there before somebody looks at what is used.
constexpr int kNotYetSwept = 8;
constexpr absl::Duration kBearing = absl::Seconds(60), kGlance = absl::Seconds(3);

// For so long the binds of a gang fail whose PodGroup goes in mid-burst.
constexpr absl::Duration kShortBurst = absl::Seconds(2);

// So many pairs of a fault and a state are lain in wait for, and others after so many steps.
constexpr int kAmbushPairs = 40;
constexpr int kStepsInWait = 100;

// As the bind says it.
std::string AdmittedQueueIn(const HttpRequest& bind) {
  if (!absl::StrContains(bind.body, kAdmittedQueueAnnotation)) return "";
  const absl::StatusOr<Json> body = Json::Parse(bind.body);
  CHECK(body.ok()) << bind.body;
  return (*body)["metadata"]["annotations"][kAdmittedQueueAnnotation].AsString();
}

std::string GangName(const Truth::PodFacts& pod) { return pod.gang.substr(pod.gang.find('/') + 1); }

class World final {
 public:
  explicit World(const SimOptions& options)
      : options_(options),
        random_(options.seed),
        faults_(options.seed * 7919 + 1),
        events_(clock_),
        server_({.delete_delay = absl::Seconds(options.seed % 3),
                 .volume_delay = VolumeUsers::Delay(options.seed),
                 .first_version = kFirstVersion,
                 .seed = options.seed}),
        network_(server_, events_, faults_, options.seed * 31 + 7),
        truth_(server_),
        kept_(truth_),
        conduct_(truth_),
        evictions_(truth_, kept_),
        first_words_(truth_),
        users_(network_, truth_, random_, Variety::RacksOf(options.seed)),
        economy_(users_, options.seed),
        variety_(users_, options.seed),
        mig_users_(users_, options.seed),
        volume_users_(users_, options.seed),
        workload_(users_, economy_, variety_, mig_users_, volume_users_),
        pieces_(users_),
        siege_(users_, options.seed),
        disturbances_(users_, truth_, events_, faults_, InstalledCrds()),
        tenant_(users_, truth_, events_, faults_, {.seed = options.seed, .rates = options.rates}),
        neighbours_(users_, truth_),
        producers_(users_, truth_, options.seed),
        processes_(network_, events_, faults_,
                   {.options = [this] { return NextProcess(); },
                    .on_line = [this](uint64_t life, absl::Duration skew,
                                      const std::string& line) { OnLine(life, skew, line); },
                    .on_held_up = [this] { OnHeldUp(); },
                    .on_strike = [this](const std::string& what) { Log(what); }}) {}

  SimReport Run() {
    SetUp();
    for (int step = 0; step < options_.steps && Sound(); ++step) {
      if (step % kStepsInWait == 0) faults_.LieInWait(options_.seed * 613 + step, kAmbushPairs);
      workload_.Act();
      economy_.Act();
      producers_.Act();
      ForEachKind([this](Fault fault) {
        if (faults_.Chosen(fault)) Strike(fault, "");
      });
      RunUntil(events_.Now() + absl::Milliseconds(random_.Below(2500)));
      processes_.Disturb();
      for (const auto& process : processes_) Ambush(process->life(), "");
    }
    Quiesce();
    if (!Sound()) {
      for (const auto& process : processes_) {
        if (process != nullptr) TellBeliefs(*process, log_);
      }
    }
    SimReport report;
    report.violations = truth_.violations();
    report.faults = faults_.counts();
    report.coverage = coverage_;
    report.binds = truth_.binds();
    report.judged_binds = truth_.judged_binds();
    report.holds = kept_.holds();
    report.guests = kept_.guests();
    report.quota_checks = truth_.quota_checks();
    report.divisions = divisions_;
    report.units = producers_.started();
    report.fingerprint = truth_.fingerprint();
    report.log = std::move(log_);
    return report;
  }

 private:
  [[nodiscard]] bool Sound() const { return truth_.violations().empty(); }

  template <typename... Parts>
  void Log(const Parts&... parts) {
    if (options_.log == SimOptions::Log::kDropped) return;
    log_.push_back(absl::StrCat(absl::FormatTime("%H:%M:%E3S ", events_.Now(), absl::UTCTimeZone()),
                                parts...));
  }

  // What users, administrators and the cluster itself may do at any moment.
  template <typename Function>
  static void ForEachKind(const Function& function) {
    std::ranges::for_each(Disturbances::Kinds(), function);
    std::ranges::for_each(HostileTenant::Kinds(), function);
  }

  void Strike(Fault fault, const std::string& gang) {
    disturbances_.Strike(fault, gang);
    tenant_.Strike(fault);
  }

  void SetUp() {
    network_.set_hooks(
        {.on_server_change =
             [this] {
               truth_.Observe(events_.Now());
               if (volumes_.has_value()) volumes_->Observe(events_.Now());
               producers_.OnServerChange(events_.Now());
             },
         .on_sent = [this](uint64_t life, const HttpRequest& request) { OnSent(life, request); },
         .on_left_late = [this](uint64_t life,
                                const HttpRequest& request) { CheckFence(life, request); },
         .on_reply = [this](uint64_t life, const HttpRequest& request,
                            absl::string_view body) { OnReply(life, request, body); },
         .on_write = [this](const Sender& sender,
                            const HttpRequest& request) { OnWrite(sender, request); },
         .on_written = [this](const Sender& sender, const HttpRequest& request,
                              int status) { OnWritten(sender, request, status); }});
    faults_.set_on_strike([this](Fault fault) { Cover(fault); });
    faults_.set_states([this] { return processes_.StatesNow(); });
    workload_.SetUp(InstalledCrds());
    economy_.SetUp();
    truth_.Start(events_.Now());
    truth_.Observe(events_.Now());
    if (volume_users_.exist()) volumes_.emplace(server_, truth_).Observe(events_.Now());
    tenant_.SetUp();
    producers_.SetUp();
    faults_.set_rates(options_.rates);
    if (!faults_.Enabled(Fault::kHalfOpenWatch)) truth_.set_blind_for(kNeverBlindFor);
    if (FullHouse()) {
      workload_.MoveIn();
      disturbances_.BindEverybody();
      RunUntil(events_.Now() + kControllerPeriod);
      workload_.Rush();
    }
    processes_.Start(options_.seed % 4 == 0 ? 2 : 1);
    events_.After(kControllerPeriod, [this] { ControllerTurn(); });
  }

  void ControllerTurn() {
    if (controllers_run_) workload_.ControllerTurn(events_.Now());
    variety_.LetGo();
    if (volumes_.has_value()) volume_users_.ControllerTurn(volumes_->InUse());
    producers_.ControllerTurn(events_.Now());
    events_.After(kControllerPeriod, [this] { ControllerTurn(); });
  }

  [[nodiscard]] bool FullHouse() const {
    return options_.seed % kOneFullHouse == 1 && economy_.exists();
  }

  ProcessOptions NextProcess() {
    using Election = ProcessOptions::Election;
    return {.life = options_.seed * 1000 + ++lives_,
            .election = Elects() ? Election::kOn : Election::kOff,
            .fair_sharing = options_.seed % 5 < 3 ? FairSharing::kOn : FairSharing::kOff,
            .reservation_after = economy_.reservation_after(),
            .holds_per_cohort = economy_.holds_per_cohort(),
            .sweep_slack = SweepSlack(),
            .mig = mig_users_.exist() ? MigReconfigure::kOn : MigReconfigure::kOff,
            .producers = producers_.exist() ? Watched::kAll : Watched::kNone};
  }

  [[nodiscard]] size_t SweepSlack() const {
    if (options_.sweeps == SimOptions::Sweeps::kAlways) return 0;
    return tenant_.exists() ? kNotYetSwept : ClusterStateOptions{}.sweep_slack;
  }

  void OnLine(uint64_t life, absl::Duration skew, const std::string& line) {
    Log("#", life, " ", line);
    const Speaker speaker{.life = life, .now = events_.Now(), .skew = skew};
    kept_.OnDecision(speaker, line);
    evictions_.OnDecision(speaker, line);
    first_words_.OnDecision(life, line);
  }

  // What lies in wait for a state that some member is in now.
  void Ambush(uint64_t life, const std::string& gang) {
    ForEachKind([this, &gang](Fault fault) {
      if (faults_.Awaited(fault)) Strike(fault, gang);
    });
    Process* process = processes_.Of(life);
    if (process == nullptr || !process->alive()) return;
    if (faults_.Awaited(Fault::kPaused)) {
      faults_.Note(Fault::kPaused);
      processes_.Pause(*process);
    }
    if (faults_.Awaited(Fault::kHeldUp)) {
      faults_.Note(Fault::kHeldUp);
      processes_.HoldUp(*process);
    }
    const bool steps = faults_.Awaited(Fault::kClockStep) && faults_.Enabled(Fault::kCrash);
    if (!steps && !faults_.Awaited(Fault::kCrash)) return;
    faults_.Note(Fault::kCrash);
    processes_.Kill(*process);
  }

  void AmbushSoon(uint64_t life, const HttpRequest& request) {
    const std::string pod = PodOf(request);
    if (pod.empty()) return;
    const auto facts = truth_.pods().find(pod);
    const std::string gang = facts == truth_.pods().end() ? "" : GangName(facts->second);
    events_.After(absl::ZeroDuration(), [this, life, gang] { Ambush(life, gang); });
  }

  void OnSent(uint64_t life, const HttpRequest& request) {
    AmbushSoon(life, request);
    // Kinds that are not there are asked for again and again.
    if (request.lane == HttpLane::kWrite) last_sent_ = events_.Now();
    Process* process = processes_.Of(life);
    if (process == nullptr || request.method == HttpMethod::kGet) return;
    if (request.lane == HttpLane::kLease) {
      if (faults_.Strikes(Fault::kCrashAtRenewal)) processes_.Kill(*process);
      return;
    }
    CheckFence(life, request);
    conduct_.OnSent(life, request, process->decided_at(), events_.Now());
    evictions_.OnSent(life, request, events_.Now());
    if (FullHouse() && lives_ == processes_.size() && !process->held_up()) {
      first_words_.OnSent(life, request, events_.Now());
    }
    if (!EvictedPod(request).empty() && faults_.Strikes(Fault::kCrashAtEvict)) {
      processes_.Kill(*process);
    }
    if (const std::string pod = BoundPod(request); !pod.empty()) DisturbBind(pod);
    if (const std::string node = DividedNode(request); !node.empty()) {
      truth_.NoteDivisionSent(node, life, events_.Now());
    }
    if (faults_.Strikes(Fault::kCrashAfterSend)) processes_.Kill(*process);
  }

  [[nodiscard]] bool Elects() const { return options_.seed % 2 == 0; }

  void CheckFence(uint64_t life, const HttpRequest& request) {
    const Process* process = processes_.Of(life);
    if (process == nullptr || !Elects()) return;
    if (request.method == HttpMethod::kGet || request.lane == HttpLane::kLease) return;
    truth_.CheckFencing(process->identity(), request.target, events_.Now());
    if (process->decided_at() < process->lead_began()) {
      truth_.Violated(events_.Now(),
                      absl::StrCat("Fencing: ", process->identity(), " sends ", request.target,
                                   ", which it decided on before it came to lead once more"));
    }
    if (events_.Now() < leads_until_[life]) return;
    truth_.Violated(events_.Now(), absl::StrCat("Fencing: ", process->identity(), " sends ",
                                                request.target, " after its own deadline"));
  }

  // The client may lose the lead meanwhile, and win it again before the loop hears of either.
  void OnHeldUp() {
    const Fault fault =
        faults_.Draw(Fault::kHeldUp, 3) == 0 ? Fault::kLeaseEdited : Fault::kLeaseDeleted;
    if (faults_.Enabled(fault) && faults_.Draw(Fault::kHeldUp, 2) == 0) Strike(fault, "");
  }

  // Something happens to the gang, or to the cluster, while a bind is under way.
  void DisturbBind(const std::string& pod) {
    const auto facts = truth_.pods().find(pod);
    if (facts == truth_.pods().end()) return;
    const std::string gang = GangName(facts->second);
    ForEachKind([this, &gang](Fault fault) {
      if (!faults_.Chosen(fault)) return;
      events_.After(faults_.Between(fault, absl::ZeroDuration(), absl::Milliseconds(12)),
                    [this, fault, gang] { Strike(fault, gang); });
      if (fault == Fault::kGroupDeleted) StopShort(gang);
    });
  }

  // The rest of the burst fails for a while, so that half of the gang is what its PodGroup leaves.
  void StopShort(const std::string& gang) {
    if (!faults_.Enabled(Fault::kUnavailable)) return;
    network_.RefuseBinds(absl::StrCat(kPodsTarget, "/", gang, "-"), events_.Now() + kShortBurst);
  }

  void OnReply(uint64_t life, const HttpRequest& request, absl::string_view body) {
    conduct_.OnReply(life, request, body, events_.Now());
    AmbushSoon(life, request);
    Process* process = processes_.Of(life);
    if (process != nullptr && faults_.Strikes(Fault::kCrashAtReply)) processes_.Kill(*process);
  }

  // It comes from who leads still. Whose Lease has run out does not, though it may not know yet: a
  // rival need not wait for what it has sent.
  [[nodiscard]] bool IsOfLeader(const Sender& sender) const {
    const Process* process = processes_.Of(sender.life);
    if (process == nullptr || !process->alive() || !process->leading()) return false;
    return sender.sent_at >= process->led_since() && HoldsLease(sender.life);
  }

  // Who runs alone needs none.
  [[nodiscard]] bool HoldsLease(uint64_t life) const {
    if (!Elects()) return true;
    const auto until = leads_until_.find(life);
    return until != leads_until_.end() && events_.Now() < until->second;
  }

  // Two may lead for a moment after a hand has taken the Lease from one of them; the other may have
  // its lists already.
  [[nodiscard]] bool IsContested(const Sender& sender) const {
    const Process* process = processes_.Of(sender.life);
    return process != nullptr && truth_.LeaseIsTampered(events_.Now()) &&
           (processes_.Leaders() > 1 || truth_.lease().holder != process->identity());
  }

  void OnWrite(const Sender& sender, const HttpRequest& request) {
    const std::string pod = BoundPod(request);
    if (pod.empty()) return;
    const Process* process = processes_.Of(sender.life);
    const bool leads = IsOfLeader(sender);
    if (!leads || IsContested(sender)) truth_.ExpectForeignBind(pod);
    truth_.ExpectBind({.pod = pod,
                       .life = sender.life,
                       .decided = conduct_.Decided(sender.life, request),
                       .leads_since = leads ? process->led_since() : absl::InfiniteFuture(),
                       .queue = AdmittedQueueIn(request)});
  }

  void OnWritten(const Sender& sender, const HttpRequest& request, int status) {
    if (status / 100 != 2) {
      truth_.NoForeignBind(BoundPod(request));
    } else if (const std::string bound = BoundPod(request); !bound.empty()) {
      if (volumes_.has_value()) volumes_->CheckBind(bound, events_.Now());
    } else if (request.lane == HttpLane::kLease) {
      absl::Time& until = leads_until_[sender.life];
      until = std::max(until, sender.sent_at + ElectorOptions().renew_deadline);
    } else if (const std::string pod = EvictedPod(request); !pod.empty()) {
      evictions_.OnGranted(sender.life, pod, events_.Now());
    } else if (const std::string node = DividedNode(request); !node.empty()) {
      ++divisions_;
      if (!IsOfLeader(sender) || IsContested(sender)) return;
      truth_.CheckDividedWhenIdle(node, sender.life, events_.Now());
    }
  }

  void Cover(Fault fault) {
    Log("fault: ", FaultName(fault));
    const StateSet states = processes_.StatesNow();
    for (int state = 0; state < kBindStates; ++state) {
      if ((states & SetOf(static_cast<BindState>(state))) == 0) continue;
      ++coverage_[static_cast<size_t>(fault)][state];
    }
  }

  void RunUntil(absl::Time when) {
    if (!Sound()) return;
    while (!events_.empty() && events_.NextTime() <= when && Sound()) events_.RunNext();
    clock_.AdvanceTo(std::max(clock_.Now(), when));
    evictions_.CheckVictimsLeaveWhole([this](uint64_t life) { return processes_.Leads(life); },
                                      events_.Now());
    for (const auto& process : processes_) {
      if (!process->alive()) continue;
      if (process->spins()) {
        truth_.Violated(events_.Now(), absl::StrCat("NothingSpins: ", process->identity()));
      }
      kept_.OnHeld(
          {.life = process->life(), .now = events_.Now(), .skew = process->Now() - events_.Now()},
          process->loop().HeldStarts(), economy_.reservation_after());
      if (const absl::Status status = process->loop().CheckInvariants(); !status.ok()) {
        truth_.Violated(events_.Now(), absl::StrCat("ReservationsMatchState: ", status.message()));
      }
    }
  }

  // No more faults and no more users: everything must settle by itself.
  void Quiesce() {
    if (!Sound()) return;
    faults_.set_rates(FaultRates::None());
    RunUntil(events_.Now() + absl::Seconds(100));  // what was begun comes to its end
    disturbances_.Restore();
    volume_users_.Mend();
    BearTheTenant();
    if (economy_.exists()) StayCalm();
    controllers_run_ = false;
    ComeToRest();
    // Whom closed nodes alone kept waiting nothing else wakes now.
    disturbances_.OpenNodes();
    ComeToRest();
    if (economy_.contested()) {
      economy_.LetMakeRoom();
      ComeToRest();
    }
    const bool stored = volume_users_.exist();
    if (economy_.exists() || tenant_.exists() || producers_.exist() || stored) EndAll();
    if (stored) UseAllStorage();
    if (!economy_.exists() || options_.seed % kOneSiege != 0) return;
    PlaySetPieces();
    BesiegeAll();
  }

  // It goes on alone, and others come. A watch that has fallen silent would leave them unseen.
  void BearTheTenant() {
    const bool silent = options_.rates.of(Fault::kHalfOpenWatch) != 0;
    if (!Sound() || !tenant_.exists() || silent) return;
    FaultRates hostile;
    for (const Fault fault : HostileTenant::Kinds()) {
      if (options_.rates.of(fault) != 0) hostile.of(fault) = kHostile;
    }
    const absl::Time began = events_.Now();
    const int gluts = tenant_.gluts();
    for (int come = 0; come < kNeighbours; ++come) {
      neighbours_.MoveIn();
      faults_.set_rates(hostile);
      const absl::Time end = events_.Now() + kBearing;
      while (Sound() && events_.Now() < end) {
        ForEachKind([this](Fault fault) {
          if (faults_.Chosen(fault)) Strike(fault, "");
        });
        RunUntil(events_.Now() + kGlance);
        neighbours_.Look(RoomIsKept(), events_.Now());
      }
    }
    faults_.set_rates(FaultRates::None());
    if (tenant_.gluts() > gluts + kNotYetSwept) CheckMemoryReturns(began);
  }

  // Who has led since then has seen more than it may keep, and nothing of it is used any more.
  void CheckMemoryReturns(absl::Time began) {
    for (const auto& process : processes_) {
      if (!Sound() || !process->leading() || process->led_since() >= began) continue;
      if (process->loop().counters().sweeps > 0) continue;
      truth_.Violated(events_.Now(),
                      absl::StrCat("MemoryReturns: ", process->identity(),
                                   " has given back nothing of what the tenant has left behind"));
    }
  }

  [[nodiscard]] Neighbours::Room RoomIsKept() const {
    const bool nominated = std::ranges::any_of(truth_.pods(), [](const auto& pod) {
      return !pod.second.nominated.empty() && pod.second.node.empty();
    });
    const bool held = processes_.Leaders() != 1 || SomeHold() || producers_.SomeAreMissing();
    return nominated || held ? Neighbours::Room::kMayBeKept : Neighbours::Room::kOpen;
  }

  [[nodiscard]] HeldNodes Held() const {
    HeldNodes held;
    for (const auto& process : processes_) {
      if (!process->alive()) continue;
      for (const HeldStart& start : process->loop().HeldStarts()) {
        held[GangText(start.gang)].insert(start.nodes.begin(), start.nodes.end());
      }
    }
    return held;
  }
  [[nodiscard]] bool SomeHold() const { return !Held().empty(); }

  [[nodiscard]] SetPieces::Stage Stage() {
    return {.pass = [this](absl::Duration time) { RunUntil(events_.Now() + time); },
            .refuse_binds =
                [this](const std::string& target, absl::Duration time) {
                  network_.RefuseBinds(target, events_.Now() + time);
                },
            .look =
                [this] {
                  if (!Sound()) return;
                  truth_.CheckGangAllOrNothing(processes_.LedSince(), events_.Now());
                },
            .hold_out = [this] { HoldOut(); },
            .must_run = [this](const std::string& gang) { CheckAllHaveNodes(gang); }};
  }

  void CheckAllHaveNodes(const std::string& gang) {
    if (!Sound()) return;
    for (const auto& [key, pod] : truth_.pods()) {
      if (GangName(pod) != gang || !pod.node.empty()) continue;
      truth_.Violated(events_.Now(),
                      absl::StrCat("NothingLeaks: ", key, " has no node in an empty cluster"));
      return;
    }
  }

  void UseAllStorage() {
    if (!Sound()) return;
    volumes_->CheckNothingIsSetAside(events_.Now());
    disturbances_.OpenNodes();
    pieces_.UseAllStorage(*volumes_, Stage());
  }

  void PlaySetPieces() {
    if (!Sound()) return;
    disturbances_.OpenNodes();
    controllers_run_ = true;
    pieces_.Play(Stage());
  }

  // Whoever may be made to leave does leave, whatever has become of it.
  void BesiegeAll() {
    if (!Sound()) return;
    disturbances_.OpenNodes();
    controllers_run_ = true;
    siege_.Settle();
    RunUntil(events_.Now() + kLook);
    siege_.Maim();
    RunUntil(events_.Now() + kLook);
    FaultRates rough;
    for (const Fault fault : {Fault::kThrottled, Fault::kUnavailable, Fault::kCrashAtEvict}) {
      if (options_.rates.of(fault) != 0) rough.of(fault) = kRough;
    }
    faults_.set_rates(rough);
    siege_.Besiege();
    RunUntil(events_.Now() + kStorm);
    faults_.set_rates(FaultRates::None());
    HoldOut();
    siege_.Injure();
    HoldOut();
    siege_.Humble();
    HoldOut();
  }

  // Everything that may be waited for comes to its end: claims, pauses, pods that leave.
  void HoldOut() {
    const absl::Time end = events_.Now() + kPatience;
    while (Sound() && events_.Now() < end) RunUntil(events_.Now() + kLook);
    if (Sound()) CheckNobodyIsImmune(truth_, evictions_, Held(), events_.Now());
  }

  // Whoever is made to leave comes back, and may make others leave: that must come to an end.
  void StayCalm() {
    economy_.Restore();
    if (economy_.contested()) {
      workload_.Crowd();
      RunUntil(events_.Now() + kLook);
      variety_.Maim();
      workload_.Rush();
    }
    evictions_.BeginCalm();
    kept_.BeginCalm();
    const absl::Time end = events_.Now() + kCalm;
    while (Sound() && events_.Now() < end) {
      RunUntil(std::min(end, events_.Now() + absl::Seconds(10)));
    }
    if (Sound()) evictions_.CheckNobodyLeavesAgainAndAgain(events_.Now());
  }

  void EndAll() {
    if (!Sound()) return;
    workload_.DeleteAll();
    tenant_.DeleteAll();
    producers_.DeleteAll();
    const absl::Time end = events_.Now() + kQuiet;
    do {
      RunUntil(events_.Now() + kLook);
    } while (Sound() && events_.Now() < end && !truth_.pods().empty());
    for (const auto& process : processes_) {
      if (!Sound() || !process->leading()) continue;
      if (const absl::Status status = process->loop().CheckNothingHeld(); !status.ok()) {
        truth_.Violated(events_.Now(), absl::StrCat("NothingLeaks: ", status.message()));
      }
    }
  }

  void ComeToRest() {
    const absl::Time end = events_.Now() + kQuiet;
    while (Sound() && events_.Now() < end && !Settled()) {
      RunUntil(std::min(end, events_.Now() + kLook));
    }
    if (!Sound()) return;
    truth_.CheckGangAllOrNothing(processes_.LedSince(), events_.Now());
    CheckNothingRunnableWaits(truth_, SomeHold() ? Holds::kSome : Holds::kNone, events_.Now());
    if (Settled() && tenant_.exists()) {
      truth_.CheckAdmittedStaysCharged(processes_.LedSince(), events_.Now());
      if (!SomeHold()) truth_.CheckNobodyElsesQuotaIsUsed(processes_.LedSince(), events_.Now());
    }
    if (Settled()) CheckNobodyIsImmune(truth_, evictions_, Held(), events_.Now());
    if (Quiet() && !SomeHold()) producers_.CheckAtRest(events_.Now());
    if (Settled() || NobodyMakesRoom()) truth_.CheckNobodyIsNominated(events_.Now());
    for (const auto& process : processes_) {
      if (process->leading()) CheckAtRest(*process);
    }
    if (processes_.Leaders() != 1) {
      truth_.Violated(events_.Now(),
                      absl::StrCat("OneLeader: ", processes_.Leaders(), " processes lead"));
    }
  }

  // One leads, none waits for a moment of its own, and for a while nothing was changed and nothing
  // asked but to keep Leases and watches.
  [[nodiscard]] bool Settled() const {
    return processes_.Leaders() == 1 &&
           events_.Now() >= std::max(last_sent_, truth_.last_change()) + kSettled &&
           std::ranges::none_of(processes_, [](const auto& process) { return process->waits(); });
  }

  // One leads, and has had nothing to write for a while.
  [[nodiscard]] bool Quiet() const {
    return processes_.Leaders() == 1 && events_.Now() >= last_sent_ + kSettled &&
           events_.Now() >= truth_.last_change() + kArrived;
  }

  // Plans for later starts are made again and again, so it may never settle while gangs wait.
  [[nodiscard]] bool NobodyMakesRoom() const {
    if (events_.Now() < last_sent_ + kArrived) return false;
    return std::ranges::all_of(processes_, [](const auto& process) {
      if (!process->leading()) return true;
      const ClusterViewPtr view = process->loop().View(process->Now());
      return std::ranges::none_of(
          view->gangs, [](const GangView& gang) { return gang.reason == "WaitingForPreemption"; });
    });
  }

  void CheckAtRest(const Process& process) {
    if (const absl::Status status = process.loop().CheckParkedCannotStart(process.Now());
        !status.ok()) {
      truth_.Violated(events_.Now(), absl::StrCat("ParkedCannotStart: ", status.message()));
    }
    CheckHelpIsPure(truth_, process.loop(), process.Now());
    if (!process.loop().Idle()) {
      truth_.Violated(events_.Now(), "NothingUnderWay: binds, reads or deletes are left");
    }
  }

  const SimOptions options_;
  Random random_;
  FaultInjector faults_;
  SimulatedClock clock_;
  EventQueue events_;
  devcluster::ApiServer server_;
  SimNetwork network_;
  Truth truth_;
  KeptRoom kept_;
  Conduct conduct_;
  Evictions evictions_;
  FirstWords first_words_;
  Users users_;
  Economy economy_;
  Variety variety_;
  MigUsers mig_users_;
  VolumeUsers volume_users_;
  std::optional<VolumeTruth> volumes_;  // where volumes are used
  Workload workload_;
  SetPieces pieces_;
  Siege siege_;
  Disturbances disturbances_;
  HostileTenant tenant_;
  Neighbours neighbours_;
  Producers producers_;
  Coverage coverage_{};
  std::vector<std::string> log_;
  Processes processes_;
  // By life: to when it may lead at most, counted from when it sent its last renewal.
  std::map<uint64_t, absl::Time> leads_until_;
  uint64_t lives_ = 0;
  uint64_t divisions_ = 0;
  absl::Time last_sent_ = absl::InfinitePast();  // what keeps neither a Lease nor a watch
  bool controllers_run_ = true;
};

}  // namespace

SimReport RunSim(const SimOptions& options) { return World(options).Run(); }

}  // namespace maniple::sim
