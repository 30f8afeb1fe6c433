#include "scheduler/cli/admin_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/base/clock.h"
#include "api/base/files.h"
#include "api/base/status_macros.h"
#include "api/client/kubeconfig.h"
#include "api/codec/decode.h"
#include "api/codec/kubernetes_time.h"
#include "api/http/curl_transport.h"
#include "api/proto/admin.grpc.pb.h"
#include "scheduler/app/access/admin_question.h"
#include "scheduler/app/answers/admin_numbers.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/config/address.h"
#include "scheduler/app/grpc_log.h"
#include "scheduler/app/socket_folder.h"
#include "scheduler/cli/exchange.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

using ChannelCredentials = decltype(grpc::InsecureChannelCredentials());

constexpr std::chrono::seconds kDeadline{5};
constexpr absl::Duration kWholeAnswer = absl::Seconds(60);  // through a proxy, and not compressed
constexpr int kMostAnswerBytes = 1 << 30;
constexpr char kNoSuchPage[] = "404 page not found";
constexpr int kMostReplicasAsked = 8;
constexpr char kTokenRequest[] =
    R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}})";

template <typename Request, typename Reply>
absl::StatusOr<Json> Ask(pb::Admin::Stub& stub,
                         grpc::Status (pb::Admin::Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Reply*),
                         const Request& request) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  Reply reply;
  const grpc::Status status = (stub.*method)(&context, request, &reply);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  ASSIGN_OR_RETURN(const std::string text, AdminMessageJson(reply));
  return Json::Parse(text);
}

absl::StatusOr<ChannelCredentials> MutualTls(const AdminClientOptions& options) {
  grpc::SslCredentialsOptions tls;
  ASSIGN_OR_RETURN(tls.pem_root_certs, ReadWholeFile(options.certificate_authority));
  ASSIGN_OR_RETURN(tls.pem_cert_chain, ReadWholeFile(options.client_certificate));
  ASSIGN_OR_RETURN(tls.pem_private_key, ReadWholeFile(options.client_key));
  return grpc::SslCredentials(tls);
}

absl::StatusOr<ChannelCredentials> CredentialsFor(const AdminClientOptions& options,
                                                  const std::string& address) {
  const std::string path = SocketPathOf(address);
  if (path.empty()) return MutualTls(options);
  RETURN_IF_ERROR(CheckSocketFolder(path));
  return grpc::InsecureChannelCredentials();
}

absl::StatusOr<Json> AskByGrpc(const AdminClientOptions& options, const std::string& address,
                               const AdminQuestion& target) {
  LogWhatGrpcSays();
  ASSIGN_OR_RETURN(const ChannelCredentials credentials, CredentialsFor(options, address));
  grpc::ChannelArguments arguments;
  // gRPC by itself takes 4 MiB, and the list of ten thousand nodes is larger.
  arguments.SetMaxReceiveMessageSize(kMostAnswerBytes);
  const auto stub = pb::Admin::NewStub(grpc::CreateCustomChannel(address, credentials, arguments));
  if (target.path == "/explain") {
    pb::ExplainRequest request;
    request.set_namespace_(target.namespace_name);
    request.set_name(target.name);
    return Ask(*stub, &pb::Admin::Stub::Explain, request);
  }
  if (target.path == "/gangs") {
    pb::ListGangsRequest request;
    request.set_namespace_(target.namespace_name);
    return Ask(*stub, &pb::Admin::Stub::ListGangs, request);
  }
  if (target.path == "/log") {
    pb::ListDecisionsRequest request;
    request.set_namespace_(target.namespace_name);
    request.set_name(target.name);
    return Ask(*stub, &pb::Admin::Stub::ListDecisions, request);
  }
  if (target.path == "/usage") {
    pb::ListUsageRequest request;
    request.set_namespace_(target.namespace_name);
    if (!target.since.empty()) {
      ASSIGN_OR_RETURN(const absl::Time since, ParseKubernetesTime(target.since));
      request.set_since(absl::ToDoubleSeconds(since - absl::UnixEpoch()));
    }
    return Ask(*stub, &pb::Admin::Stub::ListUsage, request);
  }
  if (target.path == "/diag") {
    return Ask(*stub, &pb::Admin::Stub::Diagnose, pb::DiagnoseRequest());
  }
  if (target.path == "/version") {
    return Ask(*stub, &pb::Admin::Stub::GetVersion, pb::GetVersionRequest());
  }
  if (target.path == "/cohorts") {
    return Ask(*stub, &pb::Admin::Stub::ListCohorts, pb::ListCohortsRequest());
  }
  if (target.path == "/nodes") {
    return Ask(*stub, &pb::Admin::Stub::ListNodes, pb::ListNodesRequest());
  }
  return Ask(*stub, &pb::Admin::Stub::ListQueues, pb::ListQueuesRequest());
}

absl::StatusOr<Json> JsonOf(const ApiAnswer& reply) {
  if (reply.status == 200 || reply.status == 201) return Json::Parse(reply.body);
  const ApiStatus status = DecodeStatus(reply.status, reply.body);
  // The page's own 404 names the gang; an API server's names the service, or is bare where it has
  // no proxy.
  if (reply.status == 404 && status.reason.empty() && status.message != kNoSuchPage) {
    return absl::NotFoundError(status.message);
  }
  // The scheduler's own words again.
  if (reply.status == 403 && status.reason.empty()) {
    return absl::PermissionDeniedError(status.message);
  }
  return absl::UnavailableError(absl::StrCat("HTTP ", reply.status, ": ", status.message));
}

// The chart names both after the release: "gold-maniple-scheduler", "gold-maniple-viewer".
std::string ViewerOf(absl::string_view service) {
  (void)absl::ConsumePrefix(&service, "https:");
  absl::string_view name = service.substr(0, service.find(':'));
  (void)absl::ConsumeSuffix(&name, "-scheduler");
  return absl::StrCat(name, "-viewer");
}

// Once, however often it is asked.
void NoteThatItStandsBy() {
  [[maybe_unused]] static const bool noted = [] {
    std::cerr << "note: the replica that answers stands by; only the one that leads knows what "
                 "waits and what is charged\n";
    return true;
  }();
}

// What every replica knows.
bool NeedsNoLeader(absl::string_view path) {
  return path == "/diag" || path == "/version" || path == "/nodes";
}

// An address leads to one replica, which may stand by.
absl::StatusOr<Json> AskAddress(const AdminClientOptions& options, const std::string& address,
                                absl::string_view target) {
  const AdminQuestion question = ParseAdminTarget(target);
  absl::StatusOr<Json> answer = AskByGrpc(options, address, question);
  if (!answer.ok() || NeedsNoLeader(question.path)) return answer;
  const absl::StatusOr<Json> diagnosis = AskByGrpc(options, address, ParseAdminTarget("/diag"));
  if (diagnosis.ok() && !(*diagnosis)["leading"].AsBool()) NoteThatItStandsBy();
  return answer;
}

// Whoever names a cluster or a Service means that one, and not the scheduler of this machine.
bool NamesCluster(const AdminClientOptions& options) {
  const AdminClientOptions none;
  return !options.kubeconfig.empty() || !options.context.empty() ||
         options.service_namespace != none.service_namespace || options.service != none.service;
}

bool SocketExists(absl::string_view address) {
  std::error_code unreachable;
  return std::filesystem::exists(SocketPathOf(address), unreachable);
}

absl::Status CheckAdminFlags(const AdminClientOptions& options) {
  RETURN_IF_ERROR(Annotate(CheckAdminAddress(options.admin), "--admin"));
  if (SocketPathOf(options.admin).empty() &&
      (options.certificate_authority.empty() || options.client_certificate.empty() ||
       options.client_key.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--admin ", options.admin,
        " speaks mutual TLS: give --certificate-authority, --client-certificate and --client-key"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ClientConfig> ClientConfigOf(const AdminClientOptions& options) {
  return LoadClientConfig({.kubeconfig = options.kubeconfig,
                           .context = options.context,
                           .environment = ProcessEnvironment()});
}

SchedulerClient::SchedulerClient(AdminClientOptions options) : options_(std::move(options)) {}

// The page through the API server's service proxy.
absl::StatusOr<ApiAnswer> SchedulerClient::ThroughProxy(absl::string_view target) {
  HttpRequest request;
  request.target = absl::StrCat("/api/v1/namespaces/", options_.service_namespace, "/services/",
                                options_.service, "/proxy", target);
  return Exchange(*api_server_, std::move(request), kWholeAnswer);
}

// A short token for who has only a client certificate, which a proxy cannot hand on.
absl::StatusOr<Secret> SchedulerClient::ViewerToken() {
  HttpRequest request;
  request.method = HttpMethod::kPost;
  const std::string viewer = ViewerOf(options_.service);
  request.target = absl::StrCat("/api/v1/namespaces/", options_.service_namespace,
                                "/serviceaccounts/", viewer, "/token");
  request.content_type = "application/json";
  request.body = kTokenRequest;
  ASSIGN_OR_RETURN(const ApiAnswer reply, Exchange(*api_server_, std::move(request)));
  const absl::StatusOr<Json> json = JsonOf(reply);
  if (!json.ok()) {
    return absl::UnavailableError(absl::StrCat("no token could be had for the ServiceAccount ",
                                               options_.service_namespace, "/", viewer,
                                               " in its place: ", json.status().message()));
  }
  return Secret((*json)["status"]["token"].AsString());
}

// The proxy chooses among the replicas that are ready.
absl::StatusOr<Json> SchedulerClient::AskReplica(absl::string_view target) {
  if (api_server_ == nullptr) {
    const absl::StatusOr<ClientConfig> config = ClientConfigOf(options_);
    // NotFound is kept for gangs.
    if (!config.ok()) return absl::UnavailableError(config.status().message());
    CurlTransportOptions carries;
    // The proxy keeps the token of the configuration to itself.
    if (absl::StartsWith(options_.service, "https:")) carries.token_header = "X-Maniple-Token";
    ASSIGN_OR_RETURN(api_server_, CurlTransport::Create(*config, RealClock(), carries));
  }
  ASSIGN_OR_RETURN(ApiAnswer reply, ThroughProxy(target));
  if (reply.status == 401 && DecodeStatus(reply.status, reply.body).reason.empty()) {
    absl::StatusOr<Secret> token = ViewerToken();
    if (!token.ok()) {
      return Annotate(token.status(), DecodeStatus(reply.status, reply.body).message);
    }
    api_server_->ShowToken(*std::move(token));
    ASSIGN_OR_RETURN(reply, ThroughProxy(target));
  }
  return JsonOf(reply);
}

// Only the replica that leads knows why a gang waits.
absl::StatusOr<Json> SchedulerClient::AskByProxy(absl::string_view target) {
  const std::string of_leader =
      absl::StrCat(target, absl::StrContains(target, '?') ? "&" : "?", "leader=true");
  for (int asked = 0; asked < kMostReplicasAsked; ++asked) {
    absl::StatusOr<Json> answer = AskReplica(of_leader);
    if (answer.ok() || !absl::StrContains(answer.status().message(), kStandsBy)) return answer;
  }
  NoteThatItStandsBy();
  return AskReplica(target);
}

absl::StatusOr<Json> SchedulerClient::AskWhereItMayBe(absl::string_view target) {
  std::vector<std::string> tried;
  const std::string address = options_.admin.empty() ? DefaultAdminAddress() : options_.admin;
  const bool asked_for = !options_.admin.empty();
  if (asked_for) RETURN_IF_ERROR(CheckAdminFlags(options_));
  if (asked_for || (!NamesCluster(options_) && SocketExists(address))) {
    absl::StatusOr<Json> answer = AskAddress(options_, address, target);
    if (answer.ok() || absl::IsNotFound(answer.status())) return answer;
    tried.push_back(absl::StrCat(address, " (", answer.status().message(), ")"));
  } else if (!NamesCluster(options_)) {
    tried.push_back(absl::StrCat(address, " (no such socket)"));
  }
  if (!asked_for) {
    absl::StatusOr<Json> answer = AskByProxy(target);
    if (answer.ok() || absl::IsNotFound(answer.status()) ||
        absl::IsPermissionDenied(answer.status())) {
      return answer;
    }
    tried.push_back(absl::StrCat("service ", options_.service_namespace, "/", options_.service,
                                 " (", answer.status().message(), ")"));
  }
  return absl::UnavailableError(
      absl::StrCat("no scheduler found; tried ", absl::StrJoin(tried, ", ")));
}

absl::StatusOr<Json> SchedulerClient::Ask(absl::string_view target) {
  ASSIGN_OR_RETURN(Json answer, AskWhereItMayBe(target));
  return WithNumbers(ParseAdminTarget(target).path, std::move(answer));
}

absl::StatusOr<Json> AskScheduler(const AdminClientOptions& options, absl::string_view target) {
  return SchedulerClient(options).Ask(target);
}

}  // namespace maniple
