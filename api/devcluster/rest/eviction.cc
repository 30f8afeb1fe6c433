#include "api/devcluster/rest/eviction.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/rest/request.h"
#include "api/devcluster/store/conditions.h"
#include "api/devcluster/store/object_facts.h"
#include "api/devcluster/store/selector.h"
#include "api/devcluster/types/names.h"

namespace maniple::devcluster {
namespace {

constexpr absl::string_view kWouldViolate =
    "Cannot evict pod as it would violate the pod's disruption budget.";
constexpr size_t kMaxDisruptedPods = 2000;

bool NeedsNoBudget(const Json& pod) {
  return HasEnded(pod) || pod["status"]["phase"].AsString() == "Pending" || IsLeaving(pod);
}

bool IsReady(const Json& pod) { return FindCondition(pod, "Ready")["status"].AsString() == "True"; }

std::vector<ObjectPtr> BudgetsOf(const Cluster& cluster, const Json& pod) {
  const StorageId storage = cluster.types.Storage("policy", "poddisruptionbudgets");
  std::vector<ObjectPtr> found;
  for (ObjectPtr& budget : cluster.store.List(storage, pod["metadata"]["namespace"].AsString())) {
    const Json& selector = (*budget)["spec"]["selector"];
    if (!selector.is_object()) continue;
    if (LabelSelector::OfObject(selector).Matches(pod["metadata"]["labels"])) {
      found.push_back(std::move(budget));
    }
  }
  return found;
}

ApiError OverBudget(absl::string_view cause, int retry_after_seconds) {
  ApiError error = TooManyRequests(kWouldViolate, retry_after_seconds);
  error.causes.push_back({.reason = "DisruptionBudget", .message = std::string(cause)});
  return error;
}

std::string WhyNotAllowed(const Json& budget) {
  const Json& status = budget["status"];
  const std::string begin =
      absl::StrCat("The disruption budget ", budget["metadata"]["name"].AsString());
  const Json& allowed = FindCondition(budget, "DisruptionAllowed");
  const bool is_told = allowed["status"].AsString() == "False";
  const std::string reason = is_told ? allowed["reason"].AsString() : "";
  const std::string message = is_told ? allowed["message"].AsString() : "";
  const absl::string_view refused = " does not allow evicting pods currently";
  if (!message.empty() && reason == "SyncFailed") {
    return absl::StrCat(begin, refused, " because it failed sync: ", message);
  }
  if (status["currentHealthy"].AsInt() <= status["desiredHealthy"].AsInt()) {
    return absl::StrCat(begin, " needs ", status["desiredHealthy"].AsInt(),
                        " healthy pods and has ", status["currentHealthy"].AsInt(), " currently");
  }
  if (!message.empty()) return absl::StrCat(begin, refused, " (", reason, "): ", message);
  return absl::StrCat(begin, refused);
}

// Unready pods do not count towards a budget that is met.
bool IsUnguarded(const Json& pod, const Json& budget) {
  if (IsReady(pod)) return false;
  if (budget["spec"]["unhealthyPodEvictionPolicy"].AsString() == "AlwaysAllow") return true;
  const Json& status = budget["status"];
  return status["currentHealthy"].AsInt() >= status["desiredHealthy"].AsInt() &&
         status["desiredHealthy"].AsInt() > 0;
}

MaybeError TakeFromBudget(const Cluster& cluster, const Json& pod, const Json& budget,
                          DryRun dry_run) {
  const ResourceType& budgets = *cluster.types.Find("policy", "v1", "poddisruptionbudgets");
  const std::string& name = budget["metadata"]["name"].AsString();
  const Json& status = budget["status"];
  const int64_t allowed = status["disruptionsAllowed"].AsInt();
  if (status["observedGeneration"].AsInt() < budget["metadata"]["generation"].AsInt()) {
    return OverBudget(
        absl::StrCat("The disruption budget ", name, " is still being processed by the server."),
        10);
  }
  if (allowed < 0) return Forbidden(budgets, name, "pdb disruptions allowed is negative");
  if (status["disruptedPods"].size() > kMaxDisruptedPods) {
    return Forbidden(budgets, name,
                     "DisruptedPods map too big - too many evictions not confirmed by PDB "
                     "controller");
  }
  if (allowed == 0) return OverBudget(WhyNotAllowed(budget), 0);
  if (dry_run == DryRun::kAll) return std::nullopt;
  Json next = budget;
  Json& next_status = next.Mutable("status");
  next_status.Set("disruptionsAllowed", allowed - 1);
  next_status.Mutable("disruptedPods")
      .Set(pod["metadata"]["name"].AsString(), FormatKubernetesTime(cluster.now));
  cluster.store.Put(budgets.storage, std::move(next));
  return std::nullopt;
}

MaybeError MarkAndDelete(const Cluster& cluster, const ResourceType& pods, const ObjectPtr& pod,
                         DeleteOptions options) {
  const ObjectName name = NameOf(*pod);
  if (options.dry_run == DryRun::kNo) {
    // Preconditions are about the pod as it was before the condition.
    const ApiOr<Deleted> would = DeleteObject(cluster, pods, name,
                                              {.grace_seconds = options.grace_seconds,
                                               .uid_precondition = options.uid_precondition,
                                               .version_precondition = options.version_precondition,
                                               .dry_run = DryRun::kAll});
    if (!would.ok()) return would.error();
    Json marked = *pod;
    SetCondition(marked,
                 {.type = "DisruptionTarget",
                  .status = "True",
                  .reason = "EvictionByEvictionAPI",
                  .message = "Eviction API: evicting",
                  .probed = true},
                 cluster.now);
    cluster.store.Put(pods.storage, std::move(marked));
    options.version_precondition.clear();
  }
  const ApiOr<Deleted> gone = DeleteObject(cluster, pods, name, options);
  if (!gone.ok()) return gone.error();
  return std::nullopt;
}

}  // namespace

MaybeError EvictPod(const Cluster& cluster, const ObjectName& pod_name, const Json& eviction,
                    DryRun dry_run) {
  if (eviction["metadata"]["name"].AsString() != pod_name.name) {
    return BadRequest("name in URL does not match name in Eviction object");
  }
  ApiOr<DeleteOptions> parsed = ParseDeleteOptions(eviction["deleteOptions"]);
  if (!parsed.ok()) return parsed.error();
  DeleteOptions options = *parsed;
  if (dry_run == DryRun::kAll) options.dry_run = DryRun::kAll;
  const ResourceType& pods = *cluster.types.Find("", "v1", "pods");
  const ObjectPtr pod = cluster.store.Get(pods.storage, pod_name);
  if (pod == nullptr) return NotFound(pods, pod_name.name);
  if (!NeedsNoBudget(*pod)) {
    const std::vector<ObjectPtr> budgets = BudgetsOf(cluster, *pod);
    if (budgets.size() > 1) {
      return ApiError{.code = 500,
                      .message =
                          "This pod has more than one PodDisruptionBudget, which the "
                          "eviction subresource does not support."};
    }
    if (budgets.size() == 1 && !IsUnguarded(*pod, *budgets[0])) {
      API_RETURN_IF_ERROR(TakeFromBudget(cluster, *pod, *budgets[0], options.dry_run));
    }
  }
  return MarkAndDelete(cluster, pods, pod, std::move(options));
}

ApiOr<DeleteOptions> ParseDeleteOptions(const Json& body) {
  DeleteOptions options;
  if (const Json& grace = body["gracePeriodSeconds"]; grace.is_int()) {
    options.grace_seconds = grace.AsInt();
  }
  options.uid_precondition = body["preconditions"]["uid"].AsString();
  options.version_precondition = body["preconditions"]["resourceVersion"].AsString();
  const std::string& policy = body["propagationPolicy"].AsString();
  const Json& orphan = body["orphanDependents"];
  if (!policy.empty() && orphan.is_bool()) {
    return InvalidOptions("DeleteOptions",
                          {InvalidValue("propagationPolicy", Json(policy),
                                        "orphanDependents and deletionPropagation cannot be both "
                                        "set")});
  }
  if (orphan.is_bool()) {
    options.propagation = orphan.AsBool() ? Propagation::kOrphan : Propagation::kBackground;
  } else if (policy == "Background") {
    options.propagation = Propagation::kBackground;
  } else if (policy == "Foreground") {
    options.propagation = Propagation::kForeground;
  } else if (policy == "Orphan") {
    options.propagation = Propagation::kOrphan;
  } else if (!policy.empty()) {
    return InvalidOptions("DeleteOptions",
                          {NotSupportedValue("propagationPolicy", policy,
                                             {"Foreground", "Background", "Orphan", "nil"})});
  }
  for (const Json& value : body["dryRun"].items()) {
    if (value.AsString() != "All") {
      return InvalidOptions("DeleteOptions",
                            {NotSupportedValue("dryRun", value.AsString(), {"All"})});
    }
    options.dry_run = DryRun::kAll;
  }
  return options;
}

}  // namespace maniple::devcluster
