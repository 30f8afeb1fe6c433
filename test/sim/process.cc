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

// Less than in production, for a cluster is small.
constexpr size_t kHelpWork = 6;

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
  loop.help_work_per_turn = kHelpWork;
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
  if (unsent_.has_value() && events_.Now() >= turn_ends_) return EndLongTurn();
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
    if (news.leading == true) lead_began_ = events_.Now();
    news_.Add(std::move(news));
    more = Turn(now);
    next_ = client_.NextDeadline();
    if (!unsent_.has_value()) next_ = std::min(next_, next_turn_);
  }
  Sleep();
}

bool Process::Turn(absl::Time now) {
  if (unsent_.has_value()) return false;
  ClusterNews news = news_.Take();
  if (news.leading.has_value()) {
    leading_ = *news.leading;
    led_since_ = events_.Now();
    if (options_.election == ProcessOptions::Election::kOn) {
      log_(leading_ ? "leads" : "leads no more");
    }
  }
  turn_at_ = events_.Now();
  loop_.Hear(std::move(news));
  TurnOutput out = loop_.Turn(now);
  help_.AfterTurn(loop_, now);
  for (std::string& line : loop_.TakeDecisionLog()) log_(std::move(line));
  next_turn_ = out.next;
  if (next_turn_takes_ > absl::ZeroDuration() && !out.writes.empty()) {
    unsent_ = std::move(out);
    turn_ends_ = events_.Now() + std::exchange(next_turn_takes_, absl::ZeroDuration());
    events_.At(turn_ends_, [this, alive = alive_] {
      if (*alive && !paused_) EndLongTurn();
    });
    return false;
  }
  client_.Write(std::move(out.writes), out.lead, now);
  return out.more;
}

absl::Time Process::decided_since() const {
  constexpr absl::Duration kQueued = absl::Seconds(10);
  const bool may_wait = events_.Now() < turn_ends_ + kQueued && long_turn_at_ >= lead_began_;
  return may_wait ? long_turn_at_ : turn_at_;
}

// Nothing comes of what it has decided if it has lost the lead meanwhile.
void Process::EndLongTurn() {
  long_turn_at_ = turn_at_;
  TurnOutput out = *std::exchange(unsent_, std::nullopt);
  client_.Write(std::move(out.writes), out.lead, Now());
  Work();
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
