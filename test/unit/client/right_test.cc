#include "api/client/right.h"

#include <gtest/gtest.h>

#include <string>

#include "api/client/requests.h"

namespace maniple {
namespace {

std::string TextFor(HttpMethod method, absl::string_view target) {
  return RightText(RightFor({.method = method, .target = std::string(target)}));
}

TEST(Rights, ARequestIsNamedAsARoleWouldNameIt) {
  EXPECT_EQ(TextFor(HttpMethod::kPost, "/api/v1/namespaces/default/pods/a-0/binding"),
            "create pods/binding");
  EXPECT_EQ(TextFor(HttpMethod::kDelete, "/api/v1/namespaces/default/pods/a-0"), "delete pods");
  EXPECT_EQ(TextFor(HttpMethod::kGet, "/api/v1/namespaces/default/pods/a-0"), "get pods");
  EXPECT_EQ(TextFor(HttpMethod::kPatch,
                    "/apis/scheduling.maniple.dev/v1alpha1/namespaces/d/podgroups/a/status"),
            "patch podgroups/status in scheduling.maniple.dev");
  EXPECT_EQ(TextFor(HttpMethod::kPatch, "/apis/scheduling.maniple.dev/v1alpha1/queues/q/status"),
            "patch queues/status in scheduling.maniple.dev");
  EXPECT_EQ(TextFor(HttpMethod::kPut, "/apis/coordination.k8s.io/v1/namespaces/n/leases/l"),
            "update leases in coordination.k8s.io");
}

TEST(Rights, ListsAndWatchesAreToldApart) {
  EXPECT_EQ(TextFor(HttpMethod::kGet, "/api/v1/pods?limit=500&continue=x"), "list pods");
  EXPECT_EQ(TextFor(HttpMethod::kGet, "/api/v1/pods?watch=true&resourceVersion=7"), "watch pods");
}

TEST(Rights, NamespacesAreAResourceTheirObjectsAreNot) {
  EXPECT_EQ(TextFor(HttpMethod::kGet, "/api/v1/namespaces?limit=5"), "list namespaces");
  EXPECT_EQ(TextFor(HttpMethod::kGet, "/api/v1/namespaces/a"), "get namespaces");
  EXPECT_EQ(TextFor(HttpMethod::kPost, "/apis/events.k8s.io/v1/namespaces/a/events"),
            "create events in events.k8s.io");
}

TEST(Rights, ObjectsOfProducersAreNamedByGroupAndSubresource) {
  EXPECT_EQ(RightText(RightFor(MakePodGroupRequest({.namespace_name = "n", .name = "g"}))),
            "create podgroups in scheduling.maniple.dev");
  EXPECT_EQ(RightText(RightFor(DeletePodGroupRequest("n", "g", "u"))),
            "delete podgroups in scheduling.maniple.dev");
  EXPECT_EQ(RightText(RightFor(PodGroupSpecRequest("n", "g", "u", {}))),
            "patch podgroups in scheduling.maniple.dev");
  const std::string path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/n/podgroups/g";
  EXPECT_EQ(RightText(RightFor(ForeignPhaseRequest(path, {}))),
            "patch podgroups in scheduling.volcano.sh");
  EXPECT_EQ(RightText(RightFor(ForeignPhaseRequest(path + "/status", {}))),
            "patch podgroups/status in scheduling.volcano.sh");
  EXPECT_EQ(TextFor(HttpMethod::kGet, "/apis/batch/v1/jobs?limit=500"), "list jobs in batch");
}

TEST(Rights, WhatTheServerAddsIsCut) {
  const std::string text = ForbiddenText({"create", "", "pods/binding"}, std::string(5000, 'x'));
  EXPECT_LT(text.size(), 700u);
}

}  // namespace
}  // namespace maniple
