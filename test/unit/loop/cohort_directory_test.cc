// The statuses of Cohorts. Fears: a Cohort that is made anew, or cannot be read, keeps the word on
// the one before; one that is gone is written to; a cycle is not told of to all who are on it.
#include "scheduler/loop/quota/cohort_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maniple::loop_cohort_directory_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CohortDirectoryTest : public ::testing::Test {
 protected:
  void Note(const ObjectEvent& event) {
    directory_.Note(event);
    if (book_.Note(event)) book_.Rebuild();
  }
  void Put(const std::string& name, const std::string& parent, const std::string& uid = "uid") {
    Cohort cohort;
    cohort.meta.name = name;
    cohort.meta.uid = uid;
    cohort.meta.resource_version = std::to_string(++version_);
    cohort.parent = parent;
    Note(ObjectUpserted{cohort});
  }
  void Delete(const std::string& name) {
    Note(ObjectDeleted{{ResourceKind::kCohort, "", name}, "uid"});
  }
  // "name/uid reason", of those that are written in the next second.
  std::vector<std::string> Written() {
    now_ += absl::Seconds(1);
    std::vector<std::string> written;
    for (const CohortDirectory::DueStatus& due : directory_.TakeDue(now_, book_)) {
      written.push_back(absl::StrCat(due.cohort.name, "/", due.cohort.uid, " ",
                                     due.status.conditions.at(0).reason));
    }
    return written;
  }

  CohortDirectory directory_{absl::Seconds(1)};
  QuotaBook book_;
  int version_ = 0;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
};

TEST_F(CohortDirectoryTest, IsWrittenOnceWhileNothingChanges) {
  Put("c", "");
  EXPECT_THAT(Written(), ElementsAre("c/uid Ready"));
  Put("c", "");
  directory_.statuses().TouchAll();
  EXPECT_THAT(Written(), IsEmpty());
  EXPECT_EQ(directory_.statuses().NextDeadline(), absl::InfiniteFuture());
}

TEST_F(CohortDirectoryTest, AnotherOneOfTheSameNameIsWrittenToWhateverTheFirstWasTold) {
  Put("c", "");
  EXPECT_THAT(Written(), ElementsAre("c/uid Ready"));
  Put("c", "", "another");
  EXPECT_THAT(Written(), ElementsAre("c/another Ready"));
  Note(ObjectInvalid{{ResourceKind::kCohort, "", "c"}, "third", "bad"});
  EXPECT_THAT(Written(), ElementsAre("c/third Invalid"));
  Note(ObjectInvalid{{ResourceKind::kCohort, "", "c"}, "fourth", "bad"});
  EXPECT_THAT(Written(), ElementsAre("c/fourth Invalid"));
}

TEST_F(CohortDirectoryTest, OneThatIsGoneIsNotWrittenTo) {
  Put("c", "");
  Delete("c");
  EXPECT_THAT(Written(), IsEmpty());
  directory_.statuses().Lost("c", now_);  // the reply to a late write
  directory_.statuses().TouchAll();
  EXPECT_THAT(Written(), IsEmpty());
  Put("c", "");
  EXPECT_THAT(Written(), ElementsAre("c/uid Ready"));
}

TEST_F(CohortDirectoryTest, EveryOneOnACycleIsToldAndToldAgainWhenItEnds) {
  for (const char* name : {"a", "b", "c"}) Put(name, name == std::string("c") ? "" : "c");
  EXPECT_THAT(Written(), ElementsAre("a/uid Ready", "b/uid Ready", "c/uid Ready"));
  Put("c", "a");
  directory_.statuses().TouchAll();
  EXPECT_THAT(Written(), ElementsAre("a/uid Invalid", "b/uid Invalid", "c/uid Invalid"));
  Delete("a");
  directory_.statuses().TouchAll();
  EXPECT_THAT(Written(), ElementsAre("b/uid Ready", "c/uid Ready"));
}

TEST_F(CohortDirectoryTest, ANewLeaderWritesAllAnew) {
  Put("c", "");
  EXPECT_THAT(Written(), ElementsAre("c/uid Ready"));
  directory_.statuses().ForgetAll();
  EXPECT_THAT(Written(), ElementsAre("c/uid Ready"));
}

// A Queue or a namespace of the same name is none of its business.
TEST_F(CohortDirectoryTest, OtherKindsPassBy) {
  Put("c", "");
  (void)Written();
  directory_.Note(ObjectDeleted{{ResourceKind::kQueue, "", "c"}, ""});
  directory_.Note(ObjectInvalid{{ResourceKind::kQueue, "", "c"}, "uid", "bad"});
  directory_.statuses().TouchAll();
  EXPECT_THAT(Written(), IsEmpty());
  EXPECT_NE(directory_.statuses().Written("c"), nullptr);
}

}  // namespace
}  // namespace maniple::loop_cohort_directory_test
