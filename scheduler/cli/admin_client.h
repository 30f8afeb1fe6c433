// How the command line reaches a scheduler: gRPC at --admin or the local socket, else the read-only
// JSON through the API server's service proxy with the user's own kubeconfig, so that it works from
// a laptop.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/base/secret.h"
#include "api/codec/json.h"
#include "api/http/client_config.h"
#include "api/http/curl_transport.h"
#include "scheduler/cli/exchange.h"

namespace maniple {

struct AdminClientOptions {
  // HOST:PORT or unix:PATH; empty: the default socket, if it exists and nothing below the TLS files
  // names a cluster.
  std::string admin;
  // For HOST:PORT, which speaks mutual TLS: PEM files.
  std::string certificate_authority, client_certificate, client_key;
  std::string kubeconfig;  // as for kubectl; empty: KUBECONFIG, ~/.kube/config
  std::string context;
  std::string service_namespace = "kube-system";
  // Of a scheduler without TLS: without "https:"; then it is told no token.
  std::string service = "https:maniple-scheduler:http";
};

// How to reach the API server that they name, as kubectl would.
[[nodiscard]] absl::StatusOr<ClientConfig> ClientConfigOf(const AdminClientOptions& options);

// Asks a scheduler, question after question. Through an API server all go over one transport, so
// that a credential plugin runs again only when its credential expires or is refused.
class SchedulerClient final {
 public:
  explicit SchedulerClient(AdminClientOptions options);

  // Answers "/explain?namespace=…&name=…", "/gangs?namespace=…", "/nodes", "/queues", "/cohorts",
  // "/usage?namespace=…&since=…", "/log?namespace=…&name=…", "/diag" and "/version" with the JSON
  // of admin.proto, its numbers as numbers. NotFound, and the proxy's PermissionDenied, pass
  // through; InvalidArgument names the flag; Unavailable says everything that was tried.
  [[nodiscard]] absl::StatusOr<Json> Ask(absl::string_view target);

 private:
  [[nodiscard]] absl::StatusOr<Json> AskWhereItMayBe(absl::string_view target);
  [[nodiscard]] absl::StatusOr<Json> AskByProxy(absl::string_view target);
  [[nodiscard]] absl::StatusOr<Json> AskReplica(absl::string_view target);
  [[nodiscard]] absl::StatusOr<ApiAnswer> ThroughProxy(absl::string_view target);
  [[nodiscard]] absl::StatusOr<Secret> ViewerToken();

  const AdminClientOptions options_;
  std::unique_ptr<CurlTransport> api_server_;  // null until it is needed
};

// One question.
[[nodiscard]] absl::StatusOr<Json> AskScheduler(const AdminClientOptions& options,
                                                absl::string_view target);

}  // namespace maniple
