// Objects of files. Fear: one of an odd shape ends the program.
#include "scheduler/cli/manifest_files.h"

#include <gtest/gtest.h>

namespace maniple::cli_manifest_files_test {
namespace {

TEST(ManifestFiles, ObjectsOfOddShapeKeepIt) {
  absl::StatusOr<std::vector<Json>> objects = ParseManifests(
      "kind: Pod\nmetadata: foo\n---\nkind: Pod\nmetadata: [a]\n---\njust text\n---\n"
      "kind: Pod\nmetadata: {name: p}\n---\nkind: Pod\nmetadata: {name: q, namespace: own}\n");
  ASSERT_TRUE(objects.ok()) << objects.status();
  PutInto("x", *objects);
  ASSERT_EQ(objects->size(), 5u);
  EXPECT_EQ((*objects)[0]["metadata"].AsString(), "foo");
  EXPECT_EQ((*objects)[3].At("metadata.namespace").AsString(), "x");
  EXPECT_EQ((*objects)[4].At("metadata.namespace").AsString(), "own");
}

}  // namespace
}  // namespace maniple::cli_manifest_files_test
