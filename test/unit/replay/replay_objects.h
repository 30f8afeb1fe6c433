// Objects of small clusters, as an API server shows them, for the tests of replay and what-if.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "plugins/builtin.h"
#include "scheduler/replay/what_if.h"

namespace maniple::replay_test {

inline const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

inline Json Parsed(const std::string& text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status() << text;
  return json.ok() ? *std::move(json) : Json();
}

inline Json NodeWith(const std::string& name, int gpus) {
  return Parsed(absl::StrCat(
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name, R"(","uid":"u-)", name,
      R"(","resourceVersion":"5","labels":{"kubernetes.io/hostname":")", name,
      R"("}},"spec":{},"status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"110",
      "nvidia.com/gpu":")",
      gpus, R"("},"conditions":[{"type":"Ready","status":"True"}]}})"));
}

inline Json GroupOf(const std::string& name, int min_member, const std::string& more = "") {
  return Parsed(absl::StrCat(
      R"({"apiVersion":"scheduling.maniple.dev/v1alpha1","kind":"PodGroup","metadata":{"name":")",
      name, R"(","namespace":"default"},"spec":{"minMember":)", min_member, more, "}}"));
}

// Its only container asks for so much of the resource.
inline Json PodAsking(const std::string& group, int index, const std::string& resource, int amount,
                      int priority = 0) {
  return Parsed(
      absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", group, "-", index,
                   R"(","namespace":"default","labels":{"scheduling.maniple.dev/pod-group":")",
                   group, R"("}},"spec":{"schedulerName":"maniple","priority":)", priority,
                   R"(,"containers":[{"name":"c","image":"i","resources":{"limits":{")", resource,
                   R"(":")", amount, R"("}}}]}})"));
}
inline Json PodOf(const std::string& group, int index, int gpus, int priority = 0) {
  return PodAsking(group, index, "nvidia.com/gpu", gpus, priority);
}

// As the API server shows it: bound, and running since then.
inline Json Running(Json pod, const std::string& node, const std::string& since) {
  pod.Mutable("metadata").Set("uid", absl::StrCat("u-", pod["metadata"]["name"].AsString()));
  pod.Mutable("metadata").Set("resourceVersion", "7");
  pod.Mutable("spec").Set("nodeName", node);
  pod.Set("status", Json::Object({{"phase", "Running"}, {"startTime", since}}));
  return pod;
}

inline LoopOptions Options() {
  LoopOptions options;
  options.profile = BuiltinProfile();
  return options;
}

inline GangStart OnlyStart(const WhatIfQuestion& question, LoopOptions options = Options()) {
  const absl::StatusOr<WhatIfAnswer> answer = AnswerWhatIf(question, std::move(options));
  EXPECT_TRUE(answer.ok()) << answer.status();
  if (!answer.ok() || answer->gangs.size() != 1) {
    ADD_FAILURE() << "not one gang";
    return {};
  }
  return answer->gangs[0];
}

}  // namespace maniple::replay_test
