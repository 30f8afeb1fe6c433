#include <string>

#include "absl/strings/str_split.h"
#include "api/http/curl_easy.h"
#include "api/http/http.h"
#include "api/http/reply_head.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

std::optional<HttpHead> Feed(const std::string& text) {
  ReplyHead reply;
  std::optional<HttpHead> head;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (auto done = reply.OnLine(line)) head = done;
  }
  return head;
}

TEST(ReplyHead, TellsStatusTypeAndRetryAfter) {
  const auto head = Feed(
      "HTTP/1.1 429 Too Many Requests\r\nContent-Type:  text/plain; charset=utf-8 \r\nretry-after: "
      "7\r\n\r");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->status, 429);
  EXPECT_EQ(head->content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(head->retry_after, absl::Seconds(7));
}

TEST(ReplyHead, InterimRepliesArePassedOver) {
  const auto head =
      Feed("HTTP/1.1 100 Continue\r\nContent-Type: x\r\n\r\nHTTP/2 201\r\nContent-Type: y\r\n\r");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->status, 201);
  EXPECT_EQ(head->content_type, "y");
}

TEST(ReplyHead, AbsurdHeadersAreSurvived) {
  const auto head =
      Feed("HTTP/1.1 200\r\nno colon\r\n: \r\nretry-after: -4\r\ncontent-type:\r\n\r");
  ASSERT_TRUE(head.has_value());
  EXPECT_FALSE(head->retry_after.has_value());
  EXPECT_EQ(Feed("HTTP/1.1 abc\r\n\r"), std::nullopt);
  EXPECT_EQ(Feed("HTTP/\r\n\r"), std::nullopt);
  EXPECT_EQ(Feed("HTTP/1.1 200\nretry-after: 99999999999999999999\n")->retry_after, std::nullopt);
  EXPECT_EQ(Feed("HTTP/1.1 200\nretry-after: 999999999\n")->retry_after, absl::Minutes(1));
}

TEST(UrlEncoded, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(UrlEncoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(UrlEncoded("a/b?c=d&e f%\xff"), "a%2Fb%3Fc%3Dd%26e%20f%25%FF");
}

TEST(StatusOfCurl, SaysTheSameOfTheSameFailureHoweverLongItTook) {
  const auto said = [](CURLcode code, const char* detail) {
    return std::string(StatusOfCurl(code, detail).message());
  };
  EXPECT_EQ(said(CURLE_COULDNT_CONNECT, "Failed to connect to h port 1 after 16 ms: refused"),
            "Failed to connect to h port 1: refused");
  EXPECT_EQ(said(CURLE_OPERATION_TIMEDOUT, "Connection timed out after 10001 milliseconds"),
            "Connection timed out");
  EXPECT_EQ(said(CURLE_GOT_NOTHING, "closed after all"), "closed after all");
}

}  // namespace
}  // namespace maniple
