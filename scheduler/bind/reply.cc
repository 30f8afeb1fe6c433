#include "scheduler/bind/reply.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/codec/json.h"

namespace maniple {
namespace {

bool IsSuccess(int code) { return code >= 200 && code < 300; }

// The request may have taken effect, or still may: the server itself stopped waiting for it.
bool IsTimeout(const WriteResult& result) {
  return result.http_status == 504 ||
         (result.http_status == 500 && absl::StrContains(result.status.message, "timed out"));
}

// A redirection is by something in between, and followed by nobody.
bool IsTransient(int code) {
  return code / 100 == 3 || code == 401 || code == 408 || code == 429 ||
         (code >= 500 && code <= 599);
}

// The node in `pod a-2 is already assigned to node "n1"`; "" when the message is another.
absl::string_view NodeInMessage(absl::string_view message) {
  constexpr absl::string_view kBefore = "already assigned to node \"";
  const size_t at = message.find(kBefore);
  if (at == absl::string_view::npos) return "";
  const absl::string_view rest = message.substr(at + kBefore.size());
  const size_t end = rest.find('"');
  return end == absl::string_view::npos ? "" : rest.substr(0, end);
}

std::string Detail(const WriteResult& result) {
  switch (result.outcome) {
    case WriteOutcome::kAnswered:
      break;
    case WriteOutcome::kUnknown:
      return "no reply";
    case WriteOutcome::kFenced:
    case WriteOutcome::kSuperseded:
    case WriteOutcome::kDropped:
      return "not sent";
  }
  return absl::StrCat("HTTP ", result.http_status, result.status.reason.empty() ? "" : " ",
                      result.status.reason, result.status.message.empty() ? "" : ": ",
                      result.status.message);
}

BindReplyKind ReadConflict(absl::string_view message) {
  if (absl::StrContains(message, "being deleted") ||
      absl::StrContains(message, "UID in precondition")) {
    return BindReplyKind::kGone;
  }
  if (absl::StrContains(message, "schedulingGates")) return BindReplyKind::kGated;
  if (absl::StrContains(message, "object has been modified")) return BindReplyKind::kRetry;
  return BindReplyKind::kUnclear;
}

}  // namespace

BindReply ReadBindReply(const WriteResult& result, absl::string_view our_node) {
  BindReply reply{.retry_after = result.status.retry_after, .detail = Detail(result)};
  if (result.outcome == WriteOutcome::kUnknown) {
    reply.kind = BindReplyKind::kUnclear;
  } else if (result.outcome != WriteOutcome::kAnswered) {
    reply.kind = BindReplyKind::kRetry;
  } else if (IsSuccess(result.http_status)) {
    reply.kind = BindReplyKind::kBound;
  } else if (IsTimeout(result)) {
    reply.kind = BindReplyKind::kUnclear;
  } else if (IsTransient(result.http_status)) {
    reply.kind = BindReplyKind::kRetry;
    reply.in_doubt = result.http_status >= 500;
  } else if (result.http_status == 404) {
    reply.kind = BindReplyKind::kGone;
  } else if (result.http_status == 409) {
    if (const absl::string_view node = NodeInMessage(result.status.message); !node.empty()) {
      reply.kind = node == our_node ? BindReplyKind::kBound : BindReplyKind::kBoundElsewhere;
      reply.node_name = std::string(node);
    } else {
      reply.kind = ReadConflict(result.status.message);
    }
  } else {
    reply.kind = BindReplyKind::kRefused;
  }
  return reply;
}

PodReading ReadPodReply(const WriteResult& result, absl::string_view uid) {
  PodReading reading{.retry_after = result.status.retry_after, .detail = Detail(result)};
  if (result.outcome != WriteOutcome::kAnswered) return reading;
  if (result.http_status == 404) {
    reading.kind = PodReadingKind::kGone;
    return reading;
  }
  if (!IsSuccess(result.http_status)) return reading;
  const absl::StatusOr<Json> pod = Json::Parse(result.body);
  if (!pod.ok() || !pod->is_object() || !(*pod)["metadata"].is_object()) return reading;
  if (pod->At("metadata.uid").AsString() != uid) {
    reading.kind = PodReadingKind::kGone;
    return reading;
  }
  reading.node_name = pod->At("spec.nodeName").AsString();
  if (!pod->At("metadata.deletionTimestamp").is_null()) {
    reading.kind = PodReadingKind::kGone;
  } else if (!reading.node_name.empty()) {
    reading.kind = PodReadingKind::kBound;
  } else if (pod->At("spec.schedulingGates").size() > 0) {
    reading.kind = PodReadingKind::kGated;
  } else {
    reading.kind = PodReadingKind::kUnbound;
  }
  return reading;
}

DeleteReply ReadDeleteReply(const WriteResult& result) {
  DeleteReply reply{.retry_after = result.status.retry_after, .detail = Detail(result)};
  const bool another_uid =
      result.http_status == 409 && absl::StrContains(result.status.message, "UID in precondition");
  if (result.outcome == WriteOutcome::kAnswered &&
      (IsSuccess(result.http_status) || result.http_status == 404 || another_uid)) {
    reply.kind = DeleteReplyKind::kDone;
  }
  return reply;
}

bool IsBudgetRefusal(const WriteResult& result) {
  if (result.outcome != WriteOutcome::kAnswered) return false;
  if (result.http_status == 429) return result.status.cause == "DisruptionBudget";
  return result.http_status == 500 &&
         absl::StrContains(result.status.message, "more than one PodDisruptionBudget");
}

bool IsKubeletRejection(absl::string_view reason) {
  return absl::StartsWith(reason, "OutOf") || reason == "UnexpectedAdmissionError" ||
         reason == "NodeAffinity" || reason == "TopologyAffinityError";
}

}  // namespace maniple
