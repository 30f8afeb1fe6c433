// Where our answers differ from kube-scheduler's on purpose: one table, each row with its case,
// both answers, and the reason. The random cases of filter_oracle_test leave these out.
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/oracle/families.h"
#include "test/oracle/kube_oracle.h"
#include "test/oracle/our_answer.h"

namespace maniple {
namespace {

struct IntendedDifference {
  const char* family;
  const char* reason;
  const char* ours;    // nodes that fit, and scores where they are asked for
  const char* theirs;  // "error": it gives up on the pod
  const char* filter_case;
};

constexpr IntendedDifference kIntended[] = {
    {"nodeaffinity",
     "a preference that cannot be read must not keep a pod from running: ours leaves it out, "
     "kube-scheduler fails the pod for ever",
     "1 0", "error",
     R"({"pod": {"metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
                 "spec": {"schedulerName": "maniple", "affinity": {"nodeAffinity": {
                   "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference":
                     {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}}]}}}},
         "nodes": [{"metadata": {"name": "n0"}}], "scores": true})"},
    {"interpodaffinity",
     "a term of the pod asks the labels of other pods' namespaces: kube-scheduler 1.36 asks no "
     "labels at all, too, so that NotIn and DoesNotExist select every namespace",
     "11", "10",
     R"({"pod": {"metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
                 "spec": {"schedulerName": "maniple", "affinity": {"podAntiAffinity": {
                   "requiredDuringSchedulingIgnoredDuringExecution": [
                     {"topologyKey": "rack", "labelSelector": {}, "namespaceSelector":
                       {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]}}]}}}},
         "nodes": [{"metadata": {"name": "n0"}},
                   {"metadata": {"name": "n1", "labels": {"rack": "r"}}}],
         "pods": [{"metadata": {"name": "o", "namespace": "a", "uid": "uid-o"},
                   "spec": {"schedulerName": "other", "nodeName": "n1"}}],
         "namespaces": [{"metadata": {"name": "a", "labels": {"app": "x"}}}]})"},
    {"interpodaffinity", "the same of a preferred term", "11 0,0", "11 100,0",
     R"({"pod": {"metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
                 "spec": {"schedulerName": "maniple", "affinity": {"podAntiAffinity": {
                   "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5,
                     "podAffinityTerm": {"topologyKey": "rack", "labelSelector": {},
                       "namespaceSelector": {"matchExpressions":
                         [{"key": "app", "operator": "NotIn", "values": ["x"]}]}}}]}}}},
         "nodes": [{"metadata": {"name": "n0"}},
                   {"metadata": {"name": "n1", "labels": {"rack": "r"}}}],
         "pods": [{"metadata": {"name": "o", "namespace": "a", "uid": "uid-o"},
                   "spec": {"schedulerName": "other", "nodeName": "n1"}}],
         "namespaces": [{"metadata": {"name": "a", "labels": {"app": "x"}}}],
         "scores": true})"},
    {"volumebinding",
     "a claim that a pod mounts twice is one claim: ours needs one volume for it, kube-scheduler "
     "one for each mount",
     "1", "0",
     R"({"pod": {"metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
                 "spec": {"schedulerName": "maniple", "volumes": [
                   {"name": "a", "persistentVolumeClaim": {"claimName": "c"}},
                   {"name": "b", "persistentVolumeClaim": {"claimName": "c"}}]}},
         "nodes": [{"metadata": {"name": "n0"}}],
         "claims": [{"metadata": {"name": "c", "namespace": "default", "uid": "uid-c"},
                     "spec": {"storageClassName": "s"}}],
         "volumes": [{"metadata": {"name": "v"}, "spec": {"storageClassName": "s"},
                      "status": {"phase": "Available"}}],
         "storageClasses": [{"metadata": {"name": "s"}, "provisioner": "kubernetes.io/no-provisioner",
                             "volumeBindingMode": "WaitForFirstConsumer"}]})"},
    {"nodevolumelimits",
     "a claim that does not belong to the pod that names it is trouble of that pod alone: "
     "kube-scheduler gives up on every pod with volumes of a driver that has a limit on its node",
     "1", "0",
     R"({"pod": {"metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
                 "spec": {"schedulerName": "maniple", "volumes": [
                   {"name": "a", "persistentVolumeClaim": {"claimName": "c"}}]}},
         "nodes": [{"metadata": {"name": "n0"}}],
         "pods": [{"metadata": {"name": "o", "namespace": "default", "uid": "uid-o"},
                   "spec": {"schedulerName": "other", "nodeName": "n0", "volumes": [
                     {"name": "e", "ephemeral": {}}]}}],
         "claims": [{"metadata": {"name": "c", "namespace": "default", "uid": "uid-c", "annotations":
                       {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "v"}},
                    {"metadata": {"name": "o-e", "namespace": "default", "uid": "uid-o-e"}}],
         "volumes": [{"metadata": {"name": "v"},
                      "spec": {"csi": {"driver": "d", "volumeHandle": "h"}}}],
         "csiNodes": [{"metadata": {"name": "n0"},
                       "spec": {"drivers": [{"name": "d", "allocatable": {"count": 3}}]}}]})"},
    {"nodevolumelimits",
     "a claim whose volume does not exist attaches nothing: kube-scheduler counts it by its "
     "storage "
     "class",
     "1", "0",
     R"({"pod": {"metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
                 "spec": {"schedulerName": "maniple", "volumes": [
                   {"name": "a", "persistentVolumeClaim": {"claimName": "c"}}]}},
         "nodes": [{"metadata": {"name": "n0"}}],
         "pods": [{"metadata": {"name": "o", "namespace": "default", "uid": "uid-o"},
                   "spec": {"schedulerName": "other", "nodeName": "n0", "volumes": [
                     {"name": "b", "persistentVolumeClaim": {"claimName": "gone"}}]}}],
         "claims": [{"metadata": {"name": "c", "namespace": "default", "uid": "uid-c", "annotations":
                       {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "v"}},
                    {"metadata": {"name": "gone", "namespace": "default", "uid": "uid-g",
                       "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
                     "spec": {"volumeName": "no", "storageClassName": "s"}}],
         "volumes": [{"metadata": {"name": "v"},
                      "spec": {"csi": {"driver": "d", "volumeHandle": "h"}}}],
         "storageClasses": [{"metadata": {"name": "s"}, "provisioner": "d"}],
         "csiNodes": [{"metadata": {"name": "n0"},
                       "spec": {"drivers": [{"name": "d", "allocatable": {"count": 1}}]}}]})"},
};

Json CaseIn(const IntendedDifference& row) {
  absl::StatusOr<Json> filter_case = Json::Parse(row.filter_case);
  EXPECT_TRUE(filter_case.ok()) << filter_case.status();
  Json out = *std::move(filter_case);
  out.Set("family", row.family);
  return out;
}

std::string Shown(const FilterAnswer& answer) {
  if (!answer.error.empty()) return "error";
  if (answer.scores.empty()) return answer.feasible;
  return absl::StrCat(answer.feasible, " ", absl::StrJoin(answer.scores, ","));
}

TEST(IntendedDifferences, OursIsAsTheTableSays) {
  for (const IntendedDifference& row : kIntended) {
    SCOPED_TRACE(row.reason);
    const FilterAnswer ours = OurAnswer(FamilyNamed(row.family), CaseIn(row));
    EXPECT_EQ(Shown(ours), row.ours) << ours.error;
  }
}

TEST(IntendedDifferences, KubeSchedulerStillDiffersAsTheTableSays) {
  const char* program = std::getenv("MANIPLE_FILTER_ORACLE");
  if (program == nullptr) GTEST_SKIP() << "MANIPLE_FILTER_ORACLE names no program to ask";
  for (const IntendedDifference& row : kIntended) {
    SCOPED_TRACE(row.reason);
    const auto theirs = AskKubeScheduler(program, {CaseIn(row)});
    ASSERT_TRUE(theirs.ok()) << theirs.status();
    EXPECT_EQ(Shown(theirs->front()), row.theirs) << theirs->front().error;
  }
}

}  // namespace
}  // namespace maniple
