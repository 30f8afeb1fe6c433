#include "scheduler/replay/snapshot_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/codec/gzip.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;

ClusterSnapshot Sample() {
  ClusterSnapshot snapshot{.at = absl::FromUnixSeconds(1'700'000'000)};
  for (int i = 0; i < 20; ++i) {
    snapshot.objects.push_back(Json::Object(
        {{"kind", "Node"}, {"metadata", Json::Object({{"name", absl::StrCat("n", i)}})}}));
  }
  return snapshot;
}

TEST(SnapshotFile, ComesBackAsItWas) {
  const ClusterSnapshot before = Sample();
  const absl::StatusOr<ClusterSnapshot> after = UnpackSnapshot(PackSnapshot(before));
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->at, before.at);
  EXPECT_EQ(after->objects, before.objects);
}

TEST(SnapshotFile, CutAnywhereIsRefused) {
  const std::string whole = PackSnapshot(Sample());
  for (size_t length = 0; length < whole.size(); ++length) {
    const absl::Status status = UnpackSnapshot(whole.substr(0, length)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << length << ": " << status;
  }
}

TEST(SnapshotFile, AnyChangedByteIsRefusedOrHarmless) {
  const std::string whole = PackSnapshot(Sample());
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const absl::StatusOr<ClusterSnapshot> read = UnpackSnapshot(damaged);
    if (!read.ok()) continue;
    EXPECT_EQ(read->objects, Sample().objects) << at;  // gzip's own head
  }
}

TEST(SnapshotFile, WhatUnpacksToTooMuchIsRefused) {
  EXPECT_THAT(UnpackSnapshot(PackSnapshot(Sample()), 100).status().message(),
              HasSubstr("unpacks to more than"));
}

TEST(SnapshotFile, OfANewerVersionIsRefused) {
  const std::string text = R"({"kind":"ManipleSnapshot","version":999,"at":"2026-01-01T00:00:00Z"})"
                           "\n{\"end\":0}\n";
  EXPECT_THAT(UnpackSnapshot(Gzip(text)).status().message(),
              HasSubstr("it is of version 999, and this program reads up to"));
}

TEST(SnapshotFile, WhatIsNoSnapshotIsRefused) {
  EXPECT_THAT(UnpackSnapshot("{}").status().message(), HasSubstr("no gzip file"));
  EXPECT_FALSE(UnpackSnapshot("").ok());
}

}  // namespace
}  // namespace maniple
