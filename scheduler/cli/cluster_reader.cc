#include "scheduler/cli/cluster_reader.h"

#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/clock.h"
#include "api/base/status_macros.h"
#include "api/codec/json.h"
#include "api/http/curl_transport.h"
#include "api/model/object.h"
#include "scheduler/cli/collection_pages.h"
#include "scheduler/cli/left_out.h"

namespace maniple {
namespace {

constexpr char kDefinitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// Without these nothing can be decided.
bool IsNeeded(ResourceKind kind) {
  return kind == ResourceKind::kNode || kind == ResourceKind::kPod ||
         kind == ResourceKind::kNamespace || kind == ResourceKind::kPodGroup ||
         kind == ResourceKind::kQueue;
}

// What no decision needs to know goes: it may be large, and secret.
void LeaveOut(Json& object) {
  Json& meta = object.Mutable("metadata");
  meta.Erase("managedFields");
  if (meta["annotations"].is_object()) {
    meta.Mutable("annotations").Erase("kubectl.kubernetes.io/last-applied-configuration");
  }
  LeaveOutWhatRuns(object);
}

class Reader final {
 public:
  Reader(std::unique_ptr<CurlTransport> transport, ReadClusterResult& out)
      : transport_(std::move(transport)), out_(out) {}

  // Every object of the list that `keep` chooses. NotFound: the list is not served.
  template <typename Keep>
  absl::Status Read(const std::string& path, const Keep& keep) {
    return ReadPages(*transport_, path, "", [&](const Json& list) { Take(list, keep); });
  }

 private:
  // Items of a list of a built-in kind do not name it.
  template <typename Keep>
  void Take(const Json& list, const Keep& keep) {
    const absl::string_view kind = absl::StripSuffix(list["kind"].AsString(), "List");
    for (Json item : list["items"].items()) {
      if (!item.Has("kind")) item.Set("kind", kind);
      if (!item.Has("apiVersion")) item.Set("apiVersion", list["apiVersion"]);
      if (!keep(item)) continue;
      LeaveOut(item);
      out_.cluster.objects.push_back(std::move(item));
    }
  }

  const std::unique_ptr<CurlTransport> transport_;
  ReadClusterResult& out_;
};

bool KeepAll(const Json&) { return true; }

// In the first version that is served.
absl::Status ReadProducer(Reader& reader, const ForeignKind& kind) {
  absl::Status status = absl::NotFoundError("no version");
  for (const std::string& version : kind.versions) {
    status =
        reader.Read(absl::StrCat("/apis/", kind.group, "/", version, "/", kind.resource), KeepAll);
    if (!absl::IsNotFound(status)) break;
  }
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

}  // namespace

absl::StatusOr<ReadClusterResult> ReadCluster(const ClientConfig& config,
                                              const ForeignKinds& producers, absl::Time now) {
  ASSIGN_OR_RETURN(std::unique_ptr<CurlTransport> transport,
                   CurlTransport::Create(config, RealClock(), {}));
  ReadClusterResult out;
  out.cluster.at = now;
  Reader reader(std::move(transport), out);
  const auto passed_over = [&out](const absl::Status& status) -> absl::Status {
    const bool unreached = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
    if (status.ok() || unreached) return status;
    out.notes.emplace_back(status.message());
    return absl::OkStatus();
  };
  std::set<std::string> groups;
  for (const ForeignKind& kind : producers) groups.insert(kind.group);
  RETURN_IF_ERROR(passed_over(reader.Read(kDefinitions, [&groups](const Json& definition) {
    return groups.contains(definition["spec"]["group"].AsString());
  })));
  RETURN_IF_ERROR(
      reader.Read(std::string(ResourceCollectionPath(ResourceKind::kNamespace)), KeepAll));
  for (const ForeignKind& kind : producers) {
    RETURN_IF_ERROR(passed_over(ReadProducer(reader, kind)));
  }
  for (int i = 0; i < kResourceKinds; ++i) {
    const auto kind = static_cast<ResourceKind>(i);
    if (kind == ResourceKind::kNamespace) continue;
    const absl::Status status = reader.Read(std::string(ResourceCollectionPath(kind)), KeepAll);
    RETURN_IF_ERROR(IsNeeded(kind) ? status : passed_over(status));
  }
  return out;
}

}  // namespace maniple
