#include "api/devcluster/shell/http_shell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "test/support/socket_client.h"

namespace maniple::devcluster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpShellTest : public testing::Test {
 protected:
  void Serve(HttpShellOptions options) {
    absl::StatusOr<std::unique_ptr<HttpShell>> shell =
        HttpShell::Listen(options, server_, RealClock());
    ASSERT_TRUE(shell.ok()) << shell.status();
    shell_ = *std::move(shell);
    thread_ = std::thread([this] { shell_->Run(); });
  }
  ~HttpShellTest() override {
    if (thread_.joinable()) {
      shell_->Stop();
      thread_.join();
    }
  }
  static std::string PostConfigMap(const std::string& name) {
    const std::string body = absl::StrCat(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name, R"("}})");
    return absl::StrCat("POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\n",
                        "Content-Type: application/json\r\nContent-Length: ", body.size(),
                        "\r\n\r\n", body);
  }

  ApiServer server_{ApiServerOptions{}};
  std::unique_ptr<HttpShell> shell_;
  std::thread thread_;
};

TEST_F(HttpShellTest, RequestsOnOneConnectionAreAnsweredInOrder) {
  Serve({});
  SocketClient client(shell_->port());
  client.Send(absl::StrCat(PostConfigMap("a"), "GET /healthz HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(client.ReadReply(), StartsWith("HTTP/1.1 201 Created"));
  EXPECT_THAT(client.ReadReply(), AllOf(StartsWith("HTTP/1.1 200 OK"), testing::EndsWith("ok")));
}

TEST_F(HttpShellTest, AWatchHearsWhatAnotherConnectionDoes) {
  Serve({});
  SocketClient watcher(shell_->port());
  watcher.Send("GET /api/v1/namespaces/default/configmaps?watch=true HTTP/1.1\r\n\r\n");
  EXPECT_THAT(watcher.ReadUntil("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked"));
  SocketClient writer(shell_->port());
  writer.Send(PostConfigMap("seen"));
  EXPECT_THAT(writer.ReadReply(), StartsWith("HTTP/1.1 201"));
  EXPECT_THAT(watcher.ReadUntil("\n\r\n"), AllOf(HasSubstr("\"ADDED\""), HasSubstr("seen")));
}

TEST_F(HttpShellTest, AWatcherThatLeavesDisturbsNobody) {
  Serve({});
  for (int i = 0; i < 20; ++i) {
    SocketClient watcher(shell_->port());
    watcher.Send("GET /api/v1/configmaps?watch=true HTTP/1.1\r\n\r\n");
    watcher.ReadUntil("\r\n\r\n");
  }
  SocketClient writer(shell_->port());
  writer.Send(PostConfigMap("alone"));
  EXPECT_THAT(writer.ReadReply(), StartsWith("HTTP/1.1 201"));
}

TEST_F(HttpShellTest, ABodyOverThreeMebibytesIs413EvenWhileItIsStillSent) {
  Serve({});
  SocketClient client(shell_->port());
  client.Send("POST /api/v1/namespaces HTTP/1.1\r\nContent-Length: 4000000\r\n\r\n");
  std::thread sender([&] { client.Send(std::string(4'000'000, 'x')); });
  const std::string reply = client.ReadToEnd();
  sender.join();
  EXPECT_THAT(reply, AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("3145728")));
}

TEST_F(HttpShellTest, GarbageAndAHugeHeadEndTheirOwnConnectionOnly) {
  Serve({});
  SocketClient garbage(shell_->port());
  garbage.Send("\x16\x03\x01 no http at all\r\n\r\n");
  EXPECT_THAT(garbage.ReadToEnd(), StartsWith("HTTP/1.1 400"));
  SocketClient huge(shell_->port());
  huge.Send(absl::StrCat("GET / HTTP/1.1\r\nX: ", std::string(100'000, 'x'), "\r\n\r\n"));
  EXPECT_THAT(huge.ReadToEnd(), StartsWith("HTTP/1.1 431"));
  SocketClient good(shell_->port());
  good.Send("GET /readyz HTTP/1.1\r\n\r\n");
  EXPECT_THAT(good.ReadReply(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpShellTest, HalfARequestIsClosedAtItsDeadline) {
  HttpShellOptions options;
  options.limits.request_deadline = absl::Milliseconds(50);
  Serve(options);
  SocketClient slow(shell_->port());
  slow.Send("GET /api/v1/po");
  EXPECT_EQ(slow.ReadToEnd(), "");
}

TEST_F(HttpShellTest, AnIdleConnectionIsKept) {
  HttpShellOptions options;
  options.limits.request_deadline = absl::Milliseconds(20);
  Serve(options);
  SocketClient idle(shell_->port());
  SocketClient slow(shell_->port());  // its end tells that the deadlines have been looked at
  slow.Send("GET");
  EXPECT_EQ(slow.ReadToEnd(), "");
  idle.Send("GET /readyz HTTP/1.1\r\n\r\n");
  EXPECT_THAT(idle.ReadReply(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpShellTest, AWatchThatNobodyReadsIsClosedAndTheServerGoesOn) {
  HttpShellOptions options;
  options.limits.most_watch_backlog = 100'000;
  options.limits.write_deadline = absl::Milliseconds(200);
  Serve(options);
  SocketClient watcher(shell_->port());
  watcher.Send("GET /api/v1/configmaps?watch=true HTTP/1.1\r\n\r\n");
  SocketClient writer(shell_->port());
  const std::string filler(50'000, 'y');
  for (int i = 0; i < 200; ++i) {
    const std::string body =
        absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c)", i,
                     R"("},"data":{"k":")", filler, R"("}})");
    writer.Send(absl::StrCat("POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n",
                             "Content-Type: application/json\r\nContent-Length: ", body.size(),
                             "\r\n\r\n", body));
    ASSERT_THAT(writer.ReadReply(), StartsWith("HTTP/1.1 201")) << i;
  }
  const std::string all = watcher.ReadToEnd();
  EXPECT_LT(all.size(), 200 * filler.size());
}

TEST_F(HttpShellTest, OverTlsItServesWhoTrustsItsAuthority) {
  const absl::StatusOr<TlsIdentity> identity = MakeTlsIdentity({"127.0.0.1"}, RealClock().Now());
  ASSERT_TRUE(identity.ok()) << identity.status();
  HttpShellOptions options;
  options.tls = &*identity;
  Serve(options);
  SocketClient client(shell_->port());

  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> text(
      BIO_new_mem_buf(identity->authority_certificate.data(), -1), BIO_free_all);
  const std::unique_ptr<X509, decltype(&X509_free)> authority(
      PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), X509_free);
  ASSERT_EQ(X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get()), 1);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), SSL_free);
  ASSERT_EQ(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls.get()), "127.0.0.1"), 1);
  SSL_set_fd(tls.get(), client.descriptor());
  ASSERT_EQ(SSL_connect(tls.get()), 1);
  const std::string request = "GET /readyz HTTP/1.1\r\nConnection: close\r\n\r\n";
  ASSERT_GT(SSL_write(tls.get(), request.data(), static_cast<int>(request.size())), 0);
  char block[1024];
  const int got = SSL_read(tls.get(), block, sizeof block);
  ASSERT_GT(got, 0);
  EXPECT_THAT(std::string(block, got), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpShellTest, PlainTextToATlsPortIsClosed) {
  const absl::StatusOr<TlsIdentity> identity = MakeTlsIdentity({}, RealClock().Now());
  ASSERT_TRUE(identity.ok());
  HttpShellOptions options;
  options.tls = &*identity;
  Serve(options);
  SocketClient client(shell_->port());
  client.Send("GET /readyz HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), testing::Not(HasSubstr("200 OK")));
}

TEST_F(HttpShellTest, AnAddressThatIsTakenOrNotOursIsAnErrorThatNamesIt) {
  Serve({});
  const absl::StatusOr<std::unique_ptr<HttpShell>> second =
      HttpShell::Listen({.port = shell_->port()}, server_, RealClock());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(absl::StrCat(shell_->port())));
  EXPECT_FALSE(HttpShell::Listen({.host = "192.0.2.1"}, server_, RealClock()).ok());
}

}  // namespace
}  // namespace maniple::devcluster
