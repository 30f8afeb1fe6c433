#include "api/devcluster/http_shell.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace maniple::devcluster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kPatienceMilliseconds =
    20'000;  // a bound for a machine that is busy, never waited out

// A blocking client socket that gives up instead of hanging.
class Client final {
 public:
  explicit Client(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { Close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  void Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the server has closed, which the test goes on to see
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // Everything up to and including `mark`, or up to the end of the stream.
  std::string ReadUntil(absl::string_view mark) {
    while (received_.find(std::string(mark)) == std::string::npos) {
      if (!ReadMore()) return std::exchange(received_, "");
    }
    const size_t end = received_.find(std::string(mark)) + mark.size();
    const std::string out = received_.substr(0, end);
    received_.erase(0, end);
    return out;
  }
  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    return std::exchange(received_, "");
  }
  // A whole reply with a length.
  std::string ReadReply() {
    std::string head = ReadUntil("\r\n\r\n");
    const size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return head;
    const size_t length = std::stoul(head.substr(at + 16));
    while (received_.size() < length && ReadMore()) {
    }
    head += received_.substr(0, length);
    received_.erase(0, length);
    return head;
  }
  [[nodiscard]] int descriptor() const { return socket_; }

 private:
  bool ReadMore() {
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kPatienceMilliseconds) <= 0) {
      ADD_FAILURE() << "nothing came; so far: " << received_;
      return false;
    }
    char block[4096];
    const ssize_t got = recv(socket_, block, sizeof block, 0);
    if (got <= 0) return false;
    received_.append(block, static_cast<size_t>(got));
    return true;
  }

  int socket_;
  std::string received_;
};

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
  Client client(shell_->port());
  client.Send(absl::StrCat(PostConfigMap("a"), "GET /healthz HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(client.ReadReply(), StartsWith("HTTP/1.1 201 Created"));
  EXPECT_THAT(client.ReadReply(), AllOf(StartsWith("HTTP/1.1 200 OK"), testing::EndsWith("ok")));
}

TEST_F(HttpShellTest, AWatchHearsWhatAnotherConnectionDoes) {
  Serve({});
  Client watcher(shell_->port());
  watcher.Send("GET /api/v1/namespaces/default/configmaps?watch=true HTTP/1.1\r\n\r\n");
  EXPECT_THAT(watcher.ReadUntil("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked"));
  Client writer(shell_->port());
  writer.Send(PostConfigMap("seen"));
  EXPECT_THAT(writer.ReadReply(), StartsWith("HTTP/1.1 201"));
  EXPECT_THAT(watcher.ReadUntil("\n\r\n"), AllOf(HasSubstr("\"ADDED\""), HasSubstr("seen")));
}

TEST_F(HttpShellTest, AWatcherThatLeavesDisturbsNobody) {
  Serve({});
  for (int i = 0; i < 20; ++i) {
    Client watcher(shell_->port());
    watcher.Send("GET /api/v1/configmaps?watch=true HTTP/1.1\r\n\r\n");
    watcher.ReadUntil("\r\n\r\n");
  }
  Client writer(shell_->port());
  writer.Send(PostConfigMap("alone"));
  EXPECT_THAT(writer.ReadReply(), StartsWith("HTTP/1.1 201"));
}

TEST_F(HttpShellTest, ABodyOverThreeMebibytesIs413EvenWhileItIsStillSent) {
  Serve({});
  Client client(shell_->port());
  client.Send("POST /api/v1/namespaces HTTP/1.1\r\nContent-Length: 4000000\r\n\r\n");
  std::thread sender([&] { client.Send(std::string(4'000'000, 'x')); });
  const std::string reply = client.ReadToEnd();
  sender.join();
  EXPECT_THAT(reply, AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("3145728")));
}

TEST_F(HttpShellTest, GarbageAndAHugeHeadEndTheirOwnConnectionOnly) {
  Serve({});
  Client garbage(shell_->port());
  garbage.Send("\x16\x03\x01 no http at all\r\n\r\n");
  EXPECT_THAT(garbage.ReadToEnd(), StartsWith("HTTP/1.1 400"));
  Client huge(shell_->port());
  huge.Send(absl::StrCat("GET / HTTP/1.1\r\nX: ", std::string(100'000, 'x'), "\r\n\r\n"));
  EXPECT_THAT(huge.ReadToEnd(), StartsWith("HTTP/1.1 431"));
  Client good(shell_->port());
  good.Send("GET /readyz HTTP/1.1\r\n\r\n");
  EXPECT_THAT(good.ReadReply(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpShellTest, HalfARequestIsClosedAtItsDeadline) {
  HttpShellOptions options;
  options.limits.request_deadline = absl::Milliseconds(50);
  Serve(options);
  Client slow(shell_->port());
  slow.Send("GET /api/v1/po");
  EXPECT_EQ(slow.ReadToEnd(), "");
}

TEST_F(HttpShellTest, AnIdleConnectionIsKept) {
  HttpShellOptions options;
  options.limits.request_deadline = absl::Milliseconds(20);
  Serve(options);
  Client idle(shell_->port());
  Client slow(shell_->port());  // its end tells that the deadlines have been looked at
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
  Client watcher(shell_->port());
  watcher.Send("GET /api/v1/configmaps?watch=true HTTP/1.1\r\n\r\n");
  Client writer(shell_->port());
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
  Client client(shell_->port());

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
  Client client(shell_->port());
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
