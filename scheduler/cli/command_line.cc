#include "scheduler/cli/command_line.h"

#include <iostream>

#include "absl/status/statusor.h"
#include "api/base/log.h"
#include "api/client/kubeconfig.h"

namespace maniple {

std::string NamespaceFor(const AdminClientOptions& client, const std::string& given) {
  if (!given.empty()) return given;
  const absl::StatusOr<ClientConfig> config =
      LoadClientConfig({.kubeconfig = client.kubeconfig,
                        .context = client.context,
                        .environment = ProcessEnvironment()});
  return config.ok() ? config->namespace_name : ClientConfig().namespace_name;
}

int Complain(absl::string_view what) {
  std::cerr << "maniple: " << OneLine(what) << "\n";
  return 1;
}

}  // namespace maniple
