#include "test/sim/economy.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple::sim {
namespace {

constexpr char kPrefix[] = "/apis/scheduling.maniple.dev/v1alpha1/";
constexpr char kClasses[] = "/apis/scheduling.k8s.io/v1/priorityclasses";
constexpr char kGpu[] = "nvidia.com/gpu";
constexpr std::pair<const char*, int> kPriorities[] = {{"low", 10}, {"middle", 20}, {"high", 30}};

std::string Text(uint64_t amount) { return absl::StrCat(amount); }

}  // namespace

Economy::Economy(Users& users, uint64_t seed)
    : users_(users),
      random_(seed * 104729 + 3),
      exists_(seed % 3 != 0),
      one_change_(random_.OneIn(2) ? 0 : 12 + random_.Below(40)),
      two_flavors_(random_.OneIn(3)),
      punctual_(random_.OneIn(2)),
      // The usual one in histories without an economy, else short of what such a history lasts.
      reservation_after_(exists_ ? absl::Seconds(2 + random_.Below(random_.OneIn(2) ? 10 : 90))
                                 : absl::Minutes(10)),
      holds_per_cohort_(static_cast<int32_t>(1 + random_.Below(2))) {
  if (!exists_) return;
  const uint64_t cohorts = random_.Below(3);
  for (uint64_t i = 0; i < cohorts; ++i) cohorts_.push_back(absl::StrCat("cohort", i));
  const uint64_t queues = 2 + random_.Below(4);
  for (uint64_t i = 0; i < queues; ++i) queues_.push_back(absl::StrCat("queue", i));
}

void Economy::Create(absl::string_view plural, absl::string_view kind, const std::string& name,
                     Json spec) {
  users_.Call("POST", absl::StrCat(kPrefix, plural),
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", kind},
                            {"metadata", Json::Object({{"name", name}})},
                            {"spec", std::move(spec)}}));
}

void Economy::Patch(absl::string_view plural, const std::string& name, Json spec) {
  users_.Call("PATCH", absl::StrCat(kPrefix, plural, "/", name),
              Json::Object({{"spec", std::move(spec)}}));
}

std::string Economy::AnyCohort() {
  const uint64_t chosen = random_.Below(cohorts_.size() + 1);
  return chosen == cohorts_.size() ? "" : cohorts_[chosen];
}

const std::string& Economy::AnyQueue() { return queues_[random_.Below(queues_.size())]; }

Json Economy::Amounts(bool lends) {
  const uint64_t nominal = two_flavors_ ? 4 * random_.Below(5) : 8 * random_.Below(4);
  Json amount = Json::Object({{"name", kGpu}, {"nominal", Text(nominal)}});
  if (lends && random_.OneIn(3)) amount.Set("borrowingLimit", Text(4 * random_.Below(5)));
  if (lends && random_.OneIn(3)) amount.Set("lendingLimit", Text(random_.Below(nominal + 1)));
  return Json::Array({std::move(amount)});
}

Json Economy::Quotas(bool lends) {
  const auto entry = [&](const char* flavor) {
    return Json::Object({{"flavor", flavor}, {"resources", Amounts(lends)}});
  };
  if (!two_flavors_) return Json::Array({entry("")});
  switch (random_.Below(5)) {
    case 0:
      return Json::Array({entry("fast")});
    case 1:
      return Json::Array({entry("fast"), entry("")});
    case 2:
    case 3:
      return Json::Array({entry("fast"), entry("slow")});
    default:
      return Json::Array({entry("slow"), entry("fast")});
  }
}

Json Economy::Preemption() {
  constexpr const char* kWithin[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
  constexpr const char* kReclaim[] = {"Never", "LowerPriority", "Any", "Any"};
  if (punctual_ && random_.OneIn(2)) return Json::Object();  // nobody makes room but time
  Json policies = Json::Object({{"withinQueue", kWithin[random_.Below(3)]},
                                {"reclaimWithinCohort", kReclaim[random_.Below(4)]}});
  const bool borrows = random_.OneIn(5);
  policies.Set("borrowWithinCohort",
               Json::Object({{"policy", borrows ? "LowerPriority" : "Never"}}));
  return policies;
}

Json Economy::Spec() {
  const std::string cohort = AnyCohort();
  Json spec = Json::Object({{"stopPolicy", "None"}});
  if (!cohort.empty()) spec.Set("cohort", cohort);
  if (!random_.OneIn(8)) spec.Set("quotas", Quotas(!cohort.empty()));
  constexpr const char* kOrderings[] = {"BestEffortFIFO", "StrictFIFO", "Backfill"};
  const uint64_t ordering = random_.OneIn(2) ? 0 : 1 + random_.Below(2);
  spec.Set("ordering", kOrderings[punctual_ && !random_.OneIn(4) ? 2 : ordering]);
  spec.Set("preemption", Preemption());
  constexpr const char* kWeights[] = {"1", "2", "0.5", "0"};
  spec.Set("fairShare", Json::Object({{"weight", kWeights[random_.Below(4)]}}));
  return spec;
}

void Economy::SetUp() {
  if (!exists_) return;
  for (const auto& [name, value] : kPriorities) {
    users_.Call("POST", kClasses,
                Json::Object({{"apiVersion", "scheduling.k8s.io/v1"},
                              {"kind", "PriorityClass"},
                              {"metadata", Json::Object({{"name", name}})},
                              {"value", value}}));
  }
  for (const char* flavor : {"fast", "slow"}) {
    if (!two_flavors_) break;
    Create("resourceflavors", "ResourceFlavor", flavor,
           Json::Object({{"nodeLabels", Json::Object({{kPoolLabel, flavor}})}}));
  }
  for (const std::string& cohort : cohorts_) {
    Json spec = Json::Object();
    if (cohort != cohorts_.front()) spec.Set("parent", cohorts_.front());
    if (random_.OneIn(3)) spec.Set("quotas", Quotas(cohort != cohorts_.front()));
    Create("cohorts", "Cohort", cohort, std::move(spec));
  }
  for (const std::string& queue : queues_) Create("queues", "Queue", queue, Spec());
}

void Economy::Describe(GangSpec& spec) {
  if (!exists_) return;
  if (!random_.OneIn(8)) spec.queue = AnyQueue();
  if (!random_.OneIn(4)) spec.priority_class = kPriorities[random_.Below(3)].first;
  spec.lowered = random_.OneIn(6);
  spec.never_preempts = random_.OneIn(5);
  if (random_.OneIn(5)) spec.protected_seconds = static_cast<int>(random_.Below(90));
  if (random_.OneIn(6)) spec.budget = std::max(0, spec.pods - static_cast<int>(random_.Below(3)));
  DescribeRunTime(spec);
}

void Economy::DescribeRunTime(GangSpec& spec) {
  const auto seconds = [this] {
    return static_cast<int>(random_.OneIn(2) ? 2 + random_.Below(15) : 30 + random_.Below(150));
  };
  if (punctual_ || !random_.OneIn(3)) spec.says_seconds = seconds();
  const bool exact = spec.says_seconds > 0 && (punctual_ || random_.OneIn(2));
  if (exact) {
    spec.takes_seconds = spec.says_seconds;
  } else if (!random_.OneIn(4)) {
    spec.takes_seconds = seconds();
  }
}

void Economy::Act() {
  if (!exists_ || one_change_ == 0 || !random_.OneIn(one_change_)) return;
  const std::string& queue = AnyQueue();
  switch (random_.Below(10)) {
    case 0:
    case 1: {
      constexpr const char* kPolicies[] = {"None", "None", "Hold", "HoldAndDrain"};
      return Patch("queues", queue, Json::Object({{"stopPolicy", kPolicies[random_.Below(4)]}}));
    }
    case 2:
      return Patch("queues", queue, Json::Object({{"quotas", Quotas(random_.OneIn(2))}}));
    case 3: {
      const std::string cohort = AnyCohort();
      return Patch("queues", queue, Json::Object({{"cohort", cohort}}));
    }
    case 4:
      users_.Call("DELETE", absl::StrCat(kPrefix, "queues/", queue), Json());
      return;
    case 5:
      return Patch("queues", queue, Json::Object({{"preemption", Preemption()}}));
    case 6:
      return Relabel();
    case 7:
    case 8:
      return MoveGang();
    default:
      return Create("queues", "Queue", queue, Spec());  // again, if it was deleted
  }
}

// A gang goes to another Queue, or to none, whatever it does at the moment.
void Economy::MoveGang() {
  auto& gangs = users_.gangs();
  if (gangs.empty()) return;
  const auto gang = std::next(gangs.begin(), static_cast<int64_t>(random_.Below(gangs.size())));
  gang->second.queue = random_.OneIn(6) ? "" : AnyQueue();
  Json queue = gang->second.queue.empty() ? Json() : Json(gang->second.queue);
  users_.Call("PATCH", absl::StrCat(kGroupsTarget, "/", gang->first),
              Json::Object({{"spec", Json::Object({{"queue", std::move(queue)}})}}));
}

// A node changes its flavor, or a flavor its nodes.
void Economy::Relabel() {
  const char* pool = random_.OneIn(2) ? "fast" : "slow";
  if (two_flavors_ && random_.OneIn(2)) {
    return Patch("resourceflavors", random_.OneIn(2) ? "fast" : "slow",
                 Json::Object({{"nodeLabels", Json::Object({{kPoolLabel, pool}})}}));
  }
  const auto& nodes = users_.truth().nodes();
  if (nodes.empty()) return;
  const auto node = std::next(nodes.begin(), static_cast<int64_t>(random_.Below(nodes.size())));
  users_.Call(
      "PATCH", absl::StrCat("/api/v1/nodes/", node->first),
      Json::Object({{"metadata", Json::Object({{"labels", Json::Object({{kPoolLabel, pool}})}})}}));
}

void Economy::Restore() {
  if (!exists_) return;
  for (const std::string& queue : queues_) {
    Create("queues", "Queue", queue, Spec());
    Patch("queues", queue, Json::Object({{"stopPolicy", "None"}}));
  }
  for (const auto& [gang, spec] : users_.gangs()) {
    if (spec.budget >= 0) users_.Call("DELETE", absl::StrCat(kBudgetsTarget, "/", gang), Json());
  }
}

}  // namespace maniple::sim
