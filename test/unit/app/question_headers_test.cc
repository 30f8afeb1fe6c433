// Headers of a question. Fears: a reader who refuses gzip gets it; the token of the proxy stands
// for the reader's; a token has white space around it.
#include "scheduler/app/http/question_headers.h"

#include <gtest/gtest.h>

namespace maniple::app_question_headers_test {
namespace {

using Request = boost::beast::http::request<boost::beast::http::empty_body>;
using boost::beast::http::field;

bool Accepts(const char* encoding) {
  Request request;
  request.set(field::accept_encoding, encoding);
  return AcceptsGzip(request);
}

TEST(AppQuestionHeaders, GzipIsForWhoNamesItAndDoesNotRefuseIt) {
  for (const char* good : {"gzip", "GZip", "deflate, gzip", "gzip;q=0.5", "gzip ; q=1.000",
                           "br;q=0,gzip", "identity;q=0, gzip; q=0.001"}) {
    EXPECT_TRUE(Accepts(good)) << good;
  }
  for (const char* bad : {"", "*", "identity", "gzip;q=0", "gzip; Q=0.000", "deflate, gzip ;q=0",
                          "notgzip", "gzipped", ",,;"}) {
    EXPECT_FALSE(Accepts(bad)) << bad;
  }
  EXPECT_FALSE(AcceptsGzip(Request()));
}

TEST(AppQuestionHeaders, TheHeaderOfItsOwnGoesBeforeThatOfTheProxy) {
  Request request;
  EXPECT_TRUE(TokenIn(request).empty());
  request.set(field::authorization, "Basic abc");
  EXPECT_TRUE(TokenIn(request).empty());
  request.set(field::authorization, "bEARER   theirs");
  EXPECT_EQ(TokenIn(request).Reveal(), "theirs");
  request.set("X-Maniple-Token", "own");
  EXPECT_EQ(TokenIn(request).Reveal(), "own");
}

}  // namespace
}  // namespace maniple::app_question_headers_test
