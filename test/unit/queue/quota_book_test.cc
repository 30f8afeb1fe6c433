// Queues, Cohorts and ResourceFlavors turned into the quota tree. The fear: one broken object that
// takes others with it, or a pod charged to a cell that its node does not belong to.
#include "queue/quota_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maniple::queue_quota_book_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class QuotaBookTest : public ::testing::Test {
 protected:
  struct Given {
    std::string name, cohort;
    std::vector<FlavorQuota> quotas = {};
  };
  bool AddQueue(const Given& given) {
    Queue queue;
    queue.meta.name = given.name;
    queue.meta.generation = ++generation_;
    queue.cohort = given.cohort;
    queue.quotas = given.quotas;
    return book_.Note(ObjectUpserted{queue});
  }
  bool AddCohort(const Given& given) {
    Cohort cohort;
    cohort.meta.name = given.name;
    cohort.meta.generation = ++generation_;
    cohort.parent = given.cohort;
    cohort.quotas = given.quotas;
    return book_.Note(ObjectUpserted{cohort});
  }
  bool AddFlavor(const std::string& name, StringMap labels, int32_t priority = 0) {
    ResourceFlavor flavor;
    flavor.meta.name = name;
    flavor.meta.generation = ++generation_;
    flavor.node_labels = std::move(labels);
    flavor.priority = priority;
    return book_.Note(ObjectUpserted{flavor});
  }
  bool Delete(ResourceKind kind, const std::string& name) {
    return book_.Note(ObjectDeleted{{kind, "", name}, ""});
  }
  static FlavorQuota Quota(const std::string& flavor, const std::string& resource,
                           int64_t nominal) {
    return {.flavor = flavor, .resources = {{.resource = resource, .nominal = Amount(nominal)}}};
  }
  // "flavor/order", "unlimited" or "forbidden".
  std::string Cell(const std::string& queue, const std::string& resource, const StringMap& labels) {
    const CellAnswer answer =
        book_.CellFor(book_.QueueNamed(queue), resource, book_.FlavorOf(labels));
    switch (answer.rule) {
      case CellRule::kUnlimited:
        return "unlimited";
      case CellRule::kForbidden:
        return "forbidden";
      case CellRule::kCharged:
        break;
    }
    return absl::StrCat(book_.FlavorOfCell(answer.cell), "/", answer.order);
  }

  static StringMap Label(const std::string& key, const std::string& value) {
    return StringMap(std::vector<std::pair<std::string, std::string>>{{key, value}});
  }

  QuotaBook book_;
  int64_t generation_ = 0;
  const StringMap h100_ = Label("model", "h100"), a100_ = Label("model", "a100");
};

// After a restart nobody knows the flavor that was there once; its Queue is inactive, and what runs
// stays charged.
TEST_F(QuotaBookTest, AResourceThatIsListedForAnUnknownFlavorOnlyIsLimitedAllTheSame) {
  AddQueue({.name = "q", .cohort = "", .quotas = {Quota("gone", "cpu", 3)}});
  book_.Rebuild();
  EXPECT_EQ(Cell("q", "cpu", {}), "forbidden");
  EXPECT_EQ(Cell("q", "memory", {}), "unlimited");
}

TEST_F(QuotaBookTest, AnEntryWithoutAFlavorCoversTheNodesThatNoOtherEntryNamesForThatResource) {
  AddFlavor("h100", h100_);
  AddFlavor("a100", a100_);
  AddQueue({"q", "", {Quota("h100", "gpu", 8), Quota("", "gpu", 4), Quota("", "cpu", 9)}});
  book_.Rebuild();
  EXPECT_EQ(Cell("q", "gpu", h100_), "h100/0");
  EXPECT_EQ(Cell("q", "gpu", a100_), "/1");
  EXPECT_EQ(Cell("q", "gpu", {}), "/1");
  EXPECT_EQ(Cell("q", "cpu", h100_), "/2");  // for cpu no entry names h100
  EXPECT_EQ(Cell("q", "memory", h100_), "unlimited");
}

TEST_F(QuotaBookTest, AResourceListedUnderNamedFlavorsOnlyIsForbiddenElsewhere) {
  AddFlavor("h100", h100_);
  AddFlavor("a100", a100_);
  AddQueue({"q", "", {Quota("h100", "gpu", 8)}});
  book_.Rebuild();
  EXPECT_EQ(Cell("q", "gpu", a100_), "forbidden");
  EXPECT_EQ(Cell("q", "gpu", {}), "forbidden");
}

// By the labels that the flavor gives its nodes; of others its nodes may have any.
TEST_F(QuotaBookTest, AFlavorExcludesPodsThatAskForOtherValuesOfItsLabels) {
  AddFlavor("h100", h100_);
  book_.Rebuild();
  const FlavorId h100 = book_.FlavorOf(h100_);
  const auto selects = [](const StringMap& labels) {
    PodConstraints pod;
    pod.node_selector = labels;
    return pod;
  };
  const auto requires_any = [](std::vector<NodeSelectorTerm> terms) {
    PodConstraints pod;
    pod.required_node_terms = std::move(terms);
    return pod;
  };
  const auto term = [](const std::string& key, SelectorOperator op,
                       std::vector<std::string> values) {
    return NodeSelectorTerm{.expressions = {{.key = key, .op = op, .values = std::move(values)}},
                            .fields = {}};
  };
  EXPECT_FALSE(book_.Excludes(h100, {}));
  EXPECT_FALSE(book_.Excludes(h100, selects(h100_)));
  EXPECT_TRUE(book_.Excludes(h100, selects(a100_)));
  EXPECT_FALSE(book_.Excludes(h100, selects(Label("zone", "a"))));
  EXPECT_FALSE(book_.Excludes(FlavorId(), selects(a100_)));
  const NodeSelectorTerm other = term("model", SelectorOperator::kNotIn, {"h100"});
  const NodeSelectorTerm absent = term("model", SelectorOperator::kDoesNotExist, {});
  const NodeSelectorTerm zone = term("zone", SelectorOperator::kIn, {"a"});
  EXPECT_TRUE(book_.Excludes(h100, requires_any({other})));
  EXPECT_TRUE(book_.Excludes(h100, requires_any({other, absent})));
  EXPECT_FALSE(book_.Excludes(h100, requires_any({other, zone})));
  EXPECT_TRUE(book_.Excludes(h100, requires_any({}))) << "no term matches nothing";
}

TEST_F(QuotaBookTest, OverlappingFlavorsGoByPriorityThenByName) {
  const StringMap both({{"model", "h100"}, {"zone", "a"}});
  AddFlavor("z-model", h100_);
  AddFlavor("a-zone", Label("zone", "a"));
  book_.Rebuild();
  EXPECT_EQ(book_.FlavorName(book_.FlavorOf(both)), "a-zone");
  AddFlavor("z-model", h100_, std::numeric_limits<int32_t>::max());
  AddFlavor("a-zone", Label("zone", "a"), std::numeric_limits<int32_t>::min());
  book_.Rebuild();
  EXPECT_EQ(book_.FlavorName(book_.FlavorOf(both)), "z-model");
  EXPECT_EQ(book_.FlavorName(book_.FlavorOf(Label("zone", "a"))), "a-zone");
  EXPECT_EQ(book_.FlavorName(book_.FlavorOf(Label("zone", "b"))), "");
}

TEST_F(QuotaBookTest, CyclesOfAnyLengthStopOnlyTheQueuesBelowThem) {
  for (int length = 1; length <= 5; ++length) {
    SCOPED_TRACE(length);
    QuotaBook fresh;
    std::swap(book_, fresh);
    for (int i = 0; i < length; ++i) {
      AddCohort({absl::StrCat("c", i), absl::StrCat("c", (i + 1) % length), {Quota("", "cpu", 5)}});
      AddQueue({absl::StrCat("q", i), absl::StrCat("c", i), {Quota("", "cpu", 1)}});
    }
    AddCohort({"leads-into-it", "c0"});
    AddQueue({"below", "leads-into-it", {Quota("", "cpu", 1)}});
    AddQueue({"lone", "", {Quota("", "cpu", 3)}});
    AddCohort({"sound", ""});
    AddQueue({"beside", "sound", {Quota("", "cpu", 4)}});
    book_.Rebuild();
    for (const std::string name : {"q0", "below"}) {
      EXPECT_THAT(book_.ProblemOfQueue(name), HasSubstr("the cohorts form a cycle: c0 -> "))
          << name;
    }
    EXPECT_THAT(book_.ProblemOfCohort("c0"), HasSubstr("spec.parent"));
    for (const std::string name : {"lone", "beside"}) EXPECT_EQ(book_.ProblemOfQueue(name), "");
    const QuotaCellId cell = book_.CellNamed("", "cpu");
    EXPECT_EQ(book_.tree().Potential(book_.QueueNamed("lone"), cell), Amount(3));
    EXPECT_EQ(book_.tree().Potential(book_.QueueNamed("beside"), cell), Amount(4));
    // Broken up, all of them stand again.
    AddCohort({"c0", "", {Quota("", "cpu", 5)}});
    book_.Rebuild();
    EXPECT_EQ(book_.ProblemOfQueue("below"), "");
    EXPECT_EQ(book_.tree().Potential(book_.QueueNamed("below"), cell), Amount(6 * length + 1));
  }
}

TEST_F(QuotaBookTest, ACohortThatCannotBeReadIsAnEmptyRootWhateverItsProblemSays) {
  AddQueue({"q", "c", {Quota("", "cpu", 2)}});
  const ObjectInvalid invalid{{ResourceKind::kCohort, "", "c"}, "uid", "form a cycle"};
  EXPECT_TRUE(book_.Note(invalid));
  book_.Rebuild();
  EXPECT_EQ(book_.ProblemOfQueue("q"), "");
  EXPECT_EQ(book_.ProblemOfCohort("c"), "form a cycle");
  EXPECT_EQ(book_.tree().Parent(book_.QueueNamed("q")), book_.CohortNamed("c"));
}

TEST_F(QuotaBookTest, AMissingFlavorStopsTheQueueAndTakesTheQuotaOfACohortButNotItsMembers) {
  AddQueue({"broken", "c", {Quota("gone", "cpu", 2)}});
  AddQueue({"sound", "c", {Quota("", "cpu", 2)}});
  AddCohort({"c", "", {Quota("gone", "cpu", 7), Quota("", "cpu", 7)}});
  book_.Rebuild();
  EXPECT_EQ(book_.ProblemOfQueue("broken"), "spec.quotas: flavor \"gone\" does not exist");
  EXPECT_EQ(book_.ProblemOfCohort("c"), "spec.quotas: flavor \"gone\" does not exist");
  EXPECT_EQ(book_.ProblemOfQueue("sound"), "");
  EXPECT_EQ(
      book_.ProblemAbove("sound"),
      "Cohort \"c\" above its queue is inactive: spec.quotas: flavor \"gone\" does not exist");
  const QuotaCellId cell = book_.CellNamed("", "cpu");
  EXPECT_EQ(book_.tree().Potential(book_.QueueNamed("sound"), cell), Amount(2));
  AddFlavor("gone", h100_);
  book_.Rebuild();
  EXPECT_EQ(book_.ProblemOfQueue("broken"), "");
  EXPECT_EQ(book_.ProblemAbove("sound"), "");
  EXPECT_EQ(book_.tree().Potential(book_.QueueNamed("sound"), cell), Amount(9));
}

TEST_F(QuotaBookTest, ADeletedQueueStandsAloneWithoutQuotaAndKeepsItsId) {
  AddCohort({"c", ""});
  AddQueue({"q", "c", {Quota("", "cpu", 2)}});
  book_.Rebuild();
  const QuotaNodeId id = book_.QueueNamed("q");
  const QuotaCellId cell = book_.CellNamed("", "cpu");
  EXPECT_TRUE(Delete(ResourceKind::kQueue, "q"));
  EXPECT_FALSE(Delete(ResourceKind::kQueue, "q"));
  book_.Rebuild();
  EXPECT_EQ(book_.QueueNamed("q"), id);
  EXPECT_FALSE(book_.tree().Parent(id).valid());
  EXPECT_TRUE(book_.FlavorsOf(id).empty());
  EXPECT_EQ(book_.tree().Nominal(id, cell), Amount());
  AddQueue({"q", "c", {Quota("", "cpu", 2)}});
  book_.Rebuild();
  EXPECT_EQ(book_.QueueNamed("q"), id);
  EXPECT_EQ(book_.tree().Parent(id), book_.CohortNamed("c"));
}

TEST_F(QuotaBookTest, AQueueAndACohortOfOneNameAreTwo) {
  AddQueue({"same", "same", {Quota("", "cpu", 2)}});
  book_.Rebuild();
  EXPECT_NE(book_.QueueNamed("same"), book_.CohortNamed("same"));
  EXPECT_EQ(book_.tree().Parent(book_.QueueNamed("same")), book_.CohortNamed("same"));
}

TEST_F(QuotaBookTest, OnlyAChangedSpecIsNews) {
  Queue queue;
  queue.meta.name = "q";
  queue.meta.uid = "uid";
  queue.meta.generation = 3;
  EXPECT_TRUE(book_.Note(ObjectUpserted{queue}));
  EXPECT_FALSE(book_.Note(ObjectUpserted{queue}));  // its status was written
  queue.meta.uid = "another";
  EXPECT_TRUE(book_.Note(ObjectUpserted{queue}));
  queue.meta.generation = 4;
  EXPECT_TRUE(book_.Note(ObjectUpserted{queue}));
  EXPECT_TRUE(book_.Note(ObjectInvalid{{ResourceKind::kQueue, "", "q"}, "another", "bad"}));
  book_.Rebuild();
  EXPECT_EQ(book_.ProblemOfQueue("q"), "bad");
  EXPECT_EQ(book_.FindQueue("q"), nullptr);
  EXPECT_TRUE(book_.Note(ObjectUpserted{queue}));
  book_.Rebuild();
  EXPECT_EQ(book_.ProblemOfQueue("q"), "");
}

TEST_F(QuotaBookTest, FlavorsAreTriedInTheOrderOfTheQueue) {
  AddFlavor("a", a100_);
  AddFlavor("h", h100_);
  AddQueue({"q", "", {Quota("h", "gpu", 1), Quota("", "gpu", 1), Quota("a", "gpu", 1)}});
  book_.Rebuild();
  std::vector<std::string> names;
  for (const FlavorId flavor : book_.FlavorsOf(book_.QueueNamed("q"))) {
    names.emplace_back(book_.FlavorName(flavor));
  }
  EXPECT_THAT(names, ElementsAre("h", "", "a"));
}

}  // namespace
}  // namespace maniple::queue_quota_book_test
