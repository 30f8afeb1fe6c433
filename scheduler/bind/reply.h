// The meaning of an API server's reply for a member that is being bound, read or deleted: one table
// each.
//
// Pure functions of a WriteResult. Any reply may carry anything, HTML included; one that is not
// understood comes out as "read the pod" or "try again", never as success.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/client/write_command.h"

namespace maniple {

enum class BindReplyKind : uint8_t {
  kBound,           // 2xx; 409 "already assigned" to our node
  kBoundElsewhere,  // 409 "already assigned" to another node
  kUnclear,         // no reply; 504 or a 500 "timed out"; a 409 of unknown cause: read the pod
  kRetry,    // 3xx, 401, 408, 429, other 5xx; 409 "object has been modified"; not sent at all
  kRefused,  // 403, 422 and every other 4xx: it will never be bound
  kGone,     // 404; 409 "being deleted" or another uid under the name
  kGated,    // 409: scheduling gates appeared
};
struct BindReply {
  BindReplyKind kind = BindReplyKind::kUnclear;
  std::string node_name;                      // of kBoundElsewhere
  std::optional<absl::Duration> retry_after;  // of kRetry, when the server named it
  bool in_doubt = false;                      // of kRetry: a 5xx, so the bind may have been done
  std::string detail;                         // the server's words, for the report
};
[[nodiscard]] BindReply ReadBindReply(const WriteResult& result, absl::string_view our_node);

enum class PodReadingKind : uint8_t {
  kUnbound,
  kBound,  // on node_name
  kGone,   // absent, another uid, or being deleted
  kGated,
  kUnclear,  // the read failed: read again
};
struct PodReading {
  PodReadingKind kind = PodReadingKind::kUnclear;
  std::string node_name;  // where it stands, also when it is being deleted
  std::optional<absl::Duration> retry_after;
  std::string detail;  // of kUnclear: the server's words, for the report
};
[[nodiscard]] PodReading ReadPodReply(const WriteResult& result, absl::string_view uid);

enum class DeleteReplyKind : uint8_t {
  kDone,   // 2xx; 404; 409: another uid under the name, so ours is gone
  kRetry,  // everything else: it has to succeed some time
};
struct DeleteReply {
  DeleteReplyKind kind = DeleteReplyKind::kRetry;
  std::optional<absl::Duration> retry_after;
  std::string detail;  // of kRetry: the server's words, for the report
};
[[nodiscard]] DeleteReply ReadDeleteReply(const WriteResult& result);

// The eviction is refused by PodDisruptionBudgets, not for load or rights.
[[nodiscard]] bool IsBudgetRefusal(const WriteResult& result);

// A kubelet's refusal to run a pod that was bound to it: the node, not the pod, is to blame.
[[nodiscard]] bool IsKubeletRejection(absl::string_view pod_status_reason);

}  // namespace maniple
