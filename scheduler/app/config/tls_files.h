// The certificate of a listener and its key, as PEM files that may be replaced at any time.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace maniple {

struct TlsFiles {
  // In place of certificate and key: one made at start, for clients that check none.
  bool self_signed = false;
  std::string certificate;  // with its chain
  std::string key;
  std::string client_authority;  // whose clients are let in; empty: it asks for no certificate

  [[nodiscard]] bool given() const { return self_signed || !certificate.empty(); }
};

// Whether all of them can be read and belong together. Errors name the file and the reason.
[[nodiscard]] absl::Status CheckTlsFiles(const TlsFiles& files);

}  // namespace maniple
