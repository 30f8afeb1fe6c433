#include "test/support/quota_facts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

std::string Shown(QuotaFacts::Wide amount) {
  const bool fits = amount == static_cast<int64_t>(amount);
  return fits ? absl::StrCat(static_cast<int64_t>(amount)) : "more than 2^63";
}

}  // namespace

QuotaFacts::QuotaFacts(const Told& told) : told_(told) {
  for (const auto& [name, cohort] : told_.cohorts) {
    std::string at = name;
    size_t steps = 0;
    for (; steps <= told_.cohorts.size() && !at.empty(); ++steps) {
      const auto it = told_.cohorts.find(at);
      at = it == told_.cohorts.end() ? "" : it->second.parent;
    }
    if (!at.empty()) cyclic_.insert(name);
  }
}

bool QuotaFacts::Sound(const std::vector<FlavorQuota>& quotas) const {
  return std::ranges::all_of(quotas, [this](const FlavorQuota& entry) {
    return entry.flavor.empty() || told_.flavors.contains(entry.flavor);
  });
}

bool QuotaFacts::Active(const std::string& queue) const {
  const auto it = told_.queues.find(queue);
  return it != told_.queues.end() && Sound(it->second.quotas) &&
         !cyclic_.contains(it->second.cohort);
}

std::string QuotaFacts::FlavorOf(const std::string& node) const {
  const bool there = told_.nodes.contains(node);
  const auto& known = there ? told_.nodes : told_.lost_nodes;
  const auto at = known.find(node);
  if (at == known.end()) return "";
  const StringMap& labels = at->second.meta.labels;
  const ResourceFlavor* best = nullptr;
  for (const auto& [name, flavor] : told_.flavors) {
    const bool matches = std::ranges::all_of(flavor.node_labels.entries(), [&](const auto& label) {
      const std::string* value = labels.Find(label.first);
      return value != nullptr && *value == label.second;
    });
    if (matches && (best == nullptr || flavor.priority > best->priority)) best = &flavor;
  }
  return best == nullptr ? "" : best->meta.name;
}

QuotaFacts::Where QuotaFacts::WhereCounted(const std::string& queue, const std::string& resource,
                                           const std::string& flavor) const {
  const auto it = told_.queues.find(queue);
  if (it == told_.queues.end()) return {};
  bool listed = false, rest = false;
  for (const FlavorQuota& entry : it->second.quotas) {
    const bool counts = std::ranges::find(entry.resources, resource, &QuotaAmount::resource) !=
                        entry.resources.end();
    if (!counts) continue;
    listed = true;
    if (entry.flavor == flavor) return {Where::Rule::kCounted, {flavor, resource}};
    rest = rest || entry.flavor.empty();
  }
  if (!listed) return {};
  return rest ? Where{Where::Rule::kCounted, {"", resource}}
              : Where{Where::Rule::kForbidden, {flavor, resource}};
}

void QuotaFacts::Charge(const std::string& queue, const Pod& pod, const std::string& flavor,
                        Wide times, Usage& usage) const {
  for (const auto& [resource, amount] : RequestsOf(pod)) {
    if (resource == kDerivedResource) continue;
    const Where where = WhereCounted(queue, resource, flavor);
    if (where.rule != Where::Rule::kUnlimited) usage[{queue, where.cell}] += times * amount;
  }
}

QuotaFacts::Limits QuotaFacts::LimitsIn(const std::vector<FlavorQuota>& quotas,
                                        const Cell& cell) const {
  for (const FlavorQuota& entry : quotas) {
    if (entry.flavor != cell.flavor) continue;
    for (const QuotaAmount& quota : entry.resources) {
      if (quota.resource != cell.resource) continue;
      Limits limits{.nominal = quota.nominal.units(), .borrowing = {}, .lending = {}};
      if (quota.borrowing_limit.has_value()) limits.borrowing = quota.borrowing_limit->units();
      if (quota.lending_limit.has_value()) limits.lending = quota.lending_limit->units();
      return limits;
    }
  }
  return {};
}

QuotaFacts::Limits QuotaFacts::LimitsOfCohort(const std::string& cohort, const Cell& cell) const {
  const auto it = told_.cohorts.find(cohort);
  const bool sound = it != told_.cohorts.end() && Sound(it->second.quotas);
  return sound ? LimitsIn(it->second.quotas, cell) : Limits();
}

std::string QuotaFacts::ParentOf(const std::string& cohort) const {
  const auto it = told_.cohorts.find(cohort);
  return it == told_.cohorts.end() || cyclic_.contains(cohort) ? "" : it->second.parent;
}

QuotaFacts::Wide QuotaFacts::Nominal(const std::string& queue, const Cell& cell) const {
  const auto it = told_.queues.find(queue);
  return it == told_.queues.end() ? 0 : LimitsIn(it->second.quotas, cell).nominal;
}

QuotaFacts::Wide QuotaFacts::LeftOf(const std::string& cohort, const Cell& cell,
                                    const Usage& usage) const {
  Wide left = LimitsOfCohort(cohort, cell).nominal;
  const auto add = [&left](const Limits& limits, Wide below) {
    left += std::min(below, limits.lending.value_or(below));
  };
  for (const auto& [name, queue] : told_.queues) {
    if (queue.cohort != cohort || cyclic_.contains(cohort)) continue;
    const Limits limits = LimitsIn(queue.quotas, cell);
    const auto used = usage.find({name, cell});
    add(limits, limits.nominal - (used == usage.end() ? 0 : used->second));
  }
  for (const auto& [name, below] : told_.cohorts) {
    if (below.parent != cohort || cyclic_.contains(name)) continue;
    add(LimitsOfCohort(name, cell), LeftOf(name, cell, usage));
  }
  return left;
}

std::string QuotaFacts::Illegal(const std::string& queue, const Cell& cell,
                                const Usage& usage) const {
  const auto it = told_.queues.find(queue);
  if (it == told_.queues.end()) return "";
  const auto wrong = [&cell](const std::string& where, const Limits& limits, Wide left, bool root) {
    if (left >= 0 || (!root && -left <= limits.borrowing.value_or(-left))) return std::string();
    return absl::StrCat(where, " is ", Shown(-left), " of ", cell.resource,
                        cell.flavor.empty() ? "" : " of ", cell.flavor, " beyond what is its own",
                        root ? "" : ", more than it may borrow");
  };
  const std::string& cohort = it->second.cohort;
  const auto used = usage.find({queue, cell});
  const Limits own = LimitsIn(it->second.quotas, cell);
  std::string why = wrong(absl::StrCat("queue ", queue), own,
                          own.nominal - (used == usage.end() ? 0 : used->second), cohort.empty());
  for (std::string at = cohort; !at.empty() && why.empty(); at = ParentOf(at)) {
    why = wrong(absl::StrCat("cohort ", at), LimitsOfCohort(at, cell), LeftOf(at, cell, usage),
                ParentOf(at).empty());
  }
  return why;
}

QuotaFacts::Usage UsageByPods(const TurnFacts& facts, const QuotaFacts& quotas) {
  QuotaFacts::Usage usage;
  for (const PodOnNode& entry : PodsOnNodes(facts)) {
    const auto queue = facts.charged_to.find(entry.gang);
    if (queue == facts.charged_to.end() || !facts.told.queues.contains(queue->second)) continue;
    quotas.Charge(queue->second, *entry.pod, quotas.FlavorOf(entry.node), 1, usage);
  }
  return usage;
}

}  // namespace maniple
