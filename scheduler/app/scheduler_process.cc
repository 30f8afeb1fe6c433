#include "scheduler/app/scheduler_process.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "api/client/cluster_client.h"
#include "api/client/kubeconfig.h"
#include "api/http/curl_transport.h"
#include "scheduler/app/admin_server.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/config/loop_settings.h"
#include "scheduler/app/config/version.h"
#include "scheduler/app/doors/bulletin.h"
#include "scheduler/app/doors/decision_file.h"
#include "scheduler/app/doors/decision_queue.h"
#include "scheduler/app/doors/help_door.h"
#include "scheduler/app/doors/inbox.h"
#include "scheduler/app/doors/outbox.h"
#include "scheduler/app/http/http_surface.h"
#include "scheduler/app/spare_memory.h"
#include "scheduler/app/status_help.h"
#include "scheduler/loop/scheduling_loop.h"

namespace maniple {
namespace {

// What metrics tell of the cluster is hardly older.
constexpr absl::Duration kFiguresEvery = absl::Seconds(5);
constexpr absl::Duration kLongestDrain = absl::Seconds(20);
constexpr absl::Duration kLongestRelease = absl::Seconds(3);
constexpr absl::Duration kHeartbeat = absl::Seconds(10);  // of the scheduling thread, for /livez
constexpr absl::Duration kViewWait = absl::Seconds(2);
constexpr absl::Duration kLongestAsking = absl::Milliseconds(5);  // of a turn

std::string Identity() {
  char host[256] = "unknown";
  ::gethostname(host, sizeof(host) - 1);
  std::random_device entropy;
  return absl::StrFormat("%s_%08x%08x", host, entropy(), entropy());
}

ClusterClientOptions ClientOptionsFor(const SchedulerConfig& config, const std::string& identity) {
  ClusterClientOptions options;
  if (config.leader_election.enabled) {
    const LeaderElectionConfig& election = config.leader_election;
    options.election = ElectorOptions{.namespace_name = election.lease_namespace,
                                      .name = election.lease_name,
                                      .identity = identity,
                                      .lease_duration = election.lease_duration,
                                      .renew_deadline = election.renew_deadline,
                                      .retry_period = election.retry_period};
  }
  options.writer.max_in_flight = config.max_in_flight;
  options.writer.most_per_second = config.most_writes_per_second;
  WatchProducers(config, options);
  options.seed = std::random_device()();
  return options;
}

}  // namespace

class SchedulerProcess::Impl final {
 public:
  Impl(std::unique_ptr<CurlTransport> transport, LoopOptions loop, ClusterClientOptions client)
      : transport_(std::move(transport)),
        loop_(Telling(std::move(loop))),
        client_(std::move(client), *transport_),
        outbox_([this] { transport_->Wakeup(); }) {}

  // A stall has the name of the object that it came with, and decisions are timed.
  [[nodiscard]] LoopOptions Telling(LoopOptions loop) {
    loop.applies = [this](const ObjectKey& key) { bulletin_.NoteAt(key); };
    loop.stopwatch = [this] { return clock_.Now(); };
    return loop;
  }

  absl::Status OpenSurfaces(const SchedulerOptions& options, ClientConfig api_server) {
    ASSIGN_OR_RETURN(http_, HttpSurface::Start({.http = options.http,
                                                .health = options.health,
                                                .tls = options.tls,
                                                .insecure = options.http_insecure,
                                                .api_server = std::move(api_server)},
                                               bulletin_, help_, [this] { inbox_.Wake(); }));
    if (!options.decision_log.empty()) {
      ASSIGN_OR_RETURN(decision_file_, DecisionFile::Open(options.decision_log));
    }
    if (!options.admin.empty()) {
      ASSIGN_OR_RETURN(
          admin_, AdminServer::Start(
                      {.address = options.admin, .tls = options.tls},
                      {.view = [this] { return FreshView(); },
                       .recent_view = [this] { return RecentView(); },
                       .help = [this](const GangKey& gang) { return HelpFor(gang); },
                       .decisions =
                           [this](const std::string& ns, const std::string& name) {
                             return bulletin_.DecisionsOf(ns, name, kMostDecisions);
                           },
                       .facts = [this] { return FactsOf(bulletin_); },
                       .used_by = [this](absl::Time then) { return bulletin_.UsedBy(then); }}));
      LOG(INFO) << "serving the admin surface on " << options.admin;
    }
    return absl::OkStatus();
  }

  void StartThreads() {
    bulletin_.Post({}, {.progress = clock_.Now()});  // so that a first turn that never ends is seen
    io_ = std::thread([this] { RunIo(); });
    scheduling_ = std::thread([this] { RunScheduling(); });
    advising_ = std::thread([this] { RunAdvising(); });
    if (decision_file_ != nullptr) {
      keeping_ = std::thread([this] { decision_file_->Keep(decisions_); });
    }
  }

  void Stop() {
    inbox_.RequestDrain();
    if (scheduling_.joinable()) scheduling_.join();
    // The lease first: others wait for it, and whoever reads the decision log may have stopped to.
    stop_io_ = true;
    transport_->Wakeup();
    if (io_.joinable()) io_.join();
    help_.Close();
    if (advising_.joinable()) advising_.join();
    decisions_.Close();
    if (keeping_.joinable()) keeping_.join();
    admin_.reset();
    http_.reset();
  }

 private:
  // The IO thread: bytes in, machines, bytes out.
  void RunIo() {
    client_.Start(clock_.Now());
    absl::Time release_by = absl::InfiniteFuture(), traffic_due = absl::InfinitePast();
    std::vector<std::string> problems;
    SpareMemory spare;
    while (true) {
      const absl::Time now = clock_.Now();
      const absl::Time spare_due = spare.OnTime(now);
      if (stop_io_ && release_by == absl::InfiniteFuture()) {
        client_.Release(now);
        release_by = now + kLongestRelease;
      }
      if (release_by != absl::InfiniteFuture() && (client_.Released() || now >= release_by)) return;
      for (const HttpInput& input :
           transport_->Poll(std::min({client_.NextDeadline(), release_by, spare_due}) - now)) {
        client_.On(input, clock_.Now());
      }
      for (Outbox::Batch& batch : outbox_.Take()) {
        client_.Write(std::move(batch.writes), batch.lead, clock_.Now());
      }
      client_.OnTime(clock_.Now());
      inbox_.Push(client_.TakeNews());
      TellProblems(problems);
      bulletin_.PostForbidden(client_.Forbidden());
      if (now >= traffic_due) {
        bulletin_.PostTraffic(transport_->counters().answers, client_.writer().lines());
        traffic_due = now + absl::Seconds(1);
      }
    }
  }

  // Tells each problem once, when it appears; and when none is left.
  void TellProblems(std::vector<std::string>& told) {
    std::vector<std::string> problems = client_.Problems();
    if (problems == told) return;
    for (const std::string& problem : problems) {
      if (std::find(told.begin(), told.end(), problem) == told.end()) LOG(WARNING) << problem;
    }
    if (problems.empty()) LOG(INFO) << "no problem with the API server is left";
    bulletin_.PostProblems(problems);
    told = std::move(problems);
  }

  // The scheduling thread: owns the loop without locks.
  void RunScheduling() {
    absl::Time next = absl::InfinitePast();
    absl::Time drained_by = absl::InfiniteFuture();
    absl::Time figures_due = absl::InfiniteFuture();
    Bulletin::Health health;
    while (true) {
      const absl::Time before = clock_.Now();
      Inbox::Batch batch = inbox_.Take(std::min(next, before + kHeartbeat) - before);
      const absl::Time now = clock_.Now();
      if (batch.news.leading.has_value()) {
        LOG(INFO) << (*batch.news.leading ? "leading" : "standing by");
        health.leading = *batch.news.leading;
        figures_due = health.leading ? now : absl::InfiniteFuture();
      }
      loop_.Hear(std::move(batch.news));
      if (batch.drain) {
        loop_.Drain();
        drained_by = now + kLongestDrain;
      }
      TurnOutput out = loop_.Turn(now);
      outbox_.Push({.lead = out.lead, .writes = std::move(out.writes)});
      std::vector<DecisionEntry> decisions = loop_.TakeDecisions();
      for (const DecisionEntry& decision : decisions) VLOG(1) << LineOf(decision);
      if (decision_file_ != nullptr) decisions_.Push(decisions);
      bulletin_.NoteDecisions(std::move(decisions));
      next = out.more ? absl::InfinitePast() : out.next;
      if (!health.synced && loop_.Synced()) LOG(INFO) << "the cluster is known";
      health.synced = loop_.Synced();
      health.progress = clock_.Now();
      bulletin_.Post(loop_.counters(), health);
      bulletin_.NoteTurn(health.progress - now);
      if (!health.leading) {
        bulletin_.PostFigures(nullptr, now);
      } else if (now >= figures_due) {
        if (ClusterFiguresPtr figures = loop_.MoreFigures(now)) {
          bulletin_.PostFigures(std::move(figures), now);
          figures_due = now + kFiguresEvery;
        }
      }
      next = std::min(next, figures_due);
      if (KeepViewing(now)) next = absl::InfinitePast();
      if (status_help_.Step(now)) next = absl::InfinitePast();
      if (KeepAsking(now)) next = absl::InfinitePast();
      next = std::min(next, status_help_.Next());
      if (drained_by != absl::InfiniteFuture() && (loop_.Idle() || now >= drained_by)) return;
    }
  }

  // A piece of a view, if one is wanted; whether there is more of it to make.
  bool KeepViewing(absl::Time now) {
    // Before all lists are whole every answer would be wrong.
    if (!viewing_ && (!bulletin_.ViewWanted() || !loop_.Synced())) return false;
    const absl::Time began = clock_.Now();
    if (!std::exchange(viewing_, true)) {
      bulletin_.BeginView(now);
      view_took_ = absl::ZeroDuration();
    }
    std::unique_ptr<ClusterView> view = loop_.MoreView(now);
    view_took_ += clock_.Now() - began;
    if (view == nullptr) return true;
    viewing_ = false;
    bulletin_.PostView(std::move(view));
    bulletin_.NoteViewCost(view_took_);
    http_->Posted();
    return false;
  }

  // A piece of the question of what would help, if one is wanted, and more after a long turn, or it
  // would take too many of them; whether there is more of it.
  bool KeepAsking(absl::Time now) {
    if (!asking_about_.has_value()) asking_about_ = help_.Wanted();
    if (!asking_about_.has_value()) return false;
    const absl::Time began = clock_.Now();
    const absl::Time enough = began + std::min((began - now) / 10, kLongestAsking);
    std::optional<HelpQuestionPtr> question = loop_.MoreHelp(*asking_about_, now);
    while (!question.has_value() && clock_.Now() < enough) {
      question = loop_.MoreHelp(*asking_about_, now);
    }
    if (!question.has_value()) return true;
    help_.Put(*asking_about_, *std::move(question), clock_.Now());
    asking_about_.reset();
    http_->Posted();
    return false;
  }

  // The advising thread: searches what would help, beside the turns of the loop.
  void RunAdvising() {
    while (std::optional<HelpDoor::Work> work = help_.Take()) {
      help_.Post(work->gang, std::make_shared<const Help>(AnswerHelp(*work->question)),
                 clock_.Now());
      http_->Posted();
      inbox_.Wake();  // somebody may be next
    }
  }

  [[nodiscard]] HelpPtr HelpFor(const GangKey& gang) {
    return help_.Wait(gang, kViewWait, [this] { inbox_.Wake(); });
  }

  [[nodiscard]] ClusterViewPtr FreshView() {
    return bulletin_.FreshView(kViewWait, [this] { inbox_.Wake(); });
  }

  // As new as who watches needs it.
  [[nodiscard]] ClusterViewPtr RecentView() {
    ClusterViewPtr view = bulletin_.SharedViewSince(clock_.Now() - absl::Seconds(1));
    return view != nullptr ? view : FreshView();
  }

  const Clock& clock_ = RealClock();
  const std::unique_ptr<CurlTransport> transport_;
  SchedulingLoop loop_;   // the scheduling thread's
  ClusterClient client_;  // the IO thread's
  Inbox inbox_;
  // Of the scheduling thread: a view is being made, and what it has cost so far.
  bool viewing_ = false;
  absl::Duration view_took_;
  std::optional<GangKey> asking_about_;  // whose question is being gathered
  Outbox outbox_;
  Bulletin bulletin_;
  HelpDoor help_;
  StatusHelp status_help_{loop_, help_};  // the scheduling thread's
  std::atomic<bool> stop_io_{false};
  DecisionQueue decisions_;
  std::unique_ptr<DecisionFile> decision_file_;  // null: they are not kept
  std::thread io_, scheduling_, advising_, keeping_;
  std::unique_ptr<HttpSurface> http_;
  std::unique_ptr<AdminServer> admin_;
};

absl::StatusOr<std::unique_ptr<SchedulerProcess>> SchedulerProcess::Start(
    SchedulerOptions options) {
  const std::string identity = Identity();
  LoopOptions loop = LoopOptionsFor(options.config);
  loop.identity = identity;
  loop.seed = std::random_device()();
  ASSIGN_OR_RETURN(ClientConfig config, LoadClientConfig({.server = options.server,
                                                          .kubeconfig = options.kubeconfig,
                                                          .environment = ProcessEnvironment()}));
  const std::string server = config.server;
  // Named in the server's audit log, so that the writes of two replicas can be told apart.
  const std::string agent =
      absl::StrCat("maniple-scheduler/", MANIPLE_VERSION, " (", identity, ")");
  ASSIGN_OR_RETURN(
      std::unique_ptr<CurlTransport> transport,
      CurlTransport::Create(config, RealClock(),
                            {.most_writes = options.config.max_in_flight, .user_agent = agent}));
  auto impl = std::make_unique<Impl>(std::move(transport), std::move(loop),
                                     ClientOptionsFor(options.config, identity));
  RETURN_IF_ERROR(impl->OpenSurfaces(options, std::move(config)));
  LOG(INFO) << "maniple-scheduler " << MANIPLE_VERSION << " as " << identity << " schedules for "
            << absl::StrJoin(options.config.scheduler_names, ", ") << " on " << server;
  impl->StartThreads();
  return std::unique_ptr<SchedulerProcess>(new SchedulerProcess(std::move(impl)));
}

SchedulerProcess::SchedulerProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SchedulerProcess::~SchedulerProcess() = default;
void SchedulerProcess::Stop() { impl_->Stop(); }

}  // namespace maniple
