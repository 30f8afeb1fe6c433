#include "api/devcluster/controllers/disruption.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/store/conditions.h"
#include "api/devcluster/store/object_facts.h"
#include "api/devcluster/store/selector.h"

namespace maniple::devcluster {
namespace {

// How long an eviction is believed in when the pod does not begin to leave.
constexpr absl::Duration kEvictionBelieved = absl::Minutes(2);

// Counting very many pods after every change of one of them would be all that the server does.
constexpr size_t kManyPods = 500;
constexpr absl::Duration kPause = absl::Milliseconds(50);

bool IsHealthy(const Json& pod) {
  return !IsLeaving(pod) && !HasEnded(pod) &&
         FindCondition(pod, "Ready")["status"].AsString() == "True";
}

// An integer, or a percentage of `whole`, rounded up as the disruption controller does.
int64_t CountOf(const Json& int_or_percent, int64_t whole) {
  if (int_or_percent.is_int()) return int_or_percent.AsInt();
  absl::string_view text = int_or_percent.AsString();
  int64_t percent = 0;
  if (!absl::ConsumeSuffix(&text, "%") || !absl::SimpleAtoi(text, &percent)) return 0;
  percent = std::clamp<int64_t>(percent, 0, 100);
  return (whole * percent + 99) / 100;
}

// Pods whose eviction was granted and that have not begun to leave: they count as gone already.
Json StillBelieved(const Json& disrupted, const std::vector<const Json*>& covered, absl::Time now) {
  Json out = Json::Object();
  for (const auto& [name, when] : disrupted.members()) {
    const absl::StatusOr<absl::Time> granted = ParseKubernetesTime(when.AsString());
    if (!granted.ok() || *granted + kEvictionBelieved <= now) continue;
    const absl::string_view pod_name = name;  // a structured binding cannot be captured by clang 14
    const auto there = std::find_if(covered.begin(), covered.end(), [&](const Json* pod) {
      return (*pod)["metadata"]["name"].AsString() == pod_name && !IsLeaving(*pod);
    });
    if (there != covered.end()) out.Set(name, when);
  }
  return out;
}

}  // namespace

Json CountedBudget(const Json& budget, const std::vector<ObjectPtr>& pods, absl::Time now) {
  const Json& spec = budget["spec"];
  // An absent selector covers nothing, an empty one everything.
  std::vector<const Json*> covered;
  if (spec["selector"].is_object()) {
    const LabelSelector selector = LabelSelector::OfObject(spec["selector"]);
    for (const ObjectPtr& pod : pods) {
      if (selector.Matches((*pod)["metadata"]["labels"])) covered.push_back(pod.get());
    }
  }
  const int64_t expected = std::count_if(covered.begin(), covered.end(),
                                         [](const Json* pod) { return !HasEnded(*pod); });
  const Json believed = StillBelieved(budget["status"]["disruptedPods"], covered, now);
  const int64_t healthy = std::count_if(covered.begin(), covered.end(), [&](const Json* pod) {
    return IsHealthy(*pod) && !believed.Has((*pod)["metadata"]["name"].AsString());
  });
  const int64_t desired =
      !spec["maxUnavailable"].is_null()
          ? std::max<int64_t>(0, expected - CountOf(spec["maxUnavailable"], expected))
          : CountOf(spec["minAvailable"], expected);
  const int64_t allowed = expected == 0 ? 0 : std::max<int64_t>(0, healthy - desired);

  Json next = budget;
  Json& status = next.Mutable("status");
  const int64_t generation = budget["metadata"]["generation"].AsInt();
  status.Set("observedGeneration", generation);
  if (believed.size() > 0) {
    status.Set("disruptedPods", believed);
  } else {
    status.Erase("disruptedPods");
  }
  status.Set("expectedPods", expected);
  status.Set("currentHealthy", healthy);
  status.Set("desiredHealthy", desired);
  status.Set("disruptionsAllowed", allowed);
  SetCondition(next,
               {.type = "DisruptionAllowed",
                .status = allowed > 0 ? "True" : "False",
                .reason = allowed > 0 ? "SufficientPods" : "InsufficientPods",
                .observed_generation = generation},
               now);
  return next;
}

DisruptionController::DisruptionController(const TypeRegistry& types)
    : pods_storage_(types.Storage("", "pods")),
      budgets_storage_(types.Storage("policy", "poddisruptionbudgets")) {}

void DisruptionController::OnChange(const Change& change) {
  const std::string& space = change.name.namespace_name;
  if (change.storage == budgets_storage_) {
    if (change.kind == ChangeKind::kDeleted) {
      budgets_[space].erase(change.name);
      noted_.erase(change.name);
      return;
    }
    budgets_[space].insert(change.name);
    noted_.insert(change.name);
    return;
  }
  if (change.storage != pods_storage_ || budgets_.empty()) return;
  if (const auto found = budgets_.find(space); found != budgets_.end()) {
    noted_.insert(found->second.begin(), found->second.end());
  }
}

absl::Time DisruptionController::NextDeadline() const {
  return noted_.empty() ? absl::InfiniteFuture() : not_before_;
}

void DisruptionController::OnTime(const Cluster& cluster) {
  if (cluster.now < not_before_) return;
  size_t looked_at = 0;
  for (const ObjectName& name : std::exchange(noted_, {})) {
    const ObjectPtr budget = cluster.store.Get(budgets_storage_, name);
    if (budget == nullptr) continue;
    const std::vector<ObjectPtr> pods = cluster.store.List(pods_storage_, name.namespace_name);
    looked_at += pods.size();
    Json counted = CountedBudget(*budget, pods, cluster.now);
    if (!(counted == *budget)) cluster.store.Put(budgets_storage_, std::move(counted));
  }
  not_before_ = looked_at > kManyPods ? cluster.now + kPause : absl::InfinitePast();
}

}  // namespace maniple::devcluster
