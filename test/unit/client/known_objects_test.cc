#include "api/client/known_objects.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/client/resource_version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/support/heap_in_use.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

constexpr char kUuid[] = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

TEST(KnownObjects, GivesBackWhatWasSetWhateverTheFormOfUidAndVersion) {
  KnownObjects known;
  const std::pair<std::string, std::string> forms[] = {
      {kUuid, "42"},
      {"0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9", "18446744073709551615"},
      {"not-a-uuid", "007"},
      {"", ""},
      {"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8fg", "18446744073709551616"},
      {kUuid, "abc"}};
  int i = 0;
  for (const auto& [uid, version] : forms) known.Set({"ns", absl::StrCat("n", i++)}, uid, version);
  i = 0;
  for (const auto& [uid, version] : forms) {
    const auto found = known.Find({"ns", absl::StrCat("n", i++)});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->uid, uid);
    EXPECT_EQ(found->resource_version, version);
  }
}

TEST(KnownObjects, TellsNamespaceFromName) {
  KnownObjects known;
  known.Set({"a", "bc"}, "1", "1");
  EXPECT_FALSE(known.Find({"ab", "c"}).has_value());
  known.Erase({"ab", "c"});
  EXPECT_EQ(known.size(), 1u);
}

TEST(KnownObjects, ASweepTakesOutWhatWasNotSeenInOrderOfName) {
  KnownObjects known;
  for (const char* name : {"d", "a", "c", "b"}) known.Set({"ns", name}, name, "1");
  known.BeginSweep();
  known.Touch({"ns", "c"});
  known.Set({"ns", "e"}, "e", "2");
  EXPECT_THAT(known.EndSweep(), ElementsAre(Field(&KnownObjects::Forgotten::name, "a"),
                                            Field(&KnownObjects::Forgotten::name, "b"),
                                            Field(&KnownObjects::Forgotten::name, "d")));
  EXPECT_EQ(known.size(), 2u);
}

TEST(KnownObjects, ForgettingVersionsKeepsTheRest) {
  KnownObjects known;
  known.Set({"", "node"}, kUuid, "9");
  known.ForgetVersions();
  EXPECT_EQ(known.Find({"", "node"})->resource_version, "");
  EXPECT_EQ(known.Find({"", "node"})->uid, kUuid);
}

TEST(KnownObjects, FiftyFiveThousandPodsTakeAtMostTenMebibytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator keeps no such count";
#endif
  const int64_t before = HeapInUse();
  KnownObjects known;
  for (int i = 0; i < 55'000; ++i) {
    known.Set({"team-research", absl::StrFormat("training-job-%05d-worker-%03d", i / 8, i)},
              absl::StrFormat("0a1b2c3d-4e5f-6071-8293-%012x", i), absl::StrCat(1'000'000 + i));
  }
  EXPECT_LE(HeapInUse() - before, 10 << 20);
}

TEST(ResourceVersion, ComparesNumbersAsNumbersAndAnythingElseOnlyForEquality) {
  EXPECT_EQ(CompareVersions("9", "10"), VersionOrder::kOlder);
  EXPECT_EQ(CompareVersions("18446744073709551615", "9"), VersionOrder::kNewer);
  EXPECT_EQ(CompareVersions("7", "7"), VersionOrder::kSame);
  EXPECT_EQ(CompareVersions("x7", "x7"), VersionOrder::kSame);
  EXPECT_EQ(CompareVersions("x7", "x8"), VersionOrder::kUnknown);
  EXPECT_EQ(CompareVersions("007", "8"), VersionOrder::kUnknown);
  EXPECT_EQ(CompareVersions("18446744073709551616", "8"), VersionOrder::kUnknown);
  EXPECT_EQ(CompareVersions("", ""), VersionOrder::kUnknown);
  EXPECT_EQ(CompareVersions("-1", "8"), VersionOrder::kUnknown);
}

}  // namespace
}  // namespace maniple
