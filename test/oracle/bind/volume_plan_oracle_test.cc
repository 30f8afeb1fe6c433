// Plans of volumes against every way to give them out. The fear is that a gang is told that there
// are not volumes enough while there are, or that the plan gives what it must not.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"
#include "test/support/volume_plan_fixture.h"

namespace maniple {
namespace {

constexpr int kRounds = 400;
constexpr char kHost[] = "kubernetes.io/hostname";

struct Stock {
  std::string name, storage_class;
  int64_t size;
  std::set<std::string> hosts;  // that reach it
};
struct Asked {
  std::string name, storage_class;
  int64_t size;
  std::string host;
  // Volumes of class "made" are made on n0, those of "found" nowhere.
  [[nodiscard]] bool can_be_made() const { return storage_class == "made" && host == "n0"; }
  [[nodiscard]] bool may_have(const Stock& volume) const {
    return volume.storage_class == storage_class && volume.size >= size &&
           volume.hosts.contains(host);
  }
};

// How many of the claims from `at` on can have a volume, when all that cannot do without have one;
// -1: they cannot.
int MostServed(const std::vector<Asked>& claims, size_t at, std::vector<Stock> left) {
  if (at == claims.size()) return 0;
  int most = claims[at].can_be_made() ? MostServed(claims, at + 1, left) : -1;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!claims[at].may_have(left[i])) continue;
    std::vector<Stock> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const int others = MostServed(claims, at + 1, std::move(rest));
    if (others >= 0) most = std::max(most, others + 1);
  }
  return most;
}

class Case final {
 public:
  explicit Case(Random& random) : random_(random) {
    world_.Add(MakeClass("found"));
    world_.Add(MakeClass("made", "csi").Where(kHost, {"n0"}));
    for (int i = 0; i < kHosts; ++i) {
      world_.Add(MakeNode(Host(i)).Label(kHost, Host(i)));
    }
    const uint64_t volumes = random_.Below(7);
    for (uint64_t i = 0; i < volumes; ++i) AddVolume(absl::StrCat("v", i));
    const uint64_t pods = 1 + random_.Below(3);
    for (uint64_t i = 0; i < pods; ++i) AddPod(absl::StrCat("p", i));
  }

  [[nodiscard]] int MostServed() const { return maniple::MostServed(claims_, 0, stock_); }
  // The same of the plan, which must be one that is allowed.
  int ServedByPlan() {
    const std::optional<std::vector<ClaimGoal>> goals = world_.Plan(places_);
    if (!goals.has_value()) return -1;
    EXPECT_EQ(goals->size(), claims_.size());
    std::set<std::string> given;
    for (const ClaimGoal& goal : *goals) {
      const Asked& claim = *std::ranges::find(claims_, goal.name, &Asked::name);
      EXPECT_EQ(goal.node, claim.host);
      if (goal.volume.empty()) {
        EXPECT_TRUE(claim.can_be_made()) << goal.name;
        continue;
      }
      EXPECT_TRUE(given.insert(goal.volume).second) << goal.volume << " is promised twice";
      EXPECT_TRUE(claim.may_have(*std::ranges::find(stock_, goal.volume, &Stock::name)))
          << goal.name << " gets " << goal.volume;
    }
    return static_cast<int>(given.size());
  }

 private:
  static constexpr int kHosts = 3;
  static std::string Host(int index) { return absl::StrCat("n", index); }
  std::string AnyClass() { return random_.OneIn(2) ? "found" : "made"; }
  int64_t AnySize() { return 1 + static_cast<int64_t>(random_.Below(3)); }

  void AddVolume(const std::string& name) {
    Stock stock{.name = name, .storage_class = AnyClass(), .size = AnySize(), .hosts = {}};
    MakeVolume volume(name);
    volume.Class(stock.storage_class).Size(stock.size);
    const bool everywhere = random_.OneIn(4);
    for (int i = 0; i < kHosts; ++i) {
      if (everywhere || random_.OneIn(2)) stock.hosts.insert(Host(i));
    }
    if (!everywhere) volume.Where(kHost, {stock.hosts.begin(), stock.hosts.end()});
    world_.Add(volume);
    stock_.push_back(stock);
  }

  void AddPod(const std::string& name) {
    MakePod pod(name);
    const std::string host = Host(static_cast<int>(random_.Below(kHosts)));
    for (uint64_t i = 0; i <= random_.Below(2); ++i) {
      const Asked claim{.name = absl::StrCat(name, "-", i),
                        .storage_class = AnyClass(),
                        .size = AnySize(),
                        .host = host};
      world_.Add(MakeClaim(claim.name).Class(claim.storage_class).Size(claim.size));
      pod.Claim(claim.name);
      claims_.push_back(claim);
    }
    world_.Add(pod);
    places_.emplace_back(name, host);
  }

  Random& random_;
  PlanWorld world_;
  std::vector<Stock> stock_;
  std::vector<Asked> claims_;
  PlanWorld::Places places_;
};

TEST(VolumePlanOracle, GivesAsManyVolumesAsCanBeGivenAndNoneWrongly) {
  Random random(1);
  int enough = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    Case one(random);
    const int most = one.MostServed();
    ASSERT_EQ(one.ServedByPlan(), most);
    if (most > 0) ++enough;
  }
  // The cases are worth asking: neither kind is rare.
  EXPECT_GT(enough, kRounds / 10);
  EXPECT_LT(enough, kRounds * 9 / 10);
}

}  // namespace
}  // namespace maniple
