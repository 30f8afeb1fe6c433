// A TLS server on a free port of the loopback with certificates made on the spot, and a thread that
// answers every request with what the client was like: "peer=NAME auth=HEADER".
#pragma once

#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"

namespace maniple {

struct OpenSslDeleter {
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
  void operator()(BIO* bio) const { ::BIO_free(bio); }
};
template <typename T>
using OpenSsl = std::unique_ptr<T, OpenSslDeleter>;

// A certificate with its key, signed by `issuer`, or by itself without one.
class TestCertificate final {
 public:
  TestCertificate(const std::string& common_name, const std::string& alternative_names,
                  const TestCertificate* issuer)
      : key_(::EVP_EC_gen("P-256")), certificate_(::X509_new()) {
    X509* const x509 = certificate_.get();
    ::X509_set_version(x509, 2);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(x509), ++serial_);
    ::X509_gmtime_adj(::X509_getm_notBefore(x509), -3600);
    ::X509_gmtime_adj(::X509_getm_notAfter(x509), 3600);
    ::X509_set_pubkey(x509, key_.get());
    ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>(common_name.c_str()), -1,
                                 -1, 0);
    const TestCertificate& signer = issuer == nullptr ? *this : *issuer;
    ::X509_set_issuer_name(x509, ::X509_get_subject_name(signer.certificate_.get()));
    if (issuer == nullptr) Extend(NID_basic_constraints, "critical,CA:TRUE");
    if (!alternative_names.empty()) Extend(NID_subject_alt_name, alternative_names);
    CHECK(::X509_sign(x509, signer.key_.get(), ::EVP_sha256()) > 0);
  }

  [[nodiscard]] std::string pem() const {
    const OpenSsl<BIO> bio(::BIO_new(::BIO_s_mem()));
    ::PEM_write_bio_X509(bio.get(), certificate_.get());
    return TextOf(bio.get());
  }
  [[nodiscard]] std::string key_pem() const {
    const OpenSsl<BIO> bio(::BIO_new(::BIO_s_mem()));
    ::PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return TextOf(bio.get());
  }
  [[nodiscard]] X509* certificate() const { return certificate_.get(); }
  [[nodiscard]] EVP_PKEY* key() const { return key_.get(); }

 private:
  static std::string TextOf(BIO* bio) {
    char* data = nullptr;
    const long size = ::BIO_get_mem_data(bio, &data);
    return std::string(data, static_cast<size_t>(size));
  }
  void Extend(int name, const std::string& value) {
    X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, name, value.c_str());
    CHECK(extension != nullptr);
    ::X509_add_ext(certificate_.get(), extension, -1);
    ::X509_EXTENSION_free(extension);
  }

  static inline int serial_ = 0;
  OpenSsl<EVP_PKEY> key_;
  OpenSsl<X509> certificate_;
};

class TlsServer final {
 public:
  // Clients may show a certificate of `client_authority`.
  TlsServer(const TestCertificate& own, const TestCertificate& client_authority)
      : context_(::SSL_CTX_new(::TLS_server_method())),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::SSL_CTX_use_certificate(context_.get(), own.certificate());
    ::SSL_CTX_use_PrivateKey(context_.get(), own.key());
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context_.get()), client_authority.certificate());
    ::SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    // Without a context OpenSSL refuses a client that comes again with its session.
    const unsigned char name = 't';
    ::SSL_CTX_set_session_id_context(context_.get(), &name, 1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    CHECK(::listen(listener_, 16) == 0);
    socklen_t size = sizeof(address);
    CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TlsServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  [[nodiscard]] int port() const { return port_; }

 private:
  void Serve() {
    int fd = -1;
    while ((fd = ::accept(listener_, nullptr, nullptr)) >= 0) {
      const OpenSsl<SSL> ssl(::SSL_new(context_.get()));
      ::SSL_set_fd(ssl.get(), fd);
      if (::SSL_accept(ssl.get()) == 1) Answer(ssl.get());
      ::close(fd);
    }
  }
  static void Answer(SSL* ssl) {
    std::string request;
    char buffer[4096];
    int n = 0;
    while (request.find("\r\n\r\n") == std::string::npos &&
           (n = ::SSL_read(ssl, buffer, sizeof(buffer))) > 0) {
      request.append(buffer, static_cast<size_t>(n));
    }
    const std::string body =
        absl::StrCat("peer=", PeerName(ssl), " auth=", AuthorizationOf(request));
    const std::string reply = absl::StrCat(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
    ::SSL_write(ssl, reply.data(), static_cast<int>(reply.size()));
    ::SSL_shutdown(ssl);
  }
  static std::string PeerName(SSL* ssl) {
    const OpenSsl<X509> peer(::SSL_get1_peer_certificate(ssl));
    char name[64] = "nobody";
    if (peer != nullptr) {
      ::X509_NAME_get_text_by_NID(::X509_get_subject_name(peer.get()), NID_commonName, name,
                                  sizeof(name));
    }
    return name;
  }
  static std::string AuthorizationOf(const std::string& request) {
    const std::string header = "Authorization: ";
    const size_t at = request.find(header);
    if (at == std::string::npos) return "none";
    const size_t begin = at + header.size();
    return request.substr(begin, request.find("\r\n", begin) - begin);
  }

  OpenSsl<SSL_CTX> context_;
  int listener_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace maniple
