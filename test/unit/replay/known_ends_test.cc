// The run times and ends that objects tell of. Fears: the longer of two limits counts; a pod of
// another namespace gets the run time of a group of the same name; a pod that has ended ends again;
// an end in the past; an unknown end is taken for none.
#include "scheduler/replay/known_ends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/model/maniple_types.h"

namespace maniple::replay_known_ends_test {
namespace {

const absl::Time kNow = absl::UnixEpoch() + absl::Hours(10);

struct PodSpec {
  std::string group, node, phase;
  std::optional<int64_t> deadline, started;  // seconds; before now
};

Json PodOf(const std::string& space, const std::string& name, const PodSpec& of) {
  Json meta = Json::Object({{"namespace", space}, {"name", name}});
  if (!of.group.empty()) meta.Set("labels", Json::Object({{kPodGroupLabel, of.group}}));
  Json spec = Json::Object();
  if (!of.node.empty()) spec.Set("nodeName", of.node);
  if (of.deadline.has_value()) spec.Set("activeDeadlineSeconds", *of.deadline);
  Json status = Json::Object();
  if (!of.phase.empty()) status.Set("phase", of.phase);
  if (of.started.has_value()) {
    status.Set("startTime",
               absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", kNow - absl::Seconds(*of.started),
                                absl::UTCTimeZone()));
  }
  return Json::Object({{"kind", "Pod"}, {"metadata", meta}, {"spec", spec}, {"status", status}});
}

Json GroupOf(const std::string& space, const std::string& name, int64_t seconds) {
  return Json::Object({{"kind", "PodGroup"},
                       {"metadata", Json::Object({{"namespace", space}, {"name", name}})},
                       {"spec", Json::Object({{"expectedRuntimeSeconds", seconds}})}});
}

TEST(KnownEnds, AreThoseOfANaiveReckoning) {
  Random random(11);
  const auto pick = [&random](std::vector<std::string> of) { return of[random.Below(of.size())]; };
  const auto maybe = [&random](int64_t value) {
    return random.OneIn(2) ? std::optional<int64_t>(value) : std::nullopt;
  };
  for (int round = 0; round < 300; ++round) {
    const std::map<std::string, int64_t> groups = {{"a/g", 100 + round}, {"b/h", 7}};
    std::vector<Json> objects = {GroupOf("a", "g", groups.at("a/g"))};
    std::multimap<absl::Time, std::string> ends;
    bool unknown = false;
    for (int i = 0; i < 6; ++i) {
      const std::string space = pick({"a", "b"}), name = absl::StrCat("p", i);
      const PodSpec pod{.group = pick({"", "g", "h"}),
                        .node = pick({"", "n", "n"}),
                        .phase = pick({"", "Running", "Running", "Succeeded", "Failed"}),
                        .deadline = maybe(static_cast<int64_t>(random.Below(300))),
                        .started = maybe(static_cast<int64_t>(random.Below(300)))};
      objects.push_back(PodOf(space, name, pod));
      const auto group = groups.find(absl::StrCat(space, "/", pod.group));
      std::optional<int64_t> runs = pod.deadline;
      if (group != groups.end()) runs = std::min(runs.value_or(1'000'000), group->second);
      if (pod.node.empty() || pod.phase == "Succeeded" || pod.phase == "Failed") continue;
      unknown |= !runs.has_value();
      if (!runs.has_value()) continue;
      const int64_t left = std::max<int64_t>(0, *runs - pod.started.value_or(0));
      ends.emplace(kNow + absl::Seconds(left), absl::StrCat(space, "/", name));
    }
    objects.push_back(GroupOf("b", "h", groups.at("b/h")));  // behind its pods
    const KnownEnds known = KnownEndsOf(objects, RunTimesOf(objects), kNow, Overdue::kEndsNow);
    EXPECT_EQ(known.pods, ends) << round;
    EXPECT_EQ(known.some_unknown, unknown) << round;
  }
}

TEST(ProtectionEnds, AreOfTheQueueAndOfTheGangAsFarAsTheQueueLetsIt) {
  const auto at = [](int64_t minutes) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", kNow + absl::Minutes(minutes),
                            absl::UTCTimeZone());
  };
  const auto queue = [](const char* name, int64_t least, int64_t most) {
    const Json preemption =
        Json::Object({{"minRuntimeSeconds", least}, {"maxProtectedRuntimeSeconds", most}});
    return Json::Object({{"kind", "Queue"},
                         {"metadata", Json::Object({{"name", name}})},
                         {"spec", Json::Object({{"preemption", preemption}})}});
  };
  const auto group = [&](const char* name, const char* in, int64_t own, int64_t since) {
    Json object = GroupOf("a", name, 1);
    object.Mutable("spec").Set("queue", in);
    object.Mutable("spec").Set("preemption", Json::Object({{"protectedRuntimeSeconds", own}}));
    object.Set("status", Json::Object({{"quorumReachedAt", at(since)}}));
    return object;
  };
  Json single = PodOf("a", "p", {.node = "n", .phase = "Running", .started = 60});
  single.Mutable("metadata").Set("labels", Json::Object({{kQueueLabel, "strict"}}));
  const std::vector<Json> objects = {
      group("short", "strict", 9999, 0), group("long", "free", 9999, 1),
      group("own", "free", 120, 10),     group("none", "nowhere", 9999, 100),
      GroupOf("a", "waits", 1),          single,
      queue("strict", 300, 0),           queue("free", 0, 600)};
  const std::set<absl::Time> ends = {kNow + absl::Minutes(4), kNow + absl::Minutes(5),
                                     kNow + absl::Minutes(11), kNow + absl::Minutes(12)};
  EXPECT_EQ(ProtectionEndsOf(objects), ends);
}

TEST(KnownEnds, ARunTimeWithoutEndIsNoOverflow) {
  const std::vector<Json> objects = {
      PodOf("a", "p", {.node = "n", .phase = "Running", .deadline = INT64_MAX, .started = 5})};
  const KnownEnds known = KnownEndsOf(objects, RunTimesOf(objects), kNow, Overdue::kEndsNow);
  ASSERT_EQ(known.pods.size(), 1u);
  EXPECT_GT(known.pods.begin()->first, kNow + absl::Hours(1'000'000));
}

}  // namespace
}  // namespace maniple::replay_known_ends_test
