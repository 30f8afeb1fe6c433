#include "api/http/tls_identity.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/files.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Freer<X509_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using BioPtr = std::unique_ptr<BIO, Freer<BIO_free_all>>;

absl::Status OpenSslError(absl::string_view what) {
  char text[256] = "unknown error";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  return absl::InternalError(absl::StrCat("making a TLS identity: ", what, ": ", text));
}

struct CertificateRequest {
  std::string common_name;
  std::vector<std::pair<int, std::string>> extensions;  // (NID, value in OpenSSL's notation)
  absl::Time now;
};

bool IsAddress(const std::string& host) {
  in6_addr any{};  // has room for either
  return ::inet_pton(AF_INET, host.c_str(), &any) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

std::string AlternativeNames(const std::vector<std::string>& hosts) {
  std::vector<std::string> names = {"DNS:localhost", "IP:127.0.0.1", "IP:::1"};
  for (const std::string& host : hosts) {
    if (host.empty()) continue;
    names.push_back(absl::StrCat(IsAddress(host) ? "IP:" : "DNS:", host));
  }
  return absl::StrJoin(names, ",");
}

absl::Status AddExtensions(X509& certificate, X509& issuer,
                           const std::vector<std::pair<int, std::string>>& extensions) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  for (const auto& [nid, value] : extensions) {
    const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
    if (extension == nullptr || X509_add_ext(&certificate, extension.get(), -1) != 1) {
      return OpenSslError(value);
    }
  }
  return absl::OkStatus();
}

// Signed by `issuer`, or by itself when that is null.
absl::StatusOr<CertificatePtr> Certify(EVP_PKEY& key, X509* issuer, EVP_PKEY& issuer_key,
                                       const CertificateRequest& request) {
  CertificatePtr certificate(X509_new());
  uint64_t serial = 0;
  if (certificate == nullptr ||
      RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) {
    return OpenSslError("serial number");
  }
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  const time_t from = absl::ToTimeT(request.now - absl::Hours(24));
  const time_t until = absl::ToTimeT(request.now + absl::Hours(24 * 3650));
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), from);
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), until);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(request.common_name.c_str()),
                             -1, -1, 0);
  X509& signer = issuer == nullptr ? *certificate : *issuer;
  if (X509_set_issuer_name(certificate.get(), X509_get_subject_name(&signer)) != 1 ||
      X509_set_pubkey(certificate.get(), &key) != 1) {
    return OpenSslError(request.common_name);
  }
  RETURN_IF_ERROR(AddExtensions(*certificate, signer, request.extensions));
  if (X509_sign(certificate.get(), &issuer_key, EVP_sha256()) == 0) return OpenSslError("signing");
  return certificate;
}

std::string TextOf(BIO& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(&bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string CertificateText(X509& certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), &certificate);
  return TextOf(*bio);
}

Secret KeyText(EVP_PKEY& key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr);
  return Secret(TextOf(*bio));
}

}  // namespace

absl::StatusOr<TlsIdentity> MakeTlsIdentity(const std::vector<std::string>& hosts, absl::Time now) {
  const KeyPtr authority_key(EVP_EC_gen("P-256"));
  const KeyPtr server_key(EVP_EC_gen("P-256"));
  if (authority_key == nullptr || server_key == nullptr) return OpenSslError("keys");
  ASSIGN_OR_RETURN(const CertificatePtr authority,
                   Certify(*authority_key, nullptr, *authority_key,
                           {.common_name = "maniple-devcluster authority",
                            .extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                                           {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                           {NID_subject_key_identifier, "hash"}},
                            .now = now}));
  ASSIGN_OR_RETURN(const CertificatePtr server,
                   Certify(*server_key, authority.get(), *authority_key,
                           {.common_name = "maniple-devcluster",
                            .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                                           {NID_key_usage, "critical,digitalSignature"},
                                           {NID_ext_key_usage, "serverAuth"},
                                           {NID_subject_alt_name, AlternativeNames(hosts)}},
                            .now = now}));
  return TlsIdentity{.authority_certificate = CertificateText(*authority),
                     .server_certificate = CertificateText(*server),
                     .server_key = KeyText(*server_key)};
}

absl::StatusOr<TlsIdentity> LoadOrMakeTlsIdentity(const std::string& directory,
                                                  const std::vector<std::string>& hosts,
                                                  absl::Time now) {
  const std::string authority = absl::StrCat(directory, "/ca.crt");
  const std::string certificate = absl::StrCat(directory, "/tls.crt");
  const std::string key = absl::StrCat(directory, "/tls.key");
  std::error_code ignored;
  if (std::filesystem::exists(key, ignored)) {
    TlsIdentity identity;
    ASSIGN_OR_RETURN(identity.authority_certificate, ReadWholeFile(authority));
    ASSIGN_OR_RETURN(identity.server_certificate, ReadWholeFile(certificate));
    ASSIGN_OR_RETURN(std::string key_text, ReadWholeFile(key));
    identity.server_key = Secret(std::move(key_text));
    return identity;
  }
  ASSIGN_OR_RETURN(TlsIdentity identity, MakeTlsIdentity(hosts, now));
  RETURN_IF_ERROR(WriteWholeFile(authority, identity.authority_certificate, FileAccess::kAll));
  RETURN_IF_ERROR(WriteWholeFile(certificate, identity.server_certificate, FileAccess::kAll));
  RETURN_IF_ERROR(WriteWholeFile(key, identity.server_key.Reveal(), FileAccess::kOwner));
  return identity;
}

}  // namespace maniple
