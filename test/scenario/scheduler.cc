#include "test/scenario/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "scheduler/app/config/loop_settings.h"

namespace maniple::scenario {
namespace {

// At one moment: more is no work but a spin.
constexpr int kMostTurns = 5000;

LoopOptions LoopFor(const Scheduler::Settings& settings) {
  LoopOptions options = LoopOptionsFor(settings.config);
  options.seed = settings.life;
  return options;
}

ClusterClientOptions ClientFor(const Scheduler::Settings& settings) {
  ClusterClientOptions options;
  options.seed = settings.life;
  WatchProducers(settings.config, options);
  return options;
}

}  // namespace

Scheduler::Scheduler(sim::SimNetwork& network, sim::EventQueue& events, const Settings& settings,
                     Listeners listeners)
    : events_(events),
      listeners_(std::move(listeners)),
      loop_(LoopFor(settings)),
      transport_(network, settings.life, absl::ZeroDuration(),
                 [this](HttpInput input) {
                   client_.On(input, events_.Now());
                   Work();
                 }),
      client_(ClientFor(settings), transport_) {
  client_.Start(events_.Now());
  Work();
}

Scheduler::~Scheduler() {
  *alive_ = false;
  transport_.Cut();
}

void Scheduler::Work() {
  while (turns_at_ <= kMostTurns && Turn()) {
  }
  if (turns_at_ > kMostTurns) return;
  SleepUntil(std::min(next_turn_, client_.NextDeadline()));
}

bool Scheduler::Turn() {
  const absl::Time now = events_.Now();
  if (std::exchange(busy_at_, now) != now) turns_at_ = 0;
  if (++turns_at_ > kMostTurns) {
    listeners_.on_violation("NothingSpins: the loop turns and turns at one moment");
    return false;
  }
  client_.OnTime(now);
  ClusterNews news = client_.TakeNews();
  for (const ObjectEvent& event : news.events) audit_.Hear(event);
  for (const WriteResult& result : news.results) audit_.Hear(result);
  loop_.Hear(std::move(news));
  TurnOutput out = loop_.Turn(now);
  const std::vector<std::string> lines = loop_.TakeDecisionLog();
  for (const std::string& line : lines) listeners_.on_decision(line);
  for (std::string& violation : audit_.AfterTurn(loop_, out, lines, now)) {
    listeners_.on_violation(std::move(violation));
  }
  client_.Write(std::move(out.writes), out.lead, now);
  next_turn_ = out.next;
  return out.more;
}

void Scheduler::SleepUntil(absl::Time when) {
  if (when == absl::InfiniteFuture() || when >= wake_) return;
  wake_ = when;
  events_.At(std::max(when, events_.Now() + absl::Microseconds(1)), [this, alive = alive_, when] {
    if (!*alive) return;
    if (wake_ == when) wake_ = absl::InfiniteFuture();
    Work();
  });
}

}  // namespace maniple::scenario
