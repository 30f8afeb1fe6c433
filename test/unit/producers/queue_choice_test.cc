// The Queue of a foreign gang. Fears: a later source goes before an earlier one; a queue that Kueue
// knows is taken for one of ours, or one pod of Kueue frees a gang of quota; a default of theirs
// hides what a pod says; the order of the pods decides.
#include "api/producers/queue_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/unit/producers/packed_pods.h"

namespace maniple::producers_queue_choice_test {
namespace {

// Labels of pods that name a queue, in the order of precedence.
constexpr absl::string_view kOwn = "scheduling.maniple.dev/queue";
constexpr absl::string_view kTheirs[] = {"kai.scheduler/queue", "volcano.sh/queue-name",
                                         "scheduling.volcano.sh/queue-name",
                                         "yunikorn.apache.org/queue"};
constexpr absl::string_view kKueue = "kueue.x-k8s.io/cluster-queue-name";

class QueueChoice : public testing::Test {
 protected:
  void Label(absl::string_view key, absl::string_view queue) {
    pods_.Add(absl::StrCat("{labels: {kueue.x-k8s.io/pod-group-name: g, ", key, ": ", queue, "}}"));
  }
  [[nodiscard]] std::string Chosen() const {
    return ChooseQueue(&declared_, nullptr, pods_.marks(), options_);
  }

  PackedPods pods_;
  ForeignSpec declared_;
  ProducerOptions options_;
};

// Each source says something or not.
TEST(QueueChoiceOrder, TheFirstThatSaysSomethingStands) {
  for (uint32_t said = 0; said < 1U << 10; ++said) {
    PackedPods pods;
    ForeignSpec declared, owner;
    ProducerOptions options;
    options.queues = {{"admitted", "6"}};
    const auto says = [said](uint32_t source) { return (said >> source & 1) != 0; };
    const auto label = [&](uint32_t source, absl::string_view key, absl::string_view queue) {
      if (!says(source)) return;
      pods.Add(
          absl::StrCat("{labels: {kueue.x-k8s.io/pod-group-name: g, ", key, ": '", queue, "'}}"));
    };
    if (says(0)) declared.queue = "0";
    label(1, kOwn, "1");
    for (uint32_t i = 0; i < std::size(kTheirs); ++i) label(2 + i, kTheirs[i], absl::StrCat(2 + i));
    label(6, kKueue, "admitted");
    if (says(7)) owner.queue = "7";
    if (says(8)) declared.queue_label = "8";
    if (says(9)) owner.queue_label = "9";
    std::string first;
    for (uint32_t source = 0; source < 10 && first.empty(); ++source) {
      if (says(source)) first = absl::StrCat(source);
    }
    ASSERT_EQ(ChooseQueue(&declared, &owner, pods.marks(), options), first) << said;
    if (says(0) || (said >> 7) != 0) continue;
    ASSERT_EQ(ChooseQueue(nullptr, nullptr, pods.marks(), options), first) << said;
  }
}

TEST_F(QueueChoice, AForeignNameIsMappedAndOursIsNot) {
  options_.queues = {{"gold", "research"}};
  Label(kTheirs[0], "gold");
  EXPECT_EQ(Chosen(), "research");
  Label(kOwn, "gold");
  EXPECT_EQ(Chosen(), "gold");
  declared_.queue = "gold";
  EXPECT_EQ(Chosen(), "research");
}

TEST_F(QueueChoice, OurLabelOnAnOwnerNamesAQueueOfOursToo) {
  options_.queues = {{"gold", "research"}};
  options_.default_queue = "standard";
  declared_.queue_label = "gold";
  EXPECT_EQ(Chosen(), "research");
  for (const char* queue : {"gold", "default"}) {
    declared_ = ReadForeign(absl::StrCat("{apiVersion: batch/v1, kind: Job, metadata: {name: j, "
                                         "labels: {kai.scheduler/queue: theirs, ",
                                         kOwn, ": ", queue, "}}}"))
                    .value.spec;
    EXPECT_EQ(Chosen(), queue);
  }
}

TEST_F(QueueChoice, AQueueOfKueueCountsOnlyIfItIsMapped) {
  Label(kKueue, "cluster");
  EXPECT_EQ(Chosen(), "");
  options_.queues = {{"cluster", "ours"}};
  EXPECT_EQ(Chosen(), "ours");
}

TEST_F(QueueChoice, PodsThatKueueHasAdmittedBringTheirQuotaIfAllOfThemAre) {
  EXPECT_FALSE(BringsQuota(pods_.marks(), options_)) << "there are none";
  Label("kueue.x-k8s.io/podset", "main");
  Label(kKueue, "cluster");
  EXPECT_TRUE(BringsQuota(pods_.marks(), options_));
  options_.kueue_brings_quota = false;
  EXPECT_FALSE(BringsQuota(pods_.marks(), options_)) << "labels of tenants prove nothing";
  options_.kueue_brings_quota = true;
  Label("unrelated", "a");
  EXPECT_FALSE(BringsQuota(pods_.marks(), options_));
}

TEST_F(QueueChoice, TheirDefaultIsOursAndWithoutOneSaysNothing) {
  declared_.queue = "default";
  declared_.queue_label = "default-queue";
  EXPECT_EQ(Chosen(), "");
  Label(kTheirs[3], "yunikorn");
  EXPECT_EQ(Chosen(), "yunikorn");
  options_.default_queue = "standard";
  EXPECT_EQ(Chosen(), "standard");
  options_.queues = {{"default", "mapped"}};
  EXPECT_EQ(Chosen(), "mapped");
}

TEST_F(QueueChoice, OfPodsThatDisagreeTheSmallestNameStands) {
  EXPECT_EQ(SmallestMark(MarkField::kOwnQueue, pods_.marks()), "");
  Label("unrelated", "a");
  Label(kOwn, "c");
  Label(kOwn, "b");
  Label(kOwn, "bb");
  EXPECT_EQ(SmallestMark(MarkField::kOwnQueue, pods_.marks()), "b");
  EXPECT_EQ(Chosen(), "b");
}

}  // namespace
}  // namespace maniple::producers_queue_choice_test
