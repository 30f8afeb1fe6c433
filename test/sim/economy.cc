#include "test/sim/economy.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

constexpr char kPrefix[] = "/apis/scheduling.maniple.dev/v1alpha1/";
constexpr char kClasses[] = "/apis/scheduling.k8s.io/v1/priorityclasses";
constexpr std::pair<const char*, int> kPriorities[] = {{"low", 10}, {"middle", 20}, {"high", 30}};
// As important as the highest, and makes nobody leave.
constexpr char kPolite[] = "polite";

std::string Text(uint64_t amount) { return absl::StrCat(amount); }

}  // namespace

Economy::Economy(Users& users, uint64_t seed)
    : users_(users),
      random_(seed * 104729 + 3),
      exists_(seed % 3 != 0),
      one_change_(random_.OneIn(2) ? 0 : 12 + random_.Below(40)),
      two_flavors_(random_.OneIn(3)),
      punctual_(random_.OneIn(2)),
      contested_(exists_ && !punctual_ && !random_.OneIn(4)),
      reservation_after_(Patience()),
      holds_per_cohort_(static_cast<int32_t>(1 + random_.Below(2))) {
  if (!exists_) return;
  const uint64_t cohorts = random_.Below(3);
  for (uint64_t i = 0; i < cohorts; ++i) cohorts_.push_back(absl::StrCat("cohort", i));
  const uint64_t queues = 2 + random_.Below(4);
  for (uint64_t i = 0; i < queues; ++i) queues_.push_back(absl::StrCat("queue", i));
  obstacle_ = static_cast<Obstacle>(random_.Below(3));
  if (random_.OneIn(2)) crowded_queue_ = AnyQueue();
}

// The usual one in histories without an economy, else short of what such a history lasts, or longer
// than all of it: who holds room is asked again and again, and what fails to wake it does not show.
absl::Duration Economy::Patience() {
  if (!exists_) return absl::Minutes(10);
  if (contested_ && random_.OneIn(2)) return absl::Hours(6);
  return absl::Seconds(2 + random_.Below(random_.OneIn(2) ? 10 : 90));
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
  uint64_t nominal = two_flavors_ ? 4 * random_.Below(5) : 8 * random_.Below(4);
  if (contested_) nominal = 8 * (1 + random_.Below(two_flavors_ ? 4 : 6));  // and nodes run short
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
  const bool none = !contested_ || random_.OneIn(6);
  Json policies = Json::Object(
      {{"withinQueue", none ? kWithin[random_.Below(3)] : kWithin[1 + random_.Below(2)]},
       {"reclaimWithinCohort",
        none ? kReclaim[random_.Below(4)] : kReclaim[1 + random_.Below(3)]}});
  const bool borrows = random_.OneIn(5);
  policies.Set("borrowWithinCohort",
               Json::Object({{"policy", borrows ? "LowerPriority" : "Never"}}));
  policies.Set("maxProtectedRuntimeSeconds", 3600);
  if (random_.OneIn(8)) policies.Set("minRuntimeSeconds", 1 + static_cast<int>(random_.Below(60)));
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
  users_.Call("POST", kClasses,
              Json::Object({{"apiVersion", "scheduling.k8s.io/v1"},
                            {"kind", "PriorityClass"},
                            {"metadata", Json::Object({{"name", kPolite}})},
                            {"value", std::rbegin(kPriorities)->second},
                            {"preemptionPolicy", "Never"}}));
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
  if (contested_ || !random_.OneIn(4)) spec.priority_class = kPriorities[random_.Below(3)].first;
  if (random_.OneIn(10)) spec.priority_class = kPolite;
  spec.lowered = random_.OneIn(6);
  spec.never_preempts = random_.OneIn(5);
  if (random_.OneIn(5)) spec.protected_seconds = static_cast<int>(random_.Below(90));
  if (random_.OneIn(6)) spec.budget = std::max(0, spec.pods - static_cast<int>(random_.Below(3)));
  if (random_.OneIn(4)) spec.budgets = 2;
  DescribeRunTime(spec);
}

void Economy::DescribeRunTime(GangSpec& spec) {
  const auto seconds = [this] {
    return static_cast<int>(random_.OneIn(2) ? 2 + random_.Below(15) : 30 + random_.Below(150));
  };
  if (contested_ && random_.OneIn(2)) return;  // it stays until somebody ends it
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
  switch (random_.Below(12)) {
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
    case 9:
    case 10:
      return ChangeGang(AnyGang());
    default:
      return Create("queues", "Queue", queue, Spec());  // again, if it was deleted
  }
}

// Chosen by this stream alone; "" when there is none.
std::string Economy::AnyGang() {
  const auto& gangs = users_.gangs();
  if (gangs.empty()) return "";
  return std::next(gangs.begin(), static_cast<int64_t>(random_.Below(gangs.size())))->first;
}

void Economy::PatchGroup(const std::string& gang, absl::string_view field, Json value) {
  users_.Call("PATCH", absl::StrCat(kGroupsTarget, "/", gang),
              Json::Object({{"spec", Json::Object({{std::string(field), std::move(value)}})}}));
}

// A gang goes to another Queue, or to none, whatever it does at the moment.
void Economy::MoveGang() {
  const std::string gang = AnyGang();
  if (gang.empty()) return;
  std::string& queue = users_.gangs().at(gang).queue;
  queue = random_.OneIn(6) ? "" : AnyQueue();
  PatchGroup(gang, "queue", queue.empty() ? Json() : Json(queue));
}

// Its importance, or for how long it is protected.
void Economy::ChangeGang(const std::string& gang) {
  if (gang.empty()) return;
  GangSpec& spec = users_.gangs().at(gang);
  if (random_.OneIn(2)) {
    spec.lowered = !spec.lowered;
    return PatchGroup(gang, "priorityClassName", spec.lowered ? Json("low") : Json());
  }
  spec.protected_seconds = spec.protected_seconds > 0 ? 0 : 1 + static_cast<int>(random_.Below(90));
  PatchGroup(gang, "preemption",
             Json::Object({{"protectedRuntimeSeconds", spec.protected_seconds}}));
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
    if (spec.budgets == 1) users_.DeleteBudgets(gang);  // a pod of two is nobody's victim
  }
}

GangSpec Economy::Settler() {
  GangSpec spec{.pods = 1 + static_cast<int>(random_.Below(3)),
                .gpus = random_.OneIn(3) ? 8 : 2 + static_cast<int64_t>(random_.Below(3)),
                .queue = crowded_queue_,
                .recreated = !random_.OneIn(3),
                .priority_class = "low"};
  spec.min_member = random_.OneIn(3) ? 1 : spec.pods;
  switch (obstacle_) {
    case Obstacle::kPolicy:
      break;
    case Obstacle::kProtection:
      spec.protected_seconds = 3600;
      break;
    case Obstacle::kPriority:
      spec.priority_class = "high";
      break;
  }
  return spec;
}

GangSpec Economy::Rusher() {
  const int pods = 2 + static_cast<int>(random_.Below(2));
  return {.pods = pods,
          .gpus = 8,
          .min_member = pods,
          .queue = crowded_queue_,
          .recreated = true,
          .priority_class = "high"};
}

void Economy::LetMakeRoom() {
  switch (obstacle_) {
    case Obstacle::kPolicy:
      for (const std::string& queue : queues_) {
        Json policies = Json::Object({{"withinQueue", "LowerOrNewerEqualPriority"},
                                      {"reclaimWithinCohort", "Any"},
                                      {"minRuntimeSeconds", 0}});
        Patch("queues", queue, Json::Object({{"preemption", std::move(policies)}}));
      }
      return;
    case Obstacle::kProtection:
      for (auto& [gang, spec] : users_.gangs()) {
        if (std::exchange(spec.protected_seconds, 0) == 0) continue;
        PatchGroup(gang, "preemption", Json::Object({{"protectedRuntimeSeconds", Json()}}));
      }
      return;
    case Obstacle::kPriority:
      for (auto& [gang, spec] : users_.gangs()) {
        if (!spec.lowered && random_.OneIn(2)) PatchGroup(gang, "priorityClassName", "low");
      }
      return;
  }
}

}  // namespace maniple::sim
