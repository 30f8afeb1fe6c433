#include "api/client/kubeconfig.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/support/temp_folder.h"

namespace maniple {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr char kToken[] = "s3cr3t-t0k3n";

constexpr char kGood[] = R"(apiVersion: v1
kind: Config
current-context: main
contexts:
- name: main
  context: {cluster: prod, user: robot, namespace: ml}
- name: other
  context: {cluster: plain, user: robot}
clusters:
- name: prod
  cluster:
    server: https://api.example:6443/prefix/
    certificate-authority-data: Q0E=
    tls-server-name: kubernetes
    proxy-url: socks5://proxy:1080
- name: plain
  cluster: {server: "http://127.0.0.1:8080"}
users:
- name: robot
  user:
    token: s3cr3t-t0k3n
    as: alice
    as-groups: [dev, ops]
    as-user-extra: {scopes: [view]}
)";

class KubeconfigTest : public ::testing::Test {
 protected:
  absl::StatusOr<ClientConfig> Load(const std::string& text, const std::string& context = "") {
    return LoadClientConfig({.kubeconfig = folder_.Write("config", text), .context = context});
  }
  // The good file with one piece replaced.
  absl::StatusOr<ClientConfig> LoadWith(const std::string& piece, const std::string& by) {
    return Load(absl::StrReplaceAll(kGood, {{piece, by}}));
  }

  const TempFolder folder_;
};

TEST_F(KubeconfigTest, TheCurrentContextIsFollowedToClusterAndUser) {
  const auto config = Load(kGood);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://api.example:6443/prefix");
  EXPECT_EQ(config->ca_pem, "CA");
  EXPECT_EQ(config->tls_server_name, "kubernetes");
  EXPECT_EQ(config->proxy_url, "socks5://proxy:1080");
  EXPECT_EQ(config->namespace_name, "ml");
  EXPECT_EQ(config->credentials.token.Reveal(), kToken);
  EXPECT_EQ(config->impersonation.user, "alice");
  EXPECT_THAT(config->impersonation.groups, ElementsAre("dev", "ops"));
  EXPECT_THAT(config->impersonation.extra, ElementsAre(Pair("scopes", "view")));
}

TEST_F(KubeconfigTest, CredentialsAreNotUsedOverPlainHttp) {
  const auto config = Load(kGood, "other");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "http://127.0.0.1:8080");
  EXPECT_TRUE(config->credentials.token.empty());
  EXPECT_EQ(config->impersonation.user, "");
}

TEST_F(KubeconfigTest, ServerFlagReplacesTheAddressAndKeepsTheRest) {
  const auto config = LoadClientConfig(
      {.server = "https://10.0.0.1:6443/", .kubeconfig = folder_.Write("config", kGood)});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->credentials.token.Reveal(), kToken);
}

TEST_F(KubeconfigTest, ServerAloneHasNoCredential) {
  const auto config = LoadClientConfig({.server = "http://127.0.0.1:1234"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "http://127.0.0.1:1234");
  EXPECT_TRUE(config->credentials.token.empty());
}

TEST_F(KubeconfigTest, AUrlWithCredentialsIsRefusedAndNotRepeated) {
  for (const absl::StatusOr<ClientConfig>& config :
       {LoadClientConfig({.server = "https://me:s3cr3t-t0k3n@10.0.0.1"}),
        LoadWith("https://api.example", "https://me:s3cr3t-t0k3n@api.example")}) {
    EXPECT_THAT(std::string(config.status().message()),
                AllOf(HasSubstr("server"), HasSubstr("credentials"), Not(HasSubstr(kToken))));
  }
  EXPECT_TRUE(LoadClientConfig({.server = "https://10.0.0.1/a@b"}).ok());
}

TEST_F(KubeconfigTest, OfAListTheFirstValueOfEachNameWins) {
  const std::string first = folder_.Write("first", R"(
users: [{name: robot, user: {token: first}}]
contexts: [{name: main, context: {cluster: prod, user: robot}}])");
  const std::string second = folder_.Write("second", kGood);
  const auto config =
      LoadClientConfig({.environment = {.kubeconfig = absl::StrCat(folder_.In("absent"), ":", first,
                                                                   "::", second)}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->credentials.token.Reveal(), "first");
  EXPECT_EQ(config->namespace_name, "default") << "the context comes from the first file whole";
  EXPECT_EQ(config->server, "https://api.example:6443/prefix");
}

TEST_F(KubeconfigTest, RelativePathsAreRelativeToTheirOwnFile) {
  for (const char* name : {"pki/ca.crt", "pki/me.crt", "pki/me.key"}) folder_.Write(name, "PEM");
  const auto config = Load(R"(
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://a", certificate-authority: pki/ca.crt}}]
users: [{name: u, user: {client-certificate: pki/me.crt, client-key: pki/me.key, tokenFile: pki/token}}])");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->ca_file, folder_.In("pki/ca.crt"));
  EXPECT_EQ(config->certificate_file, folder_.In("pki/me.crt"));
  EXPECT_EQ(config->key_file, folder_.In("pki/me.key"));
  EXPECT_EQ(config->credentials.token_file, folder_.In("pki/token"));
}

TEST_F(KubeconfigTest, DataBeatsFiles) {
  const auto config =
      LoadWith("certificate-authority-data: Q0E=",
               "certificate-authority-data: Q0E=\n    certificate-authority: /nonexistent");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->ca_pem, "CA");
  EXPECT_EQ(config->ca_file, "");
}

TEST_F(KubeconfigTest, AnExecPluginIsReadWhole) {
  const auto config = LoadWith("token: s3cr3t-t0k3n", R"(exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [--cluster, prod]
      env: [{name: REGION, value: eu}]
      interactiveMode: IfAvailable
      provideClusterInfo: true)");
  ASSERT_TRUE(config.ok()) << config.status();
  const ExecPluginConfig& exec = config->credentials.exec;
  EXPECT_EQ(exec.command, folder_.In("./bin/login"));
  EXPECT_THAT(exec.args, ElementsAre("--cluster", "prod"));
  EXPECT_THAT(exec.env, ElementsAre(Pair("REGION", "eu")));
  EXPECT_THAT(exec.cluster_info, HasSubstr("\"certificate-authority-data\":\"Q0E=\""));
}

TEST_F(KubeconfigTest, InAPodTheServiceAccountIsUsed) {
  folder_.Write("ca.crt", "PEM");
  folder_.Write("token", kToken);
  folder_.Write("namespace", "ml-system");
  const auto config = LoadClientConfig(
      {.environment = {
           .service_host = "fd00::1", .service_port = "443", .service_account = folder_.path()}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://[fd00::1]:443");
  EXPECT_EQ(config->ca_file, folder_.In("ca.crt"));
  EXPECT_EQ(config->credentials.token_file, folder_.In("token"));
  EXPECT_EQ(config->namespace_name, "ml-system");
}

TEST_F(KubeconfigTest, TheFileInTheHomeDirectoryComesBeforeThePod) {
  folder_.Write(".kube/config", kGood);
  const auto config =
      LoadClientConfig({.environment = {.home = folder_.path(), .service_host = "10.0.0.1"}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://api.example:6443/prefix");
}

TEST_F(KubeconfigTest, WithNothingGivenTheErrorTellsTheWays) {
  const auto config = LoadClientConfig({});
  EXPECT_THAT(
      std::string(config.status().message()),
      AllOf(HasSubstr("--kubeconfig"), HasSubstr("KUBECONFIG"), Not(HasSubstr("--server"))));
}

struct BadCase {
  const char* name;
  const char* piece;
  const char* by;
  std::vector<const char*> says;
};

class BadKubeconfigTest : public KubeconfigTest, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadKubeconfigTest, IsRefusedNamingFilePlaceAndReasonWithoutTheToken) {
  ::testing::internal::CaptureStderr();
  const auto config = LoadWith(GetParam().piece, GetParam().by);
  const std::string logged = ::testing::internal::GetCapturedStderr();
  ASSERT_FALSE(config.ok());
  const std::string message(config.status().message());
  EXPECT_THAT(message, HasSubstr(folder_.In("config")));
  for (const char* text : GetParam().says) EXPECT_THAT(message, HasSubstr(text));
  EXPECT_THAT(message + logged, Not(HasSubstr(kToken)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadKubeconfigTest,
    ::testing::Values(
        BadCase{"UnknownContext",
                "current-context: main",
                "current-context: nowhere",
                {"no context is named \"nowhere\""}},
        BadCase{"NoContext", "current-context: main", "", {"current-context"}},
        BadCase{"UnknownUser", "user: robot", "user: nobody", {"no user is named \"nobody\""}},
        BadCase{"UnknownCluster", "cluster: prod", "cluster: x", {"no cluster is named \"x\""}},
        BadCase{"BadBase64",
                "Q0E=",
                "'!!!'",
                {":13:", "clusters[0].cluster.certificate-authority-data", "not base64"}},
        BadCase{"MissingServer",
                "server: https://api.example:6443/prefix/",
                "other: x",
                {"clusters[0].cluster.server", "missing"}},
        BadCase{"OtherScheme",
                "https://api.example",
                "ftp://api.example",
                {":12:", "server", "no http or https URL"}},
        BadCase{"TokenIsAMap",
                "token: s3cr3t-t0k3n",
                "token: {secret: s3cr3t-t0k3n}",
                {"users[0].user.token", "must be text"}},
        BadCase{"TokenWithLineBreak",
                "token: s3cr3t-t0k3n",
                "token: \"s3cr3t-t0k3n\\nX: y\"",
                {"users[0].user.token", "control character"}},
        BadCase{"ClustersIsText",
                "clusters:\n",
                "clusters: some\nrest:\n",
                {"clusters", "must be a list"}},
        BadCase{"KeyWithoutCertificate",
                "token: s3cr3t-t0k3n",
                "token: s3cr3t-t0k3n\n    client-key-data: S0VZ",
                {"client-certificate"}},
        BadCase{"InsecureWithAuthority",
                "tls-server-name: kubernetes",
                "insecure-skip-tls-verify: true",
                {"insecure-skip-tls-verify"}},
        BadCase{"InsecureIsText",
                "tls-server-name: kubernetes",
                "insecure-skip-tls-verify: 'yes'",
                {"must be true or false"}},
        BadCase{"OddProxy", "socks5://proxy:1080", "gopher://proxy", {"proxy-url"}},
        BadCase{"MissingAuthorityFile",
                "certificate-authority-data: Q0E=",
                "certificate-authority: absent.crt",
                {"absent.crt", "No such file"}},
        BadCase{"InteractivePlugin",
                "token: s3cr3t-t0k3n",
                "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: "
                "Always}",
                {"interactiveMode"}},
        BadCase{"PluginVersion",
                "token: s3cr3t-t0k3n",
                "exec: {apiVersion: v7, command: x}",
                {"users[0].user.exec.apiVersion"}},
        BadCase{"PluginWithoutCommand",
                "token: s3cr3t-t0k3n",
                "exec: {apiVersion: client.authentication.k8s.io/v1}",
                {"command", "missing"}},
        BadCase{
            "AuthProvider", "token: s3cr3t-t0k3n", "auth-provider: {name: gcp}", {"auth-provider"}},
        BadCase{"GroupsWithoutUser", "as: alice", "other: x", {"users[0].user.as"}},
        BadCase{"MalformedYaml", "contexts:\n", "contexts: [\n", {"line"}},
        BadCase{"WrongKind", "kind: Config", "kind: Pod", {"kind", "Pod"}},
        BadCase{"TwoDocuments", "kind: Config", "kind: Config\n---\na: b", {"more than one"}}),
    [](const ::testing::TestParamInfo<BadCase>& info) { return info.param.name; });

TEST_F(KubeconfigTest, AnAbsentFileIsNamed) {
  const auto config = LoadClientConfig({.kubeconfig = folder_.In("absent")});
  EXPECT_THAT(std::string(config.status().message()), HasSubstr(folder_.In("absent")));
}

TEST_F(KubeconfigTest, AFolderOrAnEmptyFileIsNoKubeconfig) {
  EXPECT_FALSE(LoadClientConfig({.kubeconfig = folder_.path()}).ok());
  EXPECT_FALSE(Load("").ok());
  EXPECT_FALSE(Load("- a\n- b\n").ok());
  EXPECT_FALSE(Load("just text").ok());
}

TEST_F(KubeconfigTest, ABadServerFlagIsRefused) {
  for (const char* url : {"localhost:8080", "https://", "http://a b", "https://a?x=1", "ftp://x"}) {
    EXPECT_FALSE(LoadClientConfig({.server = url}).ok()) << url;
  }
}

}  // namespace
}  // namespace maniple
