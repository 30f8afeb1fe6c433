// Queries listed by what their pods have in common. Fears: a query that selects a pod is not
// visited for it; one is visited twice; one is visited after it was removed; a query is listed by a
// condition that its pods need not meet, or at more places than it is worth.
#include "scheduler/state/query_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"

namespace maniple::state_query_listing_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kNamespaces = {"a", "b", "c"};

class QueryListingTest : public ::testing::Test {
 protected:
  // Some of these, each once, in order.
  [[nodiscard]] std::vector<std::string> SomeOf(const std::vector<std::string>& all) {
    std::vector<std::string> some;
    for (const std::string& one : all) {
      if (random_.OneIn(2)) some.push_back(one);
    }
    return some;
  }
  [[nodiscard]] QueryPlaces AnyPlaces() {
    QueryPlaces places{.namespaces = SomeOf(kNamespaces)};
    if (random_.OneIn(4)) return places;
    places.key = absl::StrCat("k", random_.Below(2));
    places.values = SomeOf({"x", "y", "z"});
    return places;
  }
  [[nodiscard]] static bool Holds(const std::vector<std::string>& some, absl::string_view one) {
    return some.empty() || std::ranges::find(some, one) != some.end();
  }
  [[nodiscard]] bool MayBeOf(const QueryPlaces& places, const std::string& name, PodId pod) const {
    if (!Holds(places.namespaces, name)) return false;
    const std::string* value = labels_.Find(pod, places.key);
    return places.key.empty() || (value != nullptr && Holds(places.values, *value));
  }
  [[nodiscard]] std::vector<PodQueryId> VisitedFor(const std::string& name, PodId pod) const {
    std::vector<PodQueryId> visited;
    listing_.ForEach(name, pod, labels_, [&](PodQueryId id) {
      visited.push_back(id);
      return VisitNext::kQuery;
    });
    std::sort(visited.begin(), visited.end());
    return visited;
  }
  void Compare() {
    for (uint32_t pod = 0; pod < 9; ++pod) {
      for (const std::string& name : kNamespaces) {
        std::vector<PodQueryId> expected;
        for (const auto& [id, places] : listed_) {
          if (MayBeOf(places, name, PodId(pod))) expected.push_back(id);
        }
        ASSERT_EQ(VisitedFor(name, PodId(pod)), expected) << "pod " << pod << " in " << name;
      }
    }
  }
  // Pods of all labels of two keys with two values, or without the key.
  void PutPods() {
    for (uint32_t pod = 0; pod < 9; ++pod) {
      StringMap labels;
      if (pod % 3 != 0) labels.Set("k0", pod % 3 == 1 ? "x" : "y");
      if (pod / 3 != 0) labels.Set("k1", pod / 3 == 1 ? "y" : "z");
      labels_.Put(PodId(pod), labels);
    }
  }

  Random random_{1};
  PodLabels labels_;
  QueryListing listing_;
  std::map<PodQueryId, QueryPlaces> listed_;
};

TEST_F(QueryListingTest, APodMeetsExactlyTheQueriesOfItsPlacesEachOnce) {
  PutPods();
  for (int round = 0; round < 1500; ++round) {
    const PodQueryId id(static_cast<uint32_t>(random_.Below(12)));
    if (const auto known = listed_.find(id); known != listed_.end()) {
      listing_.Remove(known->second, id);
      listed_.erase(known);
    } else {
      listing_.Add(listed_[id] = AnyPlaces(), id);
    }
    ASSERT_NO_FATAL_FAILURE(Compare()) << "round " << round;
  }
}

class NarrowestPlacesTest : public QueryListingTest {
 protected:
  NarrowestPlacesTest() { PutPods(); }
  NarrowestPlaces places_{labels_};
};

TEST_F(NarrowestPlacesTest, WithoutAConditionPodsMayBeAnywhere) {
  places_.Note(Requires("k0", SelectorOperator::kNotIn, {"x"}));
  places_.Note(Requires("k0", SelectorOperator::kDoesNotExist));
  EXPECT_EQ(places_.Take(), QueryPlaces());
}

TEST_F(NarrowestPlacesTest, TheConditionThatTheFewestPodsMeetIsTaken) {
  places_.Note(Requires("k0", SelectorOperator::kExists));               // 6 pods
  places_.Note(Requires("k1", SelectorOperator::kIn, {"z", "z", "q"}));  // 3
  places_.Note(Requires("k0", SelectorOperator::kIn, {"x"}));            // 3 as well
  places_.Note(Requires("k0", SelectorOperator::kIn, {"x", "y"}));       // 6
  places_.NoteNamespaces({"a", "b"});
  places_.NoteNamespaces({"b"});
  places_.NoteNamespaces({"a", "c"});
  EXPECT_EQ(places_.Take(), (QueryPlaces{.namespaces = {"b"}, .key = "k1", .values = {"q", "z"}}));
}

TEST_F(NarrowestPlacesTest, AConditionThatNoPodMeetsIsTheNarrowestAndKeepsNoOlderValues) {
  places_.Note(Requires("k0", SelectorOperator::kIn, {"x"}));
  places_.Note(Requires("free", SelectorOperator::kGt, {"7"}));
  EXPECT_EQ(places_.Take(), (QueryPlaces{.key = "free"}));
}

// A selected pod of any world is in the places: the condition that is taken is one of its own.
TEST_F(NarrowestPlacesTest, EveryPodThatMeetsAllConditionsIsOfThePlaces) {
  constexpr SelectorOperator kOperators[] = {SelectorOperator::kIn, SelectorOperator::kNotIn,
                                             SelectorOperator::kExists,
                                             SelectorOperator::kDoesNotExist};
  for (int round = 0; round < 300; ++round) {
    NarrowestPlaces narrowest(labels_);
    LabelSelector selector;
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      const SelectorOperator op = kOperators[random_.Below(4)];
      std::vector<std::string> values;
      if (op == SelectorOperator::kIn || op == SelectorOperator::kNotIn)
        values = SomeOf({"x", "y"});
      selector.requirements.push_back(Requires(absl::StrCat("k", random_.Below(2)), op, values));
      narrowest.Note(selector.requirements.back());
    }
    const QueryPlaces places = narrowest.Take();
    for (uint32_t pod = 0; pod < 9; ++pod) {
      if (!labels_.Matches(PodId(pod), selector)) continue;
      EXPECT_TRUE(MayBeOf(places, "a", PodId(pod))) << "round " << round << ", pod " << pod;
    }
  }
}

TEST_F(NarrowestPlacesTest, ManyNamespacesAndValuesAreListedByTheValuesAlone) {
  std::vector<std::string> eight, nine;
  for (int i = 0; i < 9; ++i) nine.push_back(absl::StrCat("n", i));
  eight.assign(nine.begin(), nine.begin() + 8);
  for (const auto& namespaces : {eight, nine}) {
    NarrowestPlaces places(labels_);
    places.NoteNamespaces(namespaces);
    places.Note(Requires("k", SelectorOperator::kIn, eight));
    const QueryPlaces taken = places.Take();
    EXPECT_EQ(taken.values, eight);
    EXPECT_EQ(taken.namespaces.size(), namespaces.size() == 8 ? 8u : 0u);
  }
}

}  // namespace
}  // namespace maniple::state_query_listing_test
