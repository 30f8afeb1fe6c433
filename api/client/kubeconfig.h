// The address of the API server and our identity: from --server, a kubeconfig,
// or the pod we run in.
//
// In this order: --kubeconfig FILE (with --server in place of its address); --server URL alone,
// with no credential; the files of $KUBECONFIG, the first value of each name winning;
// ~/.kube/config; the service account of the pod. Credentials of a user are not used over plain
// http. Errors name the file, the line, the path and the reason, never a secret.
//
//   ClientConfigSource source{.kubeconfig = flag, .environment = ProcessEnvironment()};
//   ASSIGN_OR_RETURN(ClientConfig config, LoadClientConfig(source));
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "api/http/client_config.h"

namespace maniple {

// The process environment, as far as it is read.
struct ClientEnvironment {
  std::string kubeconfig;                  // KUBECONFIG: a list with ':'
  std::string home;                        // HOME
  std::string service_host, service_port;  // KUBERNETES_SERVICE_HOST, _PORT
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};
[[nodiscard]] ClientEnvironment ProcessEnvironment();

struct ClientConfigSource {
  std::string server = "";      // --server
  std::string kubeconfig = "";  // --kubeconfig
  std::string context = "";     // "" = current-context
  ClientEnvironment environment = {};
};

[[nodiscard]] absl::StatusOr<ClientConfig> LoadClientConfig(const ClientConfigSource& source);

}  // namespace maniple
