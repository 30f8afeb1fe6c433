#include "test/sim/world.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/devcluster/api_server.h"
#include "test/sim/network.h"
#include "test/sim/process.h"
#include "test/sim/truth.h"
#include "test/sim/workload.h"
#include "test/support/crds.h"

namespace maniple::sim {
namespace {

constexpr absl::Duration kControllerPeriod = absl::Seconds(2);
// Longer than every timeout of the protocol: quorum loss (300 s), undo and its backoff, lease,
// client backoff.
constexpr absl::Duration kQuiet = absl::Seconds(900);

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
    if (!truth_.violations().empty() || !broken_.empty()) TellBeliefs();
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
    workload_.SetUp(InstalledCrds());
    truth_.Start(events_.Now());
    truth_.Observe(events_.Now());
    network_.set_rates(options_.faults == SimOptions::Faults::kOn ? options_.rates
                                                                  : FaultRates::None());
    Restart();
    events_.After(kControllerPeriod, [this] { ControllerTurn(); });
  }

  void ControllerTurn() {
    workload_.Recreate();
    if (controllers_run_) events_.After(kControllerPeriod, [this] { ControllerTurn(); });
  }

  // What the scheduler believed in the end, for whoever reads the log of a failing seed.
  void TellBeliefs() {
    const ClusterViewPtr view = process_->loop().View(events_.Now());
    for (const GangView& gang : view->gangs) {
      std::string line = absl::StrCat("believes ", gang.namespace_name, "/", gang.name, " ",
                                      gang.phase, " ", gang.reason, ": ", gang.message, ";");
      for (const GangMemberView& pod : gang.pods)
        absl::StrAppend(&line, " ", pod.pod, "=", pod.state, "@", pod.node);
      log_.push_back(std::move(line));
    }
  }

  void Restart() {
    process_.reset();
    // Every second history has a Lease to win; the others go on at once after a crash.
    using Election = ProcessOptions::Election;
    const ProcessOptions options{
        .seed = options_.seed * 1000 + ++lives_,
        .election = options_.seed % 2 == 0 ? Election::kOn : Election::kOff};
    process_ = std::make_unique<Process>(network_, events_, options, log_);
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
