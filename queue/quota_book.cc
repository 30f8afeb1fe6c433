#include "queue/quota_book.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/fingerprint.h"

namespace maniple {
namespace {

constexpr bool kIsQueue = true, kIsCohort = false;

// A spec that has not changed has the same generation: a status that was written makes no news.
template <typename T>
bool SameSpec(const T& a, const T& b) {
  return a.meta.uid == b.meta.uid && a.meta.generation == b.meta.generation &&
         a.meta.generation != 0;
}

bool Forget(const std::string& name, auto& objects, auto& problems) {
  const size_t known = objects.erase(name);
  return problems.erase(name) + known > 0;
}

// The spec before it still tells what is charged.
bool Refuse(const ObjectInvalid& invalid, auto& problems) {
  problems[invalid.key.name] = invalid.problem;
  return true;
}

}  // namespace

template <typename T>
bool QuotaBook::Store(std::map<std::string, T>& objects,
                      std::map<std::string, std::string>& problems, const T& object) {
  const bool was_unreadable = problems.erase(object.meta.name) > 0;
  const auto known = objects.find(object.meta.name);
  const bool same = known != objects.end() && SameSpec(known->second, object) && !was_unreadable;
  objects[object.meta.name] = object;
  return !same;
}

bool QuotaBook::Note(const ObjectEvent& event) {
  if (const auto* upserted = std::get_if<ObjectUpserted>(&event)) {
    if (const auto* queue = std::get_if<Queue>(&upserted->object)) {
      return Store(queues_, unreadable_queues_, *queue);
    }
    if (const auto* cohort = std::get_if<Cohort>(&upserted->object)) {
      return Store(cohorts_, unreadable_cohorts_, *cohort);
    }
    if (const auto* flavor = std::get_if<ResourceFlavor>(&upserted->object)) {
      return Store(flavors_, unreadable_flavors_, *flavor);
    }
    return false;
  }
  if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) {
    const std::string& name = deleted->key.name;
    const ResourceKind kind = deleted->key.kind;
    if (kind == ResourceKind::kQueue) return Forget(name, queues_, unreadable_queues_);
    if (kind == ResourceKind::kCohort) return Forget(name, cohorts_, unreadable_cohorts_);
    if (kind == ResourceKind::kResourceFlavor) return Forget(name, flavors_, unreadable_flavors_);
  }
  if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) {
    const ResourceKind kind = invalid->key.kind;
    if (kind == ResourceKind::kQueue) return Refuse(*invalid, unreadable_queues_);
    if (kind == ResourceKind::kCohort) return Refuse(*invalid, unreadable_cohorts_);
    if (kind == ResourceKind::kResourceFlavor) return Refuse(*invalid, unreadable_flavors_);
  }
  return false;
}

QuotaNodeId QuotaBook::NodeFor(bool is_queue, const std::string& name) {
  const auto next = QuotaNodeId(static_cast<uint32_t>(nodes_.size()));
  const auto [it, fresh] = node_ids_[is_queue ? 1 : 0].try_emplace(name, next);
  if (fresh) nodes_.push_back({.is_queue = is_queue, .name = name});
  return it->second;
}

QuotaCellId QuotaBook::InternCell(const std::string& flavor, const std::string& resource) {
  const auto next = QuotaCellId(static_cast<uint32_t>(cells_.size()));
  const auto [it, fresh] = cell_ids_.try_emplace({flavor, resource}, next);
  if (fresh) cells_.emplace_back(flavor, resource);
  has_quota_.resize(cells_.size());
  has_quota_[it->second.index()] = true;
  return it->second;
}

std::string QuotaBook::ProblemIn(const Entries& entries) const {
  for (const FlavorQuota& entry : entries) {
    const auto unreadable = unreadable_flavors_.find(entry.flavor);
    const bool readable = unreadable == unreadable_flavors_.end();
    if (entry.flavor.empty() || (readable && flavors_.contains(entry.flavor))) continue;
    return readable ? absl::StrCat("spec.quotas: flavor \"", entry.flavor, "\" does not exist")
                    : absl::StrCat("spec.quotas: flavor \"", entry.flavor,
                                   "\" is invalid: ", unreadable->second);
  }
  return "";
}

// A cycle of parents makes every cohort on it and every queue below it inactive.
void QuotaBook::FindCycles() {
  for (const auto& [name, cohort] : cohorts_) {
    std::vector<std::string> path = {name};
    for (auto it = cohorts_.find(cohort.parent);
         it != cohorts_.end() && std::ranges::find(path, it->first) == path.end();
         it = cohorts_.find(it->second.parent)) {
      path.push_back(it->first);
    }
    const std::string& last = cohorts_.find(path.back())->second.parent;
    const auto start = std::ranges::find(path, last);
    if (start == path.end()) continue;
    std::vector<std::string> cycle(start, path.end());
    std::rotate(cycle.begin(), std::ranges::min_element(cycle), cycle.end());
    cycle.push_back(cycle.front());
    cyclic_.insert(name);
    cohort_problems_[name] =
        absl::StrCat("spec.parent: the cohorts form a cycle: ", absl::StrJoin(cycle, " -> "));
  }
}

void QuotaBook::FindProblems() {
  queue_problems_ = unreadable_queues_;
  cohort_problems_ = unreadable_cohorts_;
  cyclic_.clear();
  FindCycles();
  for (const auto& [name, cohort] : cohorts_) {
    std::string problem = ProblemIn(cohort.quotas);
    if (!problem.empty()) cohort_problems_.try_emplace(name, std::move(problem));
  }
  for (const auto& [name, queue] : queues_) {
    std::string problem = ProblemIn(queue.quotas);
    if (problem.empty() && cyclic_.contains(queue.cohort)) {
      problem = absl::StrCat("cohort \"", queue.cohort, "\": ", cohort_problems_.at(queue.cohort));
    }
    if (!problem.empty()) queue_problems_[name] = std::move(problem);
  }
}

void QuotaBook::RankFlavors() {
  ranked_flavors_.clear();
  for (const auto& [name, flavor] : flavors_) {
    const auto next = FlavorId(static_cast<uint32_t>(flavor_names_.size()));
    const auto [it, fresh] = flavor_ids_.try_emplace(name, next);
    if (fresh) flavor_names_.push_back(name);
    ranked_flavors_.push_back({it->second, flavor.priority, flavor.node_labels});
  }
  std::ranges::stable_sort(ranked_flavors_, std::greater<>(), &Ranked::priority);
}

std::vector<QuotaLimit> QuotaBook::LimitsOf(const Entries& entries) {
  std::vector<QuotaLimit> limits;
  for (const FlavorQuota& entry : entries) {
    for (const QuotaAmount& quota : entry.resources) {
      limits.push_back({.cell = InternCell(entry.flavor, quota.resource),
                        .nominal = quota.nominal,
                        .borrowing = quota.borrowing_limit,
                        .lending = quota.lending_limit});
    }
  }
  return limits;
}

uint64_t QuotaBook::FingerprintNow() const {
  Fingerprint print;
  const auto add_limits = [&print](const Entries& entries) {
    constexpr int64_t kNoLimit = -1;
    for (const FlavorQuota& entry : entries) {
      print.Add(entry.flavor);
      for (const QuotaAmount& quota : entry.resources) {
        print.Add(quota.resource);
        print.Add(static_cast<uint64_t>(quota.nominal.units()));
        for (const auto& limit : {quota.borrowing_limit, quota.lending_limit}) {
          print.Add(static_cast<uint64_t>(limit.has_value() ? limit->units() : kNoLimit));
        }
      }
    }
  };
  for (const auto& [name, cohort] : cohorts_) {
    for (const std::string* text : {&name, &cohort.parent}) print.Add(*text);
    print.Add(static_cast<uint64_t>(cohort.fair_share_weight_milli));
    add_limits(cohort.quotas);
  }
  for (const auto& [name, queue] : queues_) {
    for (const std::string* text : {&name, &queue.cohort}) print.Add(*text);
    print.Add(static_cast<uint64_t>(queue.fair_share_weight_milli));
    print.Add(static_cast<uint64_t>(queue.within_queue));
    print.Add(static_cast<uint64_t>(queue.reclaim));
    print.Add(static_cast<uint64_t>(queue.borrow_preempts_lower_priority));
    print.Add(static_cast<uint64_t>(
        int64_t{queue.borrow_priority_threshold.value_or(std::numeric_limits<int32_t>::min())}));
    add_limits(queue.quotas);
  }
  for (const auto& [name, flavor] : flavors_) {
    print.Add(name);
    print.Add(static_cast<uint64_t>(int64_t{flavor.priority}));
    for (const auto& [key, value] : flavor.node_labels.entries()) {
      for (const std::string* text : {&key, &value}) print.Add(*text);
    }
  }
  return print.value();
}

void QuotaBook::Rebuild() {
  FindProblems();
  RankFlavors();
  fingerprint_ = FingerprintNow();
  has_quota_.assign(cells_.size(), false);
  std::map<QuotaNodeId, QuotaNodeSpec> specs;
  for (const auto& [name, cohort] : cohorts_) {
    QuotaNodeSpec& spec = specs[NodeFor(kIsCohort, name)];
    spec.weight_milli = cohort.fair_share_weight_milli;
    if (!cohort.parent.empty() && !cyclic_.contains(name)) {
      spec.parent = NodeFor(kIsCohort, cohort.parent);
    }
    if (!cohort_problems_.contains(name)) spec.limits = LimitsOf(cohort.quotas);
  }
  // Nothing starts from an inactive Queue; its running pods stay charged to it and its Cohort.
  for (const auto& [name, queue] : queues_) {
    QuotaNodeSpec& spec = specs[NodeFor(kIsQueue, name)];
    spec.weight_milli = queue.fair_share_weight_milli;
    if (!queue.cohort.empty() && !cyclic_.contains(queue.cohort)) {
      spec.parent = NodeFor(kIsCohort, queue.cohort);
    }
    spec.limits = LimitsOf(queue.quotas);
  }

  rules_.assign(nodes_.size(), {});
  for (const auto& [name, queue] : queues_) {
    auto& rules = rules_[NodeFor(kIsQueue, name).index()];
    for (size_t i = 0; i < queue.quotas.size(); ++i) {
      const FlavorQuota& entry = queue.quotas[i];
      const auto flavor = flavor_ids_.find(entry.flavor);
      const bool of_no_node = !entry.flavor.empty() && flavor == flavor_ids_.end();
      for (const QuotaAmount& quota : entry.resources) {
        // Listed all the same: what runs elsewhere is charged where it runs.
        std::vector<Entry>& entries = rules[quota.resource];
        if (of_no_node) continue;
        entries.push_back({.flavor = flavor == flavor_ids_.end() ? FlavorId() : flavor->second,
                           .cell = InternCell(entry.flavor, quota.resource),
                           .order = i});
      }
    }
  }

  std::vector<QuotaNodeSpec> all(nodes_.size());
  for (auto& [id, spec] : specs) all[id.index()] = std::move(spec);
  std::map<std::string, uint32_t> resources;
  std::vector<uint32_t> resource_of_cell;
  for (const auto& [flavor, resource] : cells_) {
    const auto next = static_cast<uint32_t>(resources.size());
    resource_of_cell.push_back(resources.try_emplace(resource, next).first->second);
  }
  tree_ = QuotaTree(all, std::move(resource_of_cell));
  reclaiming_.clear();
  for (const auto& [name, queue] : queues_) {
    if (queue.reclaim == ReclaimWithinCohort::kNever) continue;
    reclaiming_.insert(tree_.Root(NodeFor(kIsQueue, name)));
  }
}

QuotaNodeId QuotaBook::NodeNamed(bool is_queue, absl::string_view name) const {
  const auto& ids = node_ids_[is_queue ? 1 : 0];
  const auto it = ids.find(name);
  return it == ids.end() ? QuotaNodeId() : it->second;
}

QuotaNodeId QuotaBook::QueueNamed(absl::string_view name) const {
  return NodeNamed(kIsQueue, name);
}

QuotaNodeId QuotaBook::CohortNamed(absl::string_view name) const {
  return NodeNamed(kIsCohort, name);
}

const Queue* QuotaBook::FindQueue(absl::string_view name) const {
  const auto it = queues_.find(std::string(name));
  const bool usable = it != queues_.end() && !unreadable_queues_.contains(it->first);
  return usable ? &it->second : nullptr;
}

std::string QuotaBook::ProblemOfQueue(absl::string_view name) const {
  const auto it = queue_problems_.find(std::string(name));
  return it == queue_problems_.end() ? "" : it->second;
}

std::string QuotaBook::ProblemOfCohort(absl::string_view name) const {
  const auto it = cohort_problems_.find(std::string(name));
  return it == cohort_problems_.end() ? "" : it->second;
}

std::string QuotaBook::ProblemAbove(absl::string_view queue) const {
  for (QuotaNodeId node = QueueNamed(queue); node.valid(); node = tree_.Parent(node)) {
    if (nodes_[node.index()].is_queue) continue;
    const absl::string_view cohort = NameOf(node);
    const std::string problem = ProblemOfCohort(cohort);
    if (problem.empty()) continue;
    return absl::StrCat("Cohort \"", cohort, "\" above its queue is inactive: ", problem);
  }
  return "";
}

absl::string_view QuotaBook::NameOf(QuotaNodeId node) const { return nodes_[node.index()].name; }

QueueOrdering QuotaBook::OrderingOf(QuotaNodeId queue) const {
  const Node& node = nodes_[queue.index()];
  const Queue* object = node.is_queue ? FindQueue(node.name) : nullptr;
  return object == nullptr ? QueueOrdering::kBestEffortFifo : object->ordering;
}

FlavorId QuotaBook::FlavorOf(const StringMap& node_labels) const {
  for (const Ranked& flavor : ranked_flavors_) {
    const auto& wanted = flavor.node_labels.entries();
    const bool matches = std::ranges::all_of(wanted, [&node_labels](const auto& label) {
      const std::string* value = node_labels.Find(label.first);
      return value != nullptr && *value == label.second;
    });
    if (matches) return flavor.flavor;
  }
  return FlavorId();
}

absl::string_view QuotaBook::FlavorName(FlavorId flavor) const {
  return flavor.valid() ? absl::string_view(flavor_names_[flavor.index()]) : absl::string_view();
}

bool QuotaBook::Excludes(FlavorId flavor, const PodConstraints& pod) const {
  const bool asks = !pod.node_selector.empty() || pod.required_node_terms.has_value();
  const auto known = std::ranges::find(ranked_flavors_, flavor, &Ranked::flavor);
  if (!asks || known == ranked_flavors_.end()) return false;
  const auto has_other = [known](const std::string& key, const auto& accepts) {
    const std::string* value = known->node_labels.Find(key);
    return value != nullptr && !accepts(*value);
  };
  for (const auto& wanted : pod.node_selector.entries()) {
    const auto is_it = [&wanted](const std::string& value) { return value == wanted.second; };
    if (has_other(wanted.first, is_it)) return true;
  }
  const auto excludes = [&](const NodeSelectorTerm& term) {
    return std::ranges::any_of(term.expressions, [&](const SelectorRequirement& requirement) {
      const auto meets = [&](const std::string& value) { return Satisfies(requirement, &value); };
      return has_other(requirement.key, meets);
    });
  };
  return pod.required_node_terms.has_value() &&
         std::ranges::all_of(*pod.required_node_terms, excludes);
}

std::vector<FlavorId> QuotaBook::FlavorsOf(QuotaNodeId queue) const {
  std::set<std::pair<size_t, FlavorId>> found;
  for (const auto& [resource, entries] : rules_[queue.index()]) {
    for (const Entry& entry : entries) found.insert({entry.order, entry.flavor});
  }
  std::vector<FlavorId> flavors;
  for (const auto& [order, flavor] : found) flavors.push_back(flavor);
  return flavors;
}

CellAnswer QuotaBook::CellFor(QuotaNodeId queue, absl::string_view resource,
                              FlavorId flavor) const {
  const auto& rules = rules_[queue.index()];
  const auto it = rules.find(resource);
  if (it == rules.end()) return {};
  const Entry* match = nullptr;
  for (const Entry& entry : it->second) {
    if (entry.flavor == flavor) return {CellRule::kCharged, entry.cell, entry.order};
    if (!entry.flavor.valid()) match = &entry;
  }
  if (match != nullptr) return {CellRule::kCharged, match->cell, match->order};
  return {CellRule::kForbidden, CellNamed(FlavorName(flavor), resource), 0};
}

QuotaCellId QuotaBook::CellNamed(absl::string_view flavor, absl::string_view resource) const {
  const auto it = cell_ids_.find({std::string(flavor), std::string(resource)});
  return it == cell_ids_.end() || !has_quota_[it->second.index()] ? QuotaCellId() : it->second;
}

const std::string& QuotaBook::ResourceOf(QuotaCellId cell) const {
  return cells_[cell.index()].second;
}
const std::string& QuotaBook::FlavorOfCell(QuotaCellId cell) const {
  return cells_[cell.index()].first;
}

}  // namespace maniple
