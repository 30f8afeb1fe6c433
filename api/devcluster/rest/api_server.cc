#include "api/devcluster/rest/api_server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/base/status_macros.h"
#include "api/devcluster/controllers/controllers.h"
#include "api/devcluster/rest/discovery.h"
#include "api/devcluster/rest/reply.h"
#include "api/devcluster/rest/request.h"
#include "api/devcluster/rest/rest.h"
#include "api/devcluster/rest/watch.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster {
namespace {

// How many turns the controllers get after a request to do what is due at once; a bound against
// two of them undoing each other.
constexpr int kMaxTurns = 1000;

bool IsRead(absl::string_view method) { return method == "GET" || method == "HEAD"; }

ApiReply PageNotFound() {
  ApiReply reply;
  reply.status = 404;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = "404 page not found\n";
  return reply;
}

absl::Status AsStatus(const ApiError& error) {
  return absl::InvalidArgumentError(error.message.empty() ? absl::StrCat("status ", error.code)
                                                          : error.message);
}

}  // namespace

class ApiServer::Impl {
 public:
  explicit Impl(const ApiServerOptions& options)
      : options_(options),
        random_(options.seed),
        store_(options.watch_history, options.first_version),
        watches_(store_, random_, options.bookmark_period) {
    store_.AddObserver(&watches_);
    if (options_.controllers == ApiServerOptions::Controllers::kSimulated) {
      controllers_ = std::make_unique<Controllers>(options_, types_);
      store_.AddObserver(controllers_.get());
    }
  }

  ApiReply Handle(const ApiRequest& request, absl::Time now) {
    Start(now);
    ApiReply reply = Dispatch(request, now);
    if (!IsRead(request.method)) Settle(now);
    return reply;
  }

  WatchOutput TakeWatchOutput(WatchId id) { return watches_.Take(id, now_); }
  WatchEvents TakeWatchEvents(WatchId id) { return watches_.TakeEvents(id, now_); }
  std::vector<WatchId> ReadyWatches() { return watches_.TakeReady(); }
  void CloseWatch(WatchId id) { watches_.Close(id); }

  absl::Time NextDeadline() const {
    const absl::Time controllers =
        controllers_ == nullptr ? absl::InfiniteFuture() : controllers_->NextDeadline();
    return std::min(controllers, watches_.NextDeadline());
  }

  void OnTime(absl::Time now) {
    Start(now);
    watches_.OnTime(now);
    Settle(now);
  }

  absl::Status Load(const std::vector<Json>& objects, absl::Time now) {
    Start(now);
    for (const Json& object : objects) {
      const std::string& version = object["apiVersion"].AsString();
      const std::string& kind = object["kind"].AsString();
      const ResourceType* type = types_.FindByKind(version, kind);
      if (type == nullptr || !type->storage.valid()) {
        return absl::NotFoundError(
            absl::StrCat("no matches for kind \"", kind, "\" in version \"", version, "\""));
      }
      RETURN_IF_ERROR(Annotate(LoadOne(*type, object, now),
                               absl::StrCat(kind, " ", object["metadata"]["name"].AsString())));
      // A snapshot is whole only at its end: before, an owner may seem to be missing.
      if (!IsOfSnapshot(object)) Settle(now);
    }
    Settle(now);
    return absl::OkStatus();
  }

  std::vector<Json> Dump() const {
    std::vector<Json> objects;
    const StorageId crds = types_.Storage("apiextensions.k8s.io", "customresourcedefinitions");
    const StorageId namespaces = types_.Storage("", "namespaces");
    std::vector<StorageId> order = {crds, namespaces};
    for (uint32_t i = 0; i < types_.storages(); ++i) {
      if (StorageId(i) != crds && StorageId(i) != namespaces) order.push_back(StorageId(i));
    }
    for (const StorageId storage : order) {
      for (const ObjectPtr& object : store_.List(storage)) objects.push_back(*object);
    }
    return objects;
  }

  void ForgetHistory() {
    watches_.CutAll();
    store_.Renumber();
  }

  void RestartVersions() {
    watches_.CutAll();
    store_.RestartVersions();
  }

 private:
  Cluster ClusterAt(absl::Time now) { return {store_, types_, random_, now}; }

  // The first moment that is heard of: the cluster comes to be.
  void Start(absl::Time now) {
    now_ = now;
    if (started_) return;
    started_ = true;
    CreateBuiltinObjects(ClusterAt(now));
  }

  // What follows from the last write without delay.
  void Settle(absl::Time now) {
    const Cluster cluster = ClusterAt(now);
    for (int turn = 0; turn < kMaxTurns; ++turn) {
      FinishDeletedCrds(cluster);
      if (controllers_ == nullptr || controllers_->NextDeadline() > now) break;
      controllers_->OnTime(cluster);
    }
    if (types_.generation() != seen_generation_) {
      seen_generation_ = types_.generation();
      watches_.OnTypesChanged(types_);
    }
  }

  ApiReply Dispatch(const ApiRequest& request, absl::Time now) {
    if (IsRead(request.method)) {
      if (std::optional<ApiReply> reply = HandleDiscovery(request, types_)) {
        return *std::move(reply);
      }
    }
    if (request.body.size() > kMaxBodyBytes) {
      return ErrorReply(
          {.code = 413,
           .reason = "RequestEntityTooLarge",
           .message = absl::StrCat("Request entity too large: limit is ", kMaxBodyBytes)});
    }
    const absl::string_view target = request.target;
    const size_t mark = std::min(target.find('?'), target.size());
    std::optional<ResourcePath> path = ParseResourcePath(target.substr(0, mark));
    const ResourceType* type =
        path.has_value() ? types_.Find(path->group, path->version, path->plural) : nullptr;
    if (type == nullptr) {
      return path.has_value() && IsGroup(path->group) ? ErrorReply(NoSuchPath()) : PageNotFound();
    }
    // A namespaced resource of all namespaces has no names; a cluster-wide one is in none.
    const bool misplaced = type->namespaced() ? path->namespace_name.empty() && !path->name.empty()
                                              : !path->namespace_name.empty();
    if (misplaced) return PageNotFound();
    if (!IsAcceptable(request.accept)) {
      return ErrorReply(NotAcceptable(
          "only the following media types are accepted: application/json, application/yaml"));
    }
    const ResourceRequest resource{
        request, *type, *std::move(path),
        Query(mark < target.size() ? target.substr(mark + 1) : absl::string_view())};
    ApiOr<ApiReply> reply = Serve(resource, now);
    return reply.ok() ? *std::move(reply) : ErrorReply(reply.error());
  }

  bool IsGroup(absl::string_view group) const {
    const std::vector<const ResourceType*>& all = types_.All();
    return std::any_of(all.begin(), all.end(),
                       [&](const ResourceType* type) { return type->group == group; });
  }

  ApiOr<ApiReply> Serve(const ResourceRequest& request, absl::Time now) {
    const Cluster cluster = ClusterAt(now);
    const RestContext context{cluster, watches_};
    if (!request.type.storage.valid()) return ServeReview(context, request);
    if (!request.path.subresource.empty()) return ServeSubresource(context, request);
    if (IsRead(request.http.method)) return ServeRead(context, request);
    return ServeWrite(context, request);
  }

  // An object of a snapshot is put back as it was. One of a manifest comes as kubectl would apply
  // it, but may bring its status (a Node, a PodDisruptionBudget).
  static bool IsOfSnapshot(const Json& object) {
    return object["metadata"]["uid"].is_string() &&
           object["metadata"]["resourceVersion"].is_string();
  }

  absl::Status LoadOne(const ResourceType& type, const Json& object, absl::Time now) {
    const Cluster cluster = ClusterAt(now);
    if (IsOfSnapshot(object)) {
      const ApiOr<ObjectPtr> restored = RestoreObject(cluster, type, object);
      return restored.ok() ? absl::OkStatus() : AsStatus(restored.error());
    }
    Json fresh = object;
    Json& metadata = fresh.Mutable("metadata");
    if (!metadata.is_object()) return absl::InvalidArgumentError("it has no metadata");
    metadata.Erase("resourceVersion");
    if (!type.namespaced()) {
      metadata.Erase("namespace");
    } else if (metadata["namespace"].AsString().empty()) {
      metadata.Set("namespace", "default");
    }
    const ObjectName name = NameOf(fresh);
    const Json status = object["status"];
    const bool exists = !name.name.empty() && cluster.store.Get(type.storage, name) != nullptr;
    if (exists) {
      metadata.Set("resourceVersion",
                   (*cluster.store.Get(type.storage, name))["metadata"]["resourceVersion"]);
    }
    const ApiOr<ObjectPtr> stored =
        exists ? UpdateObject(cluster, type, std::move(fresh), WritePart::kMain, {})
               : CreateObject(cluster, type, std::move(fresh), {});
    if (!stored.ok()) return AsStatus(stored.error());
    if (!status.is_object() || type.FindSubresource("status") == nullptr || type.kind == "Pod") {
      return absl::OkStatus();
    }
    Json with_status = **stored;
    with_status.Set("status", status);
    const ApiOr<ObjectPtr> updated =
        UpdateObject(cluster, type, std::move(with_status), WritePart::kStatus, {});
    return updated.ok() ? absl::OkStatus() : AsStatus(updated.error());
  }

  const ApiServerOptions options_;
  Random random_;
  TypeRegistry types_;
  Store store_;
  Watches watches_;
  std::unique_ptr<Controllers> controllers_;
  bool started_ = false;
  absl::Time now_;
  uint64_t seen_generation_ = 0;
};

ApiServer::ApiServer(ApiServerOptions options) : impl_(std::make_unique<Impl>(options)) {}
ApiServer::~ApiServer() = default;

ApiReply ApiServer::Handle(const ApiRequest& request, absl::Time now) {
  owner_.Check();
  return impl_->Handle(request, now);
}
WatchOutput ApiServer::TakeWatchOutput(WatchId watch) { return impl_->TakeWatchOutput(watch); }
WatchEvents ApiServer::TakeWatchEvents(WatchId watch) { return impl_->TakeWatchEvents(watch); }
std::vector<WatchId> ApiServer::ReadyWatches() { return impl_->ReadyWatches(); }
void ApiServer::CloseWatch(WatchId watch) { impl_->CloseWatch(watch); }
absl::Time ApiServer::NextDeadline() const { return impl_->NextDeadline(); }
void ApiServer::OnTime(absl::Time now) {
  owner_.Check();
  impl_->OnTime(now);
}
absl::Status ApiServer::Load(const std::vector<Json>& objects, absl::Time now) {
  return impl_->Load(objects, now);
}
std::vector<Json> ApiServer::Dump() const { return impl_->Dump(); }
void ApiServer::ForgetHistory() { impl_->ForgetHistory(); }
void ApiServer::RestartVersions() { impl_->RestartVersions(); }

}  // namespace maniple::devcluster
