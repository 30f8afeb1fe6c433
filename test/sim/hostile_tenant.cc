#include "test/sim/hostile_tenant.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/model/maniple_types.h"
#include "scheduler/state/pod_caps.h"
#include "test/sim/free_room.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

constexpr char kNamespace[] = "/api/v1/namespaces/hostile";
constexpr char kHostilePods[] = "/api/v1/namespaces/hostile/pods";
constexpr char kGroups[] = "/apis/scheduling.maniple.dev/v1alpha1/namespaces/hostile/podgroups";
constexpr char kBudgets[] = "/apis/policy/v1/namespaces/hostile/poddisruptionbudgets";
constexpr int kTenYears = 315360000;
// It has no more pods and budgets than these at once: others shall have room.
constexpr size_t kMostPods = 12;
constexpr int kMostBudgets = 8;
constexpr int kEditsInFlood = 30, kPodsInGlut = 3;
constexpr absl::Duration kGlutLasts = absl::Seconds(40);

Json Labels(const char* team) { return Json::Object({{kTeamLabel, team}}); }

Json Patched(const char* part, Json value) { return Json::Object({{part, std::move(value)}}); }

// So many terms on other pods, each with a selector of its own.
Json Terms(int number, size_t terms) {
  std::vector<Json> all;
  for (size_t i = 0; i < terms; ++i) {
    const Json labels = Json::Object({{absl::StrCat("glut-", number, "-", i), "yes"}});
    all.push_back(Json::Object(
        {{"labelSelector", Json::Object({{"matchLabels", labels}})}, {"topologyKey", kRackLabel}}));
  }
  return Json::Object(
      {{"podAntiAffinity", Json::Object({{"requiredDuringSchedulingIgnoredDuringExecution",
                                          Json::Array(std::move(all))}})}});
}

}  // namespace

HostileTenant::HostileTenant(Users& users, Truth& truth, EventQueue& events, FaultInjector& faults,
                             const Options& options)
    : users_(users),
      truth_(truth),
      events_(events),
      faults_(faults),
      exists_(std::ranges::any_of(
          Kinds(), [&options](Fault fault) { return options.rates.of(fault) != 0; })),
      policy_(Random(options.seed * 179424673 + 29).OneIn(2)) {}

std::span<const Fault> HostileTenant::Kinds() {
  static constexpr Fault kKinds[] = {
      Fault::kTenantSubmits,   Fault::kTenantRelabels,  Fault::kTenantEdits,
      Fault::kTenantRemakes,   Fault::kTenantTakesNode, Fault::kTenantShields,
      Fault::kTenantGluts,     Fault::kTenantFloods,    Fault::kTenantForges,
      Fault::kNamespaceEdited, Fault::kSelectorEdited};
  return kKinds;
}

void HostileTenant::SetUp() {
  if (!exists_) return;
  truth_.set_tenant_policy(policy_);
  users_.Call("POST", "/api/v1/namespaces",
              Json::Object({{"apiVersion", "v1"},
                            {"kind", "Namespace"},
                            {"metadata", Json::Object({{"name", kTenantNamespace},
                                                       {"labels", Labels("hostile")}})}}));
  users_.Call("PATCH", "/api/v1/namespaces/default",
              Patched("metadata", Patched("labels", Labels("ours"))));
  const Json amount = Json::Object({{"name", kGpu}, {"nominal", "8"}});
  const Json quota = Json::Object({{"flavor", ""}, {"resources", Json::Array({amount})}});
  users_.Call("POST", kQueuesPath,
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Queue"},
                            {"metadata", Json::Object({{"name", kWalledQueue}})},
                            {"spec", Json::Object({{"stopPolicy", "None"},
                                                   {"quotas", Json::Array({quota})},
                                                   {"namespaceSelector",
                                                    Patched("matchLabels", Labels("ours"))}})}}));
}

void HostileTenant::Strike(Fault fault) {
  switch (fault) {
    case Fault::kTenantSubmits:
      return Submit();
    case Fault::kTenantRelabels:
      return Relabel();
    case Fault::kTenantEdits:
      return Edit();
    case Fault::kTenantRemakes:
      return Remake();
    case Fault::kTenantTakesNode:
      return TakeNode();
    case Fault::kTenantShields:
      return Shield();
    case Fault::kTenantGluts:
      return Glut();
    case Fault::kTenantFloods:
      return Flood();
    case Fault::kTenantForges:
      return Forge();
    case Fault::kNamespaceEdited:
      return EditNamespace();
    case Fault::kSelectorEdited:
      return EditSelector();
    default:
      return;  // somebody else's
  }
}

std::string HostileTenant::AnyQueue(Fault fault) {
  const auto& queues = truth_.quotas().queues();
  const uint64_t chosen = faults_.Draw(fault, queues.size() + 2);
  if (chosen == queues.size()) return "";
  if (chosen > queues.size()) return "nowhere";
  return std::next(queues.begin(), static_cast<int64_t>(chosen))->first;
}

std::vector<std::string> HostileTenant::Pods() const {
  std::vector<std::string> pods;
  for (const auto& [key, pod] : truth_.pods()) {
    if (IsOfTenant(key)) pods.push_back(key.substr(key.find('/') + 1));
  }
  return pods;
}

std::string HostileTenant::AnyPod(Fault fault) {
  const std::vector<std::string> pods = Pods();
  return pods.empty() ? "" : pods[faults_.Draw(fault, pods.size())];
}

std::vector<std::string> HostileTenant::Gangs() const {
  std::vector<std::string> gangs;
  for (const auto& [key, group] : truth_.groups()) {
    if (IsOfTenant(key)) gangs.push_back(key.substr(key.find('/') + 1));
  }
  return gangs;
}

std::string HostileTenant::AnyGang(Fault fault) {
  const std::vector<std::string> gangs = Gangs();
  return gangs.empty() ? "" : gangs[faults_.Draw(fault, gangs.size())];
}

bool HostileTenant::Runs(const std::string& pod) const {
  const auto it = truth_.pods().find(absl::StrCat(kTenantNamespace, "/", pod));
  return it != truth_.pods().end() && !it->second.node.empty() && !it->second.ended();
}

Json HostileTenant::Pod(const PodSpec& spec) {
  const Json amounts = Json::Object({{kGpu, absl::StrCat(spec.gpus)}});
  const Json container =
      Json::Object({{"name", "main"},
                    {"image", "registry.example/hostile:1"},
                    {"resources", Json::Object({{"requests", amounts}, {"limits", amounts}})}});
  Json labels = Json::Object();
  if (!spec.gang.empty()) labels.Set(kPodGroupLabel, spec.gang);
  if (!spec.queue.empty()) labels.Set(kQueueLabel, spec.queue);
  Json body = Json::Object({{"schedulerName", "maniple"},
                            {"terminationGracePeriodSeconds", 3},
                            {"containers", Json::Array({container})}});
  if (!spec.node.empty()) body.Set("nodeName", spec.node);
  return Json::Object({{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", Json::Object({{"name", spec.name}, {"labels", labels}})},
                       {"spec", body}});
}

Json HostileTenant::Group(Fault fault, const std::string& gang) {
  Json spec = Json::Object({{"minMember", 1 + static_cast<int>(faults_.Draw(fault, 3))},
                            {"scheduleTimeoutSeconds", absl::ToInt64Seconds(kScheduleTimeout)},
                            {"preemption", Json::Object({{"protectedRuntimeSeconds", kTenYears}})},
                            {"quorumLoss", Json::Object({{"action", "Keep"}})}});
  if (const std::string queue = AnyQueue(fault); !queue.empty()) spec.Set("queue", queue);
  return Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                       {"kind", "PodGroup"},
                       {"metadata", Json::Object({{"name", gang}})},
                       {"spec", spec}});
}

void HostileTenant::Create(const Json& pod) { users_.Call("POST", kHostilePods, pod); }

void HostileTenant::PatchGroup(const std::string& gang, Json spec) {
  users_.Call("PATCH", absl::StrCat(kGroups, "/", gang), Patched("spec", std::move(spec)));
}

void HostileTenant::DeletePod(const std::string& pod) {
  users_.Call("DELETE", absl::StrCat(kHostilePods, "/", pod), Json());
}

// Where it has enough it makes room for other attempts.
void HostileTenant::Submit() {
  constexpr Fault kThis = Fault::kTenantSubmits;
  faults_.Note(kThis);
  const std::vector<std::string> pods = Pods();
  if (pods.size() >= kMostPods) {
    for (const std::string& pod : pods) {
      if (faults_.Draw(kThis, 2) == 0) DeletePod(pod);
    }
    return;
  }
  const std::string gang = absl::StrCat("h", next_++);
  const bool single = faults_.Draw(kThis, 4) == 0;
  if (!single) users_.Call("POST", kGroups, Group(kThis, gang));
  const int count = single ? 1 : 1 + static_cast<int>(faults_.Draw(kThis, 3));
  const int64_t gpus = int64_t{1} << faults_.Draw(kThis, 4);
  for (int i = 0; i < count; ++i) {
    Create(Pod({.name = absl::StrCat(gang, "-", i),
                .gang = single ? "" : gang,
                .queue = AnyQueue(kThis),
                .node = "",
                .gpus = gpus}));
  }
}

void HostileTenant::Relabel() {
  constexpr Fault kThis = Fault::kTenantRelabels;
  const std::string pod = AnyPod(kThis);
  if (pod.empty() || (policy_ && Runs(pod))) return;
  faults_.Note(kThis);
  Json labels = Json::Object();
  const uint64_t what = faults_.Draw(kThis, 4);
  if (what == 0) {
    labels.Set(kSubGroupLabel, "part0");
  } else if (what == 1) {
    const std::string gang = AnyGang(kThis);
    labels.Set(kPodGroupLabel, gang.empty() ? Json() : Json(gang));
  } else {
    const std::string queue = AnyQueue(kThis);
    labels.Set(kQueueLabel, queue.empty() ? Json() : Json(queue));
  }
  users_.Call("PATCH", absl::StrCat(kHostilePods, "/", pod),
              Patched("metadata", Patched("labels", std::move(labels))));
}

// The Queue cannot change while members are bound, if their leader has said that they are.
void HostileTenant::Edit() {
  constexpr Fault kThis = Fault::kTenantEdits;
  const std::string gang = AnyGang(kThis);
  if (gang.empty()) return;
  faults_.Note(kThis);
  switch (faults_.Draw(kThis, 4)) {
    case 0:
      return PatchGroup(
          gang, Json::Object({{"minMember", 1 + static_cast<int>(faults_.Draw(kThis, 5))}}));
    case 1:
      return PatchGroup(
          gang, Patched("priorityClassName", faults_.Draw(kThis, 2) == 0 ? Json("high") : Json()));
    default:
      return PatchGroup(gang, Patched("queue", AnyQueue(kThis)));
  }
}

void HostileTenant::Remake() {
  constexpr Fault kThis = Fault::kTenantRemakes;
  const std::string gang = AnyGang(kThis);
  if (gang.empty()) return;
  faults_.Note(kThis);
  users_.Call("DELETE", absl::StrCat(kGroups, "/", gang), Json());
  if (faults_.Draw(kThis, 4) != 0) users_.Call("POST", kGroups, Group(kThis, gang));
}

void HostileTenant::TakeNode() {
  constexpr Fault kThis = Fault::kTenantTakesNode;
  if (policy_ || Pods().size() >= kMostPods) return;
  const std::map<std::string, int64_t> free = FreeGpus(truth_);
  if (free.empty()) return;
  const auto node = std::next(free.begin(), static_cast<int64_t>(faults_.Draw(kThis, free.size())));
  if (node->second <= 0) return;
  faults_.Note(kThis);
  const std::string name = absl::StrCat("h", next_++, "-0");
  const std::string key = absl::StrCat(kTenantNamespace, "/", name);
  truth_.ExpectForeignBind(key);
  Create(Pod({.name = name,
              .gang = "",
              .queue = AnyQueue(kThis),
              .node = node->first,
              .gpus = 1 + static_cast<int64_t>(faults_.Draw(kThis, node->second))}));
  truth_.NoForeignBind(key);
}

void HostileTenant::Shield() {
  constexpr Fault kThis = Fault::kTenantShields;
  faults_.Note(kThis);
  const std::string gang = AnyGang(kThis);
  const std::string name = absl::StrCat("shield", next_++ % kMostBudgets);
  if (!gang.empty()) {
    PatchGroup(gang, Patched("preemption", Json::Object({{"protectedRuntimeSeconds", kTenYears}})));
  }
  const bool all = gang.empty() || faults_.Draw(kThis, 2) == 0;
  const Json selector =
      all ? Json::Object() : Patched("matchLabels", Json::Object({{kPodGroupLabel, gang}}));
  users_.Call("DELETE", absl::StrCat(kBudgets, "/", name), Json());
  users_.Call(
      "POST", kBudgets,
      Json::Object({{"apiVersion", "policy/v1"},
                    {"kind", "PodDisruptionBudget"},
                    {"metadata", Json::Object({{"name", name}})},
                    {"spec", Json::Object({{"minAvailable", "100%"}, {"selector", selector}})}}));
}

// A pod whose image, labels, selectors and resources no other has. Up to the caps, and where no
// policy refuses it beyond them.
void HostileTenant::Glut() {
  faults_.Note(Fault::kTenantGluts);
  for (int i = 0; i < kPodsInGlut; ++i) CreateGlut();
}

void HostileTenant::CreateGlut() {
  constexpr Fault kThis = Fault::kTenantGluts;
  const int number = next_++;
  const auto up_to = [this](size_t cap) -> size_t {
    const uint64_t kind = faults_.Draw(kThis, 8);
    if (kind == 0) return cap;
    return kind == 1 && !policy_ ? cap + 1 : faults_.Draw(kThis, 6);
  };
  Json pod = Pod({.name = absl::StrCat("glut", number), .gang = "", .queue = "", .node = ""});
  pod.Mutable("metadata").Set("labels", Json::Object({{absl::StrCat("own-", number), "yes"}}));
  Json amounts = Json::Object({{"cpu", absl::StrCat(1 + number, "m")}});
  const size_t resources = up_to(kMostResourcesOfPod);
  for (size_t i = 1; i < resources; ++i) {
    amounts.Set(absl::StrCat("hostile.example/invented-", number, "-", i), "1");
  }
  const Json container =
      Json::Object({{"name", "main"},
                    {"image", absl::StrCat("registry.example/glut:", number)},
                    {"resources", Json::Object({{"requests", amounts}, {"limits", amounts}})}});
  Json& spec = pod.Mutable("spec");
  spec.Set("containers", Json::Array({container}));
  if (const size_t terms = up_to(kMostPodTerms); terms > 0) {
    spec.Set("affinity", Terms(number, terms));
  }
  if (faults_.Draw(kThis, 3) == 0) {
    spec.Set("nodeSelector", Json::Object({{absl::StrCat("glut-", number), "yes"}}));
  }
  const bool others = faults_.Draw(kThis, 4) == 0;
  if (others) spec.Set("schedulerName", "other");
  Create(pod);
  gluts_ += others ? 0 : 1;
  events_.After(kGlutLasts, [this, name = absl::StrCat("glut", number)] { DeletePod(name); });
}

void HostileTenant::Flood() {
  constexpr Fault kThis = Fault::kTenantFloods;
  const std::string gang = AnyGang(kThis);
  if (gang.empty()) return;
  faults_.Note(kThis);
  for (int i = 0; i < kEditsInFlood; ++i) {
    PatchGroup(gang, Patched("minMember", 1 + static_cast<int>(faults_.Draw(kThis, 5))));
  }
}

// The status of what it makes is not kept by the server; that of its pods it may not write.
void HostileTenant::Forge() {
  constexpr Fault kThis = Fault::kTenantForges;
  faults_.Note(kThis);
  if (const std::string pod = AnyPod(kThis); !pod.empty() && !policy_) {
    const std::string queue = AnyQueue(kThis);
    const Json told =
        Json::Object({{kAdmittedQueueAnnotation, queue.empty() ? Json() : Json(queue)}});
    users_.Call("PATCH", absl::StrCat(kHostilePods, "/", pod),
                Patched("metadata", Patched("annotations", told)));
    return;
  }
  Json group = Group(kThis, absl::StrCat("h", faults_.Draw(kThis, next_ + 1)));
  group.Set("status", Json::Object({{"phase", "Running"}, {"admittedQueue", AnyQueue(kThis)}}));
  users_.Call("POST", kGroups, group);
}

void HostileTenant::EditNamespace() {
  constexpr Fault kThis = Fault::kNamespaceEdited;
  faults_.Note(kThis);
  const char* team = faults_.Draw(kThis, 2) == 0 ? "guests" : "hostile";
  users_.Call("PATCH", kNamespace, Patched("metadata", Patched("labels", Labels(team))));
}

void HostileTenant::EditSelector() {
  constexpr Fault kThis = Fault::kSelectorEdited;
  const std::string queue = AnyQueue(kThis);
  if (!truth_.quotas().queues().contains(queue) || queue == kWalledQueue) return;
  faults_.Note(kThis);
  const Json teams[] = {Json::Array({"ours"}), Json::Array({"ours", "guests"})};
  const uint64_t which = faults_.Draw(kThis, 3);
  Json selector;  // absent: every namespace
  if (which < std::size(teams)) {
    const Json in =
        Json::Object({{"key", kTeamLabel}, {"operator", "In"}, {"values", teams[which]}});
    selector = Patched("matchExpressions", Json::Array({in}));
  }
  users_.Call("PATCH", absl::StrCat(kQueuesPath, "/", queue),
              Patched("spec", Patched("namespaceSelector", std::move(selector))));
}

void HostileTenant::DeleteAll() {
  if (!exists_) return;
  for (const std::string& gang : Gangs()) {
    users_.Call("DELETE", absl::StrCat(kGroups, "/", gang), Json());
  }
  for (const std::string& pod : Pods()) DeletePod(pod);
}

}  // namespace maniple::sim
