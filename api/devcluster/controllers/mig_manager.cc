#include "api/devcluster/controllers/mig_manager.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/controllers/pod_requests.h"
#include "api/devcluster/store/object_facts.h"
#include "api/gpu/mig_config.h"
#include "api/gpu/mig_profile.h"

namespace maniple::devcluster {
namespace {

constexpr absl::string_view kGpuPrefixes[] = {"nvidia.com/gpu", "nvidia.com/mig-"};

const std::string& LabelOf(const Json& node, absl::string_view key) {
  return node["metadata"]["labels"][key].AsString();
}

bool IsGpu(absl::string_view resource) {
  return std::any_of(std::begin(kGpuPrefixes), std::end(kGpuPrefixes),
                     [&](absl::string_view prefix) { return absl::StartsWith(resource, prefix); });
}

std::optional<int64_t> NumberOf(const std::string& text) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

bool IsUnderChange(const Json& node) {
  const std::string& state = LabelOf(node, kMigConfigStateLabel);
  return state == kMigPending || state == kMigRebooting;
}

void SetState(Json& node, absl::string_view state) {
  node.Mutable("metadata").Mutable("labels").Set(kMigConfigStateLabel, std::string(state));
}

Json WithoutGpus(const Json& amounts) {
  Json out = Json::Object();
  for (const auto& [resource, amount] : amounts.members()) {
    if (!IsGpu(resource)) out.Set(resource, amount);
  }
  return out;
}

}  // namespace

MigManager::MigManager(MigManagerOptions options, const TypeRegistry& types)
    : options_(std::move(options)),
      nodes_storage_(types.Storage("", "nodes")),
      pods_storage_(types.Storage("", "pods")) {}

void MigManager::OnChange(const Change& change) {
  if (change.storage != nodes_storage_) return;
  if (change.kind == ChangeKind::kDeleted) {
    due_.Erase(change.name);
    plugged_.erase(change.name);
  }
  if (change.kind == ChangeKind::kDeleted) return;
  if (LabelOf(*change.object, kMigCapableLabel) != "true") return;
  const std::string& config = LabelOf(*change.object, kMigConfigLabel);
  const bool asked = change.kind == ChangeKind::kModified
                         ? config != LabelOf(*change.previous, kMigConfigLabel)
                         : options_.resumes && IsUnderChange(*change.object);
  if (asked && !config.empty()) begun_.push_back(change.name);
}

absl::Time MigManager::NextDeadline() const {
  return begun_.empty() ? due_.Next() : absl::InfinitePast();
}

void MigManager::OnTime(const Cluster& cluster) {
  for (const ObjectName& name : std::exchange(begun_, {})) Begin(cluster, name);
  while (const std::optional<ObjectName> name = due_.PopDue(cluster.now)) Finish(cluster, *name);
}

void MigManager::Begin(const Cluster& cluster, const ObjectName& name) {
  const ObjectPtr object = cluster.store.Get(nodes_storage_, name);
  if (object == nullptr) return;
  Json node = *object;
  Json& status = node.Mutable("status");
  // Another value while a change is under way begins it anew; what was before stays so.
  plugged_.try_emplace(name, Plugged{status["capacity"], status["allocatable"]});
  due_.Set(name, EndOf(node, cluster.now));
  for (const char* field : {"capacity", "allocatable"}) {
    Json left = WithoutGpus(status[field]);
    status.Set(field, std::move(left));
  }
  SetState(node, kMigPending);
  cluster.store.Put(nodes_storage_, std::move(node));
}

absl::Time MigManager::EndOf(const Json& node, absl::Time now) const {
  const Json& annotations = node["metadata"]["annotations"];
  absl::Duration takes = options_.takes;
  const Json& text = annotations[kMigDelayAnnotation];
  absl::Duration said;
  if (text.is_string() && absl::ParseDuration(text.AsString(), &said) &&
      said >= absl::ZeroDuration()) {
    takes = said;
  }
  const Json& asked_at = annotations[options_.asked_at];
  const absl::StatusOr<absl::Time> asked =
      asked_at.is_string() ? ParseKubernetesTime(asked_at.AsString()) : now;
  return asked.ok() && *asked <= now && *asked + takes > now ? *asked + takes : now + takes;
}

void MigManager::Finish(const Cluster& cluster, const ObjectName& name) {
  const ObjectPtr object = cluster.store.Get(nodes_storage_, name);
  const auto plugged = plugged_.find(name);
  if (object == nullptr || plugged == plugged_.end()) return;
  Json node = *object;
  Json& status = node.Mutable("status");
  const auto amounts = AmountsIn(node);
  if (!amounts.has_value() || HasGpuPods(cluster, name.name)) {
    status.Set("capacity", plugged->second.capacity);
    status.Set("allocatable", plugged->second.allocatable);
    SetState(node, kMigFailed);
  } else {
    for (const char* field : {"capacity", "allocatable"}) {
      for (const auto& [resource, amount] : *amounts) {
        status.Mutable(field).Set(resource, absl::StrCat(amount));
      }
    }
    SetState(node, kMigSuccess);
  }
  plugged_.erase(plugged);
  cluster.store.Put(nodes_storage_, std::move(node));
}

bool MigManager::HasGpuPods(const Cluster& cluster, const std::string& node) const {
  for (const ObjectPtr& pod : cluster.store.List(pods_storage_)) {
    if ((*pod)["spec"]["nodeName"].AsString() != node || HasEnded(*pod)) continue;
    for (const auto& [resource, amount] : PodRequests(*pod)) {
      if (IsGpu(resource) && amount > Amount(0)) return true;
    }
  }
  return false;
}

std::optional<std::vector<std::pair<std::string, int32_t>>> MigManager::AmountsIn(
    const Json& node) const {
  const MigTable* table = options_.tables.Find(LabelOf(node, "nvidia.com/gpu.product"),
                                               NumberOf(LabelOf(node, "nvidia.com/gpu.memory")));
  const int64_t gpus = NumberOf(LabelOf(node, "nvidia.com/gpu.count")).value_or(0);
  if (table == nullptr || gpus < 1 || gpus > 64) return std::nullopt;
  const std::optional<MigOffer> offer =
      OfferOf(LabelOf(node, kMigConfigLabel), options_.configs, *table, static_cast<int32_t>(gpus));
  if (!offer.has_value()) return std::nullopt;
  std::vector<std::pair<std::string, int32_t>> amounts;
  if (offer->whole_gpus > 0) amounts.emplace_back("nvidia.com/gpu", offer->whole_gpus);
  for (size_t i = 0; i < offer->slices.size(); ++i) {
    if (offer->slices[i] == 0) continue;
    amounts.emplace_back(MigResourceName(*ParseMigProfile(table->slices[i].profile)),
                         offer->slices[i]);
  }
  return amounts;
}

}  // namespace maniple::devcluster
