#include "test/sim/node_truth.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "api/gpu/mig_config.h"
#include "test/sim/job_recipes.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

std::optional<absl::Time> TimeIn(const std::map<std::string, absl::Time>& times,
                                 const std::string& name) {
  const auto time = times.find(name);
  return time == times.end() ? std::nullopt : std::optional(time->second);
}

}  // namespace

std::map<std::string, int64_t> DevicesIn(const Json& amounts) {
  std::map<std::string, int64_t> devices;
  for (const auto& [resource, amount] : amounts.members()) {
    const bool device = resource == kGpu || absl::StartsWith(resource, "nvidia.com/mig-");
    if (device && WholeNumber(amount) > 0) devices[resource] = WholeNumber(amount);
  }
  return devices;
}

int64_t AmountOf(const std::string& resource, const std::map<std::string, int64_t>& devices) {
  const auto at = devices.find(resource);
  return at == devices.end() ? 0 : at->second;
}

bool NodeTruth::Apply(const std::string& name, const Json& object, absl::Time now) {
  absl::Time since = now;
  if (const auto before = nodes_.find(name); before != nodes_.end()) {
    since = before->second.since;
    offered_[name].emplace_back(now, before->second.devices);
    nodes_.erase(before);
  }
  if (object.is_null()) {
    lost_at_[name] = now;
    return false;
  }
  const Json& spec = object["spec"];
  const Json& labels = object["metadata"]["labels"];
  const auto [known, fresh] = labels_.try_emplace(name, labels);
  const bool relabeled = !fresh && !(known->second == labels);
  if (relabeled) relabeled_[name] = now;
  known->second = labels;
  std::map<std::string, int64_t> devices = DevicesIn(object["status"]["allocatable"]);
  const int64_t gpus = AmountOf(kGpu, devices);
  nodes_[name] = {.since = since,
                  .devices = std::move(devices),
                  .gpus = gpus,
                  .can_be_divided = labels.Has(kMigCapableLabel),
                  .is_being_divided = labels[kMigConfigStateLabel].AsString() == kMigPending,
                  .cordoned = spec["unschedulable"].AsBool(),
                  .tainted = spec["taints"].size() > 0,
                  .rack = labels[kRackLabel].AsString(),
                  .labels = labels};
  return relabeled;
}

void NodeTruth::Forget(absl::Time now) {
  // What they offered a moment ago a scheduler may still believe.
  for (const auto& [name, node] : nodes_) offered_[name].emplace_back(now, node.devices);
  nodes_.clear();
}

const Json* NodeTruth::LabelsOf(const std::string& name) const {
  const auto labels = labels_.find(name);
  return labels == labels_.end() ? nullptr : &labels->second;
}

std::optional<absl::Time> NodeTruth::RelabeledAt(const std::string& name) const {
  return TimeIn(relabeled_, name);
}

std::optional<absl::Time> NodeTruth::LostAt(const std::string& name) const {
  return TimeIn(lost_at_, name);
}

int64_t NodeTruth::MostOffered(const std::string& name, const std::string& resource,
                               absl::Time now) const {
  const auto current = nodes_.find(name);
  int64_t most = current == nodes_.end() ? 0 : AmountOf(resource, current->second.devices);
  if (const auto past = offered_.find(name); past != offered_.end()) {
    for (const auto& [until, devices] : past->second) {
      if (until > now - kBlind) most = std::max(most, AmountOf(resource, devices));
    }
  }
  return most;
}

}  // namespace maniple::sim
