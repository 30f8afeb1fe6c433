#include "test/sim/disturbances.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/model/maniple_types.h"
#include "test/sim/free_room.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

constexpr char kLease[] =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/maniple-scheduler";
constexpr char kQueue[] = "/apis/scheduling.maniple.dev/v1alpha1/queues/team";
constexpr char kGroupCrd[] =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podgroups.scheduling.maniple.dev";

std::string PodTarget(const std::string& pod) { return absl::StrCat(kPodsTarget, "/", pod); }
std::string NodeTarget(const std::string& node) { return absl::StrCat("/api/v1/nodes/", node); }
std::string GroupTarget(const std::string& gang) { return absl::StrCat(kGroupsTarget, "/", gang); }

Json BindingTo(const std::string& pod, const std::string& node) {
  return Json::Object({{"apiVersion", "v1"},
                       {"kind", "Binding"},
                       {"metadata", Json::Object({{"name", pod}})},
                       {"target", Json::Object({{"kind", "Node"}, {"name", node}})}});
}

}  // namespace

std::span<const Fault> Disturbances::Kinds() {
  static constexpr Fault kKinds[] = {
      Fault::kLeaseEdited,      Fault::kLeaseDeleted, Fault::kLeaseGarbage,   Fault::kPodDeleted,
      Fault::kPodReplaced,      Fault::kPodFailed,    Fault::kKubeletRejects, Fault::kNodeLost,
      Fault::kNodeReborn,       Fault::kNodeNotReady, Fault::kCordon,         Fault::kDrain,
      Fault::kDevicesLost,      Fault::kGroupEdited,  Fault::kGroupDeleted,   Fault::kGroupReplaced,
      Fault::kGroupOverwritten, Fault::kQueueEdited,  Fault::kForeignPod,     Fault::kForeignBind,
      Fault::kCrdReinstalled};
  return kKinds;
}

Disturbances::At Disturbances::Aim(Fault fault, const std::string& gang) {
  const auto any = [&](const auto& names) {
    return std::next(names.begin(), static_cast<int64_t>(faults_.Draw(fault, names.size())));
  };
  At at{.gang = gang};
  if (at.gang.empty() && !users_.gangs().empty()) at.gang = any(users_.gangs())->first;
  if (!users_.gangs().contains(at.gang)) at.gang.clear();
  std::vector<std::string> pods = users_.PodsOf(at.gang);
  if (fault == Fault::kForeignBind) {
    std::erase_if(pods, [this](const std::string& pod) {
      return !truth_.pods().at("default/" + pod).node.empty();
    });
  }
  if (!pods.empty()) at.pod = *any(pods);
  if (!truth_.nodes().empty()) at.node = any(truth_.nodes())->first;
  return at;
}

void Disturbances::Strike(Fault fault, const std::string& gang) {
  const At at = Aim(fault, gang);
  switch (fault) {
    case Fault::kLeaseEdited:
    case Fault::kLeaseDeleted:
    case Fault::kLeaseGarbage:
      return StrikeLease(fault);
    case Fault::kPodDeleted:
    case Fault::kPodReplaced:
    case Fault::kPodFailed:
    case Fault::kKubeletRejects:
    case Fault::kForeignBind:
      if (!at.gang.empty() && !at.pod.empty()) StrikePod(fault, at);
      return;
    case Fault::kNodeLost:
    case Fault::kNodeReborn:
    case Fault::kNodeNotReady:
    case Fault::kCordon:
    case Fault::kDrain:
    case Fault::kDevicesLost:
    case Fault::kForeignPod:
      if (!at.node.empty()) StrikeNode(fault, at);
      return;
    case Fault::kGroupEdited:
    case Fault::kGroupDeleted:
    case Fault::kGroupReplaced:
    case Fault::kGroupOverwritten:
      if (!at.gang.empty()) StrikeGroup(fault, at);
      return;
    case Fault::kQueueEdited:
      faults_.Note(fault);
      return Patch(kQueue, "spec",
                   Json::Object({{"stopPolicy", faults_.Draw(fault, 2) == 0 ? "Hold" : "None"}}));
    case Fault::kCrdReinstalled:
      faults_.Note(fault);
      return ReinstallCrd();
    default:
      return;  // no disturbance of the cluster
  }
}

void Disturbances::Patch(const std::string& target, const char* part, Json value) {
  users_.Call("PATCH", target, Json::Object({{part, std::move(value)}}));
}

void Disturbances::StrikePod(Fault fault, const At& at) {
  switch (fault) {
    case Fault::kPodDeleted:
      faults_.Note(fault);
      users_.Call("DELETE", PodTarget(at.pod), Json());
      return;
    case Fault::kPodReplaced:
      faults_.Note(fault);
      return ReplacePod(at);
    case Fault::kForeignBind:
      return BindElsewhere(at);
    default:
      return FailPod(fault, at);
  }
}

void Disturbances::FailPod(Fault fault, const At& at) {
  const auto it = truth_.pods().find("default/" + at.pod);
  if (it == truth_.pods().end() || it->second.node.empty() || it->second.ended()) return;
  faults_.Note(fault);
  constexpr const char* kRejections[] = {"OutOfcpu", "OutOfnvidia.com/gpu",
                                         "UnexpectedAdmissionError", "NodeAffinity"};
  const char* reason =
      fault == Fault::kKubeletRejects ? kRejections[faults_.Draw(fault, 4)] : "Error";
  Patch(PodTarget(at.pod) + "/status", "status",
        Json::Object({{"phase", "Failed"}, {"reason", reason}}));
}

void Disturbances::ReplacePod(const At& at) {
  const size_t dash = at.pod.rfind('-');
  int index = 0;
  if (!absl::SimpleAtoi(at.pod.substr(dash + 1), &index)) return;
  users_.Call(
      "DELETE", PodTarget(at.pod),
      Json::Object({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"gracePeriodSeconds", 0}}));
  users_.CreatePod(at.gang, index);
}

// Where nobody of its gang, or of its part of it, is: the worst place for what wants to be in one
// rack.
bool Disturbances::IsFarFrom(const Truth::PodFacts& member, const std::string& node) const {
  return std::ranges::none_of(truth_.pods(), [&](const auto& pod) {
    const auto at = truth_.nodes().find(pod.second.node);
    const bool together =
        pod.second.gang == member.gang && pod.second.sub_group == member.sub_group;
    return together && !pod.second.ended() && at != truth_.nodes().end() &&
           at->second.rack == truth_.nodes().at(node).rack;
  });
}

// Another scheduler takes one of our members to where there is room.
void Disturbances::BindElsewhere(const At& at) {
  const std::string key = "default/" + at.pod;
  const auto pod = truth_.pods().find(key);
  if (pod == truth_.pods().end() || !pod->second.node.empty() || pod->second.ended()) return;
  if (pod->second.asks_slices()) return;  // a kubelet would not have it there
  for (const auto& [node, free] : FreeGpus(truth_)) {
    if (free < pod->second.gpus) continue;
    const bool taken = node == at.node || IsFarFrom(pod->second, node);
    if (!taken && faults_.Draw(Fault::kForeignBind, 2) == 0) continue;
    faults_.Note(Fault::kForeignBind);
    BindAsAnother(at.pod, node);
    return;
  }
}

void Disturbances::BindAsAnother(const std::string& pod, const std::string& node) {
  const std::string key = "default/" + pod;
  truth_.ExpectForeignBind(key);
  users_.Call("POST", PodTarget(pod) + "/binding", BindingTo(pod, node));
  truth_.NoForeignBind(key);
}

void Disturbances::BindEverybody() {
  const std::map<std::string, Truth::PodFacts> pods = truth_.pods();  // it changes meanwhile
  for (const auto& [key, pod] : pods) {
    for (const auto& [node, free] : FreeGpus(truth_)) {
      if (!pod.node.empty() || free < pod.gpus) continue;
      BindAsAnother(key.substr(key.find('/') + 1), node);
      break;
    }
  }
}

void Disturbances::StrikeNode(Fault fault, const At& at) {
  if (fault == Fault::kForeignPod) return BindForeignPod(at);
  const std::string target = NodeTarget(at.node);
  switch (fault) {
    case Fault::kNodeLost:
      return LoseNode(at.node);
    case Fault::kNodeReborn:
      faults_.Note(fault);
      users_.Call("DELETE", target, Json());
      events_.After(faults_.Between(fault, absl::ZeroDuration(), absl::Seconds(8)),
                    [this, node = at.node] { users_.AddNode(node); });
      return;
    case Fault::kNodeNotReady: {
      faults_.Note(fault);
      const Json taint =
          Json::Object({{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}});
      const bool away = truth_.nodes().at(at.node).tainted;
      return Patch(target, "spec",
                   Json::Object({{"taints", away ? Json() : Json::Array({taint})}}));
    }
    case Fault::kCordon:
      faults_.Note(fault);
      return Patch(target, "spec",
                   Json::Object({{"unschedulable", !truth_.nodes().at(at.node).cordoned}}));
    case Fault::kDrain:
      faults_.Note(fault);
      return Drain(at.node);
    default: {
      if (truth_.nodes().at(at.node).can_be_divided) return;  // its slices would stay
      faults_.Note(Fault::kDevicesLost);
      const bool whole = truth_.nodes().at(at.node).gpus == 8;
      const uint64_t left = whole ? faults_.Draw(Fault::kDevicesLost, 8) : 8;
      return Patch(target + "/status", "status",
                   Json::Object({{"allocatable", Json::Object({{kGpu, absl::StrCat(left)}})}}));
    }
  }
}

// Its cloud may give another at once.
void Disturbances::LoseNode(const std::string& node) {
  const bool replaced = faults_.Draw(Fault::kNodeLost, 2) == 0;
  if (!replaced && truth_.nodes().size() <= 3) return;
  faults_.Note(Fault::kNodeLost);
  users_.Call("DELETE", NodeTarget(node), Json());
  if (!replaced) return;
  events_.After(faults_.Between(Fault::kNodeLost, absl::ZeroDuration(), absl::Milliseconds(20)),
                [this, name = absl::StrCat("r", next_spare_++)] { users_.AddNode(name); });
}

void Disturbances::Drain(const std::string& node) {
  Patch(NodeTarget(node), "spec", Json::Object({{"unschedulable", true}}));
  std::vector<std::string> pods;
  for (const auto& [key, pod] : truth_.pods()) {
    if (pod.node == node && !pod.ended()) pods.push_back(key.substr(key.find('/') + 1));
  }
  for (const std::string& pod : pods) {
    users_.Call("POST", PodTarget(pod) + "/eviction",
                Json::Object({{"apiVersion", "policy/v1"},
                              {"kind", "Eviction"},
                              {"metadata", Json::Object({{"name", pod}})}}));
  }
}

void Disturbances::BindForeignPod(const At& at) {
  const std::map<std::string, int64_t> free = FreeGpus(truth_);
  const auto room = free.find(at.node);
  if (room == free.end() || room->second <= 0) return;
  faults_.Note(Fault::kForeignPod);
  const int64_t gpus = 1 + static_cast<int64_t>(faults_.Draw(Fault::kForeignPod, room->second));
  const std::string name = absl::StrCat("foreign", next_foreign_++);
  const Json amounts = Json::Object({{kGpu, absl::StrCat(gpus)}});
  const Json container =
      Json::Object({{"name", "main"},
                    {"image", "registry.example/other:1"},
                    {"resources", Json::Object({{"requests", amounts}, {"limits", amounts}})}});
  users_.Call("POST", kPodsTarget,
              Json::Object({{"apiVersion", "v1"},
                            {"kind", "Pod"},
                            {"metadata", Json::Object({{"name", name}})},
                            {"spec", Json::Object({{"schedulerName", "other"},
                                                   {"terminationGracePeriodSeconds", 1},
                                                   {"containers", Json::Array({container})}})}}));
  truth_.ExpectForeignBind("default/" + name);
  users_.Call("POST", PodTarget(name) + "/binding", BindingTo(name, at.node));
  truth_.NoForeignBind("default/" + name);
  events_.After(faults_.Between(Fault::kForeignPod, absl::Seconds(5), absl::Seconds(90)),
                [this, name] { users_.Call("DELETE", PodTarget(name), Json()); });
}

void Disturbances::StrikeGroup(Fault fault, const At& at) {
  GangSpec& spec = users_.gangs().at(at.gang);
  faults_.Note(fault);
  switch (fault) {
    case Fault::kGroupEdited:
      spec.min_member = 1 + static_cast<int>(faults_.Draw(fault, spec.pods));
      return Patch(GroupTarget(at.gang), "spec", Json::Object({{"minMember", spec.min_member}}));
    case Fault::kGroupDeleted:
      spec.group_is_gone = faults_.Draw(fault, 4) == 0;
      users_.Call("DELETE", GroupTarget(at.gang), Json());
      events_.After(faults_.Between(fault, absl::ZeroDuration(), absl::Seconds(40)),
                    [this] { CreateMissingGroups(); });
      return;
    case Fault::kGroupReplaced:
      spec.group_is_gone = false;
      users_.Call("DELETE", GroupTarget(at.gang), Json());
      return users_.CreateGroup(at.gang);
    default:
      return OverwriteStatus(at);
  }
}

void Disturbances::OverwriteStatus(const At& at) {
  truth_.NoteOverwritten("default/" + at.gang, events_.Now());
  const std::string now = FormatKubernetesTime(events_.Now());
  const Json statuses[] = {
      Json(),
      Json::Object({{"phase", "Completed"}, {"reason", "Nonsense"}, {"message", "not by us"}}),
      Json::Object({{"phase", "Running"}, {"reason", "Bound"}, {"quorumReachedAt", now}}),
      Json::Object({{"phase", "Waiting"}, {"quorumReachedAt", Json()}, {"conditions", Json()}})};
  Patch(GroupTarget(at.gang) + "/status", "status",
        statuses[faults_.Draw(Fault::kGroupOverwritten, std::size(statuses))]);
}

void Disturbances::CreateMissingGroups() {
  for (const auto& [gang, spec] : users_.gangs()) {
    const bool there = truth_.groups().contains("default/" + gang);
    if (!there && !spec.group_is_gone) users_.CreateGroup(gang);
  }
}

void Disturbances::ReinstallCrd() {
  users_.Call("DELETE", kGroupCrd, Json());
  events_.After(faults_.Between(Fault::kCrdReinstalled, absl::Seconds(1), absl::Seconds(60)),
                [this] { Restore(); });
}

void Disturbances::Restore() {
  for (const Json& crd : crds_) users_.InstallCrd(crd);
  CreateMissingGroups();
  Patch(kQueue, "spec", Json::Object({{"stopPolicy", "None"}}));
}

void Disturbances::OpenNodes() {
  const std::map<std::string, Truth::NodeFacts> nodes = truth_.nodes();  // it changes meanwhile
  for (const auto& [name, node] : nodes) {
    if (node.cordoned) Patch(NodeTarget(name), "spec", Json::Object({{"unschedulable", false}}));
    if (node.tainted) Patch(NodeTarget(name), "spec", Json::Object({{"taints", Json()}}));
  }
}

void Disturbances::StrikeLease(Fault fault) {
  if (truth_.lease().holder.empty()) return;  // nobody holds one
  faults_.Note(fault);
  truth_.NoteTamperedLease(events_.Now());
  if (fault == Fault::kLeaseDeleted) {
    users_.Call("DELETE", kLease, Json());
    return;
  }
  Json spec = Json::Object({{"holderIdentity", "somebody-else"}});
  if (fault == Fault::kLeaseGarbage) {
    const Json garbage[] = {
        Json::Object(
            {{"holderIdentity", std::string(200, 'x')}, {"leaseDurationSeconds", 2147483647}}),
        Json::Object({{"holderIdentity", Json()},
                      {"leaseDurationSeconds", Json()},
                      {"renewTime", Json()},
                      {"acquireTime", Json()}}),
        Json::Object({{"leaseTransitions", 2147483647}, {"leaseDurationSeconds", 1}})};
    spec = garbage[faults_.Draw(fault, std::size(garbage))];
  }
  Patch(kLease, "spec", spec);
}

}  // namespace maniple::sim
