// Owners that are read by paths, against a reading by hand. Fears: a role without a number counts
// for nothing; a later minimum overrules the first; a null is taken for a number; sums that make no
// sense pass unseen.
#include "api/producers/owner_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/codec/decode.h"
#include "api/producers/reader.h"
#include "test/unit/producers/fixture.h"

namespace maniple::producers_owner_rules_test {
namespace {

using ::testing::HasSubstr;

OwnerRule RoleRule() {
  return {.minimums = {"spec.policy.least", "spec.elastic"},
          .replicas = {"spec.roles.*.count"},
          .priority_classes = {"spec.class", "spec.roles.*.class"},
          .queues = {"spec.queue"},
          .part_label = ""};
}

ForeignSpec Read(const OwnerRule& rule, absl::string_view text) {
  ReadResult<ForeignSpec> read =
      ReadYaml(text, [&rule](const Cursor& root) { return ReadByRule(rule, root); });
  EXPECT_EQ(read.refused, "") << text;
  return std::move(read.value);
}

TEST(OwnerRules, SumTheRolesAndHeedTheFirstMinimumThatIsThere) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    std::string text = "{spec: {";
    std::map<std::string, int64_t> roles;
    std::optional<int64_t> minimum;
    if (random.OneIn(2)) {
      minimum = static_cast<int64_t>(random.Below(4));
      absl::StrAppend(&text, "policy: {least: ", *minimum, "}, ");
    } else {
      absl::StrAppend(&text, random.OneIn(2) ? "policy: {least: null}, " : "policy: {}, ");
    }
    if (random.OneIn(2)) {
      const auto elastic = static_cast<int64_t>(random.Below(4));
      minimum = minimum.value_or(elastic);
      absl::StrAppend(&text, "elastic: ", elastic, ", ");
    }
    absl::StrAppend(&text, "roles: {");
    for (const char* role : {"Worker", "actor", "PS"}) {
      if (random.OneIn(2)) continue;
      int64_t& members = roles[absl::AsciiStrToLower(role)] = 1;
      if (random.OneIn(4)) {
        absl::StrAppend(&text, role, random.OneIn(2) ? ": {}, " : ": {count: null}, ");
        continue;
      }
      members = static_cast<int64_t>(random.Below(4));
      absl::StrAppend(&text, role, ": {count: ", members, "}, ");
    }
    const ForeignSpec spec = Read(RoleRule(), absl::StrCat(text, "}}}"));
    int64_t sum = 0;
    for (const auto& [name, members] : roles) sum += members;
    const bool is_bounded = minimum.has_value() && !roles.empty();
    ASSERT_EQ(spec.minimum, is_bounded ? std::min(*minimum, sum) : minimum) << text;
    ASSERT_EQ(spec.parts.size(), roles.size()) << text;
    auto part = spec.parts.begin();
    for (const auto& [name, members] : roles) {
      ASSERT_EQ(part->name, name) << text;
      ASSERT_EQ((part++)->members, members) << text;
    }
    ASSERT_EQ(spec.is_gang, minimum.has_value() || !roles.empty());
    ASSERT_EQ(spec.problem, "");
  }
}

TEST(OwnerRules, ReplicasWithoutNamesAreTheQuorumAndTheMost) {
  OwnerRule rule = RoleRule();
  rule.replicas = {"spec.a", "spec.b"};
  const ForeignSpec sum = Read(rule, "{spec: {a: 2, b: 3}}");
  EXPECT_TRUE(sum.parts.empty());
  EXPECT_EQ(sum.minimum, 5);
  EXPECT_EQ(sum.most, 5);
  const ForeignSpec elastic = Read(rule, "{spec: {a: 2, b: 3, elastic: 4}}");
  EXPECT_EQ(elastic.minimum, 4);
  EXPECT_EQ(elastic.most, 5);
  EXPECT_FALSE(Read(rule, "{spec: {}}").is_gang);
}

TEST(OwnerRules, TextsAreTheFirstThatIsNotEmpty) {
  const ForeignSpec spec =
      Read(RoleRule(), "{spec: {class: '', queue: q, roles: {a: {}, b: {class: high}}}}");
  EXPECT_EQ(spec.priority_class_name, "high");
  EXPECT_EQ(spec.queue, "q");
}

TEST(OwnerRules, NumbersThatCannotBeAreAProblem) {
  EXPECT_THAT(Read(RoleRule(), "{spec: {roles: {a: {count: -1}}}}").problem,
              HasSubstr("spec.roles.a.count: must be from 0"));
  EXPECT_THAT(Read(RoleRule(), "{spec: {elastic: 2147483648}}").problem, HasSubstr("spec.elastic"));
  EXPECT_THAT(Read(RoleRule(), "{spec: {roles: {a: {count: 2147483647}, b: {count: 1}}}}").problem,
              HasSubstr("the sum of all replicas"));
}

TEST(OwnerRules, AKindHasItsOwnRuleElseTheBuiltInOneElseNone) {
  ForeignKind kind{.group = "kubeflow.org", .versions = {}, .resource = "", .kind = "TFJob"};
  EXPECT_EQ(RuleOf(kind), KubeflowRule("tfReplicaSpecs"));
  kind.rule = RoleRule();
  EXPECT_EQ(RuleOf(kind), RoleRule());
  kind = {.group = "example.dev", .versions = {}, .resource = "", .kind = "TFJob"};
  EXPECT_EQ(RuleOf(kind), OwnerRule());
}

TEST(OwnerRules, ARoleMayHaveANameThatPodsHaveForSomethingElse) {
  ForeignKind runs{.group = "e.x", .versions = {"v1"}, .resource = "runs", .kind = "Run"};
  runs.rule.emplace().replicas = {"spec.roles.*.replicas"};
  const auto reader = MakeForeignReader({runs});
  Decoder decoder(reader.get());
  const auto line = decoder.WatchLine(
      ForeignResource(0),
      R"({"type":"ADDED","object":{"kind":"Run","metadata":{"name":"r","namespace":"n"},)"
      R"("spec":{"roles":{"env":{"replicas":2},"state":{"replicas":3}}}}})");
  ASSERT_TRUE(line.ok()) << line.status();
  const auto& object = std::get<WatchChange>(*line).object;
  const auto& run = std::get<ForeignObject>(std::get<Object>(object.what));
  ASSERT_EQ(run.spec.parts.size(), 2u);
  EXPECT_EQ(run.spec.parts[0].members + run.spec.parts[1].members, 5);
}

}  // namespace
}  // namespace maniple::producers_owner_rules_test
