// No value that may be a secret reaches any output, wherever it stands and however it is malformed.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/base/clock.h"
#include "api/client/kubeconfig.h"
#include "api/http/curl_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/support/temp_folder.h"

namespace maniple::client_secrets_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlanted[] = "pl4nt3d";

constexpr char kGood[] = R"(current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters:
- name: c
  cluster:
    server: https://127.0.0.1:1
    proxy-url: http://127.0.0.1:2
users:
- name: u
  user:
    token: t
)";

struct Plant {
  const char* name;
  const char* piece;  // of the good file
  const char* by;
};

class PlantedSecret : public ::testing::TestWithParam<Plant> {
 protected:
  // Everything that loading the file and asking the server with it prints.
  std::string Output(const std::string& text) {
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    std::string said = Say(text);
    absl::StrAppend(&said, ::testing::internal::GetCapturedStdout());
    return said + ::testing::internal::GetCapturedStderr();
  }

  const TempFolder folder_;

 private:
  std::string Say(const std::string& text) {
    absl::StatusOr<ClientConfig> config =
        LoadClientConfig({.kubeconfig = folder_.Write("config", text)});
    if (!config.ok()) return config.status().ToString();
    const std::string server = config->server;
    const Clock& clock = RealClock();
    auto transport = CurlTransport::Create(*std::move(config), clock, {});
    if (!transport.ok()) return transport.status().ToString();
    (*transport)->Start(1, {.target = "/version", .timeout = absl::Seconds(5)});
    std::string said = server;  // every program logs it once it is taken
    for (bool ended = false; !ended;) {
      for (const HttpInput& input : (*transport)->Poll(absl::Seconds(5))) {
        const auto* end = std::get_if<HttpEnd>(&input.what);
        if (end == nullptr) continue;
        ended = true;
        absl::StrAppend(&said, end->status.ToString());
      }
    }
    return said;
  }
};

TEST_P(PlantedSecret, IsNotSaid) {
  const std::string planted = absl::StrReplaceAll(kGood, {{GetParam().piece, GetParam().by}});
  ASSERT_NE(planted, kGood);
  EXPECT_THAT(Output(planted), Not(HasSubstr(kPlanted)));
}

constexpr char kServer[] = "https://127.0.0.1:1";
constexpr char kProxy[] = "http://127.0.0.1:2";
constexpr char kToken[] = "token: t";

INSTANTIATE_TEST_SUITE_P(
    Server, PlantedSecret,
    ::testing::Values(Plant{"Credentials", kServer, "https://me:pl4nt3d@127.0.0.1"},
                      Plant{"CredentialsAndQuery", kServer, "https://me:pl4nt3d@127.0.0.1?a=b"},
                      Plant{"CredentialsAndFragment", kServer, "https://me:pl4nt3d@h#f"},
                      Plant{"CredentialsAndSpace", kServer, "'https://me:pl4nt3d@h x'"},
                      Plant{"CredentialsAndNoHost", kServer, "https:///me:pl4nt3d@h"},
                      Plant{"CredentialsAndAnotherScheme", kServer, "ftp://me:pl4nt3d@h"},
                      Plant{"CredentialsAndNoScheme", kServer, "me:pl4nt3d@h"},
                      Plant{"CredentialsAndBackslash", kServer, "'https://me:pl4nt3d\\@h'"},
                      Plant{"Query", kServer, "https://127.0.0.1:1?token=pl4nt3d"},
                      Plant{"ControlCharacter", kServer, "\"https://me:pl4nt3d@h\\n\""},
                      Plant{"BadPort", kServer, "https://127.0.0.1:pl4nt3d"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Proxy, PlantedSecret,
    ::testing::Values(Plant{"Credentials", kProxy, "http://me:pl4nt3d@127.0.0.1:2"},
                      Plant{"BadPort", kProxy, "http://me:pl4nt3d@127.0.0.1:port"},
                      Plant{"BadBracket", kProxy, "'http://me:pl4nt3d@[::1'"},
                      Plant{"NoHost", kProxy, "'http://me:pl4nt3d@'"},
                      Plant{"Space", kProxy, "'http://me:pl4nt3d@h h'"},
                      Plant{"OtherScheme", kProxy, "gopher://me:pl4nt3d@h"},
                      Plant{"NoScheme", kProxy, "me:pl4nt3d@h"},
                      Plant{"PortTooLarge", kProxy, "socks5://me:pl4nt3d@h:99999"},
                      Plant{"BadEscape", kProxy, "'http://me:pl4nt3d%zz@127.0.0.1:2'"},
                      Plant{"ControlCharacter", kProxy, "\"http://me:pl4nt3d@h\\t\""}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    User, PlantedSecret,
    ::testing::Values(
        Plant{"Token", kToken, "token: pl4nt3d"},
        Plant{"TokenTaggedInt", kToken, "token: !!int pl4nt3d"},
        Plant{"TokenTaggedFloat", kToken, "token: !!float pl4nt3d"},
        Plant{"TokenTaggedBool", kToken, "token: !!bool pl4nt3d"},
        Plant{"TokenTaggedNull", kToken, "token: !!null pl4nt3d"},
        Plant{"TokenTaggedBinary", kToken, "token: !!binary pl4nt3d"},
        Plant{"TokenAsATag", kToken, "token: !pl4nt3d x"},
        Plant{"TokenAsAStandardTag", kToken, "token: !!pl4nt3d x"},
        Plant{"TokenAsATagOfAMap", kToken, "token: !pl4nt3d {}"},
        Plant{"TokenAsAnAlias", kToken, "token: *pl4nt3d"},
        Plant{"TokenAsAList", kToken, "token: [pl4nt3d]"},
        Plant{"TokenAsAKey", kToken, "token: {pl4nt3d: 1, pl4nt3d: 2}"},
        Plant{"TokenWithATab", kToken, "token: \"pl4nt3d\\t\""},
        Plant{"TokenNotClosed", kToken, "token: \"pl4nt3d"},
        Plant{"TokenWithAColon", kToken, "token: pl4nt3d: x"},
        Plant{"TokenOnALineOfItsOwn", kToken, "token: t\npl4nt3d"},
        Plant{"Password", kToken, "username: me\n    password: pl4nt3d"},
        Plant{"PasswordTaggedInt", kToken, "username: me\n    password: !!int pl4nt3d"},
        Plant{"KeyNoBase64", kToken, "client-key-data: pl4nt3d!"},
        Plant{"KeyTaggedInt", kToken, "client-key-data: !!int pl4nt3d"},
        Plant{"KeyWithoutCertificate", kToken, "client-key-data: cGw0bnQzZA=="},
        Plant{"KeyNoPem", kToken,
              "client-certificate-data: eA==\n    client-key-data: cGw0bnQzZA=="},
        Plant{"KeyInPlaceOfItsFile", kToken,
              "client-certificate-data: eA==\n    client-key: pl4nt3d"},
        Plant{"ExtraTaggedInt", kToken, "as: a\n    as-user-extra: {s: [!!int pl4nt3d]}"},
        Plant{"AuthProvider", kToken, "auth-provider: {config: {access-token: pl4nt3d}}"}),
    [](const auto& info) { return std::string(info.param.name); });

// A credential plugin: `exec` is the part after its version.
std::string Exec(const std::string& rest) {
  return absl::StrReplaceAll(
      kGood,
      {{kToken, absl::StrCat("exec:\n      apiVersion: client.authentication.k8s.io/v1\n", rest)},
       {"    proxy-url: http://127.0.0.1:2\n", ""}});
}

class PlantedInAPlugin : public PlantedSecret {
 protected:
  std::string WithScript(const std::string& script) {
    const std::string command = folder_.WriteProgram("plugin", "#!/bin/sh\n" + script);
    return Exec(absl::StrCat("      command: ", command, "\n"));
  }
};

TEST_F(PlantedInAPlugin, WhatItPrintsIsNotSaid) {
  EXPECT_THAT(Output(WithScript("echo pl4nt3d")), Not(HasSubstr(kPlanted)));
  EXPECT_THAT(Output(WithScript("echo '{\"kind\":\"pl4nt3d\"}'")), Not(HasSubstr(kPlanted)));
  EXPECT_THAT(Output(WithScript("echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client."
                                "authentication.k8s.io/v1\",\"status\":{\"token\":\"pl4nt3d\\n\","
                                "\"expirationTimestamp\":\"pl4nt3d\"}}'")),
              Not(HasSubstr(kPlanted)));
}

TEST_F(PlantedInAPlugin, WhatItComplainsOfIsNotSaid) {
  const std::string said = Output(WithScript("echo pl4nt3d >&2; exit 3"));
  EXPECT_THAT(said, Not(HasSubstr(kPlanted)));
  EXPECT_THAT(said, HasSubstr("status 3"));
}

TEST_F(PlantedInAPlugin, ItsArgumentsAndEnvironmentAreNotSaid) {
  for (const char* rest :
       {"      command: /nonexistent\n      args: [--token, pl4nt3d]\n",
        "      command: /nonexistent\n      args: [!!int pl4nt3d]\n",
        "      command: /nonexistent\n      args: pl4nt3d\n",
        "      command: /nonexistent --token=pl4nt3d\n",
        "      command: /nonexistent\n      env: [{name: T, value: pl4nt3d}]\n",
        "      command: /nonexistent\n      env: [{name: T, value: [pl4nt3d]}]\n",
        "      command: /nonexistent\n      env: [pl4nt3d]\n",
        "      command: /nonexistent\n      env: {T: pl4nt3d}\n"}) {
    EXPECT_THAT(Output(Exec(rest)), Not(HasSubstr(kPlanted))) << rest;
  }
}

}  // namespace
}  // namespace maniple::client_secrets_test
