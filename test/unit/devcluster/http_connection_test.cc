#include "api/devcluster/shell/http_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maniple::devcluster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr absl::Time kStart = absl::UnixEpoch();

// Answers every request with its own target, and targets with "watch" by a stream.
class EchoHost final : public ConnectionHost {
 public:
  ApiReply Answer(const ApiRequest& request, HttpConnection&) override {
    seen.push_back(request);
    ApiReply reply;
    if (request.target.find("watch") != std::string::npos) {
      reply.watch = WatchId(7);
    } else {
      reply.content_type = "text/plain";
      reply.body = request.target;
    }
    return reply;
  }
  std::optional<std::string> Authenticate(absl::string_view authorization) override {
    if (token.empty()) return "admin";
    if (authorization == "Bearer " + token) return "tester";
    return std::nullopt;
  }
  void WatchLeft(WatchId watch) override { left.push_back(watch); }

  std::vector<ApiRequest> seen;
  std::vector<WatchId> left;
  std::string token;
};

class HttpConnectionTest : public testing::Test {
 protected:
  // Everything the connection has to say, taken as a client would.
  std::string Take() {
    std::string out;
    while (!connection_.Unsent().empty()) {
      out += std::string(connection_.Unsent());
      connection_.Sent(connection_.Unsent().size(), kStart);
    }
    return out;
  }
  std::string Say(absl::string_view bytes) {
    connection_.Received(bytes, kStart);
    return Take();
  }

  EchoHost host_;
  HttpLimits limits_ = {
      .most_head_bytes = 2000, .most_body_bytes = 1000, .most_watch_backlog = 5000};
  HttpConnection connection_{host_, limits_};
};

TEST_F(HttpConnectionTest, ARequestIsAnsweredAndTheConnectionStays) {
  EXPECT_THAT(Say("GET /a HTTP/1.1\r\nHost: x\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Length: 2\r\n"),
                    EndsWith("\r\n\r\n/a")));
  EXPECT_EQ(connection_.fate(), HttpConnection::Fate::kOpen);
  EXPECT_EQ(connection_.deadline(), absl::InfiniteFuture());
  EXPECT_THAT(Say("GET /b HTTP/1.1\r\nHost: x\r\n\r\n"), EndsWith("/b"));
}

TEST_F(HttpConnectionTest, ABodyMayComeByteByByte) {
  const std::string request =
      "POST /p HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
      "5\r\n\r\nhello";
  std::string reply;
  for (const char c : request) reply += Say(std::string(1, c));
  EXPECT_THAT(reply, EndsWith("/p"));
  ASSERT_THAT(host_.seen, SizeIs(1));
  EXPECT_EQ(host_.seen[0].body, "hello");
  EXPECT_EQ(host_.seen[0].content_type, "application/json");
}

TEST_F(HttpConnectionTest, AChunkedBodyIsPutTogether) {
  Say("POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_THAT(host_.seen, SizeIs(1));
  EXPECT_EQ(host_.seen[0].body, "abcde");
}

TEST_F(HttpConnectionTest, PipelinedRequestsAreAnsweredInOrderEachAfterThePreviousReplyIsSent) {
  connection_.Received(
      "GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nContent-Length: 2\r\n\r\nxyGET /3 "
      "HTTP/1.1\r\n\r\n",
      kStart);
  EXPECT_THAT(host_.seen, SizeIs(1));
  const std::string all = Take();
  EXPECT_THAT(host_.seen, SizeIs(3));
  EXPECT_LT(all.find("/1"), all.find("/2"));
  EXPECT_LT(all.find("/2"), all.find("/3"));
  EXPECT_EQ(host_.seen[1].body, "xy");
}

TEST_F(HttpConnectionTest, AWatchIsChunkedAndTheNextRequestFollowsItsEnd) {
  connection_.Received("GET /watch HTTP/1.1\r\n\r\nGET /after HTTP/1.1\r\n\r\n", kStart);
  EXPECT_THAT(Take(), HasSubstr("Transfer-Encoding: chunked"));
  connection_.Deliver({.bytes = "{\"a\":1}\n", .ended = false}, kStart);
  EXPECT_EQ(Take(), "8\r\n{\"a\":1}\n\r\n");
  EXPECT_THAT(host_.seen, SizeIs(1));
  connection_.Deliver({.bytes = "", .ended = true}, kStart);
  EXPECT_THAT(Take(), AllOf(StartsWith("0\r\n\r\nHTTP/1.1 200 OK"), EndsWith("/after")));
  connection_.Close();
  EXPECT_THAT(host_.left, IsEmpty());
}

TEST_F(HttpConnectionTest, EventsThatComeWhileTheClientIsBusyAreSentTogether) {
  Say("GET /watch HTTP/1.1\r\n\r\n");
  connection_.Deliver({.bytes = "one\n", .ended = false}, kStart);
  connection_.Deliver({.bytes = "two\n", .ended = false}, kStart);
  connection_.Deliver({.bytes = "three\n", .ended = false}, kStart);
  connection_.Sent(connection_.Unsent().size(), kStart);
  EXPECT_THAT(std::string(connection_.Unsent()), AllOf(HasSubstr("two"), HasSubstr("three")));
}

TEST_F(HttpConnectionTest, AWatchThatIsNotDrainedIsClosedAtItsBound) {
  Say("GET /watch HTTP/1.1\r\n\r\n");
  for (int i = 0; i < 12; ++i) {
    connection_.Deliver({.bytes = std::string(600, 'x'), .ended = false}, kStart);
  }
  EXPECT_EQ(connection_.fate(), HttpConnection::Fate::kClosed);
  EXPECT_THAT(host_.left, ElementsAre(WatchId(7)));
}

TEST_F(HttpConnectionTest, AClientThatLeavesDuringAWatchIsReportedOnce) {
  Say("GET /watch HTTP/1.1\r\n\r\n");
  connection_.Close();
  connection_.Close();
  EXPECT_THAT(host_.left, ElementsAre(WatchId(7)));
}

TEST_F(HttpConnectionTest, ATooLargeBodyIs413WithoutReadingIt) {
  EXPECT_THAT(Say("POST /p HTTP/1.1\r\nContent-Length: 1001\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("RequestEntityTooLarge"),
                    HasSubstr("limit is 1000")));
  EXPECT_EQ(connection_.fate(), HttpConnection::Fate::kDraining);
  EXPECT_THAT(host_.seen, IsEmpty());
}

TEST_F(HttpConnectionTest, AChunkedBodyIsLimitedToo) {
  std::string request = "POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  absl::StrAppend(&request, "7d0\r\n", std::string(2000, 'x'), "\r\n0\r\n\r\n");
  EXPECT_THAT(Say(request), StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpConnectionTest, ATooLargeHeadIs431) {
  EXPECT_THAT(Say(absl::StrCat("GET / HTTP/1.1\r\nX: ", std::string(3000, 'x'))),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_EQ(connection_.fate(), HttpConnection::Fate::kDraining);
}

// The request line counts too, also when it has been read already.
TEST_F(HttpConnectionTest, AHeadThatIsTooLargeInPiecesIs431) {
  EXPECT_EQ(Say("GET /api HTTP/1.1\r\n"), "");
  EXPECT_THAT(Say(absl::StrCat("X: ", std::string(1990, 'x'))), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpConnectionTest, GarbageIs400AndEndsTheConnection) {
  EXPECT_THAT(Say("\x16\x03\x01\x02\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(connection_.fate(), HttpConnection::Fate::kDraining);
  EXPECT_THAT(Say("GET /a HTTP/1.1\r\n\r\n"), IsEmpty());
}

TEST_F(HttpConnectionTest, HalfARequestHasADeadlineThatFurtherBytesDoNotMove) {
  connection_.Received("GET / HT", kStart);
  const absl::Time deadline = connection_.deadline();
  EXPECT_EQ(deadline, kStart + limits_.request_deadline);
  connection_.Received("TP/1", kStart + absl::Seconds(20));
  EXPECT_EQ(connection_.deadline(), deadline);
}

TEST_F(HttpConnectionTest, AReplyThatNobodyReadsHasADeadlineThatProgressMoves) {
  connection_.Received("GET /a HTTP/1.1\r\n\r\n", kStart);
  EXPECT_EQ(connection_.deadline(), kStart + limits_.write_deadline);
  connection_.Sent(1, kStart + absl::Seconds(5));
  EXPECT_EQ(connection_.deadline(), kStart + absl::Seconds(5) + limits_.write_deadline);
}

TEST_F(HttpConnectionTest, ConnectionCloseIsHonoured) {
  EXPECT_THAT(Say("GET /a HTTP/1.1\r\nConnection: close\r\n\r\n"), HasSubstr("Connection: close"));
  EXPECT_EQ(connection_.fate(), HttpConnection::Fate::kDraining);
}

TEST_F(HttpConnectionTest, ExpectContinueIsToldToGoOnOnce) {
  EXPECT_EQ(Say("POST /p HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(Say("x"), IsEmpty());
  EXPECT_THAT(Say("y"), EndsWith("/p"));
}

TEST_F(HttpConnectionTest, HeadHasTheLengthAndNoBody) {
  EXPECT_THAT(Say("HEAD /a HTTP/1.1\r\n\r\n"),
              AllOf(HasSubstr("Content-Length: 2\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(HttpConnectionTest, WithTokensOnlyTheirBearersAreServedAndHealthIsOpen) {
  host_.token = "s3cret";
  EXPECT_THAT(Say("GET /a HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("\"reason\":\"Unauthorized\"")));
  EXPECT_THAT(Say("GET /a HTTP/1.1\r\nAuthorization: Bearer wrong\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Say("GET /readyz HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Say("GET /a HTTP/1.1\r\nAuthorization: Bearer s3cret\r\n\r\n"), EndsWith("/a"));
  EXPECT_EQ(host_.seen.back().user, "tester");
}

TEST_F(HttpConnectionTest, WhoFillsTheInputBehindAWatchIsClosed) {
  Say("GET /watch HTTP/1.1\r\n\r\n");
  for (int i = 0; i < 10 && connection_.fate() == HttpConnection::Fate::kOpen; ++i) {
    connection_.Received(std::string(1000, 'x'), kStart);
  }
  EXPECT_EQ(connection_.fate(), HttpConnection::Fate::kClosed);
  EXPECT_THAT(host_.left, ElementsAre(WatchId(7)));
}

}  // namespace
}  // namespace maniple::devcluster
