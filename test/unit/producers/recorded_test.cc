// Whole objects of other projects, with every field that their controllers and the server write.
// Fear: a field that no hand-made test has stops the object from being read.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/base/files.h"
#include "test/unit/producers/fixture.h"

namespace maniple {
namespace {

TEST(RecordedObjects, OfEachKindAreReadWhole) {
  const absl::StatusOr<std::string> text = ReadWholeFile("test/conformance/foreign_objects.yaml");
  ASSERT_TRUE(text.ok()) << text.status();
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(*text);
  ASSERT_TRUE(documents.ok()) << documents.status();
  std::set<std::string> kinds;
  for (const Json& one : documents->front().value.items()) {
    const Json& object = one["object"];
    kinds.insert(object["apiVersion"].AsString() + " " + object["kind"].AsString());
    DirectoryWorld world;
    world.ServeAll();
    world.Give(object.Dump());
    if (one.Has("also")) world.Give(one["also"].AsString());
    Pod pod = PodWith("p", one["pod"].Dump(), one["pod"]["owner"].AsString());
    pod.scheduling_group = std::string(pod.meta.labels.Get("scheduling-group"));
    (void)world.directory_.Put(world.ids_.Intern("p"), pod, world.change_);
    EXPECT_EQ(world.Where("p"), one["reads"].AsString()) << object.Dump();
  }
  EXPECT_GE(kinds.size(), 14);
}

}  // namespace
}  // namespace maniple
