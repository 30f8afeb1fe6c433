#include "test/sim/workload.h"

#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/model/maniple_types.h"

namespace maniple::sim {
namespace {

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kGroups[] = "/apis/scheduling.maniple.dev/v1alpha1/namespaces/default/podgroups";
constexpr int kFirstNodes = 6;
constexpr size_t kMostNodes = 10;
constexpr size_t kMostGangs = 14;

}  // namespace

void Workload::Call(absl::string_view method, absl::string_view target, const Json& body) {
  devcluster::ApiRequest request;
  request.method = std::string(method);
  request.target = std::string(target);
  request.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
  if (!body.is_null()) request.body = body.Dump();
  // Refusals (a name taken, a pod that is gone) are part of life and need no answer.
  const devcluster::ApiReply reply = network_.Call(request);
  CHECK(reply.status != 500) << target << ": " << reply.body;
}

void Workload::SetUp(const std::vector<Json>& crds) {
  for (const Json& crd : crds) {
    Call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  }
  for (int i = 0; i < kFirstNodes; ++i) AddNode();
}

void Workload::Act() {
  switch (random_.Below(14)) {
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
      return DeletePod();
    case 8:
      return DeleteGang();
    case 9:
      return FailPod();
    case 10:
      return Cordon();
    case 11:
      return AddNode();
    case 12:
      return DeleteNode();
    default:
      return EditMinMember();
  }
}

std::string Workload::AnyGang() {
  if (gangs_.empty()) return "";
  return std::next(gangs_.begin(), static_cast<int64_t>(random_.Below(gangs_.size())))->first;
}

std::string Workload::AnyNode() {
  if (truth_.nodes().empty()) return "";
  return std::next(truth_.nodes().begin(),
                   static_cast<int64_t>(random_.Below(truth_.nodes().size())))
      ->first;
}

std::vector<std::string> Workload::PodsOf(const std::string& gang) const {
  std::vector<std::string> names;
  for (const auto& [key, pod] : truth_.pods()) {
    if (pod.gang == "default/" + gang) names.push_back(key.substr(key.find('/') + 1));
  }
  return names;
}

void Workload::CreatePod(const std::string& gang, int index, int64_t gpus) {
  const Json amounts = Json::Object({{"nvidia.com/gpu", absl::StrCat(gpus)}});
  const Json container =
      Json::Object({{"name", "main"},
                    {"image", "registry.example/train:1"},
                    {"resources", Json::Object({{"requests", amounts}, {"limits", amounts}})}});
  const Json labels = Json::Object(
      {{kPodGroupLabel, gang}, {"batch.kubernetes.io/job-completion-index", absl::StrCat(index)}});
  Call("POST", kPods,
       Json::Object({{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata",
                      Json::Object({{"name", absl::StrCat(gang, "-", index)}, {"labels", labels}})},
                     {"spec", Json::Object({{"schedulerName", "maniple"},
                                            {"terminationGracePeriodSeconds", 0},
                                            {"containers", Json::Array({container})}})}}));
}

void Workload::Submit() {
  if (gangs_.size() >= kMostGangs) return FinishGang();
  const std::string name = absl::StrCat("g", next_gang_++);
  GangSpec spec;
  spec.pods = 1 + static_cast<int>(random_.Below(6));
  spec.gpus = random_.OneIn(3) ? 8 : 1 + static_cast<int64_t>(random_.Below(4));
  spec.recreated = random_.OneIn(2);
  const int min = random_.OneIn(4) ? 1 + static_cast<int>(random_.Below(spec.pods)) : spec.pods;
  const Json body =
      Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                    {"kind", "PodGroup"},
                    {"metadata", Json::Object({{"name", name}})},
                    {"spec", Json::Object({{"minMember", min}, {"scheduleTimeoutSeconds", 20}})}});
  const bool group_first = !random_.OneIn(4);
  if (group_first) Call("POST", kGroups, body);
  const int late = random_.OneIn(4) ? 1 : 0;  // the last member comes later, or never
  for (int i = 0; i + late < spec.pods; ++i) CreatePod(name, i, spec.gpus);
  if (!group_first) Call("POST", kGroups, body);
  gangs_[name] = spec;
}

void Workload::AddLateMember() {
  const std::string gang = AnyGang();
  if (gang.empty()) return;
  GangSpec& spec = gangs_[gang];
  CreatePod(gang, spec.pods - 1, spec.gpus);
}

void Workload::FinishGang() {
  const std::string gang = AnyGang();
  if (gang.empty()) return;
  for (const std::string& pod : PodsOf(gang)) {
    const auto it = truth_.pods().find("default/" + pod);
    if (it == truth_.pods().end() || it->second.phase != "Running") continue;
    Call("PATCH", absl::StrCat(kPods, "/", pod, "/status"),
         Json::Object({{"status", Json::Object({{"phase", "Succeeded"}})}}));
  }
}

void Workload::DeletePod() {
  const std::vector<std::string> pods = PodsOf(AnyGang());
  if (pods.empty()) return;
  Call("DELETE", absl::StrCat(kPods, "/", pods[random_.Below(pods.size())]), Json());
}

void Workload::DeleteGang() {
  const std::string gang = AnyGang();
  if (gang.empty()) return;
  const bool group_first = random_.OneIn(2);
  if (group_first) Call("DELETE", absl::StrCat(kGroups, "/", gang), Json());
  for (const std::string& pod : PodsOf(gang)) Call("DELETE", absl::StrCat(kPods, "/", pod), Json());
  if (!group_first) Call("DELETE", absl::StrCat(kGroups, "/", gang), Json());
  gangs_.erase(gang);
}

void Workload::FailPod() {
  const std::vector<std::string> pods = PodsOf(AnyGang());
  if (pods.empty()) return;
  const std::string& pod = pods[random_.Below(pods.size())];
  const auto it = truth_.pods().find("default/" + pod);
  if (it == truth_.pods().end() || it->second.node.empty() || it->second.ended()) return;
  const char* reason = random_.OneIn(2) ? "OutOfnvidia.com/gpu" : "Error";
  Call("PATCH", absl::StrCat(kPods, "/", pod, "/status"),
       Json::Object({{"status", Json::Object({{"phase", "Failed"}, {"reason", reason}})}}));
}

void Workload::Cordon() {
  const std::string node = AnyNode();
  if (node.empty()) return;
  const bool schedulable = truth_.nodes().at(node).schedulable;
  Call("PATCH", absl::StrCat("/api/v1/nodes/", node),
       Json::Object({{"spec", Json::Object({{"unschedulable", schedulable}})}}));
}

void Workload::AddNode() {
  if (truth_.nodes().size() >= kMostNodes) return;
  const std::string name = absl::StrCat("n", next_node_++);
  const Json amounts =
      Json::Object({{"cpu", "64"}, {"memory", "512Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}});
  Call("POST", "/api/v1/nodes",
       Json::Object({{"apiVersion", "v1"},
                     {"kind", "Node"},
                     {"metadata",
                      Json::Object({{"name", name},
                                    {"labels", Json::Object({{"kubernetes.io/hostname", name}})}})},
                     {"status", Json::Object({{"capacity", amounts}, {"allocatable", amounts}})}}));
}

void Workload::DeleteNode() {
  if (truth_.nodes().size() <= 3) return;
  Call("DELETE", absl::StrCat("/api/v1/nodes/", AnyNode()), Json());
}

void Workload::EditMinMember() {
  const std::string gang = AnyGang();
  if (gang.empty()) return;
  const int min = 1 + static_cast<int>(random_.Below(static_cast<uint64_t>(gangs_[gang].pods)));
  Call("PATCH", absl::StrCat(kGroups, "/", gang),
       Json::Object({{"spec", Json::Object({{"minMember", min}})}}));
}

void Workload::Recreate() {
  for (const auto& [gang, spec] : gangs_) {
    if (!spec.recreated) continue;
    for (int i = 0; i < spec.pods; ++i) {
      const std::string name = absl::StrCat(gang, "-", i);
      const auto it = truth_.pods().find("default/" + name);
      if (it != truth_.pods().end() && it->second.phase == "Failed") {
        Call("DELETE", absl::StrCat(kPods, "/", name), Json());
      }
      if (!truth_.pods().contains("default/" + name)) CreatePod(gang, i, spec.gpus);
    }
  }
}

}  // namespace maniple::sim
