#include "test/sim/users.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/model/maniple_types.h"

namespace maniple::sim {
namespace {

constexpr char kHostLabel[] = "kubernetes.io/hostname";
constexpr char kAppLabel[] = "app";

std::string AppOf(Company company, const std::string& gang) {
  switch (company) {
    case Company::kNoLoner:
      return "loner";
    case Company::kEven:
      return "even";
    case Company::kOwnKind:
      return gang;
    case Company::kAny:
    case Company::kNearLoners:
      break;
  }
  return "";
}

Json Selecting(absl::string_view app) {
  return Json::Object({{"matchLabels", Json::Object({{kAppLabel, app}})}});
}

Json RequiredTerm(absl::string_view app, absl::string_view topology_key) {
  const Json term =
      Json::Object({{"labelSelector", Selecting(app)}, {"topologyKey", topology_key}});
  return Json::Object({{"requiredDuringSchedulingIgnoredDuringExecution", Json::Array({term})}});
}

// Adds to the pod's spec what it asks for.
void Ask(Company company, const std::string& gang, Json& spec) {
  switch (company) {
    case Company::kAny:
      return;
    case Company::kNoLoner:
      spec.Set("affinity", Json::Object({{"podAntiAffinity", RequiredTerm("loner", kHostLabel)}}));
      return;
    case Company::kOwnKind:
      spec.Set("affinity", Json::Object({{"podAffinity", RequiredTerm(gang, kRackLabel)}}));
      return;
    case Company::kNearLoners:
      spec.Set("affinity", Json::Object({{"podAffinity", RequiredTerm("loner", kRackLabel)}}));
      return;
    case Company::kEven:
      spec.Set("topologySpreadConstraints",
               Json::Array({Json::Object({{"maxSkew", 1},
                                          {"topologyKey", kRackLabel},
                                          {"whenUnsatisfiable", "DoNotSchedule"},
                                          {"labelSelector", Selecting("even")}})}));
      return;
  }
}

struct PartOf {
  int64_t gpus = 0;
  std::string sub_group;  // "" = it is in none
};

bool IsSubGroup(const Part& part) { return part.kind != Part::Kind::kLoose; }

std::string SubGroupName(size_t part) { return absl::StrCat("part", part); }

PartOf PartAt(const GangSpec& spec, int index) {
  for (size_t i = 0; i < spec.parts.size(); ++i) {
    const Part& part = spec.parts[i];
    if (index < part.pods) return {part.gpus, IsSubGroup(part) ? SubGroupName(i) : ""};
    index -= part.pods;
  }
  return {spec.gpus, ""};
}

Json SubGroupsOf(const GangSpec& spec) {
  Json groups = Json::Array({});
  for (size_t i = 0; i < spec.parts.size(); ++i) {
    const Part& part = spec.parts[i];
    if (!IsSubGroup(part)) continue;
    Json group = Json::Object({{"name", SubGroupName(i)}, {"minMember", part.pods}});
    if (part.kind == Part::Kind::kSubGroupInOneRack) {
      group.Set("topology", Json::Object({{"required", "rack"}}));
    }
    groups.Append(std::move(group));
  }
  return groups;
}

Json QuorumLossOf(const GangSpec& spec) {
  Json loss = Json::Object();
  if (spec.kept) loss.Set("action", "Keep");
  if (spec.loss_grace_seconds > 0) loss.Set("gracePeriodSeconds", spec.loss_grace_seconds);
  return loss;
}

// Null: none.
Json VolumeOf(const GangSpec& spec) {
  if (!spec.claim.empty()) {
    return Json::Object(
        {{"name", "data"}, {"persistentVolumeClaim", Json::Object({{"claimName", spec.claim}})}});
  }
  if (spec.storage_class.empty()) return {};
  const Json claim = Json::Object({{"spec", ClaimSpec(spec.storage_class, "ReadWriteOnce")}});
  return Json::Object(
      {{"name", "scratch"}, {"ephemeral", Json::Object({{"volumeClaimTemplate", claim}})}});
}

std::string BudgetName(const std::string& gang, int number) {
  return number == 0 ? gang : absl::StrCat(gang, "-again", number);
}

}  // namespace

Json ClaimSpec(const std::string& storage_class, const std::string& access_mode) {
  const Json requests = Json::Object({{"storage", "10Gi"}});
  return Json::Object({{"accessModes", Json::Array({Json(access_mode)})},
                       {"storageClassName", storage_class},
                       {"resources", Json::Object({{"requests", requests}})}});
}

int Users::Call(absl::string_view method, absl::string_view target, const Json& body) {
  const devcluster::ApiReply reply = network_.Call(RequestOf(method, target, body));
  // Two budgets over a pod are the one thing that the API has no better answer to.
  const bool evicts = absl::EndsWith(target, "/eviction");
  CHECK(reply.status != 500 || evicts) << target << ": " << reply.body;
  return reply.status;
}

Json Users::Get(const std::string& target) {
  const devcluster::ApiReply reply = network_.Call(RequestOf("GET", target, Json()));
  if (reply.status != 200) return {};
  absl::StatusOr<Json> object = Json::Parse(reply.body);
  CHECK(object.ok()) << target << ": " << object.status();
  return *std::move(object);
}

std::string Users::AnyGang() {
  if (gangs_.empty()) return "";
  return std::next(gangs_.begin(), static_cast<int64_t>(random_.Below(gangs_.size())))->first;
}

std::vector<std::string> Users::PodsOf(const std::string& gang) const {
  std::vector<std::string> names;
  for (const auto& [key, pod] : truth_.pods()) {
    if (pod.gang == "default/" + gang) names.push_back(key.substr(key.find('/') + 1));
  }
  return names;
}

void Users::CreatePod(const std::string& gang, int index) {
  const GangSpec& spec = gangs_.at(gang);
  const PartOf part = PartAt(spec, index);
  const std::string resource = spec.mig_profile.empty()
                                   ? "nvidia.com/gpu"
                                   : absl::StrCat("nvidia.com/mig-", spec.mig_profile);
  const Json amounts = part.gpus > 0 ? Json::Object({{resource, absl::StrCat(part.gpus)}})
                                     : Json::Object({{"cpu", "1"}});
  const Json container =
      Json::Object({{"name", "main"},
                    {"image", "registry.example/train:1"},
                    {"resources", Json::Object({{"requests", amounts}, {"limits", amounts}})}});
  Json labels = Json::Object(
      {{kPodGroupLabel, gang}, {"batch.kubernetes.io/job-completion-index", absl::StrCat(index)}});
  const std::string app = AppOf(spec.company, gang);
  if (!app.empty()) labels.Set(kAppLabel, app);
  if (!part.sub_group.empty()) labels.Set(kSubGroupLabel, part.sub_group);
  Json meta = Json::Object({{"name", absl::StrCat(gang, "-", index)}, {"labels", labels}});
  const int grace = spec.leaving.grace_seconds;
  if (grace > 0) meta.Set("finalizers", Json::Array({kSlowFinalizer}));
  Json body = Json::Object({{"schedulerName", "maniple"},
                            {"terminationGracePeriodSeconds", grace > 0 ? grace : 5},
                            {"containers", Json::Array({container})}});
  Ask(spec.company, gang, body);
  if (const Json volume = VolumeOf(spec); !volume.is_null()) {
    body.Set("volumes", Json::Array({volume}));
  }
  if (!spec.priority_class.empty()) body.Set("priorityClassName", spec.priority_class);
  Call("POST", kPodsTarget,
       Json::Object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", meta}, {"spec", body}}));
}

void Users::CreateBudgets(const std::string& gang) {
  const GangSpec& spec = gangs_.at(gang);
  if (spec.budget < 0) return;
  const Json labels = Json::Object({{kPodGroupLabel, gang}});
  for (int i = 0; i < spec.budgets; ++i) {
    Call("POST", kBudgetsTarget,
         Json::Object(
             {{"apiVersion", "policy/v1"},
              {"kind", "PodDisruptionBudget"},
              {"metadata", Json::Object({{"name", BudgetName(gang, i)}})},
              {"spec", Json::Object({{"minAvailable", spec.budget},
                                     {"selector", Json::Object({{"matchLabels", labels}})}})}}));
  }
}

void Users::DeleteBudgets(const std::string& gang) {
  const GangSpec& spec = gangs_.at(gang);
  if (spec.budget < 0) return;
  for (int i = 0; i < spec.budgets; ++i) {
    Call("DELETE", absl::StrCat(kBudgetsTarget, "/", BudgetName(gang, i)), Json());
  }
}

void Users::CreateGang(const std::string& gang, const GangSpec& spec) {
  gangs_[gang] = spec;
  CreateGroup(gang);
  for (int i = 0; i < spec.pods; ++i) CreatePod(gang, i);
}

void Users::DeleteGang(const std::string& gang) {
  for (const std::string& pod : PodsOf(gang)) {
    Call("DELETE", absl::StrCat(kPodsTarget, "/", pod), Json());
  }
  Call("DELETE", absl::StrCat(kGroupsTarget, "/", gang), Json());
  gangs_.erase(gang);
}

void Users::CreateGroup(const std::string& gang) {
  const GangSpec& spec = gangs_.at(gang);
  Json body = Json::Object({{"minMember", spec.min_member},
                            {"scheduleTimeoutSeconds", absl::ToInt64Seconds(kScheduleTimeout)}});
  if (!spec.queue.empty()) body.Set("queue", spec.queue);
  if (spec.in_one_rack) body.Set("topology", Json::Object({{"required", "rack"}}));
  if (spec.slice_size > 0) {
    const Json slice = Json::Object({{"size", spec.slice_size}, {"level", "nvlink"}});
    body.Set("topology", Json::Object({{"slice", slice}}));
  }
  if (spec.lowered) body.Set("priorityClassName", "low");
  Json preemption = Json::Object();
  if (spec.never_preempts) preemption.Set("policy", "Never");
  if (spec.protected_seconds > 0) {
    preemption.Set("protectedRuntimeSeconds", spec.protected_seconds);
  }
  if (preemption.size() > 0) body.Set("preemption", preemption);
  if (spec.says_seconds > 0) body.Set("expectedRuntimeSeconds", spec.says_seconds);
  if (const Json parts = SubGroupsOf(spec); parts.size() > 0) body.Set("subGroups", parts);
  if (const Json loss = QuorumLossOf(spec); loss.size() > 0) body.Set("quorumLoss", loss);
  Call("POST", kGroupsTarget,
       Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                     {"kind", "PodGroup"},
                     {"metadata", Json::Object({{"name", gang}})},
                     {"spec", body}}));
}

void Users::AddNode(const std::string& name, const NodeMake& make) {
  const Json amounts = Json::Object({{"cpu", "64"},
                                     {"memory", "512Gi"},
                                     {"pods", "110"},
                                     {"nvidia.com/gpu", absl::StrCat(make.gpus)}});
  int number = 0;
  CHECK(absl::SimpleAtoi(absl::string_view(name).substr(1), &number)) << name;
  Json labels = Json::Object({{kHostLabel, name},
                              {kRackLabel, absl::StrCat("rack", number % racks_)},
                              {"nvidia.com/gpu.clique", absl::StrCat("c", number % 10 / 3)},
                              {kPoolLabel, number % 4 < 2 ? "fast" : "slow"}});
  for (const auto& [key, value] : make.labels.members()) labels.Set(key, value);
  Call("POST", "/api/v1/nodes",
       Json::Object({{"apiVersion", "v1"},
                     {"kind", "Node"},
                     {"metadata", Json::Object({{"name", name}, {"labels", labels}})},
                     {"status", Json::Object({{"capacity", amounts}, {"allocatable", amounts}})}}));
}

void Users::InstallCrd(const Json& crd) {
  Call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
}

}  // namespace maniple::sim
