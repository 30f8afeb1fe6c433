#include "api/http/credentials.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/base/log.h"

namespace maniple {
namespace {

// Projected tokens live for about an hour and are replaced after four fifths of it.
constexpr absl::Duration kTokenFilePeriod = absl::Seconds(60);
constexpr absl::Duration kAgainAfterFailure = absl::Seconds(5);
// A plugin's credential is replaced so long before it expires.
constexpr absl::Duration kExpiryMargin = absl::Seconds(30);
// However many requests are answered 401, a plugin runs no more often than this.
constexpr absl::Duration kLeastBetweenRuns = absl::Seconds(5);

Secret Bearer(const Secret& token) { return Secret(absl::StrCat("Bearer ", token.Reveal())); }

}  // namespace

Credentials::Credentials(CredentialConfig config) : config_(std::move(config)) {
  if (!config_.token_file.empty() || !config_.exec.command.empty()) return;
  usable_ = true;
  refresh_at_ = absl::InfiniteFuture();
  if (!config_.token.empty()) {
    authorization_ = Bearer(config_.token);
  } else if (!config_.username.empty()) {
    authorization_ = Secret(absl::StrCat(
        "Basic ",
        absl::Base64Escape(absl::StrCat(config_.username, ":", config_.password.Reveal()))));
  }
}

CredentialState Credentials::Refresh(absl::Time now) {
  if (run_.has_value()) {
    if (auto result = run_->Continue(now); result.has_value()) {
      run_.reset();
      TakeResult(*std::move(result), now);
    }
  } else if (now >= refresh_at_) {
    if (!config_.token_file.empty()) {
      ReadTokenFile(now);
    } else {
      RunPlugin(now);
    }
  }
  if (usable_) return CredentialState::kReady;
  return run_.has_value() ? CredentialState::kPending : CredentialState::kFailed;
}

void Credentials::Rejected(absl::Time now) {
  if (refresh_at_ == absl::InfiniteFuture() && config_.exec.command.empty()) return;
  if (run_.has_value()) return;
  refresh_at_ = std::max(now, last_run_ + kLeastBetweenRuns);
}

absl::Time Credentials::NextDeadline() const {
  return run_.has_value() ? run_->NextDeadline() : refresh_at_;
}

void Credentials::ReadTokenFile(absl::Time now) {
  std::ifstream file(config_.token_file, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  const std::string token(absl::StripAsciiWhitespace(bytes.str()));
  if (token.empty() || token.find_first_of("\r\n") != std::string::npos) {
    refresh_at_ = now + kAgainAfterFailure;
    Report(absl::UnauthenticatedError(
        absl::StrCat("token file ",
                     config_.token_file_name.empty() ? config_.token_file : config_.token_file_name,
                     file ? ": holds no token" : ": cannot be read")));
    return;
  }
  refresh_at_ = now + kTokenFilePeriod;
  Adopt(Bearer(Secret(token)), "", Secret());
}

void Credentials::RunPlugin(absl::Time now) {
  last_run_ = now;
  absl::StatusOr<ExecPluginRun> run = ExecPluginRun::Begin(config_.exec, now);
  if (!run.ok()) {
    TakeResult(run.status(), now);
    return;
  }
  run_.emplace(*std::move(run));
}

void Credentials::TakeResult(absl::StatusOr<ExecCredential> result, absl::Time now) {
  if (!result.ok()) {
    refresh_at_ = now + kAgainAfterFailure;
    Report(result.status());
    return;
  }
  refresh_at_ = std::max(now + kLeastBetweenRuns, result->expires - kExpiryMargin);
  Adopt(result->token.empty() ? Secret() : Bearer(result->token),
        std::move(result->certificate_pem), std::move(result->key_pem));
}

void Credentials::Adopt(Secret authorization, std::string certificate_pem, Secret key_pem) {
  usable_ = true;
  failure_ = absl::OkStatus();
  if (authorization == authorization_ && certificate_pem == certificate_pem_ &&
      key_pem == key_pem_) {
    return;
  }
  authorization_ = std::move(authorization);
  certificate_pem_ = std::move(certificate_pem);
  key_pem_ = std::move(key_pem);
  ++generation_;
}

void Credentials::Report(const absl::Status& failure) {
  if (failure == failure_) return;
  failure_ = failure;
  LOG(WARNING) << failure.message() << (usable_ ? "; the credential at hand is kept" : "");
}

}  // namespace maniple
