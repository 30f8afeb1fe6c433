// The credential that requests carry now: a fixed token, a token file that is read again, or what a
// plugin prints.
//
// Owned by the thread of the transport. Never blocks: while a plugin runs for the first time the
// state is kPending; a credential that can still be used is used while its successor is fetched,
// and for ever if none can be had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/base/secret.h"
#include "api/http/client_config.h"
#include "api/http/exec_plugin.h"

namespace maniple {

enum class CredentialState { kReady, kPending, kFailed };

class Credentials final {
 public:
  explicit Credentials(CredentialConfig config);

  // Brings the credential up to date as far as that is possible now.
  [[nodiscard]] CredentialState Refresh(absl::Time now);
  // The server answered 401: what we have is not good, fetch a new one.
  void Rejected(absl::Time now);

  // Value of the Authorization header; empty = none. After kReady.
  [[nodiscard]] const Secret& authorization() const { return authorization_; }
  // Client certificate of a plugin; empty = that of the configuration.
  [[nodiscard]] const std::string& certificate_pem() const { return certificate_pem_; }
  [[nodiscard]] const Secret& key_pem() const { return key_pem_; }
  // Rises with each change of the above.
  [[nodiscard]] uint64_t generation() const { return generation_; }
  // Why, after kFailed.
  [[nodiscard]] const absl::Status& failure() const { return failure_; }

  // To be polled for reading while a plugin runs; -1 = nothing.
  [[nodiscard]] int pending_fd() const { return run_.has_value() ? run_->fd() : -1; }
  // When Refresh has something to do by itself.
  [[nodiscard]] absl::Time NextDeadline() const;

 private:
  void ReadTokenFile(absl::Time now);
  void RunPlugin(absl::Time now);
  void TakeResult(absl::StatusOr<ExecCredential> result, absl::Time now);
  void Adopt(Secret authorization, std::string certificate_pem, Secret key_pem);
  void Report(const absl::Status& failure);

  const CredentialConfig config_;
  Secret authorization_;
  std::string certificate_pem_;
  Secret key_pem_;
  uint64_t generation_ = 0;
  bool usable_ = false;
  absl::Status failure_;
  absl::Time refresh_at_ = absl::InfinitePast();
  absl::Time last_run_ = absl::InfinitePast();
  std::optional<ExecPluginRun> run_;
};

}  // namespace maniple
