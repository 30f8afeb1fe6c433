#include "test/sim/workload.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/model/maniple_types.h"
#include "test/sim/economy.h"

namespace maniple::sim {
namespace {

constexpr int kFirstNodes = 6;
constexpr size_t kMostNodes = 10;
constexpr size_t kMostGangs = 14;
constexpr int kCrowd = 8, kRush = 3;
constexpr char kHostLabel[] = "kubernetes.io/hostname";
constexpr char kRackLabel[] = "example.com/rack";
constexpr char kAppLabel[] = "app";

// Every sixth gang minds its company, each kind in turn; no random number is drawn for it.
Company CompanyOf(int gang) {
  if (gang % 6 != 4) return Company::kAny;
  constexpr Company kKinds[] = {Company::kNoLoner, Company::kEven, Company::kOwnKind,
                                Company::kNearLoners};
  return kKinds[(gang / 6) % 4];
}

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

}  // namespace

int Users::Call(absl::string_view method, absl::string_view target, const Json& body) {
  const devcluster::ApiReply reply = network_.Call(RequestOf(method, target, body));
  CHECK(reply.status != 500) << target << ": " << reply.body;
  return reply.status;
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
  const Json amounts = Json::Object({{"nvidia.com/gpu", absl::StrCat(spec.gpus)}});
  const Json container =
      Json::Object({{"name", "main"},
                    {"image", "registry.example/train:1"},
                    {"resources", Json::Object({{"requests", amounts}, {"limits", amounts}})}});
  Json labels = Json::Object(
      {{kPodGroupLabel, gang}, {"batch.kubernetes.io/job-completion-index", absl::StrCat(index)}});
  const std::string app = AppOf(spec.company, gang);
  if (!app.empty()) labels.Set(kAppLabel, app);
  Json body = Json::Object({{"schedulerName", "maniple"},
                            {"terminationGracePeriodSeconds", 5},
                            {"containers", Json::Array({container})}});
  Ask(spec.company, gang, body);
  if (!spec.priority_class.empty()) body.Set("priorityClassName", spec.priority_class);
  Call("POST", kPodsTarget,
       Json::Object({{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata",
                      Json::Object({{"name", absl::StrCat(gang, "-", index)}, {"labels", labels}})},
                     {"spec", body}}));
}

void Users::CreateBudget(const std::string& gang) {
  const Json labels = Json::Object({{kPodGroupLabel, gang}});
  Call("POST", kBudgetsTarget,
       Json::Object(
           {{"apiVersion", "policy/v1"},
            {"kind", "PodDisruptionBudget"},
            {"metadata", Json::Object({{"name", gang}})},
            {"spec", Json::Object({{"minAvailable", gangs_.at(gang).budget},
                                   {"selector", Json::Object({{"matchLabels", labels}})}})}}));
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
  if (spec.kept) body.Set("quorumLoss", Json::Object({{"action", "Keep"}}));
  Call("POST", kGroupsTarget,
       Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                     {"kind", "PodGroup"},
                     {"metadata", Json::Object({{"name", gang}})},
                     {"spec", body}}));
}

void Users::AddNode(const std::string& name) {
  const Json amounts =
      Json::Object({{"cpu", "64"}, {"memory", "512Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}});
  const Json labels =
      Json::Object({{"kubernetes.io/hostname", name},
                    {"example.com/rack", (name.back() - '0') % 2 == 0 ? "even" : "odd"},
                    {"nvidia.com/gpu.clique", absl::StrCat("c", (name.back() - '0') / 3)},
                    {kPoolLabel, (name.back() - '0') % 4 < 2 ? "fast" : "slow"}});
  Call("POST", "/api/v1/nodes",
       Json::Object({{"apiVersion", "v1"},
                     {"kind", "Node"},
                     {"metadata", Json::Object({{"name", name}, {"labels", labels}})},
                     {"status", Json::Object({{"capacity", amounts}, {"allocatable", amounts}})}}));
}

void Users::InstallCrd(const Json& crd) {
  Call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
}

void Workload::SetUp(const std::vector<Json>& crds) {
  for (const Json& crd : crds) users_.InstallCrd(crd);
  const std::string prefix = "/apis/scheduling.maniple.dev/v1alpha1/";
  const Json level = Json::Object({{"name", "rack"}, {"nodeLabel", "example.com/rack"}});
  users_.Call("POST", prefix + "topologies",
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Topology"},
                            {"metadata", Json::Object({{"name", "default"}})},
                            {"spec", Json::Object({{"levels", Json::Array({level})}})}}));
  users_.Call("POST", prefix + "queues",
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Queue"},
                            {"metadata", Json::Object({{"name", "team"}})},
                            {"spec", Json::Object({{"stopPolicy", "None"}})}}));
  for (int i = 0; i < kFirstNodes; ++i) AddNode();
}

void Workload::Act() {
  switch (random_.Below(9)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return Submit();
    case 4:
      return AddLateMember();
    case 5:
    case 6:
      return FinishGang();
    case 7:
      return DeleteGang();
    default:
      return AddNode();
  }
}

void Workload::Submit() {
  if (users_.gangs().size() >= kMostGangs) return FinishGang();
  GangSpec spec;
  spec.pods = 1 + static_cast<int>(random_.Below(6));
  spec.gpus = random_.OneIn(3) ? 8 : 1 + static_cast<int64_t>(random_.Below(4));
  spec.recreated = random_.OneIn(2);
  spec.min_member =
      random_.OneIn(one_elastic_) ? 1 + static_cast<int>(random_.Below(spec.pods)) : spec.pods;
  spec.in_one_rack = random_.OneIn(one_in_rack_);
  if (!spec.in_one_rack && random_.OneIn(6)) {
    spec.slice_size = 1 + static_cast<int>(random_.Below(3));
  }
  spec.kept = random_.OneIn(8);
  if (random_.OneIn(3)) spec.queue = "team";
  economy_.Describe(spec);
  spec.company = CompanyOf(next_gang_);
  Create(spec);
}

void Workload::Crowd() {
  for (int i = 0; i < kCrowd; ++i) Create(economy_.Settler());
}

void Workload::Rush() {
  for (int i = 0; i < kRush; ++i) Create(economy_.Rusher());
  for (int i = 0; i < kRush; ++i) Create(economy_.Settler());
}

void Workload::Create(const GangSpec& spec) {
  const std::string name = absl::StrCat("g", next_gang_++);
  users_.gangs()[name] = spec;
  if (spec.budget >= 0) users_.CreateBudget(name);
  const bool group_first = !random_.OneIn(4);
  if (group_first) users_.CreateGroup(name);
  const int late = random_.OneIn(4) ? 1 : 0;  // the last member comes later, or never
  for (int i = 0; i + late < spec.pods; ++i) users_.CreatePod(name, i);
  if (!group_first) users_.CreateGroup(name);
}

void Workload::AddLateMember() {
  const std::string gang = users_.AnyGang();
  if (!gang.empty()) users_.CreatePod(gang, users_.gangs()[gang].pods - 1);
}

void Workload::FinishGang() {
  const std::string gang = users_.AnyGang();
  if (!gang.empty()) Finish(gang);
}

void Workload::Finish(const std::string& gang) {
  for (const std::string& pod : users_.PodsOf(gang)) {
    const auto it = users_.truth().pods().find("default/" + pod);
    if (it == users_.truth().pods().end() || it->second.phase != "Running") continue;
    users_.Call("PATCH", absl::StrCat(kPodsTarget, "/", pod, "/status"),
                Json::Object({{"status", Json::Object({{"phase", "Succeeded"}})}}));
  }
}

void Workload::DeleteGang() {
  const std::string gang = users_.AnyGang();
  if (gang.empty()) return;
  Delete(gang, random_.OneIn(2));
}

void Workload::DeleteAll() {
  while (!users_.gangs().empty()) Delete(users_.AnyGang(), true);
}

void Workload::Delete(const std::string& gang, bool group_first) {
  if (group_first) users_.Call("DELETE", absl::StrCat(kGroupsTarget, "/", gang), Json());
  for (const std::string& pod : users_.PodsOf(gang)) {
    users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", pod), Json());
  }
  if (!group_first) users_.Call("DELETE", absl::StrCat(kGroupsTarget, "/", gang), Json());
  users_.gangs().erase(gang);
}

void Workload::AddNode() {
  if (users_.truth().nodes().size() >= kMostNodes) return;
  users_.AddNode(absl::StrCat("n", next_node_++));
}

void Workload::ControllerTurn(absl::Time now) {
  FinishWhoseTimeIsUp(now);
  Recreate();
}

// Counted from when its last member was bound, as far as its quorum runs.
void Workload::FinishWhoseTimeIsUp(absl::Time now) {
  std::map<std::string, std::pair<int, absl::Time>> running;
  for (const auto& [key, pod] : users_.truth().pods()) {
    if (pod.phase != "Running" || pod.deleting) continue;
    auto& [count, last] = running.try_emplace(pod.gang, 0, absl::InfinitePast()).first->second;
    ++count;
    last = std::max(last, pod.bound_at);
  }
  for (const auto& [gang, spec] : users_.gangs()) {
    const auto it = running.find("default/" + gang);
    if (spec.takes_seconds == 0 || it == running.end()) continue;
    const auto& [count, last] = it->second;
    if (count >= spec.min_member && now >= last + absl::Seconds(spec.takes_seconds)) Finish(gang);
  }
}

void Workload::Recreate() {
  for (const auto& [gang, spec] : users_.gangs()) {
    if (!spec.recreated) continue;
    for (int i = 0; i < spec.pods; ++i) {
      const std::string name = absl::StrCat(gang, "-", i);
      const auto it = users_.truth().pods().find("default/" + name);
      if (it != users_.truth().pods().end() && it->second.phase == "Failed") {
        users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", name), Json());
      }
      if (!users_.truth().pods().contains("default/" + name)) users_.CreatePod(gang, i);
    }
  }
}

}  // namespace maniple::sim
