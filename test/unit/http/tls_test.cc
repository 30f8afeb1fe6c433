// Whom the transport trusts, and as whom it shows itself.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/base/clock.h"
#include "api/http/curl_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/support/temp_folder.h"
#include "test/support/tls_server.h"

namespace maniple {
namespace {

struct Answer {
  std::string body;
  absl::Status status;
};

class TlsTest : public ::testing::Test {
 protected:
  ClientConfig Config() const {
    ClientConfig config;
    config.server = absl::StrCat("https://127.0.0.1:", server_.port());
    config.ca_pem = authority_.pem();
    return config;
  }
  static Answer Ask(ClientConfig config) {
    auto transport = CurlTransport::Create(std::move(config), RealClock(), {});
    if (!transport.ok()) return {"", transport.status()};
    HttpRequest request;
    request.target = "/";
    (*transport)->Start(1, request);
    Answer answer;
    while (true) {
      for (const HttpInput& input : (*transport)->Poll(absl::Seconds(20))) {
        if (const auto* chunk = std::get_if<HttpChunk>(&input.what)) answer.body += chunk->bytes;
        if (const auto* end = std::get_if<HttpEnd>(&input.what)) {
          answer.status = end->status;
          return answer;
        }
      }
    }
  }

  const TempFolder folder_;
  TestCertificate authority_{"authority", "", nullptr};
  TestCertificate stranger_{"stranger", "", nullptr};
  TlsServer server_{TestCertificate("server", "IP:127.0.0.1,DNS:kubernetes.test", &authority_),
                    authority_};
};

TEST_F(TlsTest, TheConfiguredAuthorityIsTrustedAndNoOther) {
  const Answer trusted = Ask(Config());
  EXPECT_TRUE(trusted.status.ok()) << trusted.status;
  EXPECT_EQ(trusted.body, "peer=nobody auth=none");
  ClientConfig other = Config();
  other.ca_pem = stranger_.pem();
  EXPECT_TRUE(absl::IsUnavailable(Ask(other).status));
  other.ca_pem = "";
  EXPECT_TRUE(absl::IsUnavailable(Ask(other).status)) << "the system's roots do not know it";
}

TEST_F(TlsTest, AnAuthorityFileIsReadAsWell) {
  ClientConfig config = Config();
  config.ca_file = folder_.Write("ca.crt", std::exchange(config.ca_pem, ""));
  EXPECT_TRUE(Ask(config).status.ok());
}

TEST_F(TlsTest, AnAuthorityThatIsGarbageTrustsNobody) {
  ClientConfig config = Config();
  config.ca_pem = "-----BEGIN CERTIFICATE-----\ngarbage\n";
  EXPECT_FALSE(Ask(config).status.ok());
}

TEST_F(TlsTest, WithoutVerificationAnybodyIsTrusted) {
  ClientConfig config = Config();
  config.ca_pem = "";
  config.verification = ServerVerification::kNone;
  EXPECT_TRUE(Ask(config).status.ok());
}

TEST_F(TlsTest, TheServerIsVerifiedUnderItsTlsName) {
  ClientConfig config = Config();
  config.tls_server_name = "kubernetes.test";
  EXPECT_TRUE(Ask(config).status.ok()) << Ask(config).status;
  config.tls_server_name = "somebody.else";
  EXPECT_TRUE(absl::IsUnavailable(Ask(config).status));
}

TEST_F(TlsTest, AClientCertificateIsShownFromMemoryOrFile) {
  const TestCertificate robot("robot", "", &authority_);
  ClientConfig config = Config();
  config.certificate_pem = robot.pem();
  config.key_pem = Secret(robot.key_pem());
  EXPECT_EQ(Ask(config).body, "peer=robot auth=none");
  config = Config();
  config.certificate_file = folder_.Write("me.crt", robot.pem());
  config.key_file = folder_.Write("me.key", robot.key_pem());
  EXPECT_EQ(Ask(config).body, "peer=robot auth=none");
}

TEST_F(TlsTest, APluginMayGiveTheCertificate) {
  const TestCertificate robot("robot", "", &authority_);
  const auto quoted = [](const std::string& pem) {
    return absl::StrReplaceAll(pem, {{"\n", "\\n"}});
  };
  ClientConfig config = Config();
  config.credentials.exec.api_version = "client.authentication.k8s.io/v1";
  config.credentials.exec.command = folder_.WriteProgram(
      "plugin",
      absl::StrCat("#!/bin/sh\ncat <<'END'\n{\"kind\":\"ExecCredential\",\"apiVersion\":"
                   "\"client.authentication.k8s.io/v1\",\"status\":{\"clientCertificateData\":\"",
                   quoted(robot.pem()), "\",\"clientKeyData\":\"", quoted(robot.key_pem()),
                   "\"}}\nEND\n"));
  EXPECT_EQ(Ask(config).body, "peer=robot auth=none");
}

TEST_F(TlsTest, ATokenIsSentAndNeverTold) {
  ClientConfig config = Config();
  config.credentials.token = Secret("s3cr3t");
  EXPECT_EQ(Ask(config).body, "peer=nobody auth=Bearer s3cr3t");
  ::testing::internal::CaptureStderr();
  config.ca_pem = stranger_.pem();
  const Answer refused = Ask(config);
  const std::string told =
      absl::StrCat(refused.status.message(), ::testing::internal::GetCapturedStderr());
  EXPECT_THAT(told, ::testing::Not(::testing::HasSubstr("s3cr3t")));
}

}  // namespace
}  // namespace maniple
