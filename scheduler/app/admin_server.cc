#include "scheduler/app/admin_server.h"

#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/proto/admin.grpc.pb.h"
#include "scheduler/app/admin_view.h"

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

absl::Status MakeSocketFolder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty() || std::filesystem::exists(folder)) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  if (error)
    return absl::UnavailableError(
        absl::StrCat("cannot make ", folder.string(), ": ", error.message()));
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
    absl::string_view path = address;
    if (absl::ConsumePrefix(&path, "unix:")) {
      if (absl::Status status = MakeSocketFolder(std::string(path)); !status.ok()) return status;
    }
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || (port == 0 && path == address)) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", address, " for the admin surface"));
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
