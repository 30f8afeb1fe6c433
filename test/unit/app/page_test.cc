// The page over HTTP: streams that go on, end, and are bounded; files that anybody may read;
// nothing of the cluster to who has no token.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "scheduler/app/http/http_endpoint.h"
#include "scheduler/app/http/http_surface.h"
#include "scheduler/app/http/page_streams.h"
#include "test/support/socket_client.h"
#include "test/support/tls_client.h"

namespace maniple {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

// Gives what a test hands it: a piece, none yet, or the end.
struct Script {
  std::atomic<int> given = 0, open = 0;
  std::function<std::optional<HttpStream::Piece>(int number)> piece;
};
class ScriptedStream final : public HttpStream {
 public:
  explicit ScriptedStream(Script& script) : script_(script) { ++script_.open; }
  ~ScriptedStream() override { --script_.open; }
  std::optional<Piece> Next(absl::Time) override {
    std::optional<Piece> piece = script_.piece(script_.given);
    if (piece.has_value()) ++script_.given;
    return piece;
  }

 private:
  Script& script_;
};

HttpStream::Piece Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

class StreamTest : public testing::Test {
 protected:
  void Serve(const HttpLimits& limits = {}) {
    absl::StatusOr<std::unique_ptr<HttpEndpoint>> endpoint =
        HttpEndpoint::Listen({.address = "127.0.0.1:0", .limits = limits});
    ASSERT_TRUE(endpoint.ok()) << endpoint.status();
    endpoint_ = *std::move(endpoint);
    endpoint_->Serve([this](const HttpQuestion&) {
      return HttpPage{.content_type = "text/event-stream",
                      .open_stream = [this] { return std::make_unique<ScriptedStream>(script_); }};
    });
  }
  std::unique_ptr<SocketClient> Reader(const std::string& from = "127.0.0.1") {
    auto client = std::make_unique<SocketClient>(endpoint_->port(), from);
    client->Send(kGet);
    return client;
  }

  Script script_;  // outlives the endpoint
  std::unique_ptr<HttpEndpoint> endpoint_;
};

TEST_F(StreamTest, PiecesComeAsChunksAndTheEndEndsIt) {
  script_.piece = [](int number) -> std::optional<HttpStream::Piece> {
    if (number == 0) return Text("one");
    if (number == 1) return Text("seventeen letters");
    return HttpStream::Piece();
  };
  Serve();
  EXPECT_THAT(Reader()->ReadToEnd(),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Transfer-Encoding: chunked"),
                    HasSubstr("\r\n\r\n3\r\none\r\n11\r\nseventeen letters\r\n0\r\n\r\n")));
}

TEST_F(StreamTest, ThePieceThatIsThereAfterNewsIsSent) {
  std::atomic<bool> ready = false;
  script_.piece = [&](int number) -> std::optional<HttpStream::Piece> {
    if (!ready || number > 0) return std::nullopt;
    return Text("now");
  };
  Serve();
  const auto reader = Reader();
  EXPECT_THAT(reader->ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  ready = true;
  endpoint_->Recheck();
  EXPECT_EQ(reader->ReadUntil("now\r\n"), "3\r\nnow\r\n");
}

TEST_F(StreamTest, AReaderWhoGoesIsForgottenAtOnceAlsoWhileNothingIsSent) {
  script_.piece = [](int) { return std::nullopt; };
  Serve();
  for (int i = 0; i < 3; ++i) {
    const auto reader = Reader();
    EXPECT_THAT(reader->ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  }
  Await([&] { return script_.open == 0 && endpoint_->counters().connections == 0; });
}

TEST_F(StreamTest, StreamsAreFewerThanConnectionsSoThatOthersCanAsk) {
  script_.piece = [](int) { return std::nullopt; };
  Serve({.gate = {.streams = 3, .streams_per_address = 2}});
  std::vector<std::unique_ptr<SocketClient>> readers;
  for (const char* from : {"127.0.0.2", "127.0.0.2", "127.0.0.3"}) {
    readers.push_back(Reader(from));
    EXPECT_THAT(readers.back()->ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  }
  for (const char* from : {"127.0.0.2", "127.0.0.4"}) {
    EXPECT_THAT(Reader(from)->ReadReply(),
                AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("too many streams")));
  }
  readers.erase(readers.begin());
  Await([&] { return script_.open == 2; });
  EXPECT_THAT(Reader("127.0.0.4")->ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(StreamTest, AReaderWhoReadsNothingIsClosed) {
  script_.piece = [](int) { return Text(std::string(1u << 20, 'x')); };
  Serve({.write = absl::Milliseconds(50)});
  const auto deaf = Reader();
  EXPECT_THAT(deaf->ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  Await([&] { return script_.open == 0 && endpoint_->counters().connections == 0; });
  EXPECT_LT(script_.given, 16);  // no more than the kernel has taken
}

TEST_F(StreamTest, ItEndsWithItsEndpoint) {
  script_.piece = [](int) { return std::nullopt; };
  Serve();
  const auto reader = Reader();
  EXPECT_THAT(reader->ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  endpoint_ = nullptr;
  EXPECT_EQ(script_.open, 0);
}

class PageSurfaceTest : public testing::Test {
 protected:
  void SetUp() override { Serve({.http = "127.0.0.1:0"}); }
  void Serve(const HttpSurfaceOptions& options) {
    absl::StatusOr<std::unique_ptr<HttpSurface>> surface =
        HttpSurface::Start(options, bulletin_, help_, [this] { Post(); });
    ASSERT_TRUE(surface.ok()) << surface.status();
    surface_ = *std::move(surface);
    shared_ = surface_.get();
    bulletin_.Post({}, {.synced = true, .progress = RealClock().Now()});
  }
  // What the scheduling thread does when a view is wanted: each one has a node more.
  void Post() {
    auto view = std::make_unique<ClusterView>();
    view->at = RealClock().Now();
    for (int i = 0; i <= views_; ++i) view->nodes.push_back({.name = absl::StrCat("n", i)});
    view->gangs = {{.namespace_name = "a", .name = "<b>&", .position = 1}};
    ++views_;
    bulletin_.BeginView(view->at);
    bulletin_.PostView(std::move(view));
    shared_.load()->Posted();
  }
  std::unique_ptr<SocketClient> Ask(absl::string_view path, absl::string_view headers = "") {
    auto client = std::make_unique<SocketClient>(surface_->http_port());
    client->Send(absl::StrCat("GET ", path, " HTTP/1.1\r\n", headers, "\r\n"));
    return client;
  }
  static std::string IdIn(absl::string_view text) {
    const size_t at = text.find("\nid: ") + 5;
    return std::string(text.substr(at, text.find('\n', at) - at));
  }

  Bulletin bulletin_;
  HelpDoor help_;
  std::atomic<int> views_ = 0;
  std::atomic<HttpSurface*> shared_ = nullptr;
  std::unique_ptr<HttpSurface> surface_;
};

TEST_F(PageSurfaceTest, TheIndexNamesItsFilesRelativelyAndTheyAreThere) {
  const std::string index = Ask("/")->ReadReply();
  EXPECT_THAT(index, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Type: text/html"),
                           HasSubstr("default-src 'none'"), HasSubstr("Cache-Control: no-cache")));
  for (const char* end : {".js", ".css"}) {
    const size_t stop = index.find(absl::StrCat(end, "\""));
    ASSERT_NE(stop, std::string::npos) << index;
    const size_t start = index.rfind('"', stop) + 1;
    const std::string file = index.substr(start, stop + std::string(end).size() - start);
    EXPECT_THAT(file, StartsWith("assets/"));
    const std::string plain = Ask(absl::StrCat("/", file))->ReadReply();
    EXPECT_THAT(plain, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("immutable")));
    const std::string packed =
        Ask(absl::StrCat("/", file), "Accept-Encoding: gzip\r\n")->ReadReply();
    EXPECT_THAT(packed, HasSubstr("Content-Encoding: gzip"));
    EXPECT_LT(packed.size(), plain.size());
  }
  EXPECT_EQ(views_, 0);
}

TEST_F(PageSurfaceTest, AStreamTellsAllThenWhatChangesAndGoesOnWhereItWasLeft) {
  const auto first = Ask("/stream");
  const std::string all = first->ReadUntil("\n\n");
  EXPECT_THAT(all, HasSubstr("text/event-stream"));
  const std::string event = first->ReadUntil("}\n\n");
  EXPECT_THAT(event, AllOf(HasSubstr("\"all\":true"), HasSubstr("node/n0")));
  const std::string change = first->ReadUntil("\"gone\":[]}\n\n");
  EXPECT_THAT(change, AllOf(Not(HasSubstr("\"all\"")), HasSubstr("node/n1"), Not(HasSubstr("n0"))));
  const auto second = Ask(absl::StrCat("/stream?since=", IdIn(change)));
  EXPECT_THAT(
      second->ReadUntil("}\n\n"),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("event: rows"), Not(HasSubstr("\"all\""))));
  const auto lost = Ask("/stream?since=ffff-1.1");
  EXPECT_THAT(lost->ReadUntil("}\n\n"), HasSubstr("\"all\":true"));
}

// The fear: what an operator looks at is old, and nothing on the page says why.
TEST_F(PageSurfaceTest, ASilentApiServerIsNamed) {
  bulletin_.PostProblems({"Pod: connection refused"});
  EXPECT_THAT(Ask("/stream")->ReadUntil("}\n\n"),
              HasSubstr("\"problems\":[\"Pod: connection refused\"]"));
}

// One that takes the scheduling thread a second serves for twenty more.
TEST_F(PageSurfaceTest, AViewThatIsDearServesForLonger) {
  const auto post = [this](absl::Duration ago) {
    auto view = std::make_unique<ClusterView>();
    view->gangs = {{.namespace_name = "a", .name = "old", .position = 1}};
    bulletin_.BeginView(RealClock().Now() - ago);
    bulletin_.PostView(std::move(view));
  };
  bulletin_.NoteViewCost(absl::Seconds(1));
  post(absl::Seconds(10));
  EXPECT_THAT(Ask("/tables")->ReadReply(), HasSubstr("a/old"));
  EXPECT_EQ(views_, 0);
  post(absl::Seconds(30));
  EXPECT_THAT(Ask("/tables")->ReadReply(),
              AllOf(StartsWith("HTTP/1.1 200"), Not(HasSubstr("a/old"))));
  EXPECT_EQ(views_, 1);
}

TEST_F(PageSurfaceTest, TablesNeedNoScript) {
  EXPECT_THAT(Ask("/tables")->ReadReply(),
              AllOf(HasSubstr("text/html"), HasSubstr("a/&lt;b&gt;&amp;"), HasSubstr("<table")));
  EXPECT_THAT(Ask("/tables?namespace=other")->ReadReply(),
              AllOf(StartsWith("HTTP/1.1 200"), Not(HasSubstr("&lt;b&gt;"))));
}

TEST_F(PageSurfaceTest, TheLogTellsOfTheNamespaceThatIsAskedForAndMakesNoView) {
  bulletin_.NoteDecisions({{.at = absl::FromUnixSeconds(5),
                            .what = "place",
                            .gang = {.namespace_name = "a", .name = "g"},
                            .rest = " quorum: g-0=n1",
                            .steps = 7},
                           {.at = absl::FromUnixSeconds(6),
                            .what = "bound",
                            .gang = {.namespace_name = "b", .name = "g"}}});
  EXPECT_THAT(Ask("/log?namespace=a&name=g")->ReadReply(),
              AllOf(HasSubstr("\"what\":\"place\""), HasSubstr("\"text\":\"quorum: g-0=n1\""),
                    HasSubstr("\"steps\":\"7\""), Not(HasSubstr("bound"))));
  EXPECT_THAT(Ask("/log")->ReadReply(), AllOf(HasSubstr("place"), HasSubstr("bound")));
  EXPECT_THAT(Ask("/log?namespace=c")->ReadReply(), HasSubstr("{\"items\":[]}"));
  EXPECT_EQ(views_, 0);
}

TEST_F(PageSurfaceTest, BeyondThisMachineTheProgramIsOpenAndTheRowsAreNot) {
  Serve({.http = "0.0.0.0:0",
         .tls = {.self_signed = true},
         .api_server = {.server = "http://127.0.0.1:1"}});
  const uint16_t port = surface_->http_port();
  EXPECT_THAT(AskOverTls(port, TLS1_3_VERSION, "/"), StartsWith("HTTP/1.1 200"));
  for (const char* path : {"/stream", "/tables", "/log", "/stream?namespace=a"}) {
    EXPECT_THAT(AskOverTls(port, TLS1_3_VERSION, path), StartsWith("HTTP/1.1 401")) << path;
  }
  EXPECT_EQ(views_, 0);
}

// The fear: the page goes on showing what a replica knows that leads no more: nothing waits.
TEST(PageStreams, EndWhenTheLeadIsWonOrLostSoThatThePageLooksForWhoLeads) {
  ClusterView view;
  PageStreams streams([&](absl::Time) { return std::make_shared<const ClusterView>(view); },
                      [] { return std::vector<std::string>(); }, "p");
  for (const bool leads_at_first : {true, false}) {
    view.leader = leads_at_first;
    const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
    const std::unique_ptr<HttpStream> stream =
        streams.Open({}, "", now, absl::Hours(1)).open_stream();
    ASSERT_THAT(stream->Next(now), testing::Optional(Not(nullptr)));
    view.leader = !leads_at_first;
    const std::optional<HttpStream::Piece> last = stream->Next(now + absl::Seconds(1));
    ASSERT_TRUE(last.has_value() && *last != nullptr);
    EXPECT_THAT(**last, StartsWith("event: end"));
    EXPECT_THAT(stream->Next(now + absl::Seconds(2)), testing::Optional(HttpStream::Piece()));
  }
}

}  // namespace
}  // namespace maniple
