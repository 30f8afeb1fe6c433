#include "test/sim/process.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugins/builtin.h"

namespace maniple::sim {
namespace {

LoopOptions LoopFor(const ProcessOptions& options) {
  LoopOptions loop;
  loop.profile = BuiltinProfile();
  loop.seed = options.seed;
  return loop;
}

ClusterClientOptions ClientFor(const ProcessOptions& options) {
  ClusterClientOptions client;
  client.seed = options.seed;
  if (options.election == ProcessOptions::Election::kOn) {
    client.election.emplace();
    client.election->identity = absl::StrCat("scheduler-", options.seed);
  }
  return client;
}

}  // namespace

Process::Process(SimNetwork& network, EventQueue& events, const ProcessOptions& options,
                 std::vector<std::string>& log)
    : events_(events),
      log_(log),
      loop_(LoopFor(options)),
      transport_(network, [this](HttpInput input) { Receive(std::move(input)); }),
      client_(ClientFor(options), transport_) {
  client_.Start(events_.Now());
  Work();
}

Process::~Process() { *alive_ = false; }

void Process::Receive(HttpInput input) {
  client_.On(input, events_.Now());
  Work();
}

void Process::Work() {
  bool more = true;
  while (more) {
    const absl::Time now = events_.Now();
    client_.OnTime(now);
    ClusterNews news = client_.TakeNews();
    for (ObjectEvent& event : news.events) loop_.Accept(std::move(event));
    for (WriteResult& result : news.results) loop_.Accept(std::move(result));
    if (news.leading.has_value()) {
      loop_.SetRole(*news.leading ? SchedulingLoop::Role::kLeader : SchedulingLoop::Role::kStandby,
                    now);
    }
    TurnOutput out = loop_.Turn(now);
    for (std::string& line : loop_.TakeDecisionLog()) log_.push_back(std::move(line));
    client_.Write(std::move(out.writes), now);
    more = out.more;
    next_ = std::min(out.next, client_.NextDeadline());
  }
  Sleep();
}

void Process::Sleep() {
  if (next_ == absl::InfiniteFuture() || next_ >= wake_) return;
  wake_ = next_;
  const absl::Time soon = events_.Now() + absl::Microseconds(1);
  events_.At(std::max(next_, soon), [this, alive = alive_, when = next_] {
    if (!*alive) return;
    if (wake_ == when) wake_ = absl::InfiniteFuture();
    Work();
  });
}

}  // namespace maniple::sim
