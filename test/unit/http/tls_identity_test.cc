// Identities of servers. Fears: the name of a host is taken for an address, so that no certificate
// can be made; a host is left out of the certificate, or one that was not asked for is in it.
#include "api/http/tls_identity.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace maniple::http_tls_identity_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

class Certificate final {
 public:
  explicit Certificate(const std::string& pem) {
    BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    x509_.reset(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
    BIO_free(bio);
  }
  [[nodiscard]] bool IsOfHost(const std::string& host) const {
    return X509_check_host(x509_.get(), host.c_str(), host.size(), 0, nullptr) == 1;
  }
  [[nodiscard]] bool IsOfAddress(const std::string& address) const {
    return X509_check_ip_asc(x509_.get(), address.c_str(), 0) == 1;
  }

 private:
  struct Free {
    void operator()(X509* x509) const { X509_free(x509); }
  };
  std::unique_ptr<X509, Free> x509_;
};

TEST(TlsIdentityOfServer, ANameOfDigitsAndLettersToFIsNoAddress) {
  for (const char* host : {"cafe1", "ace2.bad0", "node-1", "10", "1.2.3", "256.0.0.1", "abc"}) {
    const absl::StatusOr<TlsIdentity> identity = MakeTlsIdentity({host}, kNow);
    ASSERT_TRUE(identity.ok()) << host << ": " << identity.status();
    EXPECT_TRUE(Certificate(identity->server_certificate).IsOfHost(host)) << host;
  }
}

TEST(TlsIdentityOfServer, AddressesAndLoopbackAreInIt) {
  const absl::StatusOr<TlsIdentity> identity =
      MakeTlsIdentity({"10.1.2.3", "fd00::1", "", "host.test"}, kNow);
  ASSERT_TRUE(identity.ok()) << identity.status();
  const Certificate certificate(identity->server_certificate);
  for (const char* address : {"10.1.2.3", "fd00::1", "127.0.0.1", "::1"}) {
    EXPECT_TRUE(certificate.IsOfAddress(address)) << address;
  }
  EXPECT_TRUE(certificate.IsOfHost("localhost"));
  EXPECT_TRUE(certificate.IsOfHost("host.test"));
  EXPECT_FALSE(certificate.IsOfHost("other.test"));
  EXPECT_FALSE(certificate.IsOfAddress("10.1.2.4"));
}

}  // namespace
}  // namespace maniple::http_tls_identity_test
