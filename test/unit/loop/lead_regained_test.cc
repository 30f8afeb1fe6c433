// The fear: a process that wins the lead a second time goes by what it remembers of the first. What
// it counts as told stays untold, what it takes for on its way is not, whom it spared it spares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/loop_driver.h"

namespace maniple::loop_lead_regained_test {
namespace {

Queue QueueOf(absl::string_view name, int64_t gpus, QueueOrdering ordering) {
  Queue queue;
  queue.meta.name = std::string(name);
  queue.meta.uid = absl::StrCat("uid-", name);
  queue.cohort = "c";
  queue.ordering = ordering;
  queue.within_queue = WithinQueuePreemption::kLowerPriority;
  queue.quotas = {
      {.flavor = "", .resources = {{.resource = kGpuResource, .nominal = Amount(gpus)}}}};
  return queue;
}

enum class Successor : uint8_t { kTheSame, kAFreshOne };

// The lead is lost, and won again later, by this process or by one that has never led.
void ChangeLead(LoopDriver& d, Successor successor, const auto& meanwhile) {
  d.loop().SetRole(SchedulingLoop::Role::kStandby);
  d.Settle(absl::Seconds(1));
  meanwhile(d);
  d.Settle(absl::Seconds(1));
  if (successor == Successor::kTheSame) {
    d.loop().SetRole(SchedulingLoop::Role::kLeader);
  } else {
    d.Restart();
  }
}

constexpr int kGangs = 36;  // of three stages

struct Act {
  enum Kind : uint8_t { kSubmit, kSucceed, kGrow, kRefuse, kReject, kReap, kPass } kind = kPass;
  LoopDriver::Job job;
  uint64_t draw = 0;
};

std::vector<Act> RandomActs(Random& random, int first_gang) {
  std::vector<Act> acts;
  for (int i = 0; i < 12; ++i) {
    Act act{.kind = static_cast<Act::Kind>(random.Below(Act::kPass + 1)),
            .job = {},
            .draw = random.Below(100)};
    act.job = {.gang = absl::StrCat("g", first_gang + i),
               .pods = 1 + static_cast<int>(random.Below(4)),
               .gpu = random.OneIn(2) ? 8 : 2,
               .queue = random.OneIn(2) ? "strict" : "best",
               .priority = static_cast<int32_t>(random.Below(3))};
    acts.push_back(act);
  }
  return acts;
}

// Of one pod, a few gangs ahead: in which order binds are sent must not matter.
std::string BindOf(const Act& act) {
  return absl::StrCat("/pods/g", act.draw % kGangs, "-", act.draw % 3, "/binding");
}

void Play(LoopDriver& d, const std::vector<Act>& acts) {
  for (const Act& act : acts) {
    switch (act.kind) {
      case Act::kSubmit:
        d.Submit(act.job);
        break;
      case Act::kSucceed: {
        std::vector<std::string> running;
        for (const Pod* pod : d.api.Pods()) {
          if (pod->phase == PodPhase::kRunning) running.push_back(pod->meta.name);
        }
        if (!running.empty()) {
          d.api.SetPhase(running[act.draw % running.size()], PodPhase::kSucceeded);
        }
        break;
      }
      case Act::kGrow:
        if (act.draw < 20) d.Nodes(1, 8, absl::StrCat("more-", act.job.gang, "-"));
        break;
      case Act::kRefuse:
        d.api.Break({.on = BindOf(act), .times = 3, .code = 503});
        break;
      case Act::kReject:
        d.api.Break({.on = BindOf(act), .act = FaultAct::kReject});
        break;
      case Act::kReap:
        d.api.Reap();
        break;
      case Act::kPass:
        d.Settle(absl::Seconds(static_cast<int64_t>(act.draw)));
        break;
    }
    d.Exchange();
  }
}

// "2 bound, Pending NoFit: …" by gang.
std::map<std::string, std::string> Standings(const LoopDriver& d, int gangs) {
  std::map<std::string, std::string> out;
  for (const char* queue : {"strict", "best"}) {
    const Json& status = d.api.QueueStatus(queue);
    out[queue] = absl::StrCat(status["summary"].AsString(), "; ", status["pending"].Dump(),
                              " pending, ", status["running"].Dump(), " running");
  }
  for (int i = 0; i < gangs; ++i) {
    const std::string gang = absl::StrCat("g", i);
    if (d.api.FindGroup(gang) == nullptr) continue;
    const PodGroupStatus& status = d.StatusOf(gang);
    out[gang] = absl::StrCat(d.Bound(gang), " bound, ", status.phase, " ", status.reason, ": ",
                             status.message);
  }
  return out;
}

std::vector<std::map<std::string, std::string>> History(uint64_t seed, Successor successor) {
  Random random(seed);
  const std::vector<Act> before = RandomActs(random, 0), after = RandomActs(random, 24);
  std::vector<Act> meanwhile = RandomActs(random, 12);
  // A standby has seen which pods ended while nobody led, and a fresh process has not.
  std::erase_if(meanwhile,
                [](const Act& act) { return act.kind == Act::kSucceed || act.kind == Act::kReap; });
  LoopDriver d;
  d.api.KeepTerminating();
  d.Nodes(4, 8);
  d.Put(ObjectUpserted{QueueOf("strict", 16, QueueOrdering::kStrictFifo)});
  d.Put(ObjectUpserted{QueueOf("best", 16, QueueOrdering::kBestEffortFifo)});
  Play(d, before);
  ChangeLead(d, successor, [&meanwhile](LoopDriver& world) { Play(world, meanwhile); });
  std::vector<std::map<std::string, std::string>> standings;
  for (const int64_t seconds : {0, 2, 10}) {
    d.Settle(absl::Seconds(seconds));
    standings.push_back(Standings(d, kGangs));
  }
  Play(d, after);
  standings.push_back(Standings(d, kGangs));
  d.api.Mend();
  d.Settle(absl::Minutes(3));
  standings.push_back(Standings(d, kGangs));
  return standings;
}

TEST(LoopLeadRegained, ASecondLeadDecidesAndTellsAsAFirstOneDoes) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_EQ(History(seed, Successor::kTheSame), History(seed, Successor::kAFreshOne));
  }
}

TEST(LoopLeadRegained, AGangThatWasBeingBoundUnderTheFirstLeadIsCountedOnce) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.api.Break({.on = "/binding", .times = -1, .act = FaultAct::kDrop});
  d.Submit({.gang = "a", .pods = 2, .gpu = 4});
  d.Settle();
  EXPECT_EQ(d.loop().counters().gangs_binding, 1);
  d.loop().SetRole(SchedulingLoop::Role::kStandby);
  EXPECT_EQ(d.loop().counters().gangs_binding, 0);
  EXPECT_EQ(d.loop().counters().gangs, 0);
  d.api.Mend();
  d.loop().SetRole(SchedulingLoop::Role::kLeader);
  d.Settle(absl::Minutes(3));
  EXPECT_EQ(d.loop().counters().gangs_binding, 0);
}

}  // namespace
}  // namespace maniple::loop_lead_regained_test
