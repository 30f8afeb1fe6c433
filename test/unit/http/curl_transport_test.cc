#include "api/http/curl_transport.h"

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/support/scripted_server.h"
#include "test/support/temp_folder.h"

namespace maniple {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// What has been heard of one request.
struct Heard {
  std::optional<HttpHead> head;
  std::string body;
  std::optional<absl::Status> end;
  size_t largest_chunk = 0;
};

class CurlTransportTest : public ::testing::Test {
 protected:
  void Open(ClientConfig config = {}, CurlTransportOptions options = {}) {
    if (config.server.empty()) config.server = server_.url();
    auto transport = CurlTransport::Create(std::move(config), Time(), options);
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
  }
  // The real clock, unless the test holds time in its hand.
  const Clock& Time() const { return simulated_ ? static_cast<const Clock&>(clock_) : RealClock(); }

  void Hear(std::vector<HttpInput> inputs) {
    for (HttpInput& input : inputs) {
      Heard& heard = heard_[input.request];
      EXPECT_FALSE(heard.end.has_value()) << "something after the end";
      if (auto* head = std::get_if<HttpHead>(&input.what)) {
        EXPECT_FALSE(heard.head.has_value() || !heard.body.empty());
        heard.head = *head;
      } else if (auto* chunk = std::get_if<HttpChunk>(&input.what)) {
        heard.largest_chunk = std::max(heard.largest_chunk, chunk->bytes.size());
        heard.body += chunk->bytes;
      } else {
        heard.end = std::get<HttpEnd>(input.what).status;
      }
    }
  }
  void PollOnce() {
    Hear(transport_->Poll(simulated_ ? absl::ZeroDuration() : absl::Milliseconds(5)));
  }

  // Moves the transport until it is so; the bound only keeps a failing test from hanging.
  ::testing::AssertionResult Until(const std::function<bool()>& reached) {
    const absl::Time give_up = RealClock().Now() + absl::Seconds(20);
    while (!reached()) {
      if (RealClock().Now() > give_up) return ::testing::AssertionFailure() << "never happened";
      PollOnce();
    }
    return ::testing::AssertionSuccess();
  }
  ServerConnection Accept() {
    ServerConnection connection;
    EXPECT_TRUE(Until([&] {
      connection = server_.Accept();
      return connection.open();
    }));
    return connection;
  }
  std::string TakeRequest(ServerConnection& connection) {
    std::string request;
    EXPECT_TRUE(Until([&] { return !(request = connection.TakeRequest()).empty(); }));
    return request;
  }
  bool Ended(RequestId id) { return heard_[id].end.has_value(); }

  static HttpRequest Get(const std::string& target, HttpLane lane = HttpLane::kWrite) {
    HttpRequest request;
    request.target = target;
    request.lane = lane;
    return request;
  }
  static HttpRequest Write(HttpMethod method, const std::string& body) {
    HttpRequest request;
    request.method = method;
    request.target = "/w";
    request.content_type = "application/json";
    request.body = body;
    return request;
  }

  ScriptedServer server_;
  SimulatedClock clock_;
  bool simulated_ = false;
  std::unique_ptr<CurlTransport> transport_;
  std::map<RequestId, Heard> heard_;
};

TEST_F(CurlTransportTest, AReplyIsHeardAsHeadBodyAndEnd) {
  Open();
  transport_->Start(1, Get("/api/v1/pods?limit=5"));
  ServerConnection connection = Accept();
  EXPECT_THAT(TakeRequest(connection),
              AllOf(StartsWith("GET /api/v1/pods?limit=5 HTTP/1.1\r\n"),
                    HasSubstr("Accept: application/json\r\n"), Not(HasSubstr("Expect")),
                    Not(HasSubstr("Accept-Encoding")), Not(HasSubstr("Content-Type"))));
  connection.Write(HttpReply("200 OK", "{\"a\":1}", "Content-Type: application/json\r\n"));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_EQ(heard_[1].head->status, 200);
  EXPECT_EQ(heard_[1].head->content_type, "application/json");
  EXPECT_EQ(heard_[1].body, "{\"a\":1}");
  EXPECT_TRUE(heard_[1].end->ok());
}

TEST_F(CurlTransportTest, AnswersAreCountedByMethodAndStatusAndSilenceIsOne) {
  Open();
  transport_->Start(1, Get("/a"));
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Write(HttpReply("404 Not Found", "{}"));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  transport_->Start(2, Write(HttpMethod::kPost, "{}"));
  TakeRequest(connection);
  connection.Close();
  EXPECT_TRUE(Until([&] { return Ended(2); }));
  const Answers& answers = transport_->counters().answers;
  EXPECT_EQ(answers.counts,
            (AnswerCounts{{{HttpMethod::kGet, 404}, 1}, {{HttpMethod::kPost, 0}, 1}}));
  ASSERT_TRUE(answers.times.contains(HttpMethod::kGet));
  EXPECT_EQ(answers.times.at(HttpMethod::kGet).count(), 1u);
  EXPECT_FALSE(answers.times.contains(HttpMethod::kPost)) << "no answer came";
}

TEST_F(CurlTransportTest, TheHeadOfAWatchIsCountedAndNotTimed) {
  Open();
  HttpRequest watch = Get("/a?watch=true");
  watch.lane = HttpLane::kWatch;
  transport_->Start(1, watch);
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Write(HttpReply("200 OK", "{}"));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  const Answers& answers = transport_->counters().answers;
  EXPECT_EQ(answers.counts, (AnswerCounts{{{HttpMethod::kGet, 200}, 1}}));
  EXPECT_THAT(answers.times, testing::IsEmpty());
}

TEST_F(CurlTransportTest, EveryMethodKeepsItsBodyOnOneConnectionThatIsKeptAlive) {
  Open();
  ServerConnection connection;
  RequestId id = 0;
  for (const HttpMethod method : {HttpMethod::kPost, HttpMethod::kGet, HttpMethod::kPut,
                                  HttpMethod::kPatch, HttpMethod::kDelete, HttpMethod::kPost}) {
    const std::string body = method == HttpMethod::kGet ? "" : absl::StrCat("{\"n\":", id, "}");
    transport_->Start(++id, Write(method, body));
    if (!connection.open()) connection = Accept();
    const std::string request = TakeRequest(connection);
    EXPECT_THAT(request, StartsWith(absl::StrCat(std::string(HttpMethodName(method)), " /w ")));
    EXPECT_THAT(request, ::testing::EndsWith(absl::StrCat("\r\n\r\n", body)));
    connection.Write(HttpReply("201 Created", "{}"));
    EXPECT_TRUE(Until([&] { return Ended(id); }));
    EXPECT_EQ(heard_[id].head->status, 201);
  }
  EXPECT_EQ(transport_->counters().connections, 1u);
}

TEST_F(CurlTransportTest, APostWithoutBodyOrTypeIsWellFormed) {
  Open();
  HttpRequest request = Write(HttpMethod::kPost, "");
  request.content_type = "";
  transport_->Start(1, request);
  ServerConnection connection = Accept();
  EXPECT_THAT(TakeRequest(connection),
              AllOf(HasSubstr("Content-Length: 0\r\n"), Not(HasSubstr("Content-Type"))));
}

TEST_F(CurlTransportTest, RefusalsAndHtmlPassAsTheyAre) {
  Open();
  transport_->Start(1, Get("/"));
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Write(HttpReply("403 Forbidden", "<html>no</html>",
                             "Content-Type: text/html\r\nRetry-After: 3\r\n"));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_EQ(heard_[1].head->status, 403);
  EXPECT_EQ(heard_[1].head->content_type, "text/html");
  EXPECT_EQ(heard_[1].head->retry_after, absl::Seconds(3));
  EXPECT_EQ(heard_[1].body, "<html>no</html>");
}

TEST_F(CurlTransportTest, ARedirectIsNotFollowed) {
  Open();
  transport_->Start(1, Get("/"));
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Write(HttpReply("302 Found", "", "Location: http://127.0.0.1:1/\r\n"));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_EQ(heard_[1].head->status, 302);
}

TEST_F(CurlTransportTest, AServerThatClosesAtOnceIsUnavailable) {
  Open();
  transport_->Start(1, Write(HttpMethod::kPost, "{}"));
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Close();
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_TRUE(absl::IsUnavailable(*heard_[1].end)) << *heard_[1].end;
  EXPECT_FALSE(heard_[1].head.has_value());
}

TEST_F(CurlTransportTest, AWriteIsNeverSentTwiceWhenAKeptAliveConnectionDies) {
  Open();
  transport_->Start(1, Write(HttpMethod::kPost, "{}"));
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Write(HttpReply("201 Created", "{}"));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  transport_->Start(2, Write(HttpMethod::kPost, "{}"));
  TakeRequest(connection);
  connection.Close();
  EXPECT_TRUE(Until([&] { return Ended(2); }));
  EXPECT_TRUE(absl::IsUnavailable(*heard_[2].end)) << *heard_[2].end;
}

TEST_F(CurlTransportTest, ARefusedConnectionIsUnavailable) {
  server_.Close();
  Open();
  transport_->Start(1, Get("/"));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_TRUE(absl::IsUnavailable(*heard_[1].end)) << *heard_[1].end;
}

TEST_F(CurlTransportTest, ARetryHasAConnectionOfItsOwn) {
  Open();
  const auto serve = [this](ServerConnection& connection, RequestId id) {
    TakeRequest(connection);
    connection.Write("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(Until([&] { return Ended(id); }));
  };
  transport_->Start(1, Get("/"));
  ServerConnection first = Accept();
  serve(first, 1);
  transport_->Start(2, Get("/"));
  serve(first, 2);  // the idle one
  HttpRequest retry = Get("/");
  retry.fresh_connection = true;
  transport_->Start(3, retry);
  ServerConnection second = Accept();
  serve(second, 3);
}

TEST_F(CurlTransportTest, HalfAReplyIsHeardWithItsHeadAndABrokenEnd) {
  Open();
  for (const char* half :
       {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789"}) {
    heard_.clear();
    transport_->Start(1, Get("/"));
    ServerConnection connection = Accept();
    TakeRequest(connection);
    connection.Write(half);
    EXPECT_TRUE(Until([&] { return heard_[1].body.size() == 10; }));
    connection.Close();
    EXPECT_TRUE(Until([&] { return Ended(1); }));
    EXPECT_EQ(heard_[1].head->status, 200);
    EXPECT_TRUE(absl::IsUnavailable(*heard_[1].end)) << *heard_[1].end;
  }
}

TEST_F(CurlTransportTest, GarbageInsteadOfHttpIsUnavailable) {
  Open();
  transport_->Start(1, Get("/"));
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Write("\x16\x03\x01 this is no HTTP\r\n\r\n");
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_FALSE(heard_[1].end->ok());
  EXPECT_FALSE(heard_[1].head.has_value());
}

TEST_F(CurlTransportTest, AStreamIsHeardAsItComes) {
  Open();
  HttpRequest watch = Get("/watch", HttpLane::kWatch);
  watch.timeout = absl::InfiniteDuration();
  transport_->Start(1, watch);
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_TRUE(Until([&] { return heard_[1].head.has_value(); }));
  for (int i = 0; i < 3; ++i) {
    const std::string line = absl::StrCat("{\"event\":", i, "}\n");
    connection.Write(absl::StrFormat("%x\r\n%s\r\n", line.size(), line));
    EXPECT_TRUE(Until([&] { return absl::EndsWith(heard_[1].body, line); }));
  }
  connection.Write("0\r\n\r\n");
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_TRUE(heard_[1].end->ok());
}

TEST_F(CurlTransportTest, AServerThatFallsSilentEndsAtTheIdleTimeoutAndNotBefore) {
  simulated_ = true;
  Open();
  HttpRequest watch = Get("/watch", HttpLane::kWatch);
  watch.timeout = absl::InfiniteDuration();
  watch.idle_timeout = absl::Seconds(150);
  transport_->Start(1, watch);
  ServerConnection connection = Accept();
  TakeRequest(connection);
  clock_.Advance(absl::Seconds(100));
  connection.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_TRUE(Until([&] { return heard_[1].head.has_value(); }));
  clock_.Advance(absl::Seconds(149));
  PollOnce();
  EXPECT_FALSE(Ended(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(*heard_[1].end)) << *heard_[1].end;
}

TEST_F(CurlTransportTest, AServerThatNeverAnswersEndsAtTheHeadTimeout) {
  simulated_ = true;
  Open();
  HttpRequest watch = Get("/watch", HttpLane::kWatch);
  watch.timeout = absl::InfiniteDuration();
  watch.idle_timeout = absl::Seconds(150);
  watch.head_timeout = absl::Seconds(20);
  transport_->Start(1, watch);
  ServerConnection connection = Accept();
  TakeRequest(connection);
  clock_.Advance(absl::Seconds(19));
  PollOnce();
  EXPECT_FALSE(Ended(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(*heard_[1].end)) << *heard_[1].end;
}

TEST_F(CurlTransportTest, WhatCameTooLateToBeSentIsNeverSent) {
  simulated_ = true;
  Open({}, {.most_writes = 1});
  HttpRequest write = Get("/first", HttpLane::kWrite);
  write.send_by = clock_.Now() + absl::Seconds(10);
  transport_->Start(1, write);
  ServerConnection connection = Accept();
  TakeRequest(connection);
  write.target = "/behind";  // waits for the first
  transport_->Start(2, write);
  PollOnce();
  clock_.Advance(absl::Seconds(60));  // as if the process had been stopped
  // The first, which has been sent, is answered at the moment at which both may go no further.
  connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(Until([&] { return Ended(1) && Ended(2); }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(*heard_[2].end)) << *heard_[2].end;
  EXPECT_EQ(transport_->counters().requests, 1u);
}

TEST_F(CurlTransportTest, ARequestThatTakesTooLongExceedsItsDeadline) {
  Open();
  HttpRequest request = Get("/");
  request.timeout = absl::Milliseconds(30);
  transport_->Start(1, request);
  ServerConnection connection = Accept();
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(*heard_[1].end)) << *heard_[1].end;
}

TEST_F(CurlTransportTest, AConsumerThatIsSlowStopsTheSocketAndLosesNothing) {
  constexpr size_t kBound = 256 << 10;
  constexpr size_t kTotal = 48 << 20;
  Open({}, {.most_undelivered = kBound});
  transport_->Start(1, Get("/", HttpLane::kList));
  ServerConnection connection = Accept();
  TakeRequest(connection);
  connection.Write(absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", kTotal, "\r\n\r\n"));
  const std::string block(1 << 20, 'x');
  size_t sent = 0;
  EXPECT_TRUE(Until([&] {
    while (sent < kTotal) {  // as much as the socket takes while nobody polls
      const size_t n = connection.Write(absl::string_view(block).substr(0, kTotal - sent));
      if (n == 0) break;
      sent += n;
    }
    return Ended(1);
  }));
  EXPECT_EQ(heard_[1].body.size(), kTotal);
  EXPECT_LE(heard_[1].largest_chunk, kBound + (128 << 10));
  EXPECT_GT(transport_->counters().pauses, 0u);
}

TEST_F(CurlTransportTest, WritesQueueBehindTheirBoundAndTheLeaseDoesNot) {
  Open({}, {.most_writes = 2});
  for (RequestId id = 1; id <= 5; ++id) transport_->Start(id, Write(HttpMethod::kPost, "{}"));
  transport_->Start(9, Get("/lease", HttpLane::kLease));
  std::vector<ServerConnection> connections;
  for (int i = 0; i < 3; ++i) connections.push_back(Accept());
  int leases = 0;
  std::vector<ServerConnection*> writes;
  for (ServerConnection& connection : connections) {
    absl::StrContains(TakeRequest(connection), "/lease") ? ++leases
                                                         : (writes.push_back(&connection), 0);
  }
  EXPECT_EQ(leases, 1);
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_FALSE(server_.Accept().open());
  for (int i = 0; i < 5; ++i) {
    ServerConnection& connection = *writes[i % 2];
    if (i >= 2) TakeRequest(connection);
    connection.Write(HttpReply("201 Created", "{}"));
  }
  EXPECT_TRUE(Until([&] { return Ended(1) && Ended(2) && Ended(3) && Ended(4) && Ended(5); }));
  EXPECT_EQ(transport_->counters().connections, 3u);
}

TEST_F(CurlTransportTest, AfterCancelNothingIsHeardAndTheConnectionIsClosed) {
  Open({}, {.most_writes = 1});
  transport_->Start(1, Get("/"));
  transport_->Start(2, Get("/queued"));
  transport_->Start(3, Get("/next"));
  ServerConnection connection = Accept();
  TakeRequest(connection);
  transport_->Cancel(2);
  transport_->Cancel(1);
  transport_->Cancel(77);
  EXPECT_TRUE(Until([&] { return connection.hung_up(); }));
  ServerConnection next = Accept();
  EXPECT_THAT(TakeRequest(next), StartsWith("GET /next"));
  next.Write(HttpReply("200 OK", ""));
  EXPECT_TRUE(Until([&] { return Ended(3); }));
  EXPECT_EQ(heard_.count(1) + heard_.count(2), 0u);
}

TEST_F(CurlTransportTest, WakeupFromAnotherThreadEndsAPoll) {
  Open();
  std::thread other([&] { transport_->Wakeup(); });
  EXPECT_TRUE(transport_->Poll(absl::Hours(1)).empty());
  other.join();
}

TEST_F(CurlTransportTest, AProxyIsUsedWhenGiven) {
  ClientConfig config;
  config.server = "http://api.example:8080/prefix";
  config.proxy_url = server_.url();
  Open(config);
  transport_->Start(1, Get("/api"));
  ServerConnection connection = Accept();
  EXPECT_THAT(TakeRequest(connection),
              StartsWith("GET http://api.example:8080/prefix/api HTTP/1.1"));
}

TEST_F(CurlTransportTest, TheProxyOfTheEnvironmentIsUsedForOtherMachinesAlone) {
  ASSERT_EQ(::setenv("http_proxy", server_.url().c_str(), 1), 0);
  ClientConfig config;
  config.server = "http://api.example:8080";
  Open(config);
  transport_->Start(1, Get("/far"));
  ServerConnection far = Accept();
  EXPECT_THAT(TakeRequest(far), StartsWith("GET http://api.example:8080/far HTTP/1.1"));
  config.server = server_.url();
  Open(config);
  transport_->Start(2, Get("/near"));
  ServerConnection near = Accept();
  EXPECT_THAT(TakeRequest(near), StartsWith("GET /near HTTP/1.1"));
  ::unsetenv("http_proxy");
}

TEST_F(CurlTransportTest, ImpersonationAndBasicCredentialsAreSent) {
  ClientConfig config;
  config.credentials.username = "u";
  config.credentials.password = Secret("p");
  config.impersonation = {
      .user = "alice", .uid = "", .groups = {"a", "b"}, .extra = {{"s/x", "v"}}};
  Open(config);
  transport_->Start(1, Get("/"));
  ServerConnection connection = Accept();
  EXPECT_THAT(
      TakeRequest(connection),
      AllOf(HasSubstr("Authorization: Basic dTpw\r\n"), HasSubstr("Impersonate-User: alice\r\n"),
            HasSubstr("Impersonate-Group: a\r\nImpersonate-Group: b\r\n"),
            HasSubstr("Impersonate-Extra-s%2Fx: v\r\n")));
}

TEST_F(CurlTransportTest, ABearerTokenIsSaidASecondTimeWhereThatIsAskedFor) {
  ClientConfig config;
  config.credentials.token = Secret("mine");
  Open(config, {.token_header = "X-Maniple-Token"});
  transport_->Start(1, Get("/"));
  ServerConnection connection = Accept();
  EXPECT_THAT(TakeRequest(connection), AllOf(HasSubstr("Authorization: Bearer mine\r\n"),
                                             HasSubstr("X-Maniple-Token: mine\r\n")));
  Open(config, {.token_header = "X-Maniple-Token"});
  transport_->ShowToken(Secret("other"));
  transport_->Start(1, Get("/"));
  ServerConnection second = Accept();
  EXPECT_THAT(TakeRequest(second), AllOf(HasSubstr("Authorization: Bearer mine\r\n"),
                                         HasSubstr("X-Maniple-Token: other\r\n")));
  Open(config);
  transport_->Start(1, Get("/"));
  ServerConnection third = Accept();
  EXPECT_THAT(TakeRequest(third), Not(HasSubstr("X-Maniple-Token")));
}

class CurlCredentialTest : public CurlTransportTest {
 protected:
  const TempFolder folder_;
};

TEST_F(CurlCredentialTest, After401TheTokenFileIsReadAgain) {
  ClientConfig config;
  config.credentials.token_file = folder_.Write("token", "old");
  Open(config);
  transport_->Start(1, Get("/"));
  ServerConnection connection = Accept();
  EXPECT_THAT(TakeRequest(connection), HasSubstr("Authorization: Bearer old\r\n"));
  folder_.Write("token", "new");
  connection.Write(HttpReply("401 Unauthorized", ""));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  transport_->Start(2, Get("/"));
  EXPECT_THAT(TakeRequest(connection), HasSubstr("Authorization: Bearer new\r\n"));
}

TEST_F(CurlCredentialTest, RequestsWaitForThePluginAndCarryWhatItPrints) {
  ClientConfig config;
  config.credentials.exec.api_version = "client.authentication.k8s.io/v1";
  config.credentials.exec.command = folder_.WriteProgram(
      "plugin",
      "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
      "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"printed\"}}'\n");
  Open(config);
  transport_->Start(1, Get("/"));
  ServerConnection connection = Accept();
  EXPECT_THAT(TakeRequest(connection), HasSubstr("Authorization: Bearer printed\r\n"));
}

TEST_F(CurlCredentialTest, WithoutACredentialARequestEndsUnauthenticated) {
  ClientConfig config;
  config.credentials.exec.command = folder_.WriteProgram("plugin", "#!/bin/sh\nexit 3\n");
  Open(config);
  transport_->Start(1, Get("/"));
  EXPECT_TRUE(Until([&] { return Ended(1); }));
  EXPECT_TRUE(absl::IsUnauthenticated(*heard_[1].end)) << *heard_[1].end;
  EXPECT_FALSE(server_.Accept().open());
}

TEST(CurlTransportCreate, AServerThatIsNoUrlIsRefused) {
  for (const char* url : {"", "nonsense", "ftp://x", "file:///etc/passwd", "http://"}) {
    ClientConfig config;
    config.server = url;
    EXPECT_FALSE(CurlTransport::Create(config, RealClock(), {}).ok()) << url;
  }
}

}  // namespace
}  // namespace maniple
