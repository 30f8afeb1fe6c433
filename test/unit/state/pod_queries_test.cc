// Who is selected by which query, and what a shape's terms count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "scheduler/state/cluster_state.h"
#include "scheduler/state/pod_queries.h"
#include "scheduler/state/shape_terms.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PodSelection In(const std::string& namespace_name, LabelSelector selector) {
  return {.namespaces = {namespace_name},
          .namespace_selector = std::nullopt,
          .selector = std::move(selector)};
}

class PodQueriesTest : public ::testing::Test {
 protected:
  PodId Known(uint32_t index, std::vector<std::pair<std::string, std::string>> labels) {
    labels_.Put(PodId(index), StringMap(std::move(labels)));
    return PodId(index);
  }
  std::vector<PodCountId> Matches(PodId pod, absl::string_view namespace_name,
                                  bool terminating = false) {
    const PodQueries::PodIdentity identity{
        .pod = pod, .namespace_name = namespace_name, .terminating = terminating};
    EXPECT_EQ(queries_.MatchesOf(identity), queries_.MatchesOfSlowly(identity));
    return queries_.MatchesOf(identity);
  }

  PodLabels labels_;
  PodQueries queries_{labels_};
};

TEST_F(PodQueriesTest, AQueryIsOneHoweverOftenItIsAsked) {
  const PodQuery web = {In("n", Labelled("app", "web"))};
  const PodCountId count = queries_.Intern(web, PodCountKind::kPresent, "");
  EXPECT_EQ(queries_.Intern(web, PodCountKind::kPresent, ""), count);
  EXPECT_NE(queries_.Intern(web, PodCountKind::kLive, ""), count);
  EXPECT_NE(queries_.Intern(web, PodCountKind::kApart, "zone"),
            queries_.Intern(web, PodCountKind::kApart, "rack"));
  EXPECT_EQ(queries_.TakeFresh().queries.size(), 1u);
  EXPECT_THAT(queries_.TakeFresh().queries, IsEmpty());
}

TEST_F(PodQueriesTest, ANewQueryIsAskedOfFewPods) {
  for (uint32_t i = 0; i < 100; ++i) Known(i, {{"app", "train"}, {"job", absl::StrCat(i / 10)}});
  const LabelSelector both{.requirements = {Requires("app", SelectorOperator::kIn, {"train"}),
                                            Requires("job", SelectorOperator::kIn, {"3", "4"})}};
  const auto places_of = [this](PodSelection selection) {
    (void)queries_.Intern({std::move(selection)}, PodCountKind::kPresent, "");
    return queries_.TakeFresh().places;
  };
  using Places = QueryPlaces;
  EXPECT_THAT(places_of(In("n", both)),
              ElementsAre(Places{.namespaces = {"n"}, .key = "job", .values = {"3", "4"}}));
  const LabelSelector exists{.requirements = {Requires("app", SelectorOperator::kExists)}};
  EXPECT_THAT(places_of(In("n", exists)), ElementsAre(Places{.namespaces = {"n"}, .key = "app"}));
  const LabelSelector without{.requirements = {Requires("app", SelectorOperator::kNotIn, {"x"}),
                                               Requires("job", SelectorOperator::kDoesNotExist)}};
  EXPECT_THAT(places_of(In("n", without)), ElementsAre(Places{.namespaces = {"n"}}));
  EXPECT_THAT(places_of({.namespaces = {}, .namespace_selector = LabelSelector{}, .selector = {}}),
              ElementsAre(Places{}));
}

TEST_F(PodQueriesTest, PodsAreSelectedByLabelsAndNamespace) {
  const PodCountId web =
      queries_.Intern({In("n", Labelled("app", "web"))}, PodCountKind::kPresent, "");
  const PodCountId not_web = queries_.Intern(
      {In("n", {.requirements = {Requires("app", SelectorOperator::kNotIn, {"web"})}})},
      PodCountKind::kPresent, "");
  const PodCountId anybody =
      queries_.Intern({{.namespaces = {}, .namespace_selector = LabelSelector{}, .selector = {}}},
                      PodCountKind::kPresent, "");
  const PodId pod = Known(1, {{"app", "web"}});
  const PodId bare = PodId(2);
  EXPECT_THAT(Matches(pod, "n"), ElementsAre(web, anybody));
  EXPECT_THAT(Matches(pod, "m"), ElementsAre(anybody));
  EXPECT_THAT(Matches(bare, "n"), ElementsAre(not_web, anybody));
}

TEST_F(PodQueriesTest, EveryPartMustSelect) {
  const PodCountId both =
      queries_.Intern({In("n", Labelled("app", "web")), In("n", Labelled("tier", "front"))},
                      PodCountKind::kPresent, "");
  EXPECT_THAT(Matches(Known(1, {{"app", "web"}}), "n"), IsEmpty());
  EXPECT_THAT(Matches(Known(2, {{"tier", "front"}}), "n"), IsEmpty());
  EXPECT_THAT(Matches(Known(3, {{"app", "web"}, {"tier", "front"}}), "n"), ElementsAre(both));
}

TEST_F(PodQueriesTest, WhoIsAboutToEndIsPresentAndNotLive) {
  const PodQuery web = {In("n", Labelled("app", "web"))};
  const PodCountId present = queries_.Intern(web, PodCountKind::kPresent, "");
  const PodCountId live = queries_.Intern(web, PodCountKind::kLive, "");
  const PodId pod = Known(1, {{"app", "web"}});
  EXPECT_THAT(Matches(pod, "n"), ElementsAre(present, live));
  EXPECT_THAT(Matches(pod, "n", true), ElementsAre(present));
}

StringMap TeamLabels(absl::string_view team) {
  StringMap labels;
  labels.Set("team", team);
  return labels;
}

TEST_F(PodQueriesTest, NamespacesAreSelectedByTheirLabelsAsTheyAre) {
  EXPECT_THAT(queries_.SetNamespaceLabels("n", TeamLabels("a")).queries, IsEmpty());
  const PodCountId of_team = queries_.Intern(
      {{.namespaces = {}, .namespace_selector = Labelled("team", "a"), .selector = {}}},
      PodCountKind::kPresent, "");
  EXPECT_THAT(Matches(PodId(1), "n"), ElementsAre(of_team));
  EXPECT_THAT(queries_.SetNamespaceLabels("n", TeamLabels("b")).queries, SizeIs(1));
  EXPECT_THAT(queries_.SetNamespaceLabels("n", TeamLabels("b")).queries, IsEmpty());
  EXPECT_THAT(queries_.SetNamespaceLabels("n", TeamLabels("c")).queries, IsEmpty());
  EXPECT_THAT(Matches(PodId(1), "n"), IsEmpty());
  EXPECT_THAT(Matches(PodId(1), "unknown"), IsEmpty());
}

TEST_F(PodQueriesTest, AShapeAddsWhatItMatchesAndCarries) {
  const Pod pod = MakePod("p")
                      .In("n")
                      .Apart("zone", Labelled("app", "web"))
                      .Near("zone", Labelled("app", "db"))
                      .RatherNear(7, "rack", Labelled("app", "db"))
                      .RatherApart(7, "rack", Labelled("app", "db"));
  const OwnTerms own = OwnTermsOf(pod.constraints, queries_);
  const std::vector<PodCountId> matches = Matches(Known(1, {{"app", "web"}}), "n");
  const std::vector<PodCountChange> changes = ChangesBy(own, matches, queries_);
  int64_t present = 0, apart = 0, drawn = 0;
  for (const PodCountChange& change : changes) {
    switch (queries_.Of(change.count).kind) {
      case PodCountKind::kPresent:
        present += change.change;
        break;
      case PodCountKind::kApart:
        apart += change.change;
        break;
      case PodCountKind::kDrawn:
        drawn += change.change;
        break;
      case PodCountKind::kLive:
        ADD_FAILURE() << "nobody asks for it";
    }
  }
  EXPECT_EQ(present, 1);
  EXPECT_EQ(apart, 1);
  EXPECT_EQ(drawn, 1);  // the two preferences cancel out, the requirement stays
  const std::shared_ptr<const ShapeTerms> terms = TermsOf(own, matches, queries_);
  ASSERT_NE(terms, nullptr);
  EXPECT_FALSE(terms->near_self);
  EXPECT_EQ(terms->kept_away.size(), 1u);  // by others like itself
  EXPECT_TRUE(LooksAtCount(*terms, terms->apart[0].count));
  EXPECT_TRUE(LooksAtCount(*terms, terms->near));
}

TEST(PodCounts, AreSumsThatVanishWithTheirPods) {
  const PodCountId a(3), b(70);
  PodCounts counts;
  const std::vector<PodCountChange> few = {{a, 1}, {b, -5}};
  counts.Add(7, few, 1);
  counts.Add(7, few, 1);
  counts.Add(9, few, 1);
  EXPECT_EQ(counts.At(a, 7), 2);
  EXPECT_EQ(counts.At(b, 7), -10);
  EXPECT_EQ(counts.At(a, 8), 0);
  EXPECT_EQ(counts.Of(a).size(), 2u);
  counts.Add(7, few, -1);
  counts.Add(7, few, -1);
  counts.Add(9, few, -1);
  EXPECT_THAT(counts.entries(), IsEmpty());
}

TEST(PodCounts, ManyChangesAtOnceAreTheSameAsOneByOne) {
  PodCounts at_once, one_by_one;
  for (int round = 0; round < 4; ++round) {
    std::vector<PodCountChange> changes;
    for (uint32_t i = 0; i < 40; ++i) {
      changes.push_back({PodCountId(i * (round % 2 + 1)), round == 3 ? -1 : 1});
    }
    const uint32_t row = round % 3 == 0 ? 4 : 200;
    at_once.Add(row, changes, 1);
    for (const PodCountChange& change : changes) one_by_one.Add(row, {&change, 1}, 1);
  }
  ASSERT_EQ(at_once.entries().size(), one_by_one.entries().size());
  for (size_t i = 0; i < at_once.entries().size(); ++i) {
    EXPECT_EQ(at_once.entries()[i].count, one_by_one.entries()[i].count);
    EXPECT_EQ(at_once.entries()[i].row, one_by_one.entries()[i].row);
    EXPECT_EQ(at_once.entries()[i].value, one_by_one.entries()[i].value);
  }
}

TEST(PodTermsInState, PodsThatNobodyAsksAboutShareTheirShape) {
  ClusterState state{ClusterStateOptions{}};
  Delta delta;
  const auto shape_of = [&](const MakePod& made) {
    const Pod pod = made;
    state.Apply(ObjectUpserted{pod}, absl::UnixEpoch(), delta);
    return state.FindPod(*state.PodWithUid(pod.meta.uid))->shape;
  };
  const auto current = [&](absl::string_view uid) {
    return state.FindPod(*state.PodWithUid(uid))->shape;
  };
  EXPECT_EQ(shape_of(MakePod("a").Label("app", "x")), shape_of(MakePod("b").Label("app", "y")));
  // Somebody asks about x: then a is told apart from b, and b from nobody.
  (void)shape_of(MakePod("asks").Apart("zone", Labelled("app", "x")));
  EXPECT_NE(current("uid-a"), current("uid-b"));
  EXPECT_EQ(current("uid-b"), shape_of(MakePod("c").Label("app", "z")));
  EXPECT_EQ(current("uid-a"), shape_of(MakePod("d").Label("app", "x")));
  EXPECT_TRUE(state.CheckInvariants().ok()) << state.CheckInvariants();
}

// The fear: a pod with many terms makes every pod of the cluster answer each of them by itself.
TEST(PodTermsInState, APodIsAskedOnceHoweverManyTermsAPodBrings) {
  ClusterState state{ClusterStateOptions{}};
  Delta delta;
  const auto apply = [&](const MakePod& pod) { state.Apply(pod, absl::UnixEpoch(), delta); };
  for (int i = 0; i < 50; ++i) apply(MakePod(absl::StrCat("here-", i)).In("n"));
  for (int i = 0; i < 50; ++i) apply(MakePod(absl::StrCat("there-", i)).In("m"));
  MakePod asks("asks");
  asks.In("n").Scheduler("other");
  for (int i = 0; i < 100; ++i) {
    asks.RatherApart(
        1, "zone",
        {.requirements = {Requires(absl::StrCat("key-", i), SelectorOperator::kDoesNotExist)}});
  }
  apply(asks);
  EXPECT_EQ(state.counters().pods_matched_anew, 50);  // and nobody of the other namespace
  apply(MakePod("labelled").In("n").Label("app", "web"));
  apply(MakePod("asks-few")
            .In("n")
            .Apart("zone", {.requirements = {Requires("app", SelectorOperator::kExists)}}));
  EXPECT_EQ(state.counters().pods_matched_anew, 51);
  EXPECT_TRUE(state.CheckInvariants().ok()) << state.CheckInvariants();
}

TEST(PodTermsInState, APodForWhichRoomIsHeldIsCountedApart) {
  ClusterState state{ClusterStateOptions{}};
  Delta delta;
  state.Apply(MakeNode("n1"), absl::UnixEpoch(), delta);
  state.Apply(MakePod("asks").Near("zone", Labelled("app", "x")), absl::UnixEpoch(), delta);
  state.Apply(MakePod("a").Label("app", "x").Cpu(1000), absl::UnixEpoch(), delta);
  const ShapeId shape = state.FindPod(*state.PodWithUid("uid-a"))->shape;
  const NodeId node = *state.NodeNamed("n1");
  const HoldId hold = state.Hold(node, shape);
  EXPECT_THAT(state.Publish()->blocks[0]->pod_counts().entries(), IsEmpty());
  EXPECT_EQ(state.Publish()->blocks[0]->promised_counts().entries().size(), 1u);
  EXPECT_TRUE(state.CheckInvariants().ok()) << state.CheckInvariants();
  state.ReleaseHold(hold, delta);
  EXPECT_THAT(state.Publish()->blocks[0]->promised_counts().entries(), IsEmpty());
  state.Reserve(*state.PodWithUid("uid-a"), node);
  EXPECT_EQ(state.Publish()->blocks[0]->pod_counts().entries().size(), 1u);
  EXPECT_TRUE(state.CheckInvariants().ok()) << state.CheckInvariants();
}

}  // namespace
}  // namespace maniple
