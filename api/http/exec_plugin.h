// One run of a credential plugin, without waiting for it: the process writes into a pipe that the
// IO thread polls. No shell is involved. The whole process group is killed when the time is up or
// the run is given up.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/base/secret.h"
#include "api/http/client_config.h"

namespace maniple {

// What a plugin printed: a token, or a certificate with its key.
struct ExecCredential {
  Secret token;
  std::string certificate_pem;
  Secret key_pem;
  absl::Time expires = absl::InfiniteFuture();
};

// Errors never quote what was printed.
[[nodiscard]] absl::StatusOr<ExecCredential> ParseExecCredential(const ExecPluginConfig& config,
                                                                 absl::string_view printed);

class ExecPluginRun final {
 public:
  [[nodiscard]] static absl::StatusOr<ExecPluginRun> Begin(const ExecPluginConfig& config,
                                                           absl::Time now);
  ExecPluginRun(ExecPluginRun&& other) noexcept;
  ExecPluginRun& operator=(ExecPluginRun&&) = delete;
  ~ExecPluginRun();

  // Readable when Continue has something to do; -1 once all was printed and only the exit is waited
  // for.
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] absl::Time NextDeadline() const { return next_; }
  // The outcome, once there is one. Never blocks.
  [[nodiscard]] std::optional<absl::StatusOr<ExecCredential>> Continue(absl::Time now);

 private:
  ExecPluginRun(const ExecPluginConfig& config, pid_t pid, int fd, absl::Time now);
  void Kill();

  ExecPluginConfig config_;
  pid_t pid_;
  int fd_;
  absl::Time give_up_;
  absl::Time next_;
  std::string printed_;
};

}  // namespace maniple
