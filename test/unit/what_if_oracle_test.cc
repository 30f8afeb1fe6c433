// Fear: what-if says one thing, and then another happens.
//
// In random worlds a scheduler lives for a while; the objects of its server are asked what a new
// job would do; then the very job is submitted to that scheduler. MANIPLE_WHAT_IF_WORLDS asks for
// more worlds, MANIPLE_WHAT_IF_FIRST for others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "plugins/builtin.h"
#include "scheduler/replay/redaction.h"
#include "scheduler/replay/replay.h"
#include "scheduler/replay/what_if.h"

namespace maniple {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
constexpr int kWorlds = 400;

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  int value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

LoopOptions Options() {
  LoopOptions options;
  options.profile = BuiltinProfile();
  return options;
}

class World final {
 public:
  explicit World(uint64_t seed) : random_(seed), live_(Options(), kStart) {
    Add(MakeClass("high", 100));
    Add(MakeClass("low", 0));
    Add(Object("scheduling.maniple.dev/v1alpha1", "Topology", "default",
               R"({"levels":[{"name":"rack","nodeLabel":"rack"}]})"));
    const int nodes = 2 + static_cast<int>(random_.Below(6));
    for (int i = 0; i < nodes; ++i) Add(MakeNode(i));
    queues_ = static_cast<int>(random_.Below(3));
    for (int i = 0; i < queues_; ++i) Add(MakeQueue(i));
    const int gangs = 1 + static_cast<int>(random_.Below(8));
    for (int i = 0; i < gangs; ++i) {
      Add(MakeGang(absl::StrCat("g", i)));
      live_.RunUntil(live_.now() + absl::Seconds(1 + random_.Below(20)));
    }
    live_.RunUntil(live_.now() + absl::Seconds(5));
  }

  Replay& live() { return live_; }
  std::vector<Json> MakeGang(const std::string& name) {
    const int pods = 1 + static_cast<int>(random_.Below(4));
    const int quorum = random_.OneIn(4) ? 1 + static_cast<int>(random_.Below(pods)) : pods;
    const std::string queue =
        queues_ == 0 ? "" : absl::StrCat(R"("queue":"q)", random_.Below(queues_), R"(",)");
    const std::string runtime = random_.OneIn(2) ? absl::StrCat(R"("expectedRuntimeSeconds":)",
                                                                60 * (1 + random_.Below(100)), ",")
                                                 : "";
    const std::string rack = random_.OneIn(4) ? R"("topology":{"required":"rack"},)" : "";
    std::vector<Json> objects =
        Object("scheduling.maniple.dev/v1alpha1", "PodGroup", name,
               absl::StrCat("{", queue, runtime, rack, R"("minMember":)", quorum, "}"));
    const int gpus = 1 << random_.Below(4);
    const char* priority = random_.OneIn(3) ? "high" : "low";
    for (int i = 0; i < pods; ++i) {
      objects.push_back(Parsed(absl::StrCat(
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, "-", i,
          R"(","namespace":"default","labels":{"scheduling.maniple.dev/pod-group":")", name,
          R"("}},"spec":{"schedulerName":"maniple","priorityClassName":")", priority,
          R"(","containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":")",
          gpus, R"("}}}]}})")));
    }
    return objects;
  }
  void Add(const std::vector<Json>& objects) {
    const absl::Status status = live_.Load(objects);
    ASSERT_TRUE(status.ok()) << status;
  }

 private:
  static Json Parsed(const std::string& text) {
    absl::StatusOr<Json> json = Json::Parse(text);
    EXPECT_TRUE(json.ok()) << json.status() << text;
    return json.ok() ? *std::move(json) : Json();
  }
  static std::vector<Json> Object(const std::string& version, const std::string& kind,
                                  const std::string& name, const std::string& spec) {
    const std::string space = kind == "PodGroup" ? R"("namespace":"default",)" : "";
    return {Parsed(absl::StrCat(R"({"apiVersion":")", version, R"(","kind":")", kind,
                                R"(","metadata":{)", space, R"("name":")", name, R"("},"spec":)",
                                spec, "}"))};
  }
  static std::vector<Json> MakeClass(const std::string& name, int value) {
    return {Parsed(absl::StrCat(
        R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")", name,
        R"("},"value":)", value, "}"))};
  }
  std::vector<Json> MakeNode(int i) {
    return {Parsed(absl::StrCat(
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n)", i,
        R"(","labels":{"kubernetes.io/hostname":"n)", i, R"(","rack":"r)", random_.Below(2),
        R"("}},"spec":{},"status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"110",)",
        R"("nvidia.com/gpu":")", random_.OneIn(4) ? 4 : 8,
        R"("},"conditions":[{"type":"Ready","status":"True"}]}})"))};
  }
  std::vector<Json> MakeQueue(int i) {
    const char* within = random_.OneIn(2) ? "LowerPriority" : "Never";
    const char* reclaim = random_.OneIn(2) ? "Any" : "Never";
    return Object("scheduling.maniple.dev/v1alpha1", "Queue", absl::StrCat("q", i),
                  absl::StrCat(R"({"cohort":"all","preemption":{"withinQueue":")", within,
                               R"(","reclaimWithinCohort":")", reclaim,
                               R"("},"quotas":[{"resources":[{"name":"nvidia.com/gpu","nominal":)",
                               4 + random_.Below(24), "}]}]}"));
  }

  Random random_;
  Replay live_;
  int queues_ = 0;
};

// What has become of the gang "job", in the words of what-if.
GangStart Outcome(Replay& live, size_t evicted_before) {
  GangStart start;
  const ClusterViewPtr view = live.View();
  for (const GangView& gang : view->gangs) {
    if (gang.name != "job") continue;
    const bool started = gang.phase == "Running";
    start.kind = started ? StartKind::kNow : StartKind::kNotSoon;
    start.reason = gang.reason;
    start.message = gang.message;
    start.nodes = gang.nodes;
  }
  if (start.kind != StartKind::kNow) return start;
  std::set<std::string> gangs;
  const std::vector<std::string> pods = live.Evicted();
  for (size_t i = evicted_before; i < pods.size(); ++i) {
    gangs.insert(pods[i].substr(0, pods[i].rfind('-')));
  }
  start.evicts.assign(gangs.begin(), gangs.end());
  if (!start.evicts.empty()) start.kind = StartKind::kAfterEvicting;
  return start;
}

bool StartsAtOnce(const GangStart& start) {
  return start.kind == StartKind::kNow || start.kind == StartKind::kAfterEvicting;
}

TEST(WhatIfOracle, SaysWhatThenHappens) {
  const int first = FromEnvironment("MANIPLE_WHAT_IF_FIRST", 0);
  const int worlds = FromEnvironment("MANIPLE_WHAT_IF_WORLDS", kWorlds);
  int now = 0, evicting = 0, waiting = 0;
  for (int seed = first; seed < first + worlds; ++seed) {
    World world(static_cast<uint64_t>(seed));
    WhatIfQuestion question{.cluster = {.at = world.live().now(), .objects = world.live().Dump()}};
    question.job = world.MakeGang("job");
    question.horizon = absl::ZeroDuration();
    const absl::StatusOr<WhatIfAnswer> answer = AnswerWhatIf(question, Options());
    ASSERT_TRUE(answer.ok()) << "seed " << seed << ": " << answer.status();
    ASSERT_EQ(answer->gangs.size(), 1u) << "seed " << seed;
    const GangStart& said = answer->gangs[0];

    const size_t evicted = world.live().Evicted().size();
    world.Add(question.job);
    world.live().RunUntil(world.live().now() + absl::Seconds(3));
    const GangStart happened = Outcome(world.live(), evicted);
    EXPECT_EQ(StartsAtOnce(said), StartsAtOnce(happened))
        << "seed " << seed << ": said: " << GangStartText(said)
        << "; happened: " << GangStartText(happened);
    EXPECT_EQ(absl::StrJoin(said.evicts, ","), absl::StrJoin(happened.evicts, ","))
        << "seed " << seed;
    if (!StartsAtOnce(said)) {
      EXPECT_EQ(said.reason, happened.reason) << "seed " << seed;
    }
    ++(said.kind == StartKind::kNow ? now : StartsAtOnce(said) ? evicting : waiting);
  }
  std::cout << now << " start, " << evicting << " after evicting, " << waiting << " wait\n";
  // The worlds are worth something.
  EXPECT_GT(std::min({now, evicting, waiting}), worlds / 50);
}

// The same names of the same gangs, nodes and queues, as far as they are told.
void ExpectAlike(const GangStart& plain, const GangStart& redacted, const Redaction& redaction,
                 int seed) {
  const auto renamed = [&redaction](const std::vector<std::string>& names) {
    std::vector<std::string> after;
    for (const std::string& name : names) after.push_back(redaction.NameOf(name));
    return absl::StrJoin(after, ",");
  };
  EXPECT_EQ(plain.kind, redacted.kind)
      << "seed " << seed << ": " << GangStartText(plain) << "; " << GangStartText(redacted);
  EXPECT_EQ(renamed(plain.nodes), absl::StrJoin(redacted.nodes, ",")) << "seed " << seed;
  EXPECT_EQ(renamed(plain.evicts), absl::StrJoin(redacted.evicts, ",")) << "seed " << seed;
  EXPECT_EQ(plain.reason, redacted.reason) << "seed " << seed;
  EXPECT_EQ(plain.at, redacted.at) << "seed " << seed;
}

TEST(WhatIfOracle, IsAnsweredOfARedactedSnapshotAsOfTheTrueOne) {
  const int first = FromEnvironment("MANIPLE_WHAT_IF_FIRST", 0);
  const int worlds = FromEnvironment("MANIPLE_WHAT_IF_WORLDS", kWorlds);
  for (int seed = first; seed < first + worlds; ++seed) {
    World world(static_cast<uint64_t>(seed));
    WhatIfQuestion question{.cluster = {.at = world.live().now(), .objects = world.live().Dump()}};
    question.job = world.MakeGang("job");
    const absl::StatusOr<WhatIfAnswer> plain = AnswerWhatIf(question, Options());

    std::vector<Json> all = question.cluster.objects;
    all.insert(all.end(), question.job.begin(), question.job.end());
    const Redaction redaction(all, {});
    for (Json& object : question.cluster.objects) object = redaction.Of(object);
    for (Json& object : question.job) object = redaction.Of(object);
    const absl::StatusOr<WhatIfAnswer> redacted = AnswerWhatIf(question, Options());
    ASSERT_TRUE(plain.ok() && redacted.ok()) << seed << plain.status() << redacted.status();
    ASSERT_EQ(redacted->gangs.size(), 1u) << seed;
    ExpectAlike(plain->gangs[0], redacted->gangs[0], redaction, seed);
  }
}

}  // namespace
}  // namespace maniple
