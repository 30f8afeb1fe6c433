// The HTTP listeners as others meet them: bounded in places and bytes, and a probe that waits for
// nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "scheduler/app/http/http_endpoint.h"
#include "scheduler/app/http/http_gate.h"
#include "scheduler/app/http/http_surface.h"
#include "scheduler/app/http/tls_context.h"
#include "test/support/socket_client.h"
#include "test/support/temp_folder.h"
#include "test/support/tls_client.h"
#include "test/support/tls_server.h"

namespace maniple {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

std::shared_ptr<const std::string> Body(size_t bytes) {
  return std::make_shared<const std::string>(bytes, 'x');
}

TEST(HttpGate, BoundsTheConnectionsOfAnAddressAndOfAll) {
  HttpGate gate({.connections = 3, .per_address = 2});
  EXPECT_EQ(gate.Enter("a"), HttpGate::Entry::kOpen);
  EXPECT_EQ(gate.Enter("a"), HttpGate::Entry::kOpen);
  EXPECT_EQ(gate.Enter("a"), HttpGate::Entry::kAddressFull);
  EXPECT_EQ(gate.Enter("b"), HttpGate::Entry::kOpen);
  EXPECT_EQ(gate.Enter("c"), HttpGate::Entry::kFull);
  gate.Leave("a");
  EXPECT_EQ(gate.Enter("c"), HttpGate::Entry::kOpen);
  EXPECT_EQ(gate.counters().connections, 3);
}

TEST(HttpGate, CountsAPageOnceHoweverManyReadIt) {
  HttpGate gate({.bytes_in_flight = 1'000'000});
  const auto page = Body(900'000), other = Body(200'000);
  EXPECT_TRUE(gate.Take(page));
  EXPECT_TRUE(gate.Take(page));
  EXPECT_FALSE(gate.Take(other));
  gate.Return(page);
  EXPECT_FALSE(gate.Take(other));
  gate.Return(page);
  EXPECT_TRUE(gate.Take(other));
  EXPECT_EQ(gate.counters().pages_refused, 2);
}

TEST(HttpGate, ServesAPageLargerThanTheBoundToWhoIsAloneAndSmallOnesAlways) {
  HttpGate gate({.bytes_in_flight = 1'000'000});
  const auto huge = Body(5'000'000);
  EXPECT_TRUE(gate.Take(huge));
  EXPECT_TRUE(gate.Take(Body(100)));
  EXPECT_FALSE(gate.Take(Body(20'000)));
  gate.Return(huge);
}

class HttpEndpointTest : public testing::Test {
 protected:
  void Serve(HttpLimits limits, HttpEndpoint::Handler handler, const TlsFiles& tls = {}) {
    absl::StatusOr<std::unique_ptr<HttpEndpoint>> endpoint =
        HttpEndpoint::Listen({.address = "127.0.0.1:0", .limits = limits, .tls = tls});
    ASSERT_TRUE(endpoint.ok()) << endpoint.status();
    endpoint_ = *std::move(endpoint);
    endpoint_->Serve(std::move(handler));
  }
  std::unique_ptr<SocketClient> Client(const std::string& from = "127.0.0.1") {
    return std::make_unique<SocketClient>(endpoint_->port(), from);
  }
  static HttpPage Hello(const HttpQuestion&) { return TextPage(200, "hello"); }

  std::unique_ptr<HttpEndpoint> endpoint_;
};

TEST_F(HttpEndpointTest, AnAddressWithTooManyConnectionsIsToldSoAndOthersAreServed) {
  Serve({.gate = {.per_address = 2}}, Hello);
  const auto first = Client("127.0.0.2"), second = Client("127.0.0.2");
  first->Send(kGet);
  second->Send(kGet);
  EXPECT_THAT(first->ReadReply(), HasSubstr("hello"));
  EXPECT_THAT(second->ReadReply(), HasSubstr("hello"));
  EXPECT_THAT(Client("127.0.0.2")->ReadToEnd(),
              AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("too many connections")));
  const auto other = Client("127.0.0.3");
  other->Send(kGet);
  EXPECT_THAT(other->ReadReply(), HasSubstr("hello"));
  EXPECT_EQ(endpoint_->counters().connections_refused, 1);
}

TEST_F(HttpEndpointTest, WhoStandsIdleLongestMakesRoomForTheNext) {
  Serve({.gate = {.connections = 2, .per_address = 8}}, Hello);
  const auto oldest = Client("127.0.0.2");
  oldest->Send(kGet);
  EXPECT_THAT(oldest->ReadReply(), HasSubstr("hello"));
  const auto other = Client("127.0.0.3");
  other->Send(kGet);
  EXPECT_THAT(other->ReadReply(), HasSubstr("hello"));
  const auto newcomer = Client("127.0.0.4");
  newcomer->Send(kGet);
  EXPECT_THAT(newcomer->ReadReply(), HasSubstr("hello"));
  EXPECT_EQ(oldest->ReadToEnd(), "");
  other->Send(kGet);
  EXPECT_THAT(other->ReadReply(), HasSubstr("hello"));
  EXPECT_EQ(endpoint_->counters().connections_displaced, 1);
}

TEST_F(HttpEndpointTest, PagesThatNobodyReadsAreBoundedInSum) {
  constexpr size_t kPage = 16u << 20;  // more than the kernel takes
  Serve({.gate = {.bytes_in_flight = 2 * kPage}},
        [](const HttpQuestion&) { return HttpPage{.body = Body(kPage)}; });
  std::vector<std::unique_ptr<SocketClient>> silent;
  for (int i = 0; i < 2; ++i) {
    silent.push_back(Client());
    silent.back()->Send(kGet);
    EXPECT_THAT(silent.back()->ReadUntil("\r\n\r\n"), HasSubstr("200 OK"));
  }
  const auto third = Client();
  third->Send(kGet);
  EXPECT_THAT(third->ReadReply(), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("Retry-After")));
  silent.clear();
  Await([&] { return endpoint_->counters().connections == 1; });
  third->Send(kGet);
  EXPECT_THAT(third->ReadUntil("\r\n\r\n"), HasSubstr("200 OK"));
}

TEST_F(HttpEndpointTest, WhoSaysNothingOrReadsNothingIsClosed) {
  std::atomic<bool> asked = false;
  Serve({.request = absl::Milliseconds(50), .write = absl::Milliseconds(50)},
        [&](const HttpQuestion&) {
          asked = true;
          return HttpPage{.body = Body(16u << 20)};
        });
  const auto half = Client();
  half->Send("GET / HTT");
  EXPECT_EQ(half->ReadToEnd(), "");
  const auto deaf = Client();
  deaf->Send(kGet);
  Await([&] { return asked.load(); });  // before that nobody is connected either
  Await([&] { return endpoint_->counters().connections == 0; });
  EXPECT_LT(deaf->ReadToEnd().size(), 16u << 20);
}

// The fear: a large answer never arrives over a slow line, and a page connects again for ever.
TEST_F(HttpEndpointTest, WhoReadsSlowlyGetsTheWholeAnswer) {
  const size_t bytes = 24u << 20;  // more than the kernel takes at once
  Serve({.write = absl::Seconds(1)},
        [&](const HttpQuestion&) { return HttpPage{.body = Body(bytes)}; });
  const auto slow = Client();
  slow->Send(kGet);
  std::vector<char> piece(bytes / 16);
  size_t read = 0;
  for (auto next = std::chrono::steady_clock::now();; next += std::chrono::milliseconds(120)) {
    Await([&] { return std::chrono::steady_clock::now() >= next; });
    const ssize_t got = recv(slow->descriptor(), piece.data(), piece.size(), MSG_WAITALL);
    if (got <= 0) break;
    read += static_cast<size_t>(got);
    if (read >= bytes) break;
  }
  EXPECT_GE(read, bytes);
}

TEST_F(HttpEndpointTest, WhatHasNoAnswerYetIsAskedAgainWhenThereIsNews) {
  std::atomic<int> asked = 0;
  std::atomic<bool> ready = false;
  Serve({}, [&](const HttpQuestion&) -> std::optional<HttpPage> {
    ++asked;
    if (!ready) return std::nullopt;
    return TextPage(200, "now");
  });
  const auto client = Client();
  client->Send(kGet);
  Await([&] { return asked == 1; });
  ready = true;
  endpoint_->Recheck();
  EXPECT_THAT(client->ReadReply(), HasSubstr("now"));
  EXPECT_EQ(asked, 2);
}

TEST_F(HttpEndpointTest, WhatGetsNoAnswerIsToldSo) {
  Serve({.answer = absl::Milliseconds(20)},
        [](const HttpQuestion&) -> std::optional<HttpPage> { return std::nullopt; });
  const auto client = Client();
  client->Send(kGet);
  EXPECT_THAT(client->ReadReply(),
              AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("did not answer in time")));
}

TEST_F(HttpEndpointTest, WithoutDescriptorsItPausesInsteadOfSpinning) {
  Serve({}, Hello);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto client = Client();  // its descriptor is there already
  client->Send(kGet);
  EXPECT_THAT(client->ReadReply(), HasSubstr("hello"));
  const int waiting = socket(AF_INET, SOCK_STREAM, 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(waiting) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint_->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(waiting, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  Await([&] { return endpoint_->counters().accept_pauses >= 2; });
  // Those who are inside are served meanwhile, and nothing was tried in between.
  client->Send(kGet);
  EXPECT_THAT(client->ReadReply(), HasSubstr("hello"));
  EXPECT_LE(endpoint_->counters().accept_pauses, 50);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  Await([&] { return endpoint_->counters().connections == 2; });
  close(waiting);
}

// The fear: who says too much is reset before it has read why, and what Beast only asserts is sent
// by whoever reaches the port.
TEST_F(HttpEndpointTest, WhoAsksWhatIsNotServedIsToldWhyAndOthersAreServed) {
  Serve({}, Hello);
  const std::string much(100'000, 'x');
  for (const auto& [request, status, why] : std::vector<std::array<std::string, 3>>{
           {"POST / HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "405",
            "Allow: GET, HEAD"},
           {absl::StrCat("GET / HTTP/1.1\r\nX: ", much, "\r\n\r\n"), "431", "16384 bytes"},
           {absl::StrCat("GET /", much, " HTTP/1.1\r\n\r\n"), "431", "16384 bytes"},
           {absl::StrCat("GET / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n", much), "413",
            "4096 bytes"},
           {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "411", "length"},
           {"nobody knows\r\n\r\n", "400", "no request of HTTP"}}) {
    const auto client = Client();
    client->Send(request);
    EXPECT_THAT(client->ReadToEnd(), AllOf(StartsWith("HTTP/1.1 " + status), HasSubstr(why),
                                           HasSubstr("Connection: close")))
        << request.substr(0, 100);
    const auto other = Client();
    other->Send(kGet);
    EXPECT_THAT(other->ReadReply(), HasSubstr("hello"));
  }
}

// The fear: a refusal keeps a place for who talks on and on.
TEST_F(HttpEndpointTest, WhoWasRefusedIsNotListenedToForEver) {
  Serve({.request = absl::Milliseconds(50)}, Hello);
  const auto client = Client();
  client->Send(absl::StrCat("GET / HTTP/1.1\r\nX: ", std::string(20'000, 'x')));
  EXPECT_THAT(client->ReadToEnd(), StartsWith("HTTP/1.1 431"));
  Await([&] { return endpoint_->counters().connections == 0; });
}

TEST_F(HttpEndpointTest, TakesTheTokenOfEitherHeader) {
  Serve({}, [](const HttpQuestion& question) { return TextPage(200, question.token.Reveal()); });
  for (const auto& [header, token] :
       std::vector<std::pair<std::string, std::string>>{{"Authorization: Bearer abc", "abc"},
                                                        {"authorization: bearer  abc", "abc"},
                                                        {"Authorization: Basic abc", ""},
                                                        {"X-Maniple-Token: xyz", "xyz"}}) {
    const auto client = Client();
    client->Send(absl::StrCat("GET / HTTP/1.1\r\n", header, "\r\n\r\n"));
    EXPECT_THAT(client->ReadReply(), testing::EndsWith("\r\n\r\n" + token)) << header;
  }
}

std::string NameOf(const X509* certificate) {
  char name[64] = "nobody";
  ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof name);
  return name;
}

TEST_F(HttpEndpointTest, SpeaksTlsOfVersion12AndLaterAndNothingElse) {
  Serve({}, Hello, {.self_signed = true});
  EXPECT_THAT(AskOverTls(endpoint_->port(), TLS1_3_VERSION), HasSubstr("hello"));
  EXPECT_THAT(AskOverTls(endpoint_->port(), TLS1_2_VERSION), HasSubstr("hello"));
  EXPECT_EQ(AskOverTls(endpoint_->port(), TLS1_1_VERSION), "");
  const auto plain = Client();
  plain->Send(kGet);
  EXPECT_THAT(plain->ReadToEnd(), Not(HasSubstr("hello")));
}

// A pod may have an address of IPv6 alone, at which its kubelet asks.
TEST(HttpEndpoint, WithoutAHostItIsReachedByBothFamilies) {
  const auto endpoint = HttpEndpoint::Listen({.address = ":0"});
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const SocketClient by_ipv4((*endpoint)->port());  // expects that it is connected
  const int by_ipv6 = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  if (by_ipv6 < 0 || bind(by_ipv6, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    GTEST_SKIP() << "no IPv6 here";
  }
  address.sin6_port = htons((*endpoint)->port());
  EXPECT_EQ(connect(by_ipv6, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(by_ipv6);
}

TEST(TlsContext, ReadsItsFilesAgainWhenTheyChangeAndKeepsTheLastGoodOnes) {
  const TempFolder folder;
  const TestCertificate first("first", "", nullptr), second("second", "", nullptr);
  const TlsFiles files{.certificate = folder.Write("tls.crt", first.pem()),
                       .key = folder.Write("tls.key", first.key_pem())};
  const auto tls = TlsContext::Load(files);
  ASSERT_TRUE(tls.ok()) << tls.status();
  absl::Time now = absl::UnixEpoch();
  const auto name = [&] {
    now += absl::Seconds(1);
    return NameOf(::SSL_CTX_get0_certificate((*tls)->Current(now).native_handle()));
  };
  EXPECT_EQ(name(), "first");
  folder.Write("tls.crt", second.pem());  // the key is still that of the first
  EXPECT_EQ(name(), "first");
  folder.Write("tls.key", second.key_pem());
  EXPECT_EQ(name(), "second");
  folder.Write("tls.crt", "");
  EXPECT_EQ(name(), "second");
}

class HttpSurfaceTest : public testing::Test {
 protected:
  void SetUp() override { Serve({.http = "127.0.0.1:0", .health = "127.0.0.1:0"}); }
  void Serve(const HttpSurfaceOptions& options) {
    absl::StatusOr<std::unique_ptr<HttpSurface>> surface =
        HttpSurface::Start(options, bulletin_, help_, [this] {
          ++wakes_;
          if (answers_) Post();
        });
    ASSERT_TRUE(surface.ok()) << surface.status();
    surface_ = *std::move(surface);
    shared_ = surface_.get();
    bulletin_.Post({}, {.synced = true, .progress = RealClock().Now()});
  }
  // What the scheduling thread does when a view is wanted.
  void Post() {
    bulletin_.BeginView(RealClock().Now());
    bulletin_.PostView(std::make_unique<ClusterView>());
    shared_.load()->Posted();
  }
  static std::string Page(uint16_t port, absl::string_view path) {
    SocketClient client(port);
    client.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nConnection: close\r\n\r\n"));
    return client.ReadToEnd();
  }

  Bulletin bulletin_;
  HelpDoor help_;
  std::atomic<bool> answers_ = true;
  std::atomic<int> wakes_ = 0;
  std::atomic<HttpSurface*> shared_ = nullptr;
  std::unique_ptr<HttpSurface> surface_;
};

TEST_F(HttpSurfaceTest, AProbeNeverMakesAView) {
  for (const uint16_t port : {surface_->http_port(), surface_->health_port()}) {
    for (const char* path : {"/livez", "/healthz", "/readyz", "/metrics"}) {
      EXPECT_THAT(Page(port, path), StartsWith("HTTP/1.1 200")) << path;
    }
  }
  EXPECT_THAT(Page(surface_->health_port(), "/gangs"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Page(surface_->http_port(), "/secret"), StartsWith("HTTP/1.1 404"));
  EXPECT_FALSE(bulletin_.ViewWanted());
  EXPECT_EQ(wakes_, 0);
}

TEST_F(HttpSurfaceTest, ProbesAreAnsweredWhileEveryPlaceForReadersIsTaken) {
  answers_ = false;
  std::vector<std::unique_ptr<SocketClient>> readers;
  for (int i = 0; i < 64; ++i) {
    readers.push_back(
        std::make_unique<SocketClient>(surface_->http_port(), absl::StrCat("127.0.1.", 1 + i / 8)));
    readers.back()->Send("GET /gangs HTTP/1.1\r\n\r\n");
  }
  EXPECT_THAT(Page(surface_->health_port(), "/livez"), HasSubstr("ok"));
  EXPECT_THAT(Page(surface_->health_port(), "/metrics"),
              HasSubstr("maniple_http_connections{listener=\"http\"}"));
}

TEST_F(HttpSurfaceTest, BeyondThisMachineItShowsHealthAndAsksForATokenForTheRest) {
  Serve({.http = "0.0.0.0:0",
         .health = "0.0.0.0:0",
         .tls = {.self_signed = true},
         .api_server = {.server = "http://127.0.0.1:1"}});
  for (const uint16_t port : {surface_->http_port(), surface_->health_port()}) {
    EXPECT_THAT(AskOverTls(port, TLS1_3_VERSION, "/livez"), StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(AskOverTls(port, TLS1_3_VERSION, "/metrics"),
                AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("WWW-Authenticate: Bearer")));
  }
  for (const char* path : {"/gangs", "/explain?name=x", "/nodes", "/queues"}) {
    EXPECT_THAT(AskOverTls(surface_->http_port(), TLS1_3_VERSION, path), StartsWith("HTTP/1.1 401"))
        << path;
  }
  EXPECT_EQ(wakes_, 0);
}

TEST_F(HttpSurfaceTest, WithoutTlsAndBeyondThisMachineProbesAreAnsweredAndMetricsAreNot) {
  Serve({.health = "0.0.0.0:0"});
  EXPECT_THAT(Page(surface_->health_port(), "/readyz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Page(surface_->health_port(), "/metrics"), StartsWith("HTTP/1.1 403"));
  Serve({.http = "0.0.0.0:0", .health = "0.0.0.0:0", .insecure = true});
  EXPECT_THAT(Page(surface_->health_port(), "/metrics"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Page(surface_->http_port(), "/gangs"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpSurfaceTest, AllWhoAskWithinASecondShareOneView) {
  for (int i = 0; i < 20; ++i) {
    for (const char* path : {"/gangs", "/nodes", "/queues", "/gangs?namespace=a"}) {
      EXPECT_THAT(Page(surface_->http_port(), path), StartsWith("HTTP/1.1 200"));
    }
  }
  EXPECT_LT(wakes_, 20);
}

std::optional<HelpPtr> NoHelp(const GangKey&, absl::Time) { return HelpPtr(); }
UsagePointPtr NothingUsed(absl::Time) { return nullptr; }

TEST_F(HttpSurfaceTest, OnThisMachineItIsCalledByNoOtherName) {
  for (const auto& [host, status] :
       {std::pair{"evil.example:80", "403"}, std::pair{"evil.example", "403"},
        std::pair{"localhost:1", "200"}, std::pair{"127.0.0.1", "200"},
        std::pair{"[::1]:8080", "200"}, std::pair{"[::1]", "200"}}) {
    SocketClient client(surface_->http_port());
    client.Send(
        absl::StrCat("GET /metrics HTTP/1.1\r\nHost: ", host, "\r\nConnection: close\r\n\r\n"));
    EXPECT_THAT(client.ReadToEnd(), StartsWith(absl::StrCat("HTTP/1.1 ", status))) << host;
  }
}

TEST_F(HttpSurfaceTest, AHeadTellsTheLengthOfThePage) {
  SocketClient client(surface_->http_port());
  client.Send("HEAD /livez HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("Content-Length: 3\r\n"));
}

TEST(ViewPages, MakeAListOncePerView) {
  auto view = std::make_shared<const ClusterView>();
  ViewPages pages([&](absl::Time) { return view; }, NoHelp, NothingUsed);
  const AdminQuestion nodes{.path = "/nodes"}, tricky{.path = "/nodes", .namespace_name = "x"};
  const auto first = pages.Answer(nodes, absl::UnixEpoch(), true)->body;
  EXPECT_EQ(pages.Answer(tricky, absl::UnixEpoch(), true)->body, first);
  view = std::make_shared<const ClusterView>();
  EXPECT_NE(pages.Answer(nodes, absl::UnixEpoch(), true)->body, first);
}

TEST(ViewPages, UsageSinceATimeNeedsAMemory) {
  ViewPages pages([](absl::Time) { return std::make_shared<const ClusterView>(); }, NoHelp,
                  NothingUsed);
  const AdminQuestion since = ParseAdminTarget("/usage?since=2023-11-14T22:13:20Z");
  EXPECT_EQ(pages.Answer(since, absl::UnixEpoch(), true)->status, 503);
}

TEST(ViewPages, ExplainWaitsForWhatWouldHelpAndNamesGangsOfOthersToWhoSeesAll) {
  auto view = std::make_shared<ClusterView>();
  for (const char* stage : {"nodes", ""}) {
    GangView& gang = view->gangs.emplace_back();
    gang.namespace_name = "a";
    gang.name = *stage == 0 ? "runs" : "waits";
    gang.stage = stage;
    gang.message = "it comes after a gang of another namespace, which waits";
    gang.unnamed = "secret/head";
  }
  HelpDoor door;
  ViewPages pages([&](absl::Time) { return view; },
                  [&](const GangKey& gang, absl::Time least) { return door.Look(gang, least); },
                  NothingUsed);
  const absl::Time asked = absl::FromUnixSeconds(1000);
  EXPECT_TRUE(
      pages.Answer(ParseAdminTarget("/explain?namespace=a&name=runs"), asked, true).has_value());
  const AdminQuestion waits = ParseAdminTarget("/explain?namespace=a&name=waits");
  EXPECT_FALSE(pages.Answer(waits, asked, true).has_value());
  const GangKey gang = *door.Wanted();
  EXPECT_EQ(gang.name, "waits");
  Help help;
  const absl::Time end = absl::FromUnixSeconds(1'800'000'000);
  help.entries = {{.changes = {GangGone{.gang = "a/mine", .expected = end}}},
                  {.changes = {GangGone{.gang = "secret/plan", .expected = end}}}};
  door.Post(gang, std::make_shared<const Help>(std::move(help)), asked);
  const std::string page = *pages.Answer(waits, asked, false)->body;
  EXPECT_THAT(page, HasSubstr("the end of a/mine, expected at 2027-01-15 08:00:00 UTC\""));
  EXPECT_THAT(page, HasSubstr("the end of a gang of another namespace\""));
  EXPECT_THAT(page, testing::Not(HasSubstr("secret")));
  const std::string whole = *pages.Answer(waits, asked, true)->body;
  EXPECT_THAT(whole, HasSubstr("the end of secret/plan"));
  EXPECT_THAT(whole, HasSubstr("it comes after secret/head, which waits"));
  EXPECT_THAT(*pages.Answer(ParseAdminTarget("/gangs?namespace=a"), asked, true)->body,
              testing::Not(HasSubstr("secret")));
}

TEST(ViewPages, AViewThatCameAfterTheQuestionServesHoweverLateItIsLookedAt) {
  Bulletin bulletin;
  const absl::Time asked = absl::FromUnixSeconds(1000);
  ViewPages pages([&](absl::Time least) { return bulletin.ViewSince(least); }, NoHelp, NothingUsed);
  bulletin.BeginView(asked - absl::Seconds(5));
  bulletin.PostView(std::make_unique<ClusterView>());
  EXPECT_FALSE(pages.Answer({.path = "/nodes"}, asked, true).has_value());
  EXPECT_TRUE(bulletin.ViewWanted());
  bulletin.BeginView(asked + absl::Minutes(1));
  bulletin.PostView(std::make_unique<ClusterView>());
  EXPECT_TRUE(pages.Answer({.path = "/nodes"}, asked, true).has_value());
}

TEST(ProbePage, FailsWhenTheSchedulingThreadEndsNoTurn) {
  const absl::Time turn = absl::FromUnixSeconds(1000);
  const Bulletin::Health health{
      .progress = turn,
      .at = {.kind = ResourceKind::kPod, .namespace_name = "team", .name = "a-0"}};
  EXPECT_EQ(ProbePage("/livez", health, turn + absl::Seconds(59))->status, 200);
  const HttpPage stalled = *ProbePage("/livez", health, turn + absl::Seconds(61));
  EXPECT_EQ(stalled.status, 500);
  EXPECT_THAT(*stalled.body,
              HasSubstr("ended no turn for 1m1s; the last object that it read is Pod team/a-0"));
}

}  // namespace
}  // namespace maniple
