// What a snapshot does not keep. Fear: it gives away the secrets of jobs.
#include "scheduler/cli/left_out.h"

#include <gtest/gtest.h>

namespace maniple::cli_left_out_test {
namespace {

TEST(LeftOut, WhatRunsGoesFromPodsAndFromTemplatesAlike) {
  Json job = *Json::Parse(R"({"kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {"Worker": {
      "replicas": 3, "template": {"spec": {"containers": [{"name": "c", "env": [{"value": "swordfish"}],
      "command": ["swordfish"], "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}}})");
  Json pod =
      *Json::Parse(R"({"kind": "Pod", "spec": {"containers": [{"args": ["swordfish"]}, "odd"],
      "initContainers": "odd", "ephemeralContainers": [{"env": [{"value": "swordfish"}]}]}})");
  for (Json* object : {&job, &pod}) {
    LeaveOutWhatRuns(*object);
    EXPECT_EQ(object->Dump().find("swordfish"), std::string::npos) << object->Dump();
  }
  EXPECT_EQ(job.At("spec.pytorchReplicaSpecs.Worker.replicas").AsInt(), 3);
  EXPECT_NE(job.Dump().find("nvidia.com/gpu"), std::string::npos);
}

}  // namespace
}  // namespace maniple::cli_left_out_test
