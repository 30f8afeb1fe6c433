#include "api/http/credentials.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/support/temp_folder.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVersion[] = "client.authentication.k8s.io/v1";

class CredentialsTest : public ::testing::Test {
 protected:
  // A plugin that is this shell script.
  CredentialConfig Plugin(const std::string& script) {
    CredentialConfig config;
    config.exec.command = folder_.WriteProgram("plugin", "#!/bin/sh\n" + script);
    config.exec.api_version = kVersion;
    return config;
  }
  static std::string Prints(const std::string& status) {
    return absl::StrCat("cat <<'X'\n{\"apiVersion\":\"", kVersion,
                        "\",\"kind\":\"ExecCredential\",\"status\":", status, "}\nX\n");
  }
  // Waits, as the transport does, until the plugin has been heard out.
  CredentialState Settle(Credentials& credentials) {
    CredentialState state = credentials.Refresh(clock_.Now());
    while (state == CredentialState::kPending) {
      if (credentials.pending_fd() >= 0) {
        pollfd fd{credentials.pending_fd(), POLLIN, 0};
        EXPECT_GT(::poll(&fd, 1, 20'000), 0);
      }
      state = credentials.Refresh(clock_.Now());
    }
    return state;
  }

  const TempFolder folder_;
  SimulatedClock clock_;
};

TEST_F(CredentialsTest, TokenAndPasswordBecomeHeaders) {
  CredentialConfig token;
  token.token = Secret("abc");
  Credentials with_token(token);
  EXPECT_EQ(with_token.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_EQ(with_token.authorization().Reveal(), "Bearer abc");
  CredentialConfig basic;
  basic.username = "u";
  basic.password = Secret("p");
  EXPECT_EQ(Credentials(basic).authorization().Reveal(), "Basic dTpw");
}

// The fear: a plugin that speaks for us on a socket that a library forgot to mark.
TEST_F(CredentialsTest, APluginInheritsNoDescriptor) {
  const int leaked = ::fcntl(STDERR_FILENO, F_DUPFD, 100);
  ASSERT_GE(leaked, 100);
  Credentials credentials(Plugin(
      absl::StrCat("test -e /proc/$$/fd/", leaked, " && exit 9\n", Prints(R"({"token":"t"})"))));
  EXPECT_EQ(Settle(credentials), CredentialState::kReady);
  ::close(leaked);
}

TEST_F(CredentialsTest, ATokenFileIsReadAgainEveryMinuteAndTheLastGoodTokenIsKept) {
  folder_.Write("token", " one\n");
  CredentialConfig config;
  config.token_file = folder_.In("token");
  Credentials credentials(config);
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_EQ(credentials.authorization().Reveal(), "Bearer one");
  folder_.Write("token", "two");
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_EQ(credentials.authorization().Reveal(), "Bearer one");
  clock_.Advance(absl::Seconds(60));
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_EQ(credentials.authorization().Reveal(), "Bearer two");
  ::remove(folder_.In("token").c_str());
  clock_.Advance(absl::Seconds(60));
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_EQ(credentials.authorization().Reveal(), "Bearer two");
}

TEST_F(CredentialsTest, ARejectedTokenFileIsReadAgainAtOnce) {
  folder_.Write("token", "one");
  CredentialConfig config;
  config.token_file = folder_.In("token");
  Credentials credentials(config);
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  folder_.Write("token", "two");
  credentials.Rejected(clock_.Now());
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_EQ(credentials.authorization().Reveal(), "Bearer two");
}

TEST_F(CredentialsTest, AMissingTokenFileIsAFailureThatNamesIt) {
  CredentialConfig config;
  config.token_file = folder_.In("absent");
  Credentials credentials(config);
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kFailed);
  EXPECT_THAT(std::string(credentials.failure().message()), HasSubstr(folder_.In("absent")));
  folder_.Write("absent", "late");
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
}

TEST_F(CredentialsTest, APluginRunsOnceUntilItsTokenExpires) {
  Credentials credentials(Plugin(
      "echo run >>" + folder_.In("runs") + "\n" +
      Prints(R"({"token":"fresh","expirationTimestamp":"2023-11-14T23:13:20Z"})")));  // one hour on
  EXPECT_EQ(Settle(credentials), CredentialState::kReady);
  EXPECT_EQ(credentials.authorization().Reveal(), "Bearer fresh");
  clock_.Advance(absl::Minutes(59));
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_EQ(credentials.pending_fd(), -1);
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady) << "the old one serves on";
  EXPECT_NE(credentials.pending_fd(), -1);
}

TEST_F(CredentialsTest, APluginRunsAgainAfter401ButNotForEachOfThem) {
  Credentials credentials(Plugin(Prints(R"({"token":"t"})")));
  EXPECT_EQ(Settle(credentials), CredentialState::kReady);
  EXPECT_EQ(credentials.NextDeadline(), absl::InfiniteFuture());
  for (int i = 0; i < 10; ++i) credentials.Rejected(clock_.Now());
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_EQ(credentials.pending_fd(), -1);
  EXPECT_LE(credentials.NextDeadline(), clock_.Now() + absl::Seconds(5));
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kReady);
  EXPECT_NE(credentials.pending_fd(), -1);
}

TEST_F(CredentialsTest, APluginIsToldWhatItIsAskedFor) {
  CredentialConfig config = Plugin(
      "test \"$REGION\" = eu || exit 3\n"
      "case \"$KUBERNETES_EXEC_INFO\" in *'\"interactive\":false'*) ;; "
      "*) exit 4;; esac\n"
      "case \"$KUBERNETES_EXEC_INFO\" in *https://here*) ;; *) exit 5;; esac\n"
      "test \"$1\" = 'a b$(id)' || exit 6\n" +
      Prints(R"({"token":"t"})"));
  config.exec.args = {"a b$(id)"};
  config.exec.env = {{"REGION", "eu"}};
  config.exec.cluster_info = R"({"server":"https://here"})";
  Credentials credentials(config);
  EXPECT_EQ(Settle(credentials), CredentialState::kReady) << credentials.failure();
}

TEST_F(CredentialsTest, APluginMayGiveACertificate) {
  Credentials credentials(
      Plugin(Prints(R"({"clientCertificateData":"CERT","clientKeyData":"KEY"})")));
  EXPECT_EQ(Settle(credentials), CredentialState::kReady);
  EXPECT_EQ(credentials.certificate_pem(), "CERT");
  EXPECT_EQ(credentials.key_pem().Reveal(), "KEY");
  EXPECT_TRUE(credentials.authorization().empty());
}

TEST_F(CredentialsTest, WhateverAPluginDoesWrongIsToldWithoutItsOutput) {
  for (const auto& [script, says] : std::vector<std::pair<std::string, std::string>>{
           {"echo s3cr3t; exit 7", "status 7"},
           {"echo s3cr3t", "JSON"},
           {"echo '{\"kind\":\"Pod\",\"token\":\"s3cr3t\"}'", "ExecCredential"},
           {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"v0\"}'", "version"},
           {Prints("{}"), "neither"},
           {Prints(R"({"clientKeyData":"s3cr3t"})"), "without"},
           {Prints(R"({"token":"s3cr3t","expirationTimestamp":"soon"})"), "expirationTimestamp"},
           {Prints(R"({"token":"s3cr3t\r\nX: y"})"), "control character"},
           {"kill -9 $$", "signal 9"},
           {"head -c 2000000 /dev/zero", "mebibyte"}}) {
    ::testing::internal::CaptureStderr();
    Credentials credentials(Plugin(script));
    EXPECT_EQ(Settle(credentials), CredentialState::kFailed) << script;
    const std::string told =
        absl::StrCat(credentials.failure().message(), ::testing::internal::GetCapturedStderr());
    EXPECT_THAT(told, HasSubstr(says)) << script;
    EXPECT_THAT(told, Not(HasSubstr("s3cr3t"))) << script;
  }
}

// Fear: without the ends of children, each plugin is waited for until it is given up.
TEST_F(CredentialsTest, APluginIsHeardOutThoughWhoeverStartedUsIgnoresChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  Credentials credentials(Plugin(Prints(R"({"token":"t"})")));
  EXPECT_EQ(Settle(credentials), CredentialState::kReady);
  std::signal(SIGCHLD, before);
}

TEST_F(CredentialsTest, AnAbsentPluginIsNamed) {
  CredentialConfig config;
  config.exec.command = folder_.In("absent");
  Credentials credentials(config);
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kFailed);
  EXPECT_THAT(std::string(credentials.failure().message()), HasSubstr(folder_.In("absent")));
}

TEST_F(CredentialsTest, APluginThatClosesItsOutputAndLingersIsAskedNowAndThenAndKilledInTheEnd) {
  Credentials credentials(Plugin("exec >&-; sleep 1000"));
  while (credentials.Refresh(clock_.Now()) == CredentialState::kPending &&
         credentials.pending_fd() >= 0) {
  }
  EXPECT_GT(credentials.NextDeadline(), clock_.Now());
  EXPECT_LE(credentials.NextDeadline(), clock_.Now() + absl::Milliseconds(10));
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kFailed);
}

TEST_F(CredentialsTest, APluginThatHangsIsKilledWithItsChildren) {
  CredentialConfig config = Plugin("echo started; sleep 1000 & sleep 1000");
  config.exec.timeout = absl::Seconds(30);
  Credentials credentials(config);
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kPending);
  pollfd fd{credentials.pending_fd(), POLLIN, 0};
  EXPECT_GT(::poll(&fd, 1, 20'000), 0);
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kPending);
  EXPECT_LE(credentials.NextDeadline(), clock_.Now() + absl::Seconds(30));
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(credentials.Refresh(clock_.Now()), CredentialState::kFailed);
  EXPECT_THAT(std::string(credentials.failure().message()), HasSubstr("no answer within 30s"));
}

}  // namespace
}  // namespace maniple
