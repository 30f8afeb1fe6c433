#include "scheduler/app/admin_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/base/status_macros.h"
#include "api/proto/admin.grpc.pb.h"
#include "scheduler/app/answers/admin_usage.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/answers/admin_watch.h"
#include "scheduler/app/config/address.h"
#include "scheduler/app/grpc_log.h"
#include "scheduler/app/socket_folder.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

using ServerCredentials = decltype(grpc::InsecureServerCredentials());

constexpr unsigned kReloadSeconds = 60;
constexpr int kMostWatchers = 16;
constexpr absl::Duration kLongestWatch = absl::Minutes(10);

class Service final : public pb::Admin::Service {
 public:
  Service(AdminServer::Sources sources, absl::Duration watch_interval)
      : sources_(std::move(sources)), watch_interval_(watch_interval) {}

  grpc::Status Explain(grpc::ServerContext*, const pb::ExplainRequest* request,
                       pb::Gang* reply) override {
    return With([&](const ClusterView& view) -> absl::Status {
      const std::string& ns = request->namespace_();
      ASSIGN_OR_RETURN(const GangView* gang,
                       FindGang(view, ns.empty() ? "default" : ns, request->name()));
      const std::optional<GangKey> key = HelpKeyOf(*gang);
      const HelpPtr help = key.has_value() ? sources_.help(*key) : nullptr;
      ExplainInto(*gang, {.help = help.get(), .sees_all_gangs = true}, *reply);
      return absl::OkStatus();
    });
  }
  grpc::Status ListGangs(grpc::ServerContext*, const pb::ListGangsRequest* request,
                         pb::GangList* reply) override {
    return With([&](const ClusterView& view) {
      GangsInto(view, request->namespace_(), *reply);
      return absl::OkStatus();
    });
  }
  grpc::Status ListNodes(grpc::ServerContext*, const pb::ListNodesRequest*,
                         pb::NodeList* reply) override {
    return With([&](const ClusterView& view) {
      NodesInto(view, *reply);
      return absl::OkStatus();
    });
  }
  grpc::Status ListQueues(grpc::ServerContext*, const pb::ListQueuesRequest*,
                          pb::QueueList* reply) override {
    return With([&](const ClusterView& view) {
      QueuesInto(view, *reply);
      return absl::OkStatus();
    });
  }
  grpc::Status ListCohorts(grpc::ServerContext*, const pb::ListCohortsRequest*,
                           pb::CohortList* reply) override {
    return With([&](const ClusterView& view) {
      CohortsInto(view, *reply);
      return absl::OkStatus();
    });
  }
  grpc::Status ListUsage(grpc::ServerContext*, const pb::ListUsageRequest* request,
                         pb::UsageList* reply) override {
    const absl::Time since = absl::UnixEpoch() + absl::Seconds(request->since());
    const UsagePointPtr from = request->since() > 0 ? sources_.used_by(since) : nullptr;
    return With([&](const ClusterView& view) {
      if (request->since() > 0 && from == nullptr) return NoUseIsRemembered();
      UsageInto(view, request->namespace_(), from.get(), *reply);
      return absl::OkStatus();
    });
  }
  grpc::Status ListDecisions(grpc::ServerContext*, const pb::ListDecisionsRequest* request,
                             pb::DecisionList* reply) override {
    DecisionsInto(sources_.decisions(request->namespace_(), request->name()), *reply);
    return grpc::Status::OK;
  }
  grpc::Status Watch(grpc::ServerContext* context, const pb::WatchRequest* request,
                     grpc::ServerWriter<pb::WatchReply>* writer) override {
    const Place place(watchers_);
    if (!place.taken()) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              absl::StrCat(kMostWatchers, " callers watch already")};
    }
    AdminWatch watch(request->namespace_());
    const absl::Time ends = absl::Now() + kLongestWatch;
    while (!context->IsCancelled() && absl::Now() < ends) {
      const ClusterViewPtr view = sources_.recent_view();
      if (view == nullptr) return NoView();
      pb::WatchReply reply;
      if (watch.Next(*view, reply) && !writer->Write(reply)) break;
      absl::SleepFor(watch_interval_);
    }
    return grpc::Status::OK;
  }
  grpc::Status Diagnose(grpc::ServerContext*, const pb::DiagnoseRequest*,
                        pb::Diagnosis* reply) override {
    DiagnosisInto(sources_.facts(), *reply);
    return grpc::Status::OK;
  }
  grpc::Status GetVersion(grpc::ServerContext*, const pb::GetVersionRequest*,
                          pb::Version* reply) override {
    VersionInto(*reply);
    return grpc::Status::OK;
  }

 private:
  // Of a caller that watches, while it does.
  class Place final {
   public:
    explicit Place(std::atomic<int>& watchers) : watchers_(watchers), number_(++watchers) {}
    ~Place() { --watchers_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    [[nodiscard]] bool taken() const { return number_ <= kMostWatchers; }

   private:
    std::atomic<int>& watchers_;
    const int number_;
  };

  static grpc::Status NoView() {
    return {grpc::StatusCode::UNAVAILABLE,
            "the scheduler did not answer in time; is it still starting?"};
  }
  template <typename Answer>
  grpc::Status With(const Answer& answer) {
    const ClusterViewPtr view = sources_.view();
    if (view == nullptr) return NoView();
    const absl::Status status = answer(*view);
    return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
  }

  const AdminServer::Sources sources_;
  const absl::Duration watch_interval_;
  std::atomic<int> watchers_ = 0;  // each has a thread
};

absl::Status CannotListen(absl::string_view address, absl::string_view why) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, " for the admin surface: ", why));
}

// Whether somebody answers there: gRPC would take the socket of a living process away from it.
bool Answers(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int caller = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (caller < 0) return false;
  const int result =
      ::connect(caller, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  ::close(caller);
  return result == 0;
}

// A folder to write to, and in it nothing or the socket of a process that is gone.
absl::Status PrepareSocket(const std::string& path, absl::string_view address) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  RETURN_IF_ERROR(Annotate(MakeSocketFolder(path), address));
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    return CannotListen(address, std::generic_category().message(errno));
  }
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (!std::filesystem::exists(there)) return absl::OkStatus();
  if (!std::filesystem::is_socket(there))
    return CannotListen(
        address, "a file that is no socket is there; remove it, or name another path by --admin");
  if (Answers(path)) {
    return CannotListen(address, "another process does; give each its own --admin");
  }
  return absl::OkStatus();
}

// Of clients whose certificate is of the authority; the files are looked at every minute.
absl::StatusOr<ServerCredentials> MutualTls(const TlsFiles& files) {
  RETURN_IF_ERROR(CheckTlsFiles(files));
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.certificate, files.client_authority, kReloadSeconds));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace

class AdminServer::Impl final {
 public:
  Impl(Sources sources, absl::Duration watch_interval)
      : service_(std::move(sources), watch_interval) {}
  ~Impl() {
    if (server_ != nullptr)
      server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  }

  absl::Status Listen(const AdminServerOptions& options) {
    LogWhatGrpcSays();
    const std::string& address = options.address;
    RETURN_IF_ERROR(CheckAdminAddress(address));
    const std::string path = SocketPathOf(address);
    ServerCredentials credentials = grpc::InsecureServerCredentials();
    if (path.empty()) {
      ASSIGN_OR_RETURN(credentials, MutualTls(options.tls));
    } else {
      RETURN_IF_ERROR(PrepareSocket(path, address));
    }
    // For grpcurl and probes, which have no admin.proto at hand.
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, credentials, &port_);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || (port_ == 0 && path.empty())) {
      return CannotListen(address, "in use, or no address of this machine");
    }
    return absl::OkStatus();
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  Service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(const AdminServerOptions& options,
                                                                Sources sources) {
  auto impl = std::make_unique<Impl>(std::move(sources), options.watch_interval);
  if (absl::Status status = impl->Listen(options); !status.ok()) return status;
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminServer::~AdminServer() = default;
int AdminServer::port() const { return impl_->port(); }

}  // namespace maniple
