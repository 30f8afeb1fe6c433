// A kubeconfig that leads to this server.
#pragma once

#include <string>

#include "api/base/secret.h"

namespace maniple::devcluster {

struct KubeconfigFacts {
  std::string server;                 // "https://127.0.0.1:6443"
  std::string authority_certificate;  // PEM; empty without TLS
  Secret token;                       // empty: none
};

[[nodiscard]] std::string KubeconfigText(const KubeconfigFacts& facts);

}  // namespace maniple::devcluster
