#include "test/sim/world.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/client/cluster_client.h"
#include "api/codec/yaml.h"
#include "api/devcluster/api_server.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/sim/network.h"
#include "test/sim/truth.h"
#include "test/sim/workload.h"

namespace maniple::sim {
namespace {

constexpr absl::Duration kControllerPeriod = absl::Seconds(2);
// Longer than every timeout of the protocol: quorum loss (300 s), undo and its backoff, lease,
// client backoff.
constexpr absl::Duration kQuiet = absl::Seconds(900);
constexpr char kCrdFolder[] = "deploy/crds";

// One life of the scheduler process.
class Process final {
 public:
  Process(SimNetwork& network, EventQueue& events, uint64_t seed, std::vector<std::string>& log)
      : events_(events),
        log_(log),
        loop_(LoopOptions{}),
        transport_(network, [this](HttpInput input) { Receive(std::move(input)); }),
        client_(ClusterClientOptions{.election = ElectionFor(seed), .seed = seed}, transport_) {
    client_.Start(events_.Now());
    Work();
  }
  ~Process() { *alive_ = false; }

  [[nodiscard]] const SchedulingLoop& loop() const { return loop_; }

 private:
  static ElectorOptions ElectionFor(uint64_t seed) {
    ElectorOptions options;
    options.identity = absl::StrCat("scheduler-", seed);
    return options;
  }

  void Receive(HttpInput input) {
    client_.On(input, events_.Now());
    Work();
  }

  // What the two threads of the real process do between two waits.
  void Work() {
    bool more = true;
    while (more) {
      const absl::Time now = events_.Now();
      client_.OnTime(now);
      ClusterNews news = client_.TakeNews();
      for (ObjectEvent& event : news.events) loop_.Accept(std::move(event));
      for (WriteResult& result : news.results) loop_.Accept(std::move(result));
      if (news.leading.has_value()) {
        loop_.SetRole(
            *news.leading ? SchedulingLoop::Role::kLeader : SchedulingLoop::Role::kStandby, now);
      }
      TurnOutput out = loop_.Turn(now);
      for (std::string& line : loop_.TakeDecisionLog()) log_.push_back(std::move(line));
      client_.Write(std::move(out.writes), now);
      more = out.more;
      next_ = std::min(out.next, client_.NextDeadline());
    }
    Sleep();
  }

  void Sleep() {
    if (next_ == absl::InfiniteFuture() || next_ >= wake_) return;
    wake_ = next_;
    events_.At(std::max(next_, events_.Now() + absl::Microseconds(1)),
               [this, alive = alive_, when = next_] {
                 if (!*alive) return;
                 if (wake_ == when) wake_ = absl::InfiniteFuture();
                 Work();
               });
  }

  EventQueue& events_;
  std::vector<std::string>& log_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  SchedulingLoop loop_;
  SimTransport transport_;
  ClusterClient client_;
  absl::Time next_ = absl::InfiniteFuture();
  absl::Time wake_ = absl::InfiniteFuture();
};

class World final {
 public:
  explicit World(const SimOptions& options)
      : options_(options),
        random_(options.seed),
        fault_random_(options.seed * 7919 + 1),
        events_(clock_),
        server_({.seed = options.seed}),
        network_(server_, events_, fault_random_),
        truth_(server_),
        workload_(network_, truth_, random_) {}

  SimReport Run() {
    SetUp();
    for (int step = 0; step < options_.steps && truth_.violations().empty(); ++step) {
      workload_.Act();
      RunUntil(events_.Now() + absl::Milliseconds(random_.Below(2500)));
      if (network_.Strikes(Fault::kCrash)) Restart();
    }
    Quiesce();
    SimReport report;
    report.violations = truth_.violations();
    report.violations.insert(report.violations.end(), broken_.begin(), broken_.end());
    report.faults = network_.counts();
    report.binds = truth_.binds();
    report.fingerprint = truth_.fingerprint();
    report.log = std::move(log_);
    return report;
  }

 private:
  void SetUp() {
    network_.set_on_server_change([this] { truth_.Observe(events_.Now()); });
    workload_.SetUp(Crds());
    truth_.Start(events_.Now());
    truth_.Observe(events_.Now());
    network_.set_rates(options_.faults == SimOptions::Faults::kOn ? options_.rates
                                                                  : FaultRates::None());
    Restart();
    events_.After(kControllerPeriod, [this] { ControllerTurn(); });
  }

  static const std::vector<Json>& Crds() {
    static const std::vector<Json> crds = [] {
      std::vector<std::string> files;
      for (const auto& entry : std::filesystem::directory_iterator(kCrdFolder))
        files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      std::vector<Json> out;
      for (const std::string& file : files) {
        std::ifstream in(file);
        const std::string text((std::istreambuf_iterator<char>(in)),
                               std::istreambuf_iterator<char>());
        const auto documents = ParseYaml(text);
        CHECK(documents.ok()) << file << ": " << documents.status();
        for (const YamlDocument& document : *documents) out.push_back(document.value);
      }
      CHECK(!out.empty()) << "run from the root of the repository";
      return out;
    }();
    return crds;
  }

  void ControllerTurn() {
    workload_.Recreate();
    if (controllers_run_) events_.After(kControllerPeriod, [this] { ControllerTurn(); });
  }

  void Restart() {
    process_.reset();
    process_ = std::make_unique<Process>(network_, events_, options_.seed * 1000 + ++lives_, log_);
  }

  void RunUntil(absl::Time when) {
    while (!events_.empty() && events_.NextTime() <= when && truth_.violations().empty() &&
           broken_.empty()) {
      events_.RunNext();
    }
    clock_.AdvanceTo(std::max(clock_.Now(), when));
    if (const absl::Status status = process_->loop().CheckInvariants(); !status.ok()) {
      broken_.push_back(absl::StrCat("ReservationsMatchState: ", status.message()));
    }
  }

  // No more faults and no more users: everything must settle by itself.
  void Quiesce() {
    if (!truth_.violations().empty() || !broken_.empty()) return;
    network_.set_rates(FaultRates::None());
    controllers_run_ = false;
    RunUntil(events_.Now() + kQuiet);
    truth_.CheckGangAllOrNothing(events_.Now());
    truth_.CheckNothingRunnableWaits(events_.Now());
    if (const absl::Status status = process_->loop().CheckParkedCannotStart(events_.Now());
        !status.ok()) {
      broken_.push_back(absl::StrCat("ParkedCannotStart: ", status.message()));
    }
  }

  const SimOptions options_;
  Random random_;
  Random fault_random_;
  SimulatedClock clock_;
  EventQueue events_;
  devcluster::ApiServer server_;
  SimNetwork network_;
  Truth truth_;
  Workload workload_;
  std::vector<std::string> log_;
  std::vector<std::string> broken_;
  std::unique_ptr<Process> process_;
  uint64_t lives_ = 0;
  bool controllers_run_ = true;
};

}  // namespace

SimReport RunSim(const SimOptions& options) { return World(options).Run(); }

}  // namespace maniple::sim
