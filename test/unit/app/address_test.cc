#include "scheduler/app/config/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace maniple {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddress, HasAHostThatMayBeEmptyAndAPort) {
  struct Case {
    const char* text;
    const char* host;
    uint16_t port;
  };
  for (const Case& one :
       {Case{"127.0.0.1:8080", "127.0.0.1", 8080}, Case{":0", "", 0},
        Case{"[::1]:65535", "::1", 65535}, Case{"node.example:1", "node.example", 1}}) {
    const absl::StatusOr<ListenAddress> parsed = ParseListenAddress(one.text);
    ASSERT_TRUE(parsed.ok()) << one.text << ": " << parsed.status();
    EXPECT_EQ(parsed->host, one.host);
    EXPECT_EQ(parsed->port, one.port);
  }
}

TEST(ListenAddress, RefusesWhatIsNoneAndQuotesIt) {
  for (const char* text : {"", "nonsense", "127.0.0.1", "a:", "a:x", "a:-1", "a:65536",
                           "a:99999999999999999999", "::1:80", "[::1:80", "::1]:80"}) {
    const absl::Status status = ParseListenAddress(text).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("is not HOST:PORT")) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
}

TEST(ListenAddress, IsOfThisMachineOrBeyondIt) {
  for (const char* text : {"127.0.0.1:1", "127.8.0.1:1", "[::1]:1", "localhost:1"}) {
    EXPECT_TRUE(IsLoopback(*ParseListenAddress(text))) << text;
  }
  for (const char* text : {":1", "0.0.0.0:1", "10.0.0.1:1", "[::]:1", "node.example:1",
                           "[::ffff:10.0.0.1]:1", "128.0.0.1:1"}) {
    EXPECT_FALSE(IsLoopback(*ParseListenAddress(text))) << text;
  }
}

TEST(AdminAddress, IsAListenAddressOrTheSocketOfAPath) {
  EXPECT_TRUE(CheckAdminAddress("127.0.0.1:1").ok());
  EXPECT_TRUE(CheckAdminAddress("unix:relative.sock").ok());
  EXPECT_THAT(std::string(CheckAdminAddress("unix:").message()), HasSubstr("names no path"));
  EXPECT_THAT(std::string(CheckAdminAddress("socket").message()), HasSubstr("nor unix:PATH"));
}

TEST(AdminAddress, RefusesAPathLongerThanASocketCanHave) {
  EXPECT_TRUE(CheckAdminAddress("unix:" + std::string(107, 'x')).ok());
  EXPECT_THAT(std::string(CheckAdminAddress("unix:" + std::string(108, 'x')).message()),
              HasSubstr("107 characters"));
}

TEST(AdminAddress, ByDefaultIsOneThatCanBeListenedOn) {
  EXPECT_TRUE(CheckAdminAddress(DefaultAdminAddress()).ok()) << DefaultAdminAddress();
}

}  // namespace
}  // namespace maniple
