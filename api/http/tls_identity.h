// Who the server is on TLS: a self-signed authority and a server certificate from it, as PEM text.
//
// Made at start, or read again from a directory, so that a kubeconfig written once stays good
// across restarts. For listeners whose clients are told the authority, or check none.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/base/secret.h"

namespace maniple {

struct TlsIdentity {
  std::string authority_certificate;
  std::string server_certificate;
  Secret server_key;
};

// For the given host names and addresses; localhost and the loopback addresses are always in. Good
// for ten years from `now`, and a day before it for clocks that are behind.
[[nodiscard]] absl::StatusOr<TlsIdentity> MakeTlsIdentity(const std::vector<std::string>& hosts,
                                                          absl::Time now);

// From DIR/{ca.crt,tls.crt,tls.key}; makes and writes them (the key readable by the owner only)
// when none is there.
[[nodiscard]] absl::StatusOr<TlsIdentity> LoadOrMakeTlsIdentity(
    const std::string& directory, const std::vector<std::string>& hosts, absl::Time now);

}  // namespace maniple
