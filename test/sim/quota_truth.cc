#include "test/sim/quota_truth.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

int64_t ToldUsage(const Json& status) {
  int64_t told = 0;
  for (const Json& usage : status["usage"].items()) {
    if (usage["name"].AsString() == kGpu) told += WholeNumber(usage["used"]);
  }
  return told;
}

using Change = QuotaTruth::Change;

Change Replace(std::map<std::string, Json>& specs, const std::string& name, const Json& object) {
  const auto before = specs.find(name);
  if (object.is_null()) return specs.erase(name) > 0 ? Change::kLimits : Change::kNone;
  const Json& spec = object["spec"];
  if (before != specs.end() && before->second == spec) return Change::kNone;
  specs[name] = spec;
  return Change::kLimits;
}

}  // namespace

Change QuotaTruth::Apply(absl::string_view kind, const std::string& name, const Json& object) {
  if (kind == "Cohort") return Replace(cohorts_, name, object);
  if (kind == "ResourceFlavor") return Replace(flavors_, name, object);
  if (object.is_null()) return queues_.erase(name) > 0 ? Change::kLimits : Change::kNone;
  const Json& spec = object["spec"];
  const auto before = queues_.find(name);
  Change change = Change::kLimits;
  const int64_t told = ToldUsage(object["status"]);
  if (before != queues_.end()) {
    before->second.told = told;
    const Json& old = before->second.spec;
    if (old == spec) return Change::kNone;
    const bool same = old["cohort"] == spec["cohort"] && old["quotas"] == spec["quotas"];
    if (same) change = Change::kRules;
  }
  const Json& preemption = spec["preemption"];
  queues_[name] = {.cohort = spec["cohort"].AsString(),
                   .stop = spec["stopPolicy"].AsString(),
                   .within = preemption["withinQueue"].AsString(),
                   .reclaim = preemption["reclaimWithinCohort"].AsString(),
                   .strict = spec["ordering"].AsString() == "StrictFIFO",
                   .spec = spec,
                   .told = told};
  return change;
}

std::set<std::string> QuotaTruth::NamesOf(absl::string_view kind) const {
  std::set<std::string> names;
  if (kind == "Queue") {
    for (const auto& [name, queue] : queues_) names.insert(name);
  }
  if (kind == "Cohort") {
    for (const auto& [name, spec] : cohorts_) names.insert(name);
  }
  if (kind == "ResourceFlavor") {
    for (const auto& [name, spec] : flavors_) names.insert(name);
  }
  return names;
}

std::string QuotaTruth::FlavorOf(const Json& node_labels) const {
  const Json* best = nullptr;
  std::string name;
  for (const auto& [flavor, spec] : flavors_) {
    const auto& wanted = spec["nodeLabels"].members();
    const bool matches = std::ranges::all_of(wanted, [&node_labels](const Json::Member& label) {
      const Json* value = node_labels.Find(label.first);
      return value != nullptr && *value == label.second;
    });
    const bool better = best == nullptr || spec["priority"].AsInt() > (*best)["priority"].AsInt();
    if (!matches || !better) continue;
    best = &spec;
    name = flavor;
  }
  return name;
}

QuotaTruth::Cell QuotaTruth::CellOf(const std::string& queue, const std::string& flavor) const {
  using Rule = Cell::Rule;
  const auto it = queues_.find(queue);
  if (it == queues_.end()) return {};
  bool listed = false, rest = false;
  for (const Json& entry : it->second.spec["quotas"].items()) {
    const auto& resources = entry["resources"].items();
    const bool counts = std::ranges::any_of(
        resources, [](const Json& resource) { return resource["name"].AsString() == kGpu; });
    if (!counts) continue;
    listed = true;
    const std::string& named = entry["flavor"].AsString();
    if (named == flavor) return {Rule::kCounted, flavor};
    rest = rest || named.empty();
  }
  if (!listed) return {};
  return rest ? Cell{Rule::kCounted, ""} : Cell{Rule::kForbidden, flavor};
}

QuotaTruth::Limits QuotaTruth::LimitsOf(const Json& spec, const std::string& cell) {
  for (const Json& entry : spec["quotas"].items()) {
    if (entry["flavor"].AsString() != cell) continue;
    for (const Json& resource : entry["resources"].items()) {
      if (resource["name"].AsString() != kGpu) continue;
      Limits limits{.nominal = WholeNumber(resource["nominal"]), .borrowing = {}, .lending = {}};
      if (resource.Has("borrowingLimit"))
        limits.borrowing = WholeNumber(resource["borrowingLimit"]);
      if (resource.Has("lendingLimit")) limits.lending = WholeNumber(resource["lendingLimit"]);
      return limits;
    }
  }
  return {};
}

int64_t QuotaTruth::UsedBy(const std::string& queue, const std::string& cell,
                           const Usage& usage) const {
  int64_t used = 0;
  for (auto it = usage.lower_bound({queue, ""}); it != usage.end() && it->first.first == queue;
       ++it) {
    const Cell counted = CellOf(queue, it->first.second);
    if (counted.rule != Cell::Rule::kUnlimited && counted.name == cell) used += it->second;
  }
  return used;
}

std::string QuotaTruth::ParentOf(const std::string& cohort) const {
  const auto it = cohorts_.find(cohort);
  return it == cohorts_.end() ? "" : it->second["parent"].AsString();
}

int64_t QuotaTruth::LeftOf(const std::string& cohort, const std::string& cell,
                           const Usage& usage) const {
  const auto it = cohorts_.find(cohort);
  int64_t left = it == cohorts_.end() ? 0 : LimitsOf(it->second, cell).nominal;
  const auto add = [&left](const Limits& limits, int64_t below) {
    left += std::min(below, limits.lending.value_or(below));
  };
  for (const auto& [name, queue] : queues_) {
    if (queue.cohort != cohort) continue;
    const Limits limits = LimitsOf(queue.spec, cell);
    add(limits, limits.nominal - UsedBy(name, cell, usage));
  }
  for (const auto& [name, spec] : cohorts_) {
    if (spec["parent"].AsString() == cohort) add(LimitsOf(spec, cell), LeftOf(name, cell, usage));
  }
  return left;
}

std::string QuotaTruth::Illegal(const std::string& queue, const std::string& flavor,
                                const Usage& usage) const {
  const auto it = queues_.find(queue);
  if (it == queues_.end()) return "";
  const Cell cell = CellOf(queue, flavor);
  if (cell.rule == Cell::Rule::kUnlimited) return "";
  if (cell.rule == Cell::Rule::kForbidden) {
    return absl::StrCat(queue, " may not use nodes of flavor ", flavor);
  }
  const auto wrong = [&](const std::string& where, const Limits& limits, int64_t left, bool root) {
    if (left >= 0) return std::string();
    if (!root && -left <= limits.borrowing.value_or(-left)) return std::string();
    return absl::StrCat(where, " is ", -left, " GPUs of flavor \"", cell.name,
                        "\" beyond what is its own", root ? "" : ", more than it may borrow");
  };
  const Limits own = LimitsOf(it->second.spec, cell.name);
  const std::string& cohort = it->second.cohort;
  std::string why = wrong(absl::StrCat("queue ", queue), own,
                          own.nominal - UsedBy(queue, cell.name, usage), cohort.empty());
  for (std::string at = cohort; !at.empty() && why.empty(); at = ParentOf(at)) {
    const auto above = cohorts_.find(at);
    const Limits limits = above == cohorts_.end() ? Limits() : LimitsOf(above->second, cell.name);
    why = wrong(absl::StrCat("cohort ", at), limits, LeftOf(at, cell.name, usage),
                ParentOf(at).empty());
  }
  return why;
}

int64_t QuotaTruth::NominalOf(const std::string& queue, const std::string& flavor) const {
  const Cell cell = CellOf(queue, flavor);
  if (cell.rule == Cell::Rule::kUnlimited) return std::numeric_limits<int64_t>::max();
  return LimitsOf(queues_.at(queue).spec, cell.name).nominal;
}

Json QuotaTruth::SelectorOf(const std::string& queue) const {
  const auto it = queues_.find(queue);
  if (it == queues_.end()) return Json();
  const Json& selector = it->second.spec["namespaceSelector"];
  return selector.is_null() ? Json::Object() : selector;
}

// Labels, and values that a label is one of: nobody here selects otherwise.
bool QuotaTruth::Selects(const Json& selector, const Json& namespace_labels) {
  if (selector.is_null()) return false;
  return std::ranges::all_of(selector["matchLabels"].members(),
                             [&](const Json::Member& label) {
                               return namespace_labels[label.first] == label.second;
                             }) &&
         std::ranges::all_of(selector["matchExpressions"].items(), [&](const Json& rule) {
           const std::vector<Json>& values = rule["values"].items();
           return std::ranges::find(values, namespace_labels[rule["key"].AsString()]) !=
                  values.end();
         });
}

std::string QuotaTruth::RootOf(const std::string& queue) const {
  if (queue.empty()) return "";
  const auto it = queues_.find(queue);
  if (it == queues_.end() || it->second.cohort.empty()) return absl::StrCat("queue ", queue);
  std::string at = it->second.cohort;
  while (!ParentOf(at).empty()) at = ParentOf(at);
  return absl::StrCat("cohort ", at);
}

}  // namespace maniple::sim
