// ProvisioningRequests and the PodTemplates that they count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/codec/provisioning.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const OwnerReference kOwner{"PodGroup", "train", "u-1", "scheduling.maniple.dev/v1alpha1"};

// Whoever may read PodTemplates may not be whoever may read pods.
TEST(PodTemplate, SaysWhereItFitsAndNothingElse) {
  const absl::StatusOr<std::string> text = EncodePodTemplate("ns", "train-0", kOwner, R"({
    "metadata": {"name": "p", "uid": "x", "labels": {"job": "train"},
                 "annotations": {"token": "secret-a"}},
    "spec": {"nodeName": "", "nodeSelector": {"pool": "gpu"}, "schedulerName": "maniple",
             "schedulingGates": [{"name": "secret-b"}],
             "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}},
                         {"name": "w", "secret": {"secretName": "secret-c"}}],
             "initContainers": [{"name": "i", "restartPolicy": "Always", "args": ["secret-d"]}],
             "containers": [{"name": "main", "image": "x", "command": ["secret-e"],
                             "env": [{"name": "k", "value": "secret-f"}],
                             "resources": {"limits": {"nvidia.com/gpu": "8"}}}]},
    "status": {"phase": "Pending"}})");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, Not(HasSubstr("secret")));
  const Json made = Json::Parse(*text).value();
  EXPECT_EQ(made.At("metadata.ownerReferences").items()[0]["uid"].AsString(), "u-1");
  const Json& pod = made["template"];
  EXPECT_EQ(pod.At("metadata.labels")["job"].AsString(), "train");
  EXPECT_EQ(pod.At("spec.nodeSelector")["pool"].AsString(), "gpu");
  EXPECT_EQ(pod.At("spec.volumes").size(), 1);
  EXPECT_EQ(pod.At("spec.initContainers").items()[0]["restartPolicy"].AsString(), "Always");
  const Json& main = pod.At("spec.containers").items()[0];
  EXPECT_EQ(main.At("resources.limits")["nvidia.com/gpu"].AsString(), "8");
}

TEST(PodTemplate, IsMadeOfPodsOnly) {
  for (const char* text : {"", "[]", "{}", R"({"spec": {"containers": 3}})"}) {
    EXPECT_FALSE(EncodePodTemplate("ns", "t", kOwner, text).ok()) << text;
  }
}

ProvisioningAnswer AnswerOf(absl::string_view conditions) {
  return ReadProvisioningAnswer(absl::StrCat(R"({"status": {"conditions": )", conditions, "}}"));
}

TEST(ProvisioningAnswer, IsWhatTheConditionsSay) {
  EXPECT_EQ(AnswerOf("[]").state, ProvisioningState::kOpen);
  EXPECT_EQ(AnswerOf(R"([{"type": "Accepted", "status": "True"}])").state,
            ProvisioningState::kAccepted);
  // It is tried again.
  EXPECT_EQ(AnswerOf(R"([{"type": "Provisioned", "status": "False"},
                         {"type": "Accepted", "status": "True"}])")
                .state,
            ProvisioningState::kAccepted);
  EXPECT_EQ(AnswerOf(R"([{"type": "Provisioned", "status": "True"},
                         {"type": "Accepted", "status": "True"}])")
                .state,
            ProvisioningState::kProvisioned);
  for (const char* type : {"Failed", "BookingExpired", "CapacityRevoked"}) {
    const ProvisioningAnswer answer =
        AnswerOf(absl::StrCat(R"([{"type": "Provisioned", "status": "True"}, {"type": ")", type,
                              R"(", "status": "True", "reason": "R", "message": "m"}])"));
    EXPECT_EQ(answer.state, ProvisioningState::kFailed) << type;
    EXPECT_EQ(answer.why, "R: m");
  }
  EXPECT_EQ(AnswerOf(R"([{"type": "Failed", "status": "False"}])").state, ProvisioningState::kOpen);
}

TEST(ProvisioningAnswer, ThatCannotBeReadIsOpen) {
  for (const char* text : {"", "[", "{}", R"({"status": {"conditions": 3}})",
                           R"({"status": {"conditions": [3, {"type": {}}]}})"}) {
    EXPECT_EQ(ReadProvisioningAnswer(text).state, ProvisioningState::kOpen) << text;
  }
}

}  // namespace
}  // namespace maniple
