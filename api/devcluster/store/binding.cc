#include "api/devcluster/store/binding.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/devcluster/store/conditions.h"
#include "api/devcluster/store/object_facts.h"

namespace maniple::devcluster {
namespace {

// An aggregate of field errors is no Status: it surfaces as a 500 without a reason.
MaybeError CheckTarget(const Json& target) {
  std::vector<std::string> problems;
  const std::string& kind = target["kind"].AsString();
  if (!kind.empty() && kind != "Node") {
    problems.push_back(absl::StrCat("target.kind: Unsupported value: \"", kind,
                                    "\": supported values: \"Node\", \"<empty>\""));
  }
  if (target["name"].AsString().empty()) problems.push_back("target.name: Required value");
  if (problems.empty()) return std::nullopt;
  const std::string text = absl::StrJoin(problems, ", ");
  return ApiError{.code = 500,
                  .message = problems.size() == 1 ? text : absl::StrCat("[", text, "]")};
}

MaybeError CheckBindingPreconditions(const ResourceType& pods, const Json& pod,
                                     const Json& binding) {
  for (const auto& [field, label] : {std::pair<absl::string_view, absl::string_view>{"uid", "UID"},
                                     {"resourceVersion", "ResourceVersion"}}) {
    const std::string& want = binding["metadata"][field].AsString();
    const std::string& have = pod["metadata"][field].AsString();
    if (want.empty() || want == have) continue;
    return Conflict(pods, pod["metadata"]["name"].AsString(),
                    absl::StrCat("Precondition failed: ", label, " in precondition: ", want, ", ",
                                 label, " in object meta: ", have));
  }
  return std::nullopt;
}

// Why the pod cannot be assigned; "" when it can.
std::string Obstacle(const Json& pod) {
  const std::string& name = pod["metadata"]["name"].AsString();
  if (IsLeaving(pod)) {
    return absl::StrCat("pod ", name, " is being deleted, cannot be assigned to a host");
  }
  if (const std::string& node = pod["spec"]["nodeName"].AsString(); !node.empty()) {
    return absl::StrCat("pod ", name, " is already assigned to node \"", node, "\"");
  }
  if (pod["spec"]["schedulingGates"].size() > 0) {
    return absl::StrCat("pod ", name, " has non-empty .spec.schedulingGates");
  }
  return "";
}

void Assign(Json& pod, const Json& binding, absl::Time now) {
  pod.Mutable("spec").Set("nodeName", binding["target"]["name"]);
  for (const absl::string_view field : {"annotations", "labels"}) {
    for (const auto& [key, value] : binding["metadata"][field].members()) {
      pod.Mutable("metadata").Mutable(field).Set(key, value);
    }
  }
  if (Json* status = pod.Find("status"); status != nullptr && status->is_object()) {
    status->Erase("nominatedNodeName");
  }
  SetCondition(pod, {.type = "PodScheduled", .status = "True", .probed = true}, now);
}

}  // namespace

MaybeError BindPod(const Cluster& cluster, const ObjectName& pod, const Json& binding,
                   DryRun dry_run) {
  if (binding["metadata"]["name"].AsString() != pod.name) {
    return BadRequest("name in URL does not match name in Binding object");
  }
  API_RETURN_IF_ERROR(CheckTarget(binding["target"]));
  const ResourceType& pods = *cluster.types.Find("", "v1", "pods");
  const ObjectPtr stored = cluster.store.Get(pods.storage, pod);
  if (stored == nullptr) return NotFound(pods, pod.name);
  API_RETURN_IF_ERROR(CheckBindingPreconditions(pods, *stored, binding));
  if (const std::string why = Obstacle(*stored); !why.empty()) {
    ResourceType bindings = pods;
    bindings.plural = "pods/binding";
    return Conflict(bindings, pod.name, why);
  }
  if (dry_run == DryRun::kAll) return std::nullopt;
  Json next = *stored;
  Assign(next, binding, cluster.now);
  cluster.store.Put(pods.storage, std::move(next));
  return std::nullopt;
}

}  // namespace maniple::devcluster
