// Affinity between pods and topology spread, against kube-scheduler's rules: by what a decision for
// a pod or a gang says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr char kHost[] = "kubernetes.io/hostname";
constexpr char kNotNear[] = "not near the pods that the pod wants to be near";
constexpr char kTooNear[] = "too near pods that the pod wants to be apart from";
constexpr char kKeptAway[] = "too near pods that want to be apart from the pod";
constexpr char kUneven[] = "the pod would be spread more unevenly than its skew allows";
constexpr char kNoKey[] = "lacks a label over which the pod is spread";

LabelSelector App(absl::string_view app) { return Labelled("app", app); }

class PodTermsTest : public ::testing::Test {
 protected:
  // "a1", "a2" … in zone "a", each with its host name.
  void AddZone(const std::string& zone, int nodes) {
    for (int i = 1; i <= nodes; ++i) AddNode(absl::StrCat(zone, i), zone);
  }
  void AddNode(const std::string& name, const std::string& zone) {
    cluster_.Add(MakeNode(name).Label("zone", zone).Label(kHost, name));
  }
  void AddOther(const std::string& app, const std::string& node) {
    cluster_.Add(MakePod(absl::StrCat("x", next_++)).Scheduler("other").Label("app", app).On(node));
  }
  void AddNominee(const std::string& app, const std::string& node) {
    cluster_.Add(MakePod("theirs").Scheduler("other").Label("app", app).Nominated(node));
  }
  void AddGang(const std::string& name, int pods, const MakePod& like) {
    cluster_.Add(MakePodGroup(name).MinMember(pods));
    for (int i = 0; i < pods; ++i) {
      Pod pod = like;
      pod.meta.name = absl::StrCat(name, "-", i);
      pod.meta.uid = absl::StrCat("uid-", name, "-", i);
      MakePod member(pod.meta.name);
      member.Group(name);
      for (const auto& [key, value] : pod.meta.labels.entries()) member.Label(key, value);
      Pod made = member;
      made.constraints = pod.constraints;
      cluster_.Add(ObjectUpserted{made});
    }
  }
  // The nodes of the plan, as a set; the code of the rejection if there is none.
  std::vector<std::string> NodesFor(const std::string& gang) {
    const Decision decision = cluster_.Decide(gang);
    if (const auto* rejection = std::get_if<Rejection>(&decision)) {
      return {rejection->code == RejectionCode::kSearchLimitReached ? "gave up" : "proven"};
    }
    std::vector<std::string> nodes;
    for (const Placement& place : std::get<Plan>(decision).placements) {
      nodes.emplace_back(cluster_.state().NodeName(place.node));
    }
    return nodes;
  }
  std::vector<std::string> Reasons(const std::string& gang) {
    return cluster_.ReasonsOf(cluster_.Decide(gang));
  }

  TestCluster cluster_;
  int next_ = 0;
};

// ---- anti-affinity

TEST_F(PodTermsTest, AGangThatIsApartByHostTakesANodeEach) {
  AddZone("a", 3);
  AddGang("g", 3, MakePod("p").Label("app", "x").Apart(kHost, App("x")));
  EXPECT_THAT(NodesFor("g"), UnorderedElementsAre("a1", "a2", "a3"));
  AddGang("h", 4, MakePod("p").Label("app", "y").Apart(kHost, App("y")));
  EXPECT_THAT(NodesFor("h"), ElementsAre("proven"));
}

TEST_F(PodTermsTest, AGangThatIsApartByZoneTakesAZoneEach) {
  AddZone("a", 3);
  AddZone("b", 1);
  const MakePod pod = MakePod("p").Label("app", "x").Apart("zone", App("x"));
  AddGang("two", 2, pod);
  const std::vector<std::string> nodes = NodesFor("two");
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_NE(nodes[0][0], nodes[1][0]);
  AddGang("three", 3, MakePod("p").Label("app", "y").Apart("zone", App("y")));
  EXPECT_THAT(NodesFor("three"), ElementsAre("proven"));
}

TEST_F(PodTermsTest, NodesWithoutTheLabelAreInNobodysWay) {
  AddZone("a", 1);
  cluster_.Add(MakeNode("bare"));
  AddOther("x", "bare");
  AddGang("g", 3, MakePod("p").Label("app", "x").Apart("zone", App("x")));
  const std::vector<std::string> nodes = NodesFor("g");
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), "a1"), 1);
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), "bare"), 2);
}

TEST_F(PodTermsTest, APodThatStandsBarsThoseItWantsToBeApartFrom) {
  AddZone("a", 2);
  AddZone("b", 1);
  cluster_.Add(
      MakePod("guard").Scheduler("other").Label("app", "z").Apart("zone", App("x")).On("a1"));
  cluster_.Add(MakePod("p").Label("app", "x"));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=b1"));
  cluster_.Add(MakePod("q").Label("app", "q"));
  EXPECT_THAT(Reasons("q"), ElementsAre("placed"));
  cluster_.Add(MakeNode("b1").Label("zone", "b").Label(kHost, "b1").Cordoned());
  EXPECT_THAT(Reasons("p"), ElementsAre(absl::StrCat("2: ", kKeptAway), "1: cordoned"));
  cluster_.Add(DeletionOf(ResourceKind::kPod, "guard"));
  EXPECT_THAT(Reasons("p"), ElementsAre("placed"));
}

TEST_F(PodTermsTest, TerminatingPodsStillCountForAffinity) {
  AddZone("a", 1);
  cluster_.Add(MakePod("old").Scheduler("other").Label("app", "x").On("a1").Deleting());
  cluster_.Add(MakePod("p").Apart(kHost, App("x")));
  EXPECT_THAT(Reasons("p"), ElementsAre(absl::StrCat("1: ", kTooNear)));
  cluster_.Add(MakePod("q").Near(kHost, App("x")));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("q")), ElementsAre("q=a1"));
}

TEST_F(PodTermsTest, PodsThatEndedDoNot) {
  AddZone("a", 1);
  cluster_.Add(
      MakePod("old").Scheduler("other").Label("app", "x").On("a1").Phase(PodPhase::kSucceeded));
  cluster_.Add(MakePod("p").Apart(kHost, App("x")));
  EXPECT_THAT(Reasons("p"), ElementsAre("placed"));
}

// ---- affinity

TEST_F(PodTermsTest, ANodeIsNearIfItsDomainHoldsAMatchingPod) {
  AddZone("a", 1);
  AddZone("b", 2);
  cluster_.Add(MakePod("p").Near("zone", App("cache")));
  EXPECT_THAT(Reasons("p"), ElementsAre(absl::StrCat("3: ", kNotNear)));
  AddOther("cache", "b1");
  const std::vector<std::string> places = cluster_.PlacesOf(cluster_.Decide("p"));
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0][2], 'b');
}

TEST_F(PodTermsTest, OnePodMustMatchAllTerms) {
  AddZone("a", 1);
  cluster_.Add(MakePod("one").Scheduler("other").Label("app", "x").On("a1"));
  cluster_.Add(MakePod("two").Scheduler("other").Label("tier", "y").On("a1"));
  cluster_.Add(MakePod("p").Near("zone", App("x")).Near("zone", Labelled("tier", "y")));
  EXPECT_THAT(Reasons("p"), ElementsAre(absl::StrCat("1: ", kNotNear)));
  cluster_.Add(MakePod("both").Scheduler("other").Label("app", "x").Label("tier", "y").On("a1"));
  EXPECT_THAT(Reasons("p"), ElementsAre("placed"));
}

TEST_F(PodTermsTest, TheFirstOfAGangThatWantsToBeTogetherNeedsNobody) {
  AddZone("a", 2);
  AddZone("b", 2);
  AddGang("g", 4, MakePod("p").Label("app", "x").Near("zone", App("x")));
  const std::vector<std::string> nodes = NodesFor("g");
  ASSERT_EQ(nodes.size(), 4u);
  for (const std::string& node : nodes) EXPECT_EQ(node[0], nodes[0][0]);
  // Not if it does not match its own term.
  cluster_.Add(MakePod("lonely").Label("app", "y").Near("zone", App("z")));
  EXPECT_THAT(Reasons("lonely"), ElementsAre(absl::StrCat("4: ", kNotNear)));
}

TEST_F(PodTermsTest, AGangThatWantsToBeTogetherFindsTheZoneThatIsLargeEnough) {
  AddZone("a", 2);  // 128 cores
  AddZone("b", 3);  // 192 cores
  AddGang("g", 5, MakePod("p").Label("app", "x").Cpu(32'000).Near("zone", App("x")));
  const std::vector<std::string> nodes = NodesFor("g");
  ASSERT_EQ(nodes.size(), 5u);
  for (const std::string& node : nodes) EXPECT_EQ(node[0], 'b');
  AddGang("h", 7, MakePod("p").Label("app", "y").Cpu(32'000).Near("zone", App("y")));
  EXPECT_THAT(NodesFor("h"), ElementsAre("proven"));
}

TEST_F(PodTermsTest, TogetherInAZoneAndApartByHost) {
  AddZone("a", 2);
  AddZone("b", 3);
  AddGang("g", 3, MakePod("p").Label("app", "x").Near("zone", App("x")).Apart(kHost, App("x")));
  EXPECT_THAT(NodesFor("g"), UnorderedElementsAre("b1", "b2", "b3"));
}

TEST_F(PodTermsTest, WorkersFollowALeaderThatWantsNothing) {
  AddZone("a", 1);
  AddZone("b", 3);
  cluster_.Add(MakePodGroup("g").MinMember(4));
  cluster_.Add(MakePod("g-leader").Group("g").Label("role", "leader").Cpu(1000));
  for (int i = 0; i < 3; ++i) {
    cluster_.Add(MakePod(absl::StrCat("g-worker-", i))
                     .Group("g")
                     .Cpu(60'000)
                     .Near("zone", Labelled("role", "leader")));
  }
  const std::vector<std::string> nodes = NodesFor("g");
  ASSERT_EQ(nodes.size(), 4u);
  for (const std::string& node : nodes) EXPECT_EQ(node[0], 'b');
}

TEST_F(PodTermsTest, NodesWithoutTheLabelAreNearNobody) {
  cluster_.Add(MakeNode("bare"));
  AddGang("g", 1, MakePod("p").Label("app", "x").Near("zone", App("x")));
  EXPECT_THAT(Reasons("g"), ElementsAre(absl::StrCat("1: ", kNotNear)));
}

TEST_F(PodTermsTest, NamespacesAreNamedOrSelected) {
  AddZone("a", 1);
  AddZone("b", 1);
  cluster_.Add(MakePod("cache").In("infra").Scheduler("other").Label("app", "cache").On("b1"));
  PodAffinityTerm term{.topology_key = "zone",
                       .selector = App("cache"),
                       .namespaces = {"default"},
                       .namespace_selector = std::nullopt};
  const auto fits_with = [&](const PodAffinityTerm& near) {
    cluster_.Add(DeletionOf(ResourceKind::kPod, "p"));
    cluster_.Add(MakePod("p").With({.near = {near}}));
    return std::holds_alternative<Plan>(cluster_.Decide("p"));
  };
  EXPECT_FALSE(fits_with(term));
  term.namespaces = {"infra"};
  EXPECT_TRUE(fits_with(term));
  term.namespaces.clear();
  term.namespace_selector = LabelSelector{};  // every namespace
  EXPECT_TRUE(fits_with(term));
  term.namespace_selector = Labelled("team", "infra");
  EXPECT_FALSE(fits_with(term));
  Namespace infra;
  infra.meta.name = "infra";
  infra.meta.labels.Set("team", "infra");
  cluster_.Add(ObjectUpserted{infra});
  EXPECT_TRUE(std::holds_alternative<Plan>(cluster_.Decide("p")));
  infra.meta.labels.Set("team", "other");
  cluster_.Add(ObjectUpserted{infra});
  EXPECT_FALSE(std::holds_alternative<Plan>(cluster_.Decide("p")));
}

TEST_F(PodTermsTest, RelabellingAPodCounts) {
  AddZone("a", 1);
  cluster_.Add(MakePod("p").Near("zone", App("x")));
  cluster_.Add(MakePod("o").Scheduler("other").Label("app", "y").On("a1"));
  EXPECT_FALSE(std::holds_alternative<Plan>(cluster_.Decide("p")));
  cluster_.Add(MakePod("o").Scheduler("other").Label("app", "x").On("a1"));
  EXPECT_TRUE(std::holds_alternative<Plan>(cluster_.Decide("p")));
}

// ---- topology spread

TEST_F(PodTermsTest, AGangIsSpreadOverZonesWithinItsSkew) {
  AddZone("a", 1);
  AddZone("b", 2);
  AddGang("g", 5, MakePod("p").Label("app", "x").Spread("zone", App("x")));
  const std::vector<std::string> nodes = NodesFor("g");
  ASSERT_EQ(nodes.size(), 5u);
  const auto in_a = std::count_if(nodes.begin(), nodes.end(),
                                  [](const std::string& node) { return node[0] == 'a'; });
  EXPECT_TRUE(in_a == 2 || in_a == 3);
}

TEST_F(PodTermsTest, AZoneThatTakesNoMoreHoldsUpTheOthers) {
  AddZone("b", 2);
  cluster_.Add(MakeNode("a1").Label("zone", "a").Label(kHost, "a1").Cordoned());
  AddGang("g", 4, MakePod("p").Label("app", "x").Spread("zone", App("x")));
  EXPECT_THAT(NodesFor("g"), ElementsAre("proven"));
  AddGang("h", 1, MakePod("p").Label("app", "y").Spread("zone", App("y")));
  EXPECT_THAT(NodesFor("h"), ElementsAre(::testing::StartsWith("b")));
}

TEST_F(PodTermsTest, OnlyLivePodsOfTheNamespaceAreSpread) {
  AddZone("a", 1);
  AddZone("b", 1);
  cluster_.Add(MakePod("gone").Scheduler("other").Label("app", "x").On("a1").Deleting());
  cluster_.Add(MakePod("far").In("infra").Scheduler("other").Label("app", "x").On("a1"));
  cluster_.Add(MakePod("p").Label("app", "x").Spread("zone", App("x")).Selector("zone", "a"));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=a1"));
  AddOther("x", "a1");
  // Zone b is off limits for the pod itself: it is no domain, and sets no least.
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=a1"));
  cluster_.Add(MakePod("q")
                   .Label("app", "x")
                   .Spread("zone", App("x"), {.node_affinity = NodeInclusion::kIgnore})
                   .Selector("zone", "a"));
  EXPECT_THAT(Reasons("q"),
              UnorderedElementsAre(absl::StrCat("1: ", kUneven),
                                   "1: does not match the pod's node selector or affinity"));
}

TEST_F(PodTermsTest, TaintedNodesAreDomainsUnlessTaintsAreHonoured) {
  AddZone("a", 1);
  cluster_.Add(MakeNode("b1").Label("zone", "b").WithTaint("k"));
  AddOther("x", "a1");
  cluster_.Add(MakePod("p").Label("app", "x").Spread("zone", App("x")));
  EXPECT_THAT(Reasons("p"),
              UnorderedElementsAre(absl::StrCat("1: ", kUneven), "1: untolerated taint k"));
  cluster_.Add(MakePod("q")
                   .Label("app", "x")
                   .Spread("zone", App("x"), {.node_taints = NodeInclusion::kHonor}));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("q")), ElementsAre("q=a1"));
}

TEST_F(PodTermsTest, TooFewDomainsCountAsEmptyOnes) {
  AddZone("a", 2);
  AddOther("x", "a1");
  cluster_.Add(MakePod("p").Label("app", "x").Spread("zone", App("x"), {.min_domains = 2}));
  EXPECT_THAT(Reasons("p"), ElementsAre(absl::StrCat("2: ", kUneven)));
  cluster_.Add(
      MakePod("q").Label("app", "x").Spread("zone", App("x"), {.max_skew = 2, .min_domains = 2}));
  EXPECT_THAT(Reasons("q"), ElementsAre("placed"));
}

TEST_F(PodTermsTest, OfTheLabelsOfAllConstraintsNoneMayLack) {
  AddZone("a", 1);
  cluster_.Add(MakeNode("bare").Label(kHost, "bare"));
  cluster_.Add(MakePod("p").Label("app", "x").Spread("zone", App("x")).Spread(kHost, App("x")));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=a1"));
  cluster_.Add(MakePod("q").Label("app", "x").Spread("rack", App("x")));
  EXPECT_THAT(Reasons("q"), ElementsAre(absl::StrCat("2: ", kNoKey)));
}

TEST_F(PodTermsTest, EmptyAndAbsentSelectorsAndAHugeSkew) {
  AddZone("a", 1);
  AddOther("x", "a1");
  const auto fits = [&](TopologySpreadConstraint constraint) {
    cluster_.Add(DeletionOf(ResourceKind::kPod, "p"));
    Pod pod = MakePod("p").Label("app", "x");
    constraint.topology_key = "zone";
    constraint.namespace_name = "default";
    pod.constraints.spread = {constraint};
    cluster_.Add(ObjectUpserted{pod});
    return std::holds_alternative<Plan>(cluster_.Decide("p"));
  };
  EXPECT_TRUE(fits({.selector = LabelSelector{}}));
  EXPECT_TRUE(fits({.selector = std::nullopt}));
  EXPECT_TRUE(fits({.max_skew = std::numeric_limits<int32_t>::max(), .selector = App("x")}));
  EXPECT_FALSE(fits({.max_skew = std::numeric_limits<int32_t>::min(), .selector = App("x")}));
  EXPECT_FALSE(fits(
      {.max_skew = 1, .min_domains = std::numeric_limits<int32_t>::max(), .selector = App("x")}));
}

TEST_F(PodTermsTest, WhatOthersCouldCureIsNoProofThatItNeverFits) {
  AddZone("a", 1);
  cluster_.Add(MakePod("p").Near("zone", App("cache")));
  EXPECT_EQ(std::get<Rejection>(cluster_.Decide("p")).code, RejectionCode::kNoFit);
  AddOther("x", "a1");
  cluster_.Add(MakePod("q").Apart("zone", App("x")));
  EXPECT_EQ(std::get<Rejection>(cluster_.Decide("q")).code, RejectionCode::kNoFit);
  AddGang("g", 2, MakePod("m").Label("app", "g").Apart(kHost, App("g")));
  EXPECT_EQ(std::get<Rejection>(cluster_.Decide("g")).code, RejectionCode::kNeverFits);
  cluster_.Add(MakePod("r").Near("rack", App("cache")));
  EXPECT_EQ(std::get<Rejection>(cluster_.Decide("r")).code, RejectionCode::kNeverFits);
}

// ---- preferences

TEST_F(PodTermsTest, APodIsDrawnToWhomItWouldRatherBeNear) {
  AddZone("a", 2);
  AddZone("b", 2);
  AddOther("cache", "b2");
  cluster_.Add(MakePod("p").RatherNear(10, kHost, App("cache")));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=b2"));
  cluster_.Add(MakePod("q").RatherApart(10, "zone", App("cache")));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("q")), ElementsAre("q=a1"));
}

TEST_F(PodTermsTest, APodIsDrawnByThoseWhoWouldRatherBeNearIt) {
  AddZone("a", 2);
  AddZone("b", 2);
  cluster_.Add(MakePod("fan")
                   .Scheduler("other")
                   .Label("app", "f")
                   .RatherNear(10, kHost, App("star"))
                   .On("b2"));
  cluster_.Add(MakePod("p").Label("app", "star"));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=b2"));
}

TEST_F(PodTermsTest, AGangIsRatherSpreadThanPacked) {
  AddZone("a", 2);
  AddZone("b", 2);
  TopologySpreadConstraint anyway{.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway};
  AddOther("x", "a1");
  cluster_.Add(MakePod("p").Label("app", "x").Spread("zone", App("x"), anyway));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre(::testing::StartsWith("p=b")));
}

// ---- preemption's view, and hostile input

TEST_F(PodTermsTest, AsManyTermsAsAPodMayHaveAreAnswered) {
  AddZone("a", 3);
  AddOther("x7", "a1");
  MakePod pod("p");
  for (int i = 0; i < 64; ++i) {
    pod.Apart(absl::StrCat("key-", i), App("x1"));
    pod.Apart(kHost, App(absl::StrCat("x", i)));
  }
  cluster_.Add(MakeNode("a2").Label("zone", "a").Label(kHost, "a2").Cordoned());
  cluster_.Add(pod);
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=a3"));
}

// ---- pods that another scheduler is about to bind

TEST_F(PodTermsTest, ToBeNearAPodThatIsYetToComeIsNotEnough) {
  AddZone("a", 1);
  AddNominee("x", "a1");
  cluster_.Add(MakePod("p").Near(kHost, App("x")));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("rejected"));
  cluster_.Add(MakePod("theirs").Scheduler("other").Label("app", "x").On("a1"));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=a1"));
}

TEST_F(PodTermsTest, PodsThatMayBeTheFirstGoWhereTheFirstIsYetToCome) {
  AddZone("a", 1);
  AddZone("b", 2);
  AddNominee("x", "b1");
  AddGang("g", 2, MakePod("p").Label("app", "x").Near("zone", App("x")));
  for (const std::string& node : NodesFor("g")) EXPECT_EQ(node[0], 'b') << node;
}

TEST_F(PodTermsTest, APodThatIsYetToComeKeepsOthersAway) {
  AddZone("a", 1);
  AddZone("b", 1);
  cluster_.Add(MakePod("theirs")
                   .Scheduler("other")
                   .Label("app", "x")
                   .Apart("zone", App("y"))
                   .Nominated("a1"));
  cluster_.Add(MakePod("p").Apart(kHost, App("x")));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=b1"));
  cluster_.Add(MakePod("q").Label("app", "y"));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("q")), ElementsAre("q=b1"));
}

TEST_F(PodTermsTest, APodThatIsOutrankedKeepsNobodyAway) {
  AddZone("a", 1);
  cluster_.Add(
      MakePod("theirs").Scheduler("other").Priority(5).Apart(kHost, App("y")).Nominated("a1"));
  cluster_.Add(MakePod("q").Label("app", "y"));
  GangRequest request = cluster_.RequestOf("q");
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide(request)), ElementsAre("rejected"));
  request.outranked = cluster_.state().PromisedBelow(6);
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide(request)), ElementsAre("q=a1"));
}

TEST_F(PodTermsTest, APodThatIsYetToComeFillsItsOwnDomainAndLiftsNoOther) {
  AddZone("a", 1);
  AddZone("b", 1);
  AddNominee("x", "b1");
  AddGang("one", 1, MakePod("p").Label("app", "x").Spread("zone", App("x")));
  EXPECT_THAT(NodesFor("one"), ElementsAre("a1"));
  cluster_.Add(MakeNode("b1").Label("zone", "b").Label(kHost, "b1").Cordoned());
  AddGang("two", 2, MakePod("p").Label("app", "x").Spread("zone", App("x")));
  EXPECT_THAT(NodesFor("two"), ElementsAre("proven"));
  cluster_.Add(MakePod("theirs").Scheduler("other").Label("app", "x").On("b1"));
  EXPECT_THAT(NodesFor("two"), ElementsAre("a1", "a1"));
}

TEST_F(PodTermsTest, AHoldKeepsAwayWhomItsHolderShunsButNotTheHolder) {
  AddZone("a", 1);
  AddZone("b", 1);
  cluster_.Add(MakePod("a").Label("app", "x").Apart("zone", App("x")).Apart("zone", App("y")));
  GangRequest holder = cluster_.RequestOf("a");
  const NodeId node = cluster_.state().NodeNamed("a1").value();
  holder.own_holds = {cluster_.state().Hold(node, holder.wants[0].shape)};
  for (const char* shunned : {"x", "y"}) {
    cluster_.Add(MakePod("p").Label("app", shunned));
    EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("p")), ElementsAre("p=b1")) << shunned;
  }
  cluster_.Add(MakePod("q").Near("zone", App("x")));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide("q")), ElementsAre("rejected"));
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide(holder)), ElementsAre("a=a1"));
  EXPECT_TRUE(cluster_.state().CheckInvariants().ok());
}

}  // namespace
}  // namespace maniple
