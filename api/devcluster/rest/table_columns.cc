#include "api/devcluster/rest/table_columns.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/devcluster/rest/table_pod.h"
#include "api/devcluster/store/conditions.h"
#include "api/devcluster/types/time_text.h"

namespace maniple::devcluster {
namespace {

constexpr const char* kNone = "<none>";

Json TextOr(const Json& value, const char* otherwise) {
  if (value.is_null()) return Json(otherwise);
  if (!value.is_string()) return Json(value.Dump());
  return value.AsString().empty() ? Json(otherwise) : value;
}

Json Name(const Json& object, absl::Time) { return object["metadata"]["name"]; }

Json Age(const Json& object, absl::Time now) {
  return AgeSince(object["metadata"]["creationTimestamp"], now);
}

Json CreatedAt(const Json& object, absl::Time) { return object["metadata"]["creationTimestamp"]; }

Json NodeStatus(const Json& node, absl::Time) {
  const std::string ready = FindCondition(node, "Ready")["status"].AsString();
  std::string text = ready == "True" ? "Ready" : ready.empty() ? "Unknown" : "NotReady";
  if (node["spec"]["unschedulable"].AsBool()) absl::StrAppend(&text, ",SchedulingDisabled");
  return Json(text);
}

Json NodeRoles(const Json& node, absl::Time) {
  std::vector<std::string> roles;
  for (const auto& [key, value] : node["metadata"]["labels"].members()) {
    absl::string_view role = key;
    if (absl::ConsumePrefix(&role, "node-role.kubernetes.io/")) roles.emplace_back(role);
    if (key == "kubernetes.io/role") roles.push_back(value.AsString());
  }
  std::sort(roles.begin(), roles.end());
  return roles.empty() ? Json(kNone) : Json(absl::StrJoin(roles, ","));
}

template <char kWhich>
Json NodeAddress(const Json& node, absl::Time) {
  const char* const type = kWhich == 'I' ? "InternalIP" : "ExternalIP";
  for (const Json& address : node["status"]["addresses"].items()) {
    if (address["type"].AsString() == type) return address["address"];
  }
  return Json(kNone);
}

Json NodeVersion(const Json& node, absl::Time) {
  return TextOr(node["status"]["nodeInfo"]["kubeletVersion"], "");
}
Json NodeImage(const Json& node, absl::Time) {
  return TextOr(node["status"]["nodeInfo"]["osImage"], "<unknown>");
}
Json NodeKernel(const Json& node, absl::Time) {
  return TextOr(node["status"]["nodeInfo"]["kernelVersion"], "<unknown>");
}
Json NodeRuntime(const Json& node, absl::Time) {
  return TextOr(node["status"]["nodeInfo"]["containerRuntimeVersion"], "<unknown>");
}

Json Phase(const Json& object, absl::Time) { return TextOr(object["status"]["phase"], ""); }

// Events of both groups lie in one storage, in the core form or served in the newer one.
const Json& Either(const Json& object, const char* core, const char* newer) {
  return object.Has(core) ? object[core] : object[newer];
}

Json EventLastSeen(const Json& event, absl::Time now) {
  for (const Json* time :
       {&event["series"]["lastObservedTime"], &event["lastTimestamp"],
        &event["deprecatedLastTimestamp"], &event["eventTime"], &event["firstTimestamp"]}) {
    if (time->is_string()) return AgeSince(*time, now);
  }
  return Json("<unknown>");
}
Json EventFirstSeen(const Json& event, absl::Time now) {
  for (const Json* time :
       {&event["firstTimestamp"], &event["deprecatedFirstTimestamp"], &event["eventTime"]}) {
    if (time->is_string()) return AgeSince(*time, now);
  }
  return Json("<unknown>");
}
Json EventType(const Json& event, absl::Time) { return event["type"]; }
Json EventReason(const Json& event, absl::Time) { return event["reason"]; }
Json EventObject(const Json& event, absl::Time) {
  const Json& about = Either(event, "involvedObject", "regarding");
  return Json(
      absl::StrCat(absl::AsciiStrToLower(about["kind"].AsString()), "/", about["name"].AsString()));
}
Json EventSubobject(const Json& event, absl::Time) {
  return TextOr(Either(event, "involvedObject", "regarding")["fieldPath"], "");
}
Json EventSource(const Json& event, absl::Time) {
  const std::string component = event["source"]["component"].AsString();
  if (!component.empty()) return Json(component);
  return TextOr(Either(event, "reportingComponent", "reportingController"), "");
}
Json EventMessage(const Json& event, absl::Time) {
  return Json(absl::StripAsciiWhitespace(Either(event, "message", "note").AsString()));
}
Json EventCount(const Json& event, absl::Time) {
  const int64_t series = event["series"]["count"].AsInt();
  const int64_t count = Either(event, "count", "deprecatedCount").AsInt();
  return Json(std::max<int64_t>({series, count, 1}));
}

Json ClassValue(const Json& object, absl::Time) { return Json(object["value"].AsInt()); }
Json ClassGlobal(const Json& object, absl::Time) { return Json(object["globalDefault"].AsBool()); }
Json ClassPolicy(const Json& object, absl::Time) {
  return TextOr(object["preemptionPolicy"], "PreemptLowerPriority");
}
Json LeaseHolder(const Json& object, absl::Time) {
  return TextOr(object["spec"]["holderIdentity"], "");
}
Json DataCount(const Json& object, absl::Time) {
  return Json(static_cast<int64_t>(object["data"].size() + object["binaryData"].size()));
}
Json SecretType(const Json& object, absl::Time) { return TextOr(object["type"], "Opaque"); }
Json SecretCount(const Json& object, absl::Time) {
  return Json(static_cast<int64_t>(object["secrets"].size()));
}

template <char kWhich>
Json QuotaUse(const Json& object, absl::Time) {
  std::vector<std::string> parts;
  const Json& hard =
      object["status"].Has("hard") ? object["status"]["hard"] : object["spec"]["hard"];
  for (const auto& [resource, amount] : hard.members()) {
    if (absl::StartsWith(resource, "limits.") != (kWhich == 'L')) continue;
    parts.push_back(absl::StrCat(resource, ": ",
                                 TextOr(object["status"]["used"][resource], "0").AsString(), "/",
                                 TextOr(amount, "0").AsString()));
  }
  return Json(absl::StrJoin(parts, ", "));
}

Json BudgetMin(const Json& object, absl::Time) {
  return TextOr(object["spec"]["minAvailable"], "N/A");
}
Json BudgetMax(const Json& object, absl::Time) {
  return TextOr(object["spec"]["maxUnavailable"], "N/A");
}
Json BudgetAllowed(const Json& object, absl::Time) {
  return Json(object["status"]["disruptionsAllowed"].AsInt());
}

Json JobStatus(const Json& job, absl::Time) {
  for (const char* condition : {"Complete", "Failed", "Suspended"}) {
    if (FindCondition(job, condition)["status"].AsString() == "True") return Json(condition);
  }
  return Json("Running");
}
Json JobCompletions(const Json& job, absl::Time) {
  const Json& wanted = job["spec"]["completions"];
  return Json(
      absl::StrCat(job["status"]["succeeded"].AsInt(), "/", wanted.is_int() ? wanted.AsInt() : 1));
}
Json JobDuration(const Json& job, absl::Time now) {
  return job["status"].Has("startTime") ? AgeSince(job["status"]["startTime"], now) : Json("");
}

Json ReadyReplicas(const Json& object, absl::Time) {
  return Json(absl::StrCat(object["status"]["readyReplicas"].AsInt(), "/",
                           object["spec"]["replicas"].AsInt()));
}
Json UpdatedReplicas(const Json& object, absl::Time) {
  return Json(object["status"]["updatedReplicas"].AsInt());
}
Json AvailableReplicas(const Json& object, absl::Time) {
  return Json(object["status"]["availableReplicas"].AsInt());
}

Json ServiceType(const Json& object, absl::Time) {
  return TextOr(object["spec"]["type"], "ClusterIP");
}
Json ServiceAddress(const Json& object, absl::Time) {
  return TextOr(object["spec"]["clusterIP"], kNone);
}
Json ServiceExternal(const Json&, absl::Time) { return Json(kNone); }
Json ServicePorts(const Json& object, absl::Time) {
  std::vector<std::string> ports;
  for (const Json& port : object["spec"]["ports"].items()) {
    ports.push_back(
        absl::StrCat(port["port"].AsInt(), "/", TextOr(port["protocol"], "TCP").AsString()));
  }
  return ports.empty() ? Json(kNone) : Json(absl::StrJoin(ports, ","));
}
Json Handler(const Json& object, absl::Time) { return object["handler"]; }

constexpr TableColumn kName = {"Name", "string", 0, Name};
constexpr TableColumn kAge = {"Age", "string", 0, Age};

constexpr TableColumn kPods[] = {kName,
                                 {"Ready", "string", 0, PodReady},
                                 {"Status", "string", 0, PodStatus},
                                 {"Restarts", "string", 0, PodRestarts},
                                 kAge,
                                 {"IP", "string", 1, PodAddressCell},
                                 {"Node", "string", 1, PodNode},
                                 {"Nominated Node", "string", 1, PodNominatedNode},
                                 {"Readiness Gates", "string", 1, PodReadinessGates}};
constexpr TableColumn kNodes[] = {kName,
                                  {"Status", "string", 0, NodeStatus},
                                  {"Roles", "string", 0, NodeRoles},
                                  kAge,
                                  {"Version", "string", 0, NodeVersion},
                                  {"Internal-IP", "string", 1, NodeAddress<'I'>},
                                  {"External-IP", "string", 1, NodeAddress<'E'>},
                                  {"OS-Image", "string", 1, NodeImage},
                                  {"Kernel-Version", "string", 1, NodeKernel},
                                  {"Container-Runtime", "string", 1, NodeRuntime}};
constexpr TableColumn kPhased[] = {kName, {"Status", "string", 0, Phase}, kAge};
constexpr TableColumn kEvents[] = {
    {"Last Seen", "string", 0, EventLastSeen},  {"Type", "string", 0, EventType},
    {"Reason", "string", 0, EventReason},       {"Object", "string", 0, EventObject},
    {"Subobject", "string", 1, EventSubobject}, {"Source", "string", 1, EventSource},
    {"Message", "string", 0, EventMessage},     {"First Seen", "string", 1, EventFirstSeen},
    {"Count", "string", 1, EventCount},         {"Name", "string", 1, Name}};
constexpr TableColumn kPriorityClasses[] = {kName,
                                            {"Value", "integer", 0, ClassValue},
                                            {"Global-Default", "boolean", 0, ClassGlobal},
                                            kAge,
                                            {"PreemptionPolicy", "string", 0, ClassPolicy}};
constexpr TableColumn kDefinitions[] = {kName, {"Created At", "date", 0, CreatedAt}};
constexpr TableColumn kLeases[] = {kName, {"Holder", "string", 0, LeaseHolder}, kAge};
constexpr TableColumn kConfigMaps[] = {kName, {"Data", "string", 0, DataCount}, kAge};
constexpr TableColumn kSecrets[] = {
    kName, {"Type", "string", 0, SecretType}, {"Data", "string", 0, DataCount}, kAge};
constexpr TableColumn kServiceAccounts[] = {kName, {"Secrets", "string", 0, SecretCount}, kAge};
constexpr TableColumn kQuotas[] = {
    kName, {"Request", "string", 0, QuotaUse<'R'>}, {"Limit", "string", 0, QuotaUse<'L'>}, kAge};
constexpr TableColumn kBudgets[] = {kName,
                                    {"Min Available", "string", 0, BudgetMin},
                                    {"Max Unavailable", "string", 0, BudgetMax},
                                    {"Allowed Disruptions", "integer", 0, BudgetAllowed},
                                    kAge};
constexpr TableColumn kJobs[] = {kName,
                                 {"Status", "string", 0, JobStatus},
                                 {"Completions", "string", 0, JobCompletions},
                                 {"Duration", "string", 0, JobDuration},
                                 kAge};
constexpr TableColumn kDeployments[] = {kName,
                                        {"Ready", "string", 0, ReadyReplicas},
                                        {"Up-to-date", "integer", 0, UpdatedReplicas},
                                        {"Available", "integer", 0, AvailableReplicas},
                                        kAge};
constexpr TableColumn kServices[] = {kName,
                                     {"Type", "string", 0, ServiceType},
                                     {"Cluster-IP", "string", 0, ServiceAddress},
                                     {"External-IP", "string", 0, ServiceExternal},
                                     {"Port(s)", "string", 0, ServicePorts},
                                     kAge};
constexpr TableColumn kRuntimeClasses[] = {kName, {"Handler", "string", 0, Handler}, kAge};
constexpr TableColumn kOthers[] = {kName, kAge};

struct KindColumns {
  absl::string_view group, kind;
  absl::Span<const TableColumn> columns;
};

}  // namespace

absl::Span<const TableColumn> ColumnsOf(absl::string_view group, absl::string_view kind) {
  static constexpr KindColumns kKinds[] = {
      {"", "Pod", kPods},
      {"", "Node", kNodes},
      {"", "Namespace", kPhased},
      {"", "Event", kEvents},
      {"events.k8s.io", "Event", kEvents},
      {"scheduling.k8s.io", "PriorityClass", kPriorityClasses},
      {"apiextensions.k8s.io", "CustomResourceDefinition", kDefinitions},
      {"coordination.k8s.io", "Lease", kLeases},
      {"", "ConfigMap", kConfigMaps},
      {"", "Secret", kSecrets},
      {"", "ServiceAccount", kServiceAccounts},
      {"", "ResourceQuota", kQuotas},
      {"policy", "PodDisruptionBudget", kBudgets},
      {"batch", "Job", kJobs},
      {"apps", "Deployment", kDeployments},
      {"", "Service", kServices},
      {"node.k8s.io", "RuntimeClass", kRuntimeClasses},
  };
  for (const KindColumns& entry : kKinds) {
    if (entry.group == group && entry.kind == kind) return entry.columns;
  }
  return kOthers;
}

}  // namespace maniple::devcluster
