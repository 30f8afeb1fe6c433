// The admin surface as its clients meet it: a socket in a folder that nobody else writes to, or
// mutual TLS.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/files.h"
#include "api/proto/admin.grpc.pb.h"
#include "scheduler/app/admin_server.h"
#include "scheduler/app/answers/admin_watch.h"
#include "scheduler/app/config/address.h"
#include "scheduler/app/socket_folder.h"
#include "scheduler/cli/admin_client.h"
#include "test/support/scripted_replies.h"
#include "test/support/temp_folder.h"
#include "test/support/tls_server.h"

namespace maniple {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ClusterViewPtr EmptyView() { return std::make_shared<const ClusterView>(); }

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

TEST(SocketFolder, IsOneThatOnlyItsOwnerWritesTo) {
  const TempFolder temporary;
  const std::string folder = temporary.In("run"), socket = folder + "/admin.sock";
  EXPECT_TRUE(CheckSocketFolder(socket).ok());  // nothing is there yet
  ASSERT_TRUE(MakeSocketFolder(socket).ok());
  struct stat made {};
  ASSERT_EQ(::stat(folder.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700);
  EXPECT_TRUE(MakeSocketFolder(socket).ok());
  for (const mode_t mode : {0720, 0702, 01777}) {
    ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
    EXPECT_THAT(MessageOf(CheckSocketFolder(socket)),
                AllOf(HasSubstr(folder), HasSubstr("may be written to by others")));
    EXPECT_FALSE(MakeSocketFolder(socket).ok());
  }
}

TEST(SocketFolder, MayBeNoSymbolicLink) {
  const TempFolder temporary;
  const std::string folder = temporary.In("link");
  ASSERT_EQ(::symlink(temporary.path().c_str(), folder.c_str()), 0);
  EXPECT_THAT(MessageOf(MakeSocketFolder(folder + "/admin.sock")), HasSubstr("symbolic link"));
}

TEST(SocketFolder, MayNotBelongToSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TempFolder temporary;
  ASSERT_EQ(::chown(temporary.path().c_str(), 12345, 12345), 0);
  EXPECT_THAT(MessageOf(CheckSocketFolder(temporary.In("admin.sock"))),
              HasSubstr("belongs to user 12345, we are user 0"));
}

TEST(AdminServer, IsAskedThroughASocketInAFolderOfOurOwn) {
  const TempFolder temporary;
  const std::string folder = temporary.In("run");
  const std::string address = absl::StrCat("unix:", folder, "/admin.sock");
  const auto server = AdminServer::Start({.address = address}, {.view = EmptyView});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(AskScheduler({.admin = address}, "/gangs").ok());
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  EXPECT_THAT(MessageOf(AskScheduler({.admin = address}, "/gangs").status()),
              HasSubstr("may be written to by others"));
  EXPECT_FALSE(AdminServer::Start({.address = address + "2"}, {.view = EmptyView}).ok());
}

TEST(AdminServer, TellsNoUseSinceATimeThatItDoesNotRemember) {
  const TempFolder folder;
  const std::string address = absl::StrCat("unix:", folder.In("run/admin.sock"));
  const auto server = AdminServer::Start(
      {.address = address}, {.view = EmptyView, .used_by = [](absl::Time) { return nullptr; }});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(AskScheduler({.admin = address}, "/usage").ok());
  EXPECT_THAT(
      MessageOf(AskScheduler({.admin = address}, "/usage?since=2023-11-14T22:13:20Z").status()),
      HasSubstr("no use is remembered yet"));
}

const std::string& OfStandby() {
  static const auto* reply = new std::string(HttpReply(
      "503 Service Unavailable", "this replica stands by\n", "Content-Type: text/plain\r\n"));
  return *reply;
}

TEST(AdminClient, AsksReplicasUntilOneLeads) {
  const ScriptedReplies replicas(
      {OfStandby(), OfStandby(), HttpReply("200 OK", R"({"of": "leader"})")});
  const TempFolder folder;
  const std::string file = folder.Write("kubeconfig", replicas.Kubeconfig());
  const absl::StatusOr<Json> answer = AskScheduler({.kubeconfig = file}, "/gangs");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ((*answer)["of"].AsString(), "leader");
  EXPECT_EQ(replicas.asked(), 3u);
}

TEST(AdminClient, WhereNobodyLeadsAReplicaThatStandsByAnswers) {
  std::vector<std::string> replies(8, OfStandby());
  replies.push_back(HttpReply("200 OK", R"({"of": "standby"})"));
  const ScriptedReplies replicas(replies);
  const TempFolder folder;
  const std::string file = folder.Write("kubeconfig", replicas.Kubeconfig());
  const absl::StatusOr<Json> answer = AskScheduler({.kubeconfig = file}, "/gangs");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ((*answer)["of"].AsString(), "standby");
}

TEST(AdminClient, ACredentialPluginRunsOnceHoweverOftenTheSchedulerIsAsked) {
  const TestCertificate authority("authority", "", nullptr);
  const TlsServer server(TestCertificate("server", "IP:127.0.0.1", &authority), authority);
  const TempFolder folder;
  const std::string plugin = folder.WriteProgram(
      "plugin",
      absl::StrCat("#!/bin/sh\necho run >>", folder.In("runs"),
                   "\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                   "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t\"}}'\n"));
  SchedulerClient client(
      {.kubeconfig = folder.Write(
           "kubeconfig", absl::StrCat("{current-context: c, contexts: [{name: c, context: "
                                      "{cluster: k, user: u}}], clusters: [{name: k, cluster: "
                                      "{server: 'https://127.0.0.1:",
                                      server.port(),
                                      "', insecure-skip-tls-verify: true}}], users: [{name: "
                                      "u, user: {exec: {apiVersion: "
                                      "client.authentication.k8s.io/v1, interactiveMode: "
                                      "Never, command: ",
                                      plugin, "}}}]}"))});
  for (int question = 0; question < 3; ++question) {
    // The server says back what it was told, which is no JSON.
    EXPECT_THAT(MessageOf(client.Ask("/gangs").status()), HasSubstr("JSON"));
  }
  EXPECT_EQ(*ReadWholeFile(folder.In("runs")), "run\n");
}

TEST(AdminClient, WhoNamesAClusterNeverMeansTheSchedulerOfThisMachine) {
  const TempFolder temporary;
  ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", temporary.path().c_str(), 1), 0);
  const auto server = AdminServer::Start({.address = DefaultAdminAddress()}, {.view = EmptyView});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(AskScheduler({}, "/gangs").ok());
  const TempFolder folder;
  ASSERT_EQ(::setenv("KUBECONFIG", folder.Write("none", "{}").c_str(), 1), 0);
  for (const AdminClientOptions& options :
       {AdminClientOptions{.context = "other"}, AdminClientOptions{.service_namespace = "other"},
        AdminClientOptions{.service = "other"}}) {
    EXPECT_FALSE(AskScheduler(options, "/gangs").ok());
  }
}

class AdminServerOverTls : public testing::Test {
 protected:
  std::string Written(const std::string& name, const std::string& text) {
    return temporary_.Write(name, text);
  }
  AdminClientOptions ClientWith(const TestCertificate& certificate, int port) {
    return {.admin = absl::StrCat("127.0.0.1:", port),
            .certificate_authority = Written("ca.crt", authority_.pem()),
            .client_certificate = Written("client.crt", certificate.pem()),
            .client_key = Written("client.key", certificate.key_pem())};
  }

  const TempFolder temporary_;
  const TestCertificate authority_{"authority", "", nullptr};
  const TestCertificate own_{"scheduler", "IP:127.0.0.1", &authority_};
};

TEST_F(AdminServerOverTls, LetsInWhomTheAuthorityKnowsAndNobodyElse) {
  const TlsFiles files{.certificate = Written("tls.crt", own_.pem()),
                       .key = Written("tls.key", own_.key_pem()),
                       .client_authority = Written("clients.crt", authority_.pem())};
  const auto server =
      AdminServer::Start({.address = "127.0.0.1:0", .tls = files}, {.view = EmptyView});
  ASSERT_TRUE(server.ok()) << server.status();
  const TestCertificate known("operator", "", &authority_), stranger("stranger", "", nullptr);
  const absl::Status answer = AskScheduler(ClientWith(known, (*server)->port()), "/gangs").status();
  EXPECT_TRUE(answer.ok()) << answer;
  EXPECT_TRUE(absl::IsUnavailable(
      AskScheduler(ClientWith(stranger, (*server)->port()), "/gangs").status()));
  EXPECT_THAT(
      MessageOf(AskScheduler({.admin = absl::StrCat("127.0.0.1:", (*server)->port())}, "/gangs")
                    .status()),
      HasSubstr("speaks mutual TLS: give --certificate-authority"));
}

TEST_F(AdminServerOverTls, RefusesFilesThatDoNotBelongTogether) {
  const TlsFiles files{.certificate = Written("tls.crt", own_.pem()),
                       .key = Written("tls.key", authority_.key_pem()),
                       .client_authority = Written("clients.crt", authority_.pem())};
  EXPECT_THAT(
      MessageOf(AdminServer::Start({.address = "127.0.0.1:0", .tls = files}, {.view = EmptyView})
                    .status()),
      AllOf(HasSubstr("tls.key"), HasSubstr("no private key of that certificate")));
}

// What a client hears that has no generated code: bytes to a method, bytes back.
std::string AskInBytes(const std::string& address, const std::string& method,
                       absl::string_view request) {
  const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, method, &queue);
  const auto done = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  EXPECT_TRUE(done());
  const grpc::Slice slice{std::string(request)};
  call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
  EXPECT_TRUE(done());
  grpc::ByteBuffer reply;
  call->Read(&reply, nullptr);
  EXPECT_TRUE(done());
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  (void)done();
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(reply.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& part : slices) {
    text.append(reinterpret_cast<const char*>(part.begin()), part.size());
  }
  return text;
}

TEST(AdminServer, TellsItsHealthAndItsMethodsToWhoHasNoDefinitions) {
  const TempFolder temporary;
  const std::string address = absl::StrCat("unix:", temporary.In("run"), "/admin.sock");
  const auto server = AdminServer::Start({.address = address}, {.view = EmptyView});
  ASSERT_TRUE(server.ok()) << server.status();
  // HealthCheckResponse {status: SERVING}.
  EXPECT_EQ(AskInBytes(address, "/grpc.health.v1.Health/Check", ""), absl::string_view("\x08\x01"));
  // ServerReflectionRequest {list_services: "*"}: field 7.
  EXPECT_THAT(AskInBytes(address, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                         "\x3a\x01*"),
              HasSubstr("maniple.admin.v1.Admin"));
}

// A caller's stream, read message by message.
class Watcher final {
 public:
  explicit Watcher(const std::string& address)
      : stub_(admin::v1::Admin::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        reader_(stub_->Watch(&context_, {})) {}
  ~Watcher() { context_.TryCancel(); }

  // Nothing: the stream has ended.
  std::optional<admin::v1::WatchReply> Next() {
    admin::v1::WatchReply reply;
    if (!reader_->Read(&reply)) return std::nullopt;
    return reply;
  }
  [[nodiscard]] grpc::Status Finish() { return reader_->Finish(); }

 private:
  grpc::ClientContext context_;
  const std::unique_ptr<admin::v1::Admin::Stub> stub_;
  const std::unique_ptr<grpc::ClientReader<admin::v1::WatchReply>> reader_;
};

ClusterViewPtr ViewOf(const std::vector<std::string>& gangs, const std::string& phase) {
  auto view = std::make_shared<ClusterView>();
  for (const std::string& name : gangs) {
    GangView& gang = view->gangs.emplace_back();
    gang.namespace_name = "a";
    gang.name = name;
    gang.phase = phase;
  }
  view->queues.push_back({.name = "team"});
  return view;
}

TEST(AdminWatch, TellsWhatIsNewOtherAndGone) {
  AdminWatch watch("");
  admin::v1::WatchReply first, same, other;
  ASSERT_TRUE(watch.Next(*ViewOf({"x", "y"}, "Pending"), first));
  EXPECT_TRUE(first.whole());
  EXPECT_EQ(first.gangs_size(), 2);
  EXPECT_EQ(first.queues(0).name(), "team");
  EXPECT_FALSE(watch.Next(*ViewOf({"x", "y"}, "Pending"), same));
  ClusterView view = *ViewOf({"x", "z"}, "Pending");
  view.gangs[0].phase = "Running";
  view.queues.clear();
  ASSERT_TRUE(watch.Next(view, other));
  EXPECT_FALSE(other.whole());
  ASSERT_EQ(other.gangs_size(), 2);
  EXPECT_EQ(other.gangs(0).phase(), "Running");
  EXPECT_EQ(other.gangs(1).name(), "z");
  EXPECT_THAT(other.gangs_gone(), ElementsAre("a/y"));
  EXPECT_THAT(other.queues_gone(), ElementsAre("team"));
}

TEST(AdminWatch, APodOfTheNameOfAPodGroupIsAnotherRow) {
  AdminWatch watch("");
  auto view = std::make_shared<ClusterView>(*ViewOf({"x", "x"}, "Pending"));
  view->gangs[1].singleton = true;
  admin::v1::WatchReply first, same;
  ASSERT_TRUE(watch.Next(*view, first));
  EXPECT_EQ(first.gangs_size(), 2);
  EXPECT_FALSE(watch.Next(*view, same)) << same.ShortDebugString();
}

TEST(AdminWatch, OfANamespaceHearsOfNoQueue) {
  AdminWatch watch("b");
  admin::v1::WatchReply reply;
  ASSERT_TRUE(watch.Next(*ViewOf({"x"}, "Pending"), reply));  // that there is nothing
  EXPECT_EQ(reply.gangs_size() + reply.queues_size(), 0);
}

// The fear: gRPC's own limit of 4 MiB hides the list of a large cluster.
TEST(AdminServer, TellsListsOfMoreThanFourMebibytes) {
  const TempFolder temporary;
  const std::string address = absl::StrCat("unix:", temporary.In("run"), "/admin.sock");
  auto large = std::make_shared<ClusterView>();
  large->nodes.resize(5'000, NodeRow{.name = std::string(1000, 'n')});
  const ClusterViewPtr view = std::move(large);
  const auto server = AdminServer::Start({.address = address}, {.view = [&] { return view; }});
  ASSERT_TRUE(server.ok()) << server.status();
  const absl::StatusOr<Json> nodes = AskScheduler({.admin = address}, "/nodes");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ((*nodes)["items"].size(), 5'000u);
}

TEST(AdminServer, StreamsWhatChangesToAFewCallersAndEndsWithTheServer) {
  const TempFolder temporary;
  const std::string address = absl::StrCat("unix:", temporary.In("run"), "/admin.sock");
  std::atomic<int> looks = 0;
  auto server = AdminServer::Start({.address = address, .watch_interval = absl::Milliseconds(1)},
                                   {.view = EmptyView, .recent_view = [&looks] {
                                      return ViewOf({"x"}, ++looks == 1 ? "Pending" : "Running");
                                    }});
  ASSERT_TRUE(server.ok()) << server.status();
  Watcher first(address);
  const auto begin = first.Next(), then = first.Next();
  ASSERT_TRUE(begin.has_value() && then.has_value());
  EXPECT_EQ(begin->gangs(0).phase(), "Pending");
  EXPECT_EQ(then->gangs(0).phase(), "Running");
  std::vector<std::unique_ptr<Watcher>> others;
  for (int i = 0; i < 15; ++i) {
    others.push_back(std::make_unique<Watcher>(address));
    EXPECT_TRUE(others.back()->Next().has_value()) << i;
  }
  Watcher late(address);
  EXPECT_FALSE(late.Next().has_value());
  EXPECT_EQ(late.Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  server->reset();
  EXPECT_FALSE(first.Next().has_value());
}

}  // namespace
}  // namespace maniple
