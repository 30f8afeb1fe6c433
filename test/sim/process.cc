#include "test/sim/process.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/producers/kinds.h"
#include "api/producers/reader.h"
#include "plugins/builtin.h"

namespace maniple::sim {
namespace {

// Within a millisecond.
constexpr int kMostTurns = 5000;

// Sooner than in production, for a history is short.
constexpr absl::Duration kDivideAfter = absl::Seconds(5), kLeaveAlone = absl::Seconds(30);

std::string IdentityOf(uint64_t life) { return absl::StrCat("scheduler-", life); }

LoopOptions LoopFor(const ProcessOptions& options) {
  LoopOptions loop;
  loop.profile = BuiltinProfile();
  loop.seed = options.life;
  loop.fair_sharing = options.fair_sharing;
  loop.reservation_after = options.reservation_after;
  loop.holds_per_cohort = options.holds_per_cohort;
  loop.state.sweep_slack = options.sweep_slack;
  loop.mig.reconfigure = options.mig;
  loop.mig.after = kDivideAfter;
  loop.mig.hold_off = kLeaveAlone;
  if (options.producers == Watched::kAll) loop.state.producers.kinds = BuiltinForeignKinds();
  return loop;
}

ClusterClientOptions ClientFor(const ProcessOptions& options) {
  ClusterClientOptions client;
  client.seed = options.life;
  if (options.election == ProcessOptions::Election::kOn) {
    client.election.emplace();
    client.election->identity = IdentityOf(options.life);
  }
  if (options.producers == Watched::kAll) {
    client.foreign = BuiltinForeignKinds();
    client.reader = MakeForeignReader(client.foreign);
  }
  return client;
}

}  // namespace

Process::Process(SimNetwork& network, EventQueue& events, const ProcessOptions& options, Log log)
    : options_(options),
      events_(events),
      log_(std::move(log)),
      loop_(LoopFor(options)),
      transport_(network, options.life, options.skew,
                 [this](HttpInput input) { Receive(std::move(input)); }),
      client_(ClientFor(options), transport_) {
  client_.Start(Now());
  Work();
}

Process::~Process() { Kill(); }

void Process::Kill() {
  *alive_ = false;
  transport_.Cut();
}

std::string Process::identity() const { return IdentityOf(options_.life); }

void Process::Pause(absl::Duration time) {
  if (paused_) return;
  paused_ = true;
  transport_.set_stopped_until(events_.Now() + time);
  events_.After(time, [this, alive = alive_] {
    if (*alive) Continue();
  });
}

void Process::Continue() {
  paused_ = false;
  for (HttpInput& input : std::exchange(backlog_, {})) client_.On(input, Now());
  wake_ = absl::InfiniteFuture();
  Work();
}

void Process::Receive(HttpInput input) {
  if (paused_) {
    backlog_.push_back(std::move(input));
    return;
  }
  client_.On(input, Now());
  Work();
}

void Process::Work() {
  bool more = true;
  while (more && *alive_ && !spins_) {
    const absl::Time now = Now();
    if (now >= busy_at_ + absl::Milliseconds(1)) {
      busy_at_ = now;
      turns_at_ = 0;
    }
    spins_ = ++turns_at_ > kMostTurns;
    client_.OnTime(now);
    ClusterNews news = client_.TakeNews();
    for (ObjectEvent& event : news.events) loop_.Accept(std::move(event));
    for (WriteResult& result : news.results) loop_.Accept(std::move(result));
    if (news.leading.has_value()) {
      leading_ = *news.leading;
      led_since_ = events_.Now();
      if (options_.election == ProcessOptions::Election::kOn) {
        log_(leading_ ? "leads" : "leads no more");
      }
      loop_.SetRole(leading_ ? SchedulingLoop::Role::kLeader : SchedulingLoop::Role::kStandby, now);
    }
    TurnOutput out = loop_.Turn(now);
    for (std::string& line : loop_.TakeDecisionLog()) log_(std::move(line));
    client_.Write(std::move(out.writes), now);
    more = out.more;
    next_turn_ = out.next;
    next_ = std::min(next_turn_, client_.NextDeadline());
  }
  Sleep();
}

void Process::Sleep() {
  if (spins_) return;
  if (next_ == absl::InfiniteFuture() || next_ >= wake_) return;
  wake_ = next_;
  const absl::Time soon = events_.Now() + absl::Microseconds(1);
  events_.At(std::max(next_ - options_.skew, soon), [this, alive = alive_, when = next_] {
    if (!*alive || paused_) return;
    if (wake_ == when) wake_ = absl::InfiniteFuture();
    Work();
  });
}

}  // namespace maniple::sim
