#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/bind/reply.h"

namespace maniple {
namespace {

WriteResult Failure(int code, const std::string& message, const std::string& reason = "") {
  return {.http_status = code, .status = {.code = code, .reason = reason, .message = message}};
}
WriteResult Success(const std::string& body) { return {.http_status = 200, .body = body}; }
BindReplyKind Kind(const WriteResult& result) { return ReadBindReply(result, "n1").kind; }

TEST(BindReply, EveryStatusHasOneMeaning) {
  using enum BindReplyKind;
  EXPECT_EQ(Kind({.http_status = 201}), kBound);
  EXPECT_EQ(Kind({.http_status = 200}), kBound);
  EXPECT_EQ(Kind({.outcome = WriteOutcome::kUnknown}), kUnclear);
  EXPECT_EQ(Kind({.outcome = WriteOutcome::kFenced}), kRetry);
  EXPECT_EQ(Kind(Failure(504, "the request could not be completed in time")), kUnclear);
  EXPECT_EQ(Kind(Failure(500, "etcdserver: request timed out")), kUnclear);
  for (const int code : {302, 307, 401, 408, 429, 500, 502, 503}) {
    EXPECT_EQ(Kind(Failure(code, "later")), kRetry) << code;
  }
  EXPECT_TRUE(ReadBindReply(Failure(500, "etcd is unwell"), "n1").in_doubt);
  EXPECT_FALSE(ReadBindReply(Failure(429, "slow down"), "n1").in_doubt);
  for (const int code : {400, 403, 405, 413, 415, 422}) {
    EXPECT_EQ(Kind(Failure(code, "no")), kRefused) << code;
  }
  EXPECT_EQ(Kind(Failure(404, "pods \"a-1\" not found", "NotFound")), kGone);
}

TEST(BindReply, AConflictIsReadByItsCause) {
  using enum BindReplyKind;
  const std::string kPrefix = "Operation cannot be fulfilled on pods/binding \"a-2\": ";
  EXPECT_EQ(Kind(Failure(409, kPrefix + "pod a-2 is already assigned to node \"n1\"")), kBound);
  const BindReply stolen =
      ReadBindReply(Failure(409, kPrefix + "pod a-2 is already assigned to node \"n7\""), "n1");
  EXPECT_EQ(stolen.kind, kBoundElsewhere);
  EXPECT_EQ(stolen.node_name, "n7");
  EXPECT_EQ(Kind(Failure(409, kPrefix + "pod a-2 is being deleted, cannot be assigned to a host")),
            kGone);
  EXPECT_EQ(Kind(Failure(409, kPrefix + "Precondition failed: UID in precondition: x, UID in "
                                        "object meta: y")),
            kGone);
  EXPECT_EQ(Kind(Failure(409, kPrefix + "pod a-2 has non-empty .spec.schedulingGates")), kGated);
  EXPECT_EQ(Kind(Failure(409, kPrefix + "the object has been modified; please apply your changes "
                                        "to the latest version and try again")),
            kRetry);
  EXPECT_EQ(Kind(Failure(409, "something new")), kUnclear);
  EXPECT_EQ(Kind(Failure(409, "already assigned to node \"n")), kUnclear);
}

TEST(BindReply, RetryAfterIsHandedOn) {
  WriteResult result = Failure(429, "slow down");
  result.status.retry_after = absl::Seconds(7);
  EXPECT_EQ(ReadBindReply(result, "n1").retry_after, absl::Seconds(7));
}

TEST(PodReading, TellsWhereThePodStands) {
  const auto read = [](const std::string& body) { return ReadPodReply(Success(body), "u1"); };
  EXPECT_EQ(read(R"({"metadata":{"uid":"u1"},"spec":{}})").kind, PodReadingKind::kUnbound);
  EXPECT_EQ(read(R"({"metadata":{"uid":"u2"},"spec":{}})").kind, PodReadingKind::kGone);
  const PodReading bound = read(R"({"metadata":{"uid":"u1"},"spec":{"nodeName":"n3"}})");
  EXPECT_EQ(bound.kind, PodReadingKind::kBound);
  EXPECT_EQ(bound.node_name, "n3");
  EXPECT_EQ(read(R"({"metadata":{"uid":"u1","deletionTimestamp":"2026-01-01T00:00:00Z"},
                     "spec":{"nodeName":"n3"}})")
                .kind,
            PodReadingKind::kGone);
  EXPECT_EQ(read(R"({"metadata":{"uid":"u1"},"spec":{"schedulingGates":[{"name":"g"}]}})").kind,
            PodReadingKind::kGated);
}

TEST(PodReading, AReplyThatMakesNoSenseIsReadAgainAndNeverCrashes) {
  for (const char* body :
       {"", "<html>", "[]", "null", "{}", R"({"metadata":7})", "{\"metadata\":"}) {
    EXPECT_EQ(ReadPodReply(Success(body), "u1").kind, PodReadingKind::kUnclear) << body;
  }
  EXPECT_EQ(ReadPodReply(Success(std::string(100'000, '[')), "u1").kind, PodReadingKind::kUnclear);
  EXPECT_EQ(ReadPodReply(Failure(503, ""), "u1").kind, PodReadingKind::kUnclear);
  EXPECT_EQ(ReadPodReply(Failure(404, ""), "u1").kind, PodReadingKind::kGone);
  EXPECT_EQ(ReadPodReply({.outcome = WriteOutcome::kUnknown}, "u1").kind, PodReadingKind::kUnclear);
}

TEST(DeleteReply, OnlyGoneIsDone) {
  const auto kind = [](const WriteResult& result) { return ReadDeleteReply(result).kind; };
  EXPECT_EQ(kind({.http_status = 200}), DeleteReplyKind::kDone);
  EXPECT_EQ(kind({.http_status = 202}), DeleteReplyKind::kDone);
  EXPECT_EQ(kind(Failure(404, "")), DeleteReplyKind::kDone);
  EXPECT_EQ(
      kind(Failure(409, "Precondition failed: UID in precondition: x, UID in object meta: y")),
      DeleteReplyKind::kDone);
  EXPECT_EQ(kind(Failure(409, "something else")), DeleteReplyKind::kRetry);
  EXPECT_EQ(kind({.outcome = WriteOutcome::kUnknown}), DeleteReplyKind::kRetry);
  for (const int code : {403, 429, 500, 503}) {
    EXPECT_EQ(kind(Failure(code, "")), DeleteReplyKind::kRetry) << code;
  }
  EXPECT_EQ(kind({.outcome = WriteOutcome::kFenced}), DeleteReplyKind::kRetry);
}

TEST(BudgetRefusal, IsToldFromLoadByItsCause) {
  WriteResult refused =
      Failure(429, "Cannot evict pod as it would violate the pod's disruption budget.");
  EXPECT_FALSE(IsBudgetRefusal(refused)) << "so may any server say that is too busy";
  refused.status.cause = "DisruptionBudget";
  EXPECT_TRUE(IsBudgetRefusal(refused));
  EXPECT_TRUE(IsBudgetRefusal(
      Failure(500,
              "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
              "not support.")));
  EXPECT_FALSE(IsBudgetRefusal(Failure(500, "etcd is unwell")));
  EXPECT_FALSE(IsBudgetRefusal(Success("{}")));
  refused.outcome = WriteOutcome::kUnknown;
  EXPECT_FALSE(IsBudgetRefusal(refused));
}

TEST(KubeletRejection, IsTheNodesFaultAndNothingElseIs) {
  for (const char* reason : {"OutOfnvidia.com/gpu", "OutOfcpu", "OutOfpods",
                             "UnexpectedAdmissionError", "NodeAffinity", "TopologyAffinityError"}) {
    EXPECT_TRUE(IsKubeletRejection(reason)) << reason;
  }
  for (const char* reason : {"", "Error", "Evicted", "DeadlineExceeded", "OOMKilled"}) {
    EXPECT_FALSE(IsKubeletRejection(reason)) << reason;
  }
}

}  // namespace
}  // namespace maniple
