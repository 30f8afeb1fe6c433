// How to reach an API server and what to show it: the outcome of reading a kubeconfig
// (api/client/kubeconfig.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/base/secret.h"

namespace maniple {

// A credential plugin (client.authentication.k8s.io): a program that prints a token or a
// certificate.
struct ExecPluginConfig {
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string api_version;
  std::string cluster_info;  // JSON for spec.cluster; "" = not provided
  absl::Duration timeout = absl::Seconds(30);
};

// At most one of token_file (read again and again), token, username and exec is used, in this
// order.
struct CredentialConfig {
  Secret token;
  std::string token_file;
  // What messages call it where somebody may have put the token itself in place of the path; "" =
  // the path.
  std::string token_file_name;
  std::string username;
  Secret password;
  ExecPluginConfig exec;  // command "" = none
};

struct Impersonation {
  std::string user, uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::string>> extra;
};

enum class ServerVerification { kFull, kNone };

struct ClientConfig {
  std::string server;           // "https://host:port/prefix", no slash at the end
  std::string tls_server_name;  // "" = the host of the URL
  ServerVerification verification = ServerVerification::kFull;
  // PEM wins over file; files are read again for each new connection. All empty: the system's
  // roots, no certificate.
  std::string ca_pem, ca_file;
  std::string certificate_pem, certificate_file;
  Secret key_pem;
  std::string key_file;
  // "" = what the environment says (https_proxy, no_proxy), which never stands before a server on
  // this machine.
  std::string proxy_url;
  CredentialConfig credentials;
  Impersonation impersonation;
  std::string namespace_name = "default";
};

}  // namespace maniple
