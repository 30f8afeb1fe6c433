// Names of gangs that are made of others' names. Fears: a name that Kubernetes refuses; two sources
// with one name; a name that the next process makes otherwise.
#include "api/producers/gang_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "api/base/random.h"

namespace maniple::producers_gang_names_test {
namespace {

bool IsDnsLabel(absl::string_view name) {
  const auto plain = [](char c) {
    return absl::ascii_islower(static_cast<unsigned char>(c)) ||
           absl::ascii_isdigit(static_cast<unsigned char>(c));
  };
  return !name.empty() && name.size() <= 63 && plain(name.front()) && plain(name.back()) &&
         std::ranges::all_of(name, [plain](char c) { return plain(c) || c == '-'; });
}

TEST(GangNames, AreDnsLabelsWhateverTheSourceIsCalled) {
  Random random(1);
  constexpr absl::string_view kOdd = "aZ9-._/ ,\xc3\xa9\n";
  for (int round = 0; round < 2'000; ++round) {
    std::string name(random.Below(80), 'x');
    for (char& c : name) {
      if (random.OneIn(2)) c = kOdd[random.Below(kOdd.size())];
    }
    ASSERT_TRUE(IsDnsLabel(StableGroupName(name, {"uid"}))) << name;
  }
}

TEST(GangNames, DifferWhereANameOrAPartOfTheIdentityDoes) {
  const std::string names[] = {
      StableGroupName("train", {}),
      StableGroupName("Train", {}),
      StableGroupName("train.", {}),
      StableGroupName("train", {""}),
      StableGroupName("train", {"ab", "c"}),
      StableGroupName("train", {"a", "bc"}),
      StableGroupName("train", {"abc"}),
      StableGroupName("train", {"c", "ab"}),
      StableGroupName(std::string(60, 'n') + "1", {}),
      StableGroupName(std::string(60, 'n') + "2", {}),
  };
  EXPECT_EQ(std::set<std::string>(std::begin(names), std::end(names)).size(), std::size(names));
}

TEST(GangNames, BeginWithWhatTheSourceIsCalledAsFarAsItGoes) {
  EXPECT_TRUE(StableGroupName("_Train.1", {}).starts_with("train-1-"));
  EXPECT_TRUE(StableGroupName("..", {}).starts_with("gang-"));
  EXPECT_TRUE(StableGroupName("", {}).starts_with("gang-"));
  EXPECT_EQ(StableGroupName(std::string(99, 'n'), {}).size(), 63u);
}

// Every leader has to find the same; a change here loses the gangs of each cluster that runs.
TEST(GangNames, AreTheSameForEver) {
  EXPECT_EQ(StableGroupName("c", {"missing", "composite"}), "c-05b790b3");
}

TEST(GangNames, SayForPeopleWhichKindOfWhichGroup) {
  const ForeignKind kind{
      .group = "scheduling.x-k8s.io", .versions = {}, .resource = "podgroups", .kind = "PodGroup"};
  EXPECT_EQ(NameOf(kind, "train"), "PodGroup train (scheduling.x-k8s.io)");
}

}  // namespace
}  // namespace maniple::producers_gang_names_test
