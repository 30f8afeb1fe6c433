#include "scheduler/mig/mig_fleet.h"

#include <algorithm>
#include <tuple>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/base/log.h"
#include "api/gpu/gpu_resource.h"

namespace maniple {
namespace {

constexpr char kProductLabel[] = "nvidia.com/gpu.product";
constexpr char kMemoryLabel[] = "nvidia.com/gpu.memory";
constexpr char kCountLabel[] = "nvidia.com/gpu.count";
constexpr char kSharingLabel[] = "nvidia.com/gpu.sharing-strategy";
constexpr int64_t kMostGpus = 64;
constexpr size_t kMostLogged = 1000;  // labels are anybody's text

std::optional<int64_t> NumberOf(const StringMap& labels, absl::string_view key) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(labels.Get(key), &number)) return std::nullopt;
  return number;
}

MigFleet::State StateOf(absl::string_view label) {
  if (label.empty() || label == kMigSuccess) return MigFleet::State::kSettled;
  if (label == kMigPending || label == kMigRebooting) return MigFleet::State::kChanging;
  return MigFleet::State::kOther;
}

int64_t WholeGpusOf(const Node& node) {
  for (const ResourceAmount& amount : node.allocatable) {
    if (amount.resource == kNvidiaGpu) return amount.amount.units();
  }
  return 0;
}

// The facts that a plan looks at. The resource version is not one: it rises with every heartbeat.
auto FactsOf(const MigFleet::Node& node) {
  return std::tie(node.uid, node.table, node.why_not, node.gpus, node.config, node.state,
                  node.cordoned, node.changed_at);
}

}  // namespace

bool MigFleet::Note(const ObjectEvent& event) {
  if (const auto* gone = std::get_if<ObjectDeleted>(&event)) {
    return gone->key.kind == ResourceKind::kNode && nodes_.erase(gone->key.name) > 0;
  }
  if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) {
    return invalid->key.kind == ResourceKind::kNode && nodes_.erase(invalid->key.name) > 0;
  }
  const auto* upserted = std::get_if<ObjectUpserted>(&event);
  const auto* node = upserted == nullptr ? nullptr : std::get_if<maniple::Node>(&upserted->object);
  if (node == nullptr) return false;
  const auto known = nodes_.find(node->meta.name);
  if (node->meta.labels.Get(kMigCapableLabel) != "true") {
    if (known == nodes_.end()) return false;
    nodes_.erase(known);
    return true;
  }
  Node now = Read(*node);
  if (!now.why_not.empty() && logged_.size() < kMostLogged && logged_.insert(now.why_not).second) {
    LOG(INFO) << "MIG of node " << node->meta.name << " is left as it is: " << now.why_not;
  }
  if (known == nodes_.end()) {
    nodes_.emplace(node->meta.name, std::move(now));
    return true;
  }
  Node& before = known->second;
  const bool changed = FactsOf(before) != FactsOf(now);
  if (before.uid == now.uid) {
    now.left_alone_until = before.left_alone_until;
    if (!before.asked.empty() && now.changed_at != before.changed_at) {
      shown_.push_back(node->meta.name);
    } else {
      now.asked = std::move(before.asked);
      now.asked_until = before.asked_until;
    }
    if (!changed) now.told = std::move(before.told);
  }
  before = std::move(now);
  return changed;
}

MigFleet::Node MigFleet::Read(const maniple::Node& node) const {
  const StringMap& labels = node.meta.labels;
  Node out{.uid = node.meta.uid,
           .resource_version = node.meta.resource_version,
           .config = std::string(labels.Get(kMigConfigLabel)),
           .state = StateOf(labels.Get(kMigConfigStateLabel)),
           .cordoned = node.unschedulable || !node.ready || node.meta.deleted.has_value()};
  std::string problem;
  const absl::string_view at = node.meta.annotations.Get(kMigChangedAt);
  if (!absl::ParseTime(absl::RFC3339_full, at, &out.changed_at, &problem)) {
    out.changed_at = absl::InfinitePast();
  }

  const absl::string_view product = labels.Get(kProductLabel);
  const std::optional<int64_t> count = NumberOf(labels, kCountLabel);
  const absl::string_view sharing = labels.Get(kSharingLabel);
  const MigTable* table = options_.tables.Find(product, NumberOf(labels, kMemoryLabel));
  if (node.meta.annotations.Get(kMigReconfigure) == "never") {
    out.why_not = absl::StrCat("its annotation ", kMigReconfigure, " is never");
  } else if (labels.Get(kMigStrategyLabel) != "mixed") {
    out.why_not = "its nvidia.com/mig.strategy is not mixed";
  } else if (!sharing.empty() && sharing != "none") {
    out.why_not = "its GPUs are shared";
  } else if (table == nullptr) {
    out.why_not = absl::StrCat("nothing is known of MIG on \"", product.substr(0, 64), "\" with ",
                               labels.Get(kMemoryLabel).substr(0, 16), " MiB");
  } else if (!count.has_value() || *count < 1 || *count > kMostGpus) {
    out.why_not = "its nvidia.com/gpu.count is not in 1..64";
  } else if (WholeGpusOf(node) > *count) {
    out.why_not = "it has more GPUs than its nvidia.com/gpu.count says";
  } else {
    out.table = table;
    out.gpus = static_cast<int32_t>(*count);
  }
  return out;
}

absl::Time MigFleet::ChangedAt(const Node& node, absl::Time now) const {
  return node.changed_at > now + options_.hold_off ? absl::InfinitePast() : node.changed_at;
}

bool MigFleet::MayChange(const Node& node, absl::Time now) const {
  return node.table != nullptr && node.state == State::kSettled && !node.cordoned &&
         node.asked_until <= now && node.left_alone_until <= now &&
         ChangedAt(node, now) + options_.hold_off <= now;
}

std::optional<std::string> MigFleet::Becoming(const Node& node, absl::Time now) const {
  if (node.asked_until > now) return node.asked;
  if (node.state == State::kChanging) return node.config;
  // The change is done, but the device plugin may not have told the kubelet yet.
  const bool just_now =
      node.state == State::kSettled && ChangedAt(node, now) + options_.hold_off > now;
  return just_now ? std::optional(node.config) : std::nullopt;
}

std::string MigFleet::Overdue(absl::Time now) const {
  for (const auto& [name, node] : nodes_) {
    if (node.state == State::kChanging && ChangedAt(node, now) != absl::InfinitePast() &&
        ChangedAt(node, now) + options_.overdue_after <= now) {
      return name;
    }
  }
  return "";
}

absl::Time MigFleet::NextChange(absl::Time now) const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [name, node] : nodes_) {
    for (const absl::Time at :
         {node.left_alone_until, node.asked_until, ChangedAt(node, now) + options_.hold_off,
          ChangedAt(node, now) + options_.overdue_after}) {
      if (at > now) next = std::min(next, at);
    }
  }
  return next;
}

void MigFleet::Asked(const std::string& name, const std::string& config, absl::Time until) {
  Node& node = nodes_.at(name);
  node.asked = config;
  node.asked_until = until;
}

void MigFleet::Failed(const std::string& name, absl::Time left_alone_until) {
  const auto known = nodes_.find(name);
  if (known == nodes_.end()) return;
  known->second.asked.clear();
  known->second.asked_until = absl::InfinitePast();
  known->second.left_alone_until = left_alone_until;
}

bool MigFleet::Tell(const std::string& name, const std::string& what, absl::Time now) {
  Node& node = nodes_.at(name);
  if (node.told.first == what && node.told.second + options_.hold_off > now) return false;
  node.told = {what, now};
  return true;
}

void MigFleet::Forget() {
  for (auto& [name, node] : nodes_) {
    node.asked.clear();
    node.asked_until = node.left_alone_until = absl::InfinitePast();
  }
}

}  // namespace maniple
