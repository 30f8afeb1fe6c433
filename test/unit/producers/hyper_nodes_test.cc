// HyperNodes as objects: what is read of them, and what is refused with its path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/codec/decode.h"
#include "api/producers/hyper_node_reader.h"
#include "test/unit/producers/fixture.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ReadResult<HyperNode> ReadSpecOfHyperNode(absl::string_view spec) {
  return ReadYaml(absl::StrCat("{spec: ", spec, "}"),
                  [](const Cursor& root) { return ReadHyperNode(root); });
}
// Of one with this one member.
std::string MemberRefusal(absl::string_view member) {
  return ReadSpecOfHyperNode(absl::StrCat("{tier: 1, members: [", member, "]}")).refused;
}

TEST(HyperNodes, AreReadWithEverySelector) {
  const ReadResult<HyperNode> read = ReadSpecOfHyperNode(
      "{tier: 2, tierName: spine, later: true, members: ["
      "{type: Node, selector: {exactMatch: {name: n1}}},"
      "{type: HyperNode, selector: {regexMatch: {pattern: '^rack-[0-9]+$'}}, weight: 3},"
      "{type: Node, selector: {labelMatch: {matchLabels: {rack: r1}}}}]}");
  EXPECT_EQ(read.refused, "");
  EXPECT_EQ(read.value.tier, 2);
  EXPECT_EQ(read.value.tier_name, "spine");
  using Type = HyperNodeMember::Type;
  const LabelSelector labels{{{"rack", SelectorOperator::kIn, {"r1"}}}};
  EXPECT_THAT(read.value.members,
              ElementsAre(HyperNodeMember{.type = Type::kNode, .name = "n1"},
                          HyperNodeMember{.type = Type::kHyperNode, .pattern = "^rack-[0-9]+$"},
                          HyperNodeMember{.type = Type::kNode, .labels = labels}));
}

TEST(HyperNodes, NoLabelsSelectNobody) {
  const ReadResult<HyperNode> read =
      ReadSpecOfHyperNode("{tier: 1, members: [{type: Node, selector: {labelMatch: {}}}]}");
  EXPECT_EQ(read.refused, "");
  EXPECT_THAT(read.value.members, IsEmpty());
}

TEST(HyperNodes, ATierIsANumberWithinBounds) {
  EXPECT_THAT(ReadSpecOfHyperNode("{members: []}").refused, "spec.tier: is missing");
  for (const absl::string_view tier : {"0", "-1", "101", "1.5", "first", "'1'"}) {
    EXPECT_EQ(ReadSpecOfHyperNode(absl::StrCat("{tier: ", tier, "}")).refused,
              "spec.tier: must be a whole number from 1 to 100")
        << tier;
  }
}

TEST(HyperNodes, AMemberMustSayWhomItSelectsInOneWay) {
  EXPECT_EQ(MemberRefusal("{selector: {exactMatch: {name: a}}}"),
            "spec.members[0]: type is missing");
  EXPECT_THAT(MemberRefusal("{type: Rack, selector: {exactMatch: {name: a}}}"),
              HasSubstr("spec.members[0].type: must be one of Node, HyperNode"));
  EXPECT_EQ(MemberRefusal("{type: Node}"), "spec.members[0]: selector is missing");
  EXPECT_EQ(MemberRefusal("{type: Node, selector: {}}"),
            "spec.members[0].selector: must have one of exactMatch, regexMatch and labelMatch, has "
            "none");
  EXPECT_THAT(
      MemberRefusal("{type: Node, selector: {exactMatch: {name: a}, regexMatch: {pattern: b}}}"),
      HasSubstr("has several"));
  EXPECT_EQ(MemberRefusal("{type: Node, selector: {exactMatch: {}}}"),
            "spec.members[0].selector.exactMatch: name is missing");
  EXPECT_EQ(MemberRefusal("{type: HyperNode, selector: {labelMatch: {matchLabels: {a: b}}}}"),
            "spec.members[0].selector.labelMatch: selects nodes only");
}

TEST(HyperNodes, APatternIsOneOfLinearTime) {
  EXPECT_THAT(MemberRefusal("{type: Node, selector: {regexMatch: {pattern: '('}}}"),
              HasSubstr("spec.members[0].selector.regexMatch: pattern (: missing )"));
  EXPECT_THAT(MemberRefusal("{type: Node, selector: {regexMatch: {pattern: '(a)\\1'}}}"),
              HasSubstr("invalid escape"));
  EXPECT_THAT(MemberRefusal("{type: Node, selector: {regexMatch: {pattern: '(a{1000}){1000}'}}}"),
              HasSubstr("regexMatch: pattern"));
}

TEST(HyperNodes, PatternsAreBounded) {
  std::vector<std::string> members(kMostHyperNodePatterns,
                                   "{type: Node, selector: {regexMatch: {pattern: a}}}");
  const auto refusal = [&] {
    return ReadSpecOfHyperNode(
               absl::StrCat("{tier: 1, members: [", absl::StrJoin(members, ","), "]}"))
        .refused;
  };
  EXPECT_EQ(refusal(), "");
  members.push_back(members.front());
  EXPECT_THAT(refusal(), HasSubstr("spec.members: more than 256"));
}

TEST(HyperNodes, StandInNoNamespace) {
  const auto reader = MakeForeignReader(BuiltinForeignKinds());
  Decoder decoder(reader.get());
  const ResourceKind kind = ForeignResource(KindIndex("topology.volcano.sh/v1alpha1", "HyperNode"));
  const auto decode = [&](absl::string_view spec) {
    return decoder
        .Single(kind, absl::StrCat(R"({"apiVersion":"topology.volcano.sh/v1alpha1",)",
                                   R"("kind":"HyperNode","metadata":{"name":"h","uid":"u"},)",
                                   R"("spec":)", spec, "}"))
        .value();
  };
  const DecodedObject good = decode(R"({"tier":1})");
  const auto& object = std::get<ForeignObject>(std::get<Object>(good.what));
  ASSERT_NE(object.hyper_node, nullptr);
  EXPECT_EQ(object.hyper_node->tier, 1);
  EXPECT_EQ(object.meta.name, "h");
  const DecodedObject bad = decode(R"({"tier":0})");
  EXPECT_EQ(bad.key.name, "h");
  EXPECT_THAT(std::get<ObjectInvalid>(bad.what).problem, HasSubstr("spec.tier: "));
}

}  // namespace
}  // namespace maniple
