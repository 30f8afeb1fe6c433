// Quorums that pods alone declare, against a count by hand. Fears: the order of pods decides; a
// number that is none counts; a gang without a pod is not waited for; a name in another namespace
// is.
#include "api/producers/mark_quorum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "test/unit/producers/packed_pods.h"

namespace maniple::producers_mark_quorum_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Shown(const MarkQuorum& quorum) {
  std::string out = absl::StrCat(quorum.minimum);
  for (const ForeignPart& part : quorum.parts) {
    absl::StrAppend(&out, " ", part.name, "=", part.members, part.late ? "?" : "");
  }
  return out;
}

std::string Kueue(absl::string_view total, absl::string_view rest = "") {
  return absl::StrCat("{labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: {",
                      "kueue.x-k8s.io/pod-group-total-count: '", total, "'", rest, "}}");
}

TEST(MarkQuorumOfKueue, IsTheLargestTotalInWhateverOrder) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    PackedPods pods;
    int64_t most = 0;
    for (uint64_t i = 1 + random.Below(4); i > 0; --i) {
      const auto total = static_cast<int64_t>(random.Below(5));
      most = std::max(most, total);
      pods.Add(Kueue(absl::StrCat(total)));
    }
    const MarkQuorum quorum = QuorumOfMarks(MarkField::kKueue, pods.marks());
    ASSERT_EQ(Shown(quorum), absl::StrCat(most));
    ASSERT_EQ(quorum.problem, "");
  }
}

TEST(MarkQuorumOfKueue, IsOneWhereAPodMayStartAlone) {
  for (const char* how : {"serving", "fast-admission"}) {
    PackedPods pods;
    pods.Add(Kueue("5"));
    pods.Add(Kueue("5", absl::StrCat(", kueue.x-k8s.io/pod-group-", how, ": 'true'")));
    EXPECT_EQ(QuorumOfMarks(MarkField::kKueue, pods.marks()).minimum, 1) << how;
  }
}

TEST(MarkQuorumOfKueue, ANumberThatIsNoneIsAProblem) {
  for (const char* total : {"", "many", "-1", "1.5", "2147483648"}) {
    PackedPods pods;
    pods.Add(Kueue(total));
    EXPECT_THAT(QuorumOfMarks(MarkField::kKueue, pods.marks()).problem,
                HasSubstr("kueue.x-k8s.io/pod-group-total-count"))
        << total;
  }
}

// The fear: whoever writes a list of a quarter of a megabyte on each of a thousand pods, each of
// them another one, stops the scheduler for seconds with each change.
TEST(MarkQuorum, ListsOfMoreThan64KiBAreAProblemAndNotRead) {
  const std::string longest(60 << 10, ' ');
  for (const MarkField dialect : {MarkField::kYunikorn, MarkField::kKoordinator}) {
    const bool yunikorn = dialect == MarkField::kYunikorn;
    PackedPods pods;
    for (const char* differs : {"", " "}) {
      const std::string list = yunikorn ? "[{\"name\": \"t\", \"minMember\": 2}]" : "[\"n/a\"]";
      const char* names = yunikorn ? "yunikorn.apache.org/task-group-name: t, "
                                     "yunikorn.apache.org/task-groups: '"
                                   : "gang.scheduling.koordinator.sh/name: a, "
                                     "gang.scheduling.koordinator.sh/groups: '";
      const char* label = yunikorn ? "labels: {applicationId: x}, " : "";
      pods.Add(absl::StrCat("{", label, "annotations: {", names, list, longest, differs, "'}}"));
      const std::string problem = QuorumOfMarks(dialect, pods.marks()).problem;
      EXPECT_EQ(absl::StrContains(problem, "more than 64 KiB"), *differs != '\0') << problem;
    }
    PackedPods one;  // whose very first list is too long
    one.Add(yunikorn ? absl::StrCat("{labels: {applicationId: x}, annotations: {",
                                    "yunikorn.apache.org/task-group-name: t, ",
                                    "yunikorn.apache.org/task-groups: '[", longest, longest, "]'}}")
                     : absl::StrCat("{annotations: {gang.scheduling.koordinator.sh/name: a, ",
                                    "gang.scheduling.koordinator.sh/groups: '[", longest, longest,
                                    "]'}}"));
    EXPECT_THAT(QuorumOfMarks(dialect, one.marks()).problem, HasSubstr("more than 64 KiB"));
  }
}

std::string Koordinator(absl::string_view name, absl::string_view least, absl::string_view groups) {
  return absl::StrCat("{annotations: {gang.scheduling.koordinator.sh/name: '", name,
                      "', gang.scheduling.koordinator.sh/min-available: '", least,
                      "', gang.scheduling.koordinator.sh/groups: '", groups, "'}}");
}

TEST(MarkQuorumOfKoordinator, IsOfEachGangThatStartsWithItWithOrWithoutPods) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> names;
    std::vector<std::string> listed = {"\"other/a\"", "7"};
    for (const char* name : {"a", "b", "c"}) {
      if (!random.OneIn(2)) continue;
      names.insert(name);
      listed.push_back(absl::StrCat("\"ns/", name, "\""));
    }
    if (names.empty()) continue;
    PackedPods pods;
    std::map<std::string, int64_t> least;
    for (const std::string& name : names) least[name] = 1;
    for (uint64_t i = 1 + random.Below(4); i > 0; --i) {
      const std::string name =
          *std::next(names.begin(), static_cast<int>(random.Below(names.size())));
      const auto members = static_cast<int64_t>(random.Below(4));
      least[name] = std::max(least[name], members);
      const PodMarks marks = pods.Add(Koordinator(
          name, absl::StrCat(members), absl::StrCat("[", absl::StrJoin(listed, ","), "]")));
      ASSERT_EQ(KoordinatorGroups(marks), std::vector<std::string>(names.begin(), names.end()));
    }
    std::string want = absl::StrCat(names.size() == 1 ? least.begin()->second : 1);
    for (const auto& [name, members] : least) {
      if (names.size() > 1) absl::StrAppend(&want, " ", name, "=", members);
    }
    ASSERT_EQ(Shown(QuorumOfMarks(MarkField::kKoordinator, pods.marks())), want) << round;
  }
}

// The fear: half of what has to start together starts.
TEST(MarkQuorumOfKoordinator, WhoHasToStartWithAGangOfAnotherNamespaceIsToldThatItCannot) {
  const auto problem_of = [](const char* groups) {
    PackedPods pods;
    pods.Add(Koordinator("a", "2", groups));
    return QuorumOfMarks(MarkField::kKoordinator, pods.marks()).problem;
  };
  EXPECT_EQ(problem_of("[\"ns/a\",\"ns/b\"]"), "");
  EXPECT_EQ(problem_of("[\"ns/a\",\"other/\",\"b\"]"), "") << "these name no gang";
  EXPECT_THAT(problem_of("[\"ns/a\",\"other/b\"]"), HasSubstr("other/b is of another namespace"));
  const std::string longer = absl::StrCat("[\"ns/a\",\"other/", std::string(500, 'b'), "\"]");
  EXPECT_THAT(problem_of(longer.c_str()), HasSubstr(": one is of another namespace"));
}

TEST(MarkQuorumOfKoordinator, AListThatIsNoneOrIsOfOthersJoinsNobody) {
  for (const char* groups : {"", "ns/a", "{}", "[\"ns/b\"]", "[[\"ns/a\"]]", "[\"other/a\"]"}) {
    PackedPods pods;
    EXPECT_THAT(KoordinatorGroups(pods.Add(Koordinator("a", "2", groups))), ElementsAre("a"))
        << groups;
  }
}

TEST(MarkQuorumOfYunikorn, IsOfEachTaskGroupTheLargestNumberOnceItHasAPod) {
  PackedPods pods;
  for (const char* table : {R"([{"name": "b", "minMember": 2}, {"name": "a", "minMember": 1}])", "",
                            R"([{"name": "b", "minMember": 3}, {"name": "none", "minMember": 0}])",
                            R"([{"minMember": 4}, {"name": "less", "minMember": -1}, 5])",
                            R"([{"name": "b", "minMember": 1}])"}) {
    pods.Add(absl::StrCat("{labels: {yunikorn.apache.org/app-id: app}, annotations: {",
                          "yunikorn.apache.org/task-group-name: b, ",
                          "yunikorn.apache.org/task-groups: '", table, "'}}"));
  }
  const MarkQuorum quorum = QuorumOfMarks(MarkField::kYunikorn, pods.marks());
  EXPECT_EQ(Shown(quorum), "1 a=1? b=3?");
  EXPECT_EQ(quorum.problem, "");
}

TEST(MarkQuorumOfYunikorn, ATableThatIsNoListIsAProblem) {
  for (const char* table : {"{}", "[", "3"}) {
    PackedPods pods;
    pods.Add(absl::StrCat("{labels: {yunikorn.apache.org/app-id: app}, annotations: {",
                          "yunikorn.apache.org/task-group-name: b, ",
                          "yunikorn.apache.org/task-groups: '", table, "'}}"));
    EXPECT_THAT(QuorumOfMarks(MarkField::kYunikorn, pods.marks()).problem, HasSubstr("JSON list"));
  }
}

TEST(MarkQuorumOfYunikorn, ANumberOfMembersThatIsNoneIsAProblem) {
  for (const char* number : {R"("3")", "1.5", "true", "{}"}) {
    PackedPods pods;
    pods.Add(absl::StrCat("{labels: {yunikorn.apache.org/app-id: app}, annotations: {",
                          "yunikorn.apache.org/task-group-name: a, ",
                          "yunikorn.apache.org/task-groups: '[{\"name\":\"a\",",
                          "\"minMember\":", number, "}]'}}"));
    EXPECT_THAT(QuorumOfMarks(MarkField::kYunikorn, pods.marks()).problem,
                HasSubstr("task-groups] of a pod: minMember must be a whole number"))
        << number;
  }
}

TEST(MarkQuorum, NamesItsDialects) {
  EXPECT_EQ(DialectName(MarkField::kKueue), "kueue");
  EXPECT_EQ(DialectName(MarkField::kYunikorn), "yunikorn");
  EXPECT_EQ(DialectName(MarkField::kKoordinator), "koordinator");
}

}  // namespace
}  // namespace maniple::producers_mark_quorum_test
