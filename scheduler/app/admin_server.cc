#include "scheduler/app/admin_server.h"

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/status_macros.h"
#include "api/proto/admin.grpc.pb.h"
#include "scheduler/app/address.h"
#include "scheduler/app/admin_view.h"
#include "scheduler/app/grpc_log.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

class Service final : public pb::Admin::Service {
 public:
  explicit Service(AdminServer::ViewSource source) : source_(std::move(source)) {}

  grpc::Status Explain(grpc::ServerContext*, const pb::ExplainRequest* request,
                       pb::Gang* reply) override {
    return With([&](const ClusterView& view) {
      const std::string& ns = request->namespace_();
      return ExplainInto(view, ns.empty() ? "default" : ns, request->name(), *reply);
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

 private:
  template <typename Answer>
  grpc::Status With(const Answer& answer) {
    const ClusterViewPtr view = source_();
    if (view == nullptr) {
      return {grpc::StatusCode::UNAVAILABLE,
              "the scheduler did not answer in time; is it still starting?"};
    }
    const absl::Status status = answer(*view);
    return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
  }

  const AdminServer::ViewSource source_;
};

absl::Status CannotListen(absl::string_view address, absl::string_view why) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, " for the admin surface: ", why));
}

absl::Status MakeSocketFolder(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.empty() || std::filesystem::exists(folder, error)) return absl::OkStatus();
  std::filesystem::create_directories(folder, error);
  if (!error) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  if (error)
    return absl::UnavailableError(
        absl::StrCat("cannot make ", folder.string(), ": ", error.message()));
  return absl::OkStatus();
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
  RETURN_IF_ERROR(MakeSocketFolder(folder));
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    return CannotListen(address, std::generic_category().message(errno));
  }
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (!std::filesystem::exists(there)) return absl::OkStatus();
  if (!std::filesystem::is_socket(there)) return CannotListen(address, "it is no socket");
  if (Answers(path)) {
    return CannotListen(address, "another process does; give each its own --admin");
  }
  return absl::OkStatus();
}

}  // namespace

class AdminServer::Impl final {
 public:
  explicit Impl(ViewSource source) : service_(std::move(source)) {}
  ~Impl() {
    if (server_ != nullptr)
      server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  }

  absl::Status Listen(const std::string& address) {
    LogWhatGrpcSays();
    RETURN_IF_ERROR(CheckAdminAddress(address));
    absl::string_view path = address;
    if (absl::ConsumePrefix(&path, "unix:")) {
      RETURN_IF_ERROR(PrepareSocket(std::string(path), address));
    }
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || (port == 0 && path == address)) {
      return CannotListen(address, "in use, or no address of this machine");
    }
    return absl::OkStatus();
  }

 private:
  Service service_;
  std::unique_ptr<grpc::Server> server_;
};

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(const std::string& address,
                                                                ViewSource source) {
  auto impl = std::make_unique<Impl>(std::move(source));
  if (absl::Status status = impl->Listen(address); !status.ok()) return status;
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminServer::~AdminServer() = default;

}  // namespace maniple
