// Gangs that wait. Fears: a list for programs has gangs that run; their order is lost, or
// what the list says of itself.
#include <gtest/gtest.h>

#include <string>

#include "scheduler/cli/listing.h"

namespace maniple::cli_those_who_wait_test {
namespace {

Json Gang(const std::string& name, int64_t position) {
  return Json::Object({{"namespace", "ns"}, {"name", name}, {"position", position}});
}

TEST(ThoseWhoWait, AreListedInOrderOfServiceWhateverTheForm) {
  const Json gangs = Json::Object(
      {{"kind", "List"},
       {"items", Json::Array({Gang("late", 11), Gang("runs", 0), Gang("first", 1),
                              Json::Object({{"namespace", "ns"}, {"name", "silent"}})})}});
  const Json waiting = ThoseWhoWait(gangs);
  EXPECT_EQ(waiting["kind"].AsString(), "List");
  EXPECT_EQ(Names(waiting, "podgroup"), "podgroup/first\npodgroup/late\n");
}

TEST(ThoseWhoWait, APodThatIsAGangByItselfIsNoPodGroup) {
  Json lone = Gang("lone", 1);
  lone.Set("singleton", true);
  EXPECT_EQ(Names(Json::Object({{"items", Json::Array({lone, Gang("train", 2)})}}), "podgroup"),
            "pod/lone\npodgroup/train\n");
}

TEST(ThoseWhoWait, OfNobodyAreNobody) {
  EXPECT_EQ(ThoseWhoWait(Json::Object({{"items", Json::Array()}}))["items"].size(), 0u);
}

}  // namespace
}  // namespace maniple::cli_those_who_wait_test
