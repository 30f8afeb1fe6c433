// The accounts of gangs against the tree of quotas. Fears: a charge is lost or made twice when the
// gang moves, its Queue is deleted and made again, or limits and parents change; usage that fell
// is told as if it had not; a gang whose Queue is unknown is charged all the same.
#include "scheduler/loop/quota/quota_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::loop_quota_ledger_test {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::array<std::string, 3> kQueues = {"q0", "q1", "q2"};
constexpr uint32_t kGangs = 5;

class QuotaLedgerTest : public ::testing::Test {
 protected:
  // There is quota of both resources at any time.
  QuotaLedgerTest() { PutQueue("always", "", 0); }

  void PutQueue(const std::string& name, const std::string& cohort, int64_t nominal) {
    Queue queue;
    queue.meta.name = name;
    queue.meta.generation = ++generation_;
    queue.cohort = cohort;
    for (const char* resource : {"cpu", "memory"}) {
      queue.quotas.push_back(
          {.flavor = "", .resources = {{.resource = resource, .nominal = Amount(nominal)}}});
    }
    ledger_.Note(ObjectUpserted{queue});
  }
  void PutCohort(const std::string& name, const std::string& parent) {
    Cohort cohort;
    cohort.meta.name = name;
    cohort.meta.generation = ++generation_;
    cohort.parent = parent;
    ledger_.Note(ObjectUpserted{cohort});
  }
  void Delete(const std::string& name) {
    ledger_.Note(ObjectDeleted{{ResourceKind::kQueue, "", name}, ""});
  }
  [[nodiscard]] Demand Of(int64_t cpu, int64_t memory) const {
    Demand demand;
    for (const auto& [resource, amount] : {std::pair("cpu", cpu), std::pair("memory", memory)}) {
      const QuotaCellId cell = ledger_.book().CellNamed("", resource);
      if (amount > 0) demand.push_back({cell, Amount(amount)});
    }
    std::ranges::sort(demand, {}, &CellAmount::cell);
    return demand;
  }
  // "q0" for usage that rose at most, "q0 fell" otherwise.
  std::vector<std::string> Changes() {
    std::vector<std::string> changes;
    for (const auto& [queue, fell] : ledger_.TakeChanged()) {
      changes.push_back(
          absl::StrCat(std::string(ledger_.book().NameOf(queue)), fell ? " fell" : ""));
    }
    return changes;
  }
  [[nodiscard]] int64_t Used(const std::string& queue, const char* resource) const {
    const QuotaCellId cell = ledger_.book().CellNamed("", resource);
    return ledger_.tree().Usage(ledger_.book().QueueNamed(queue), cell).units();
  }

  QuotaLedger ledger_;
  int64_t generation_ = 0;
};

// A random Queue, Cohort or limit changes, cycles of Cohorts included.
class QuotaLedgerHistories : public QuotaLedgerTest {
 protected:
  void ChangeObjects() {
    const std::string& queue = kQueues[random_.Below(kQueues.size())];
    switch (random_.Below(4)) {
      case 0:
        return Delete(queue);
      case 1:
        return PutCohort(random_.OneIn(2) ? "c0" : "c1", random_.OneIn(2) ? "c0" : "");
      default:
        return PutQueue(queue,
                        random_.OneIn(3)   ? ""
                        : random_.OneIn(2) ? "c0"
                                           : "c1",
                        static_cast<int64_t>(random_.Below(9)));
    }
  }
  void ChargeSomebody() {
    const GangId gang(static_cast<uint32_t>(random_.Below(kGangs)));
    const std::string queue = random_.OneIn(5)   ? ""
                              : random_.OneIn(9) ? "unknown"
                                                 : kQueues[random_.Below(kQueues.size())];
    const Demand cost =
        Of(static_cast<int64_t>(random_.Below(4)), static_cast<int64_t>(random_.Below(4)));
    const auto before = charged_.contains(gang) ? charged_[gang] : std::pair<std::string, Demand>();
    const bool known = ledger_.book().QueueNamed(queue).valid() && !cost.empty();
    const auto after = known ? std::pair(queue, cost) : std::pair<std::string, Demand>();
    EXPECT_EQ(ledger_.Charge(gang, queue, cost), before != after);
    charged_[gang] = after;
  }
  void ExpectAllCharged() {
    ASSERT_TRUE(ledger_.CheckInvariants().ok()) << ledger_.CheckInvariants();
    bool nothing = true;
    for (const auto& [gang, account] : charged_) nothing = nothing && account.second.empty();
    EXPECT_EQ(ledger_.NothingCharged(), nothing);
    for (const std::string& queue : kQueues) {
      const QuotaNodeId id = ledger_.book().QueueNamed(queue);
      if (!id.valid()) continue;  // it has not been seen yet
      std::map<QuotaCellId, Amount> sums;
      for (const auto& [gang, account] : charged_) {
        const Demand here = account.first == queue ? account.second : Demand();
        EXPECT_EQ(ledger_.ChargedTo(id, gang), here);
        for (const CellAmount& part : here) sums[part.cell] += part.amount;
      }
      for (const char* resource : {"cpu", "memory"}) {
        const Amount sum = sums[ledger_.book().CellNamed("", resource)];
        EXPECT_EQ(Used(queue, resource), sum.units()) << queue;
      }
    }
  }

  Random random_{11};
  std::map<GangId, std::pair<std::string, Demand>> charged_;
};

TEST_F(QuotaLedgerHistories, UsageIsTheSumOfTheAccountsWhateverBecomesOfQueuesAndCohorts) {
  PutQueue("q0", "c0", 4);
  ledger_.Refresh();
  for (int round = 0; round < 3000; ++round) {
    if (random_.OneIn(6)) {
      ChangeObjects();
      if (random_.OneIn(2)) ledger_.Refresh();
    } else if (random_.OneIn(100)) {
      ledger_.Forget();
      charged_.clear();
      EXPECT_FALSE(ledger_.HasChanged());
    } else {
      ChargeSomebody();
    }
    ExpectAllCharged();
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST_F(QuotaLedgerTest, TellsWhoseUsageFellAndWhoseOnlyRose) {
  for (const std::string& queue : kQueues) PutQueue(queue, "", 9);
  ledger_.Refresh();
  ledger_.Charge(GangId(1), "q0", Of(2, 2));
  EXPECT_THAT(Changes(), UnorderedElementsAre("q0"));
  EXPECT_THAT(Changes(), IsEmpty());
  ledger_.Charge(GangId(1), "q0", Of(3, 2));
  EXPECT_THAT(Changes(), UnorderedElementsAre("q0"));
  ledger_.Charge(GangId(1), "q0", Of(9, 1));  // one resource falls
  EXPECT_THAT(Changes(), UnorderedElementsAre("q0 fell"));
  ledger_.Charge(GangId(1), "q1", Of(9, 1));
  EXPECT_THAT(Changes(), UnorderedElementsAre("q0 fell", "q1"));
  ledger_.Charge(GangId(1), "q1", Of(0, 1));  // the other goes wholly
  ledger_.Charge(GangId(1), "q1", Of(9, 9));  // … and is back: it fell all the same
  EXPECT_THAT(Changes(), UnorderedElementsAre("q1 fell"));
  ledger_.Charge(GangId(1), "", {});
  EXPECT_THAT(Changes(), UnorderedElementsAre("q1 fell"));
  EXPECT_FALSE(ledger_.Charge(GangId(1), "", {}));
  EXPECT_THAT(Changes(), IsEmpty());
  ledger_.NotePromiseEnded("q0");
  ledger_.NotePromiseEnded("unknown");
  EXPECT_THAT(Changes(), UnorderedElementsAre("q0 fell"));
}

TEST_F(QuotaLedgerTest, IsBroughtUpToDateOnceForEachChange) {
  EXPECT_TRUE(ledger_.Refresh());
  EXPECT_FALSE(ledger_.Refresh());
  PutQueue("q0", "", 9);
  EXPECT_TRUE(ledger_.Refresh());
  ledger_.Charge(GangId(1), "q0", Of(4, 0));
  Delete("q0");
  PutQueue("q0", "c", 3);
  EXPECT_TRUE(ledger_.Refresh());
  EXPECT_EQ(Used("q0", "cpu"), 4) << "its gang runs on";
  EXPECT_FALSE(ledger_.HasChanged()) << "every gang is looked at anyway";
}

TEST_F(QuotaLedgerTest, AmountsThatDoNotAddUpLeaveNothingBehind) {
  PutQueue("q0", "c", 9);
  ledger_.Refresh();
  const int64_t most = Amount::Max().units();
  for (uint32_t gang = 0; gang < 3; ++gang) ledger_.Charge(GangId(gang), "q0", Of(most, 0));
  EXPECT_EQ(Used("q0", "cpu"), most);
  for (uint32_t gang = 0; gang < 3; ++gang) ledger_.Charge(GangId(gang), "q0", Of(1, 0));
  EXPECT_EQ(Used("q0", "cpu"), 3);
}

TEST_F(QuotaLedgerTest, OnlyAKnownQueueIsAskedOf) {
  const Tables tables;
  EXPECT_FALSE(ledger_.AskFor("", {}, tables).has_value());
  EXPECT_FALSE(ledger_.AskFor("q0", {}, tables).has_value());
  PutQueue("q0", "", 9);
  ledger_.Refresh();
  EXPECT_TRUE(ledger_.AskFor("q0", {}, tables).has_value());
  EXPECT_EQ(ledger_.AskFor("q0", {}, tables)->queue, ledger_.book().QueueNamed("q0"));
}

}  // namespace
}  // namespace maniple::loop_quota_ledger_test
