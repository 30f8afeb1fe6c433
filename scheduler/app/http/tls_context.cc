#include "scheduler/app/http/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/system/error_code.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "api/base/files.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "api/http/tls_identity.h"

namespace maniple {
namespace {

namespace ssl = boost::asio::ssl;
using Error = boost::system::error_code;

constexpr absl::Duration kLookEvery = absl::Seconds(1);

struct Texts {
  std::string certificate, key, client_authority;

  [[nodiscard]] std::string All() const {
    return absl::StrCat(certificate, "\n", key, "\n", client_authority);
  }
};

absl::StatusOr<Texts> MadeAtStart() {
  ASSIGN_OR_RETURN(const TlsIdentity identity, MakeTlsIdentity({}, RealClock().Now()));
  return Texts{
      .certificate = absl::StrCat(identity.server_certificate, identity.authority_certificate),
      .key = identity.server_key.Reveal()};
}

absl::StatusOr<Texts> Read(const TlsFiles& files) {
  Texts texts;
  ASSIGN_OR_RETURN(texts.certificate, ReadWholeFile(files.certificate));
  ASSIGN_OR_RETURN(texts.key, ReadWholeFile(files.key));
  if (!files.client_authority.empty()) {
    ASSIGN_OR_RETURN(texts.client_authority, ReadWholeFile(files.client_authority));
  }
  return texts;
}

absl::Status Wrong(const std::string& file, absl::string_view what, const Error& error) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", what, ": ", error.message()));
}

absl::StatusOr<std::unique_ptr<ssl::context>> Make(const TlsFiles& files, const Texts& texts) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  Error error;
  context->use_certificate_chain(boost::asio::buffer(texts.certificate), error);
  if (error) return Wrong(files.certificate, "no certificate in PEM form", error);
  context->use_private_key(boost::asio::buffer(texts.key), ssl::context::pem, error);
  if (error) return Wrong(files.key, "no private key of that certificate in PEM form", error);
  // A key of another algorithm has a place of its own beside the certificate, and nobody compares
  // them.
  if (::SSL_CTX_check_private_key(context->native_handle()) != 1) {
    ::ERR_clear_error();
    return absl::InvalidArgumentError(
        absl::StrCat(files.key, ": no private key of that certificate: of another algorithm"));
  }
  if (!texts.client_authority.empty()) {
    context->add_certificate_authority(boost::asio::buffer(texts.client_authority), error);
    if (error) return Wrong(files.client_authority, "no certificate authority in PEM form", error);
  }
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // No memory for clients that may never come again, and no renegotiation at their wish.
  ::SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  return context;
}

// It is served all the same: whether that matters is for clients to judge.
void WarnIfExpired(const TlsFiles& files, ssl::context& context) {
  const X509* certificate = ::SSL_CTX_get0_certificate(context.native_handle());
  if (certificate == nullptr || ::X509_cmp_current_time(::X509_get0_notAfter(certificate)) >= 0) {
    return;
  }
  LOG(WARNING) << files.certificate << ": the certificate has expired; clients may refuse it";
}

void StillServing(const absl::Status& problem) {
  LOG(WARNING) << "still serving with the certificate before: " << problem.message();
}

}  // namespace

absl::Status CheckTlsFiles(const TlsFiles& files) {
  ASSIGN_OR_RETURN(const Texts texts, Read(files));
  return Make(files, texts).status();
}

absl::StatusOr<std::unique_ptr<TlsContext>> TlsContext::Load(const TlsFiles& files) {
  ASSIGN_OR_RETURN(const Texts texts, files.self_signed ? MadeAtStart() : Read(files));
  ASSIGN_OR_RETURN(std::unique_ptr<ssl::context> context, Make(files, texts));
  WarnIfExpired(files, *context);
  return std::unique_ptr<TlsContext>(new TlsContext(files, texts.All(), std::move(context)));
}

TlsContext::TlsContext(const TlsFiles& files, std::string text,
                       std::unique_ptr<ssl::context> context)
    : files_(files), text_(std::move(text)), context_(std::move(context)) {}

ssl::context& TlsContext::Current(absl::Time now) {
  if (files_.self_signed || now - looked_at_ < kLookEvery) return *context_;
  looked_at_ = now;
  const absl::StatusOr<Texts> texts = Read(files_);
  const std::string problem(texts.status().message());
  if (problem != problem_) {
    problem_ = problem;
    if (!texts.ok()) StillServing(texts.status());
  }
  if (!texts.ok() || texts->All() == text_) return *context_;
  text_ = texts->All();
  absl::StatusOr<std::unique_ptr<ssl::context>> context = Make(files_, *texts);
  if (context.ok()) {
    context_ = *std::move(context);
    LOG(INFO) << "the certificate of " << files_.certificate << " was read again";
    WarnIfExpired(files_, *context_);
  } else {
    StillServing(context.status());
  }
  return *context_;
}

}  // namespace maniple
