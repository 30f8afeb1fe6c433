#include "api/devcluster/controllers/pod_requests.h"

#include <algorithm>

#include "api/codec/quantity.h"

namespace maniple::devcluster {
namespace {

void Add(ResourceAmounts& into, const ResourceAmounts& more) {
  for (const auto& [resource, amount] : more) into[resource] += amount;
}

void RaiseTo(ResourceAmounts& into, const ResourceAmounts& least) {
  for (const auto& [resource, amount] : least) {
    into[resource] = std::max(into[resource], amount);
  }
}

ResourceAmounts RequestsOf(const Json& resources) {
  ResourceAmounts out = AmountsOf(resources["limits"]);
  for (const auto& [resource, amount] : AmountsOf(resources["requests"])) out[resource] = amount;
  return out;
}

}  // namespace

ResourceAmounts AmountsOf(const Json& quantities) {
  ResourceAmounts out;
  for (const auto& [resource, value] : quantities.members()) {
    const std::string text = value.is_string() ? value.AsString() : value.Dump();
    if (const absl::StatusOr<Amount> amount = ParseAmount(resource, text); amount.ok()) {
      out[resource] = *amount;
    }
  }
  return out;
}

ResourceAmounts PodRequests(const Json& pod) {
  const Json& spec = pod["spec"];
  ResourceAmounts sidecars;
  ResourceAmounts peak;
  for (const Json& container : spec["initContainers"].items()) {
    const ResourceAmounts own = RequestsOf(container["resources"]);
    ResourceAmounts at_once = sidecars;
    Add(at_once, own);
    RaiseTo(peak, at_once);
    if (container["restartPolicy"].AsString() == "Always") sidecars = at_once;
  }
  ResourceAmounts total = sidecars;
  for (const Json& container : spec["containers"].items()) {
    Add(total, RequestsOf(container["resources"]));
  }
  RaiseTo(total, peak);
  for (const auto& [resource, amount] : RequestsOf(spec["resources"])) total[resource] = amount;
  Add(total, AmountsOf(spec["overhead"]));
  total["pods"] += Amount(1);
  return total;
}

}  // namespace maniple::devcluster
