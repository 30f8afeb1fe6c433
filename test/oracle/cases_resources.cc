// Cases of the families that look at what other pods take of a node: host ports and resources.
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/oracle/families.h"
#include "test/oracle/json_parts.h"

namespace maniple {
namespace {

constexpr uint64_t kMostNodes = 6;

Json SomeNodes(Random& random) {
  Json nodes = Json::Array();
  const uint64_t count = 1 + random.Below(kMostNodes);
  for (uint64_t i = 0; i < count; ++i) nodes.Append(NodeObject(absl::StrCat("n", i)));
  return nodes;
}

// ---- ports

Json RandomPorts(Random& random) {
  Json ports = Json::Array();
  for (uint64_t i = random.Below(4); i > 0; --i) {
    Json port = Json::Object({{"containerPort", Pick<int>(random, {80, 8080, 53})}});
    if (!random.OneIn(5)) port.Set("hostPort", Pick<int>(random, {0, 80, 8080, 53}));
    if (random.OneIn(2)) {
      port.Set("hostIP", PickText(random, {"", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::"}));
    }
    if (random.OneIn(2)) port.Set("protocol", PickText(random, {"TCP", "UDP", "SCTP"}));
    ports.Append(std::move(port));
  }
  return ports;
}

Json ContainersWith(Random& random, absl::string_view field, Json (*make)(Random&)) {
  Json containers = Json::Array();
  for (uint64_t i = 1 + random.Below(2); i > 0; --i) {
    containers.Append(
        Json::Object({{"name", absl::StrCat("c", i)}, {std::string(field), make(random)}}));
  }
  return containers;
}

// Ordinary ones and sidecars in any order.
Json InitContainersWith(Random& random, absl::string_view field, Json (*make)(Random&)) {
  Json containers = Json::Array();
  for (uint64_t i = random.Below(4); i > 0; --i) {
    Json container =
        Json::Object({{"name", absl::StrCat("i", i)}, {std::string(field), make(random)}});
    if (random.OneIn(2)) container.Set("restartPolicy", "Always");
    containers.Append(std::move(container));
  }
  return containers;
}

void GivePorts(Random& random, Json& pod) {
  Json& spec = pod.Mutable("spec");
  spec.Set("containers", ContainersWith(random, "ports", RandomPorts));
  if (random.OneIn(3)) spec.Set("initContainers", InitContainersWith(random, "ports", RandomPorts));
  if (random.OneIn(6)) spec.Set("hostNetwork", true);
}

// ---- resources

std::string RandomAmount(Random& random, absl::string_view resource) {
  if (resource == "cpu") {
    return PickText(random, {"0", "100m", "250m", "500m", "1", "1.5", "2", "0.3", "1e0", "700u"});
  }
  if (resource == "nvidia.com/gpu" || resource == "example.com/foo") {
    return PickText(random, {"0", "1", "1", "2", "4"});
  }
  if (resource == "hugepages-2Mi") return PickText(random, {"0", "2Mi", "4Mi", "8Mi"});
  return PickText(random, {"0", "1", "512Mi", "0.5Gi", "1Gi", "1G", "1.5Gi", "2Gi", "1073741824",
                           "100m", "1500m", "1e3"});
}

const std::vector<const char*>& Resources() {
  static const auto* const kResources = new std::vector<const char*>{
      "cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "example.com/foo", "hugepages-2Mi"};
  return *kResources;
}

Json RandomAmounts(Random& random, const std::vector<const char*>& of) {
  Json out = Json::Object();
  for (const char* resource : of) {
    if (random.OneIn(3)) out.Set(resource, RandomAmount(random, resource));
  }
  return out;
}

Json RandomAsk(Random& random) {
  Json out = Json::Object();
  if (!random.OneIn(4)) out.Set("requests", RandomAmounts(random, Resources()));
  if (random.OneIn(4)) out.Set("limits", RandomAmounts(random, Resources()));
  // What cannot be overcommitted has the same of both, or the API server refuses it.
  for (const char* resource : {"nvidia.com/gpu", "example.com/foo", "hugepages-2Mi"}) {
    const Json* request = out["requests"].Find(resource);
    if (request != nullptr) out.Mutable("limits").Set(resource, Json(*request));
  }
  return out;
}

// As the kubelet reports containers: what they have, and what it promised them.
Json RandomStatuses(Random& random, const Json& containers) {
  Json out = Json::Array();
  for (const Json& container : containers.items()) {
    if (random.OneIn(4)) continue;
    Json status = Json::Object({{"name", container["name"].AsString()}});
    if (!random.OneIn(3)) {
      status.Set("resources", Json::Object({{"requests", RandomAmounts(random, Resources())}}));
    }
    if (!random.OneIn(3)) status.Set("allocatedResources", RandomAmounts(random, Resources()));
    out.Append(std::move(status));
  }
  return out;
}

Json RandomPodLevelAsk(Random& random) {
  const std::vector<const char*> of = {"cpu", "memory", "hugepages-2Mi"};
  Json out = Json::Object();
  if (!random.OneIn(3)) out.Set("requests", RandomAmounts(random, of));
  if (random.OneIn(3)) out.Set("limits", RandomAmounts(random, of));
  return out;
}

void GiveResources(Random& random, Json& pod) {
  Json& spec = pod.Mutable("spec");
  spec.Set("containers", ContainersWith(random, "resources", RandomAsk));
  if (random.OneIn(2))
    spec.Set("initContainers", InitContainersWith(random, "resources", RandomAsk));
  if (random.OneIn(4))
    spec.Set("overhead", RandomAmounts(random, {"cpu", "memory", "example.com/foo"}));
  if (random.OneIn(4)) spec.Set("resources", RandomPodLevelAsk(random));
}

void GiveResize(Random& random, Json& pod) {
  Json& status = pod.Mutable("status");
  status.Set("containerStatuses", RandomStatuses(random, pod["spec"]["containers"]));
  status.Set("initContainerStatuses", RandomStatuses(random, pod["spec"]["initContainers"]));
  if (random.OneIn(2)) {
    Json condition = Json::Object(
        {{"type", PickText(random, {"PodResizePending", "PodResizeInProgress", "Ready"})},
         {"status", "True"},
         {"reason", PickText(random, {"Infeasible", "Deferred", ""})}});
    status.Set("conditions", Json::Array({std::move(condition)}));
  }
  const std::vector<const char*> pod_level = {"cpu", "memory", "hugepages-2Mi"};
  if (random.OneIn(3)) {
    status.Set("resources", Json::Object({{"requests", RandomAmounts(random, pod_level)}}));
  }
  if (random.OneIn(3)) status.Set("allocatedResources", RandomAmounts(random, pod_level));
}

Json RandomAllocatable(Random& random) {
  Json out = Json::Object();
  if (!random.OneIn(20)) out.Set("pods", PickText(random, {"110", "110", "3", "2", "1", "0"}));
  for (const std::string name : Resources()) {
    if (random.OneIn(5)) continue;
    if (name == "cpu") {
      out.Set(name, PickText(random, {"1", "2", "4", "3500m", "8", "16", "0"}));
    } else if (name == "nvidia.com/gpu" || name == "example.com/foo") {
      out.Set(name, PickText(random, {"0", "2", "4", "8", "8"}));
    } else if (name == "hugepages-2Mi") {
      out.Set(name, PickText(random, {"0", "4Mi", "16Mi", "16Mi"}));
    } else {
      out.Set(name, PickText(random, {"1Gi", "4Gi", "6Gi", "3.5Gi", "7500M"}));
    }
  }
  return out;
}

}  // namespace

Json NodePortsCase(Random& random) {
  Json pod = PodObject("p");
  GivePorts(random, pod);
  Json pods = Json::Array();
  for (uint64_t i = random.Below(10); i > 0; --i) {
    Json other = PodObject(absl::StrCat("o", i));
    GivePorts(random, other);
    SettleSomewhere(random, other, kMostNodes);
    pods.Append(std::move(other));
  }
  return Json::Object(
      {{"pod", std::move(pod)}, {"nodes", SomeNodes(random)}, {"pods", std::move(pods)}});
}

Json ResourcesCase(Random& random) {
  Json pod = PodObject("p");
  GiveResources(random, pod);
  if (random.OneIn(10)) GiveResize(random, pod);
  Json nodes = SomeNodes(random);
  for (Json& node : nodes.mutable_items()) {
    node.Mutable("status").Set("allocatable", RandomAllocatable(random));
  }
  Json pods = Json::Array();
  for (uint64_t i = random.Below(5); i > 0; --i) {
    Json other = PodObject(absl::StrCat("o", i));
    GiveResources(random, other);
    SettleSomewhere(random, other, kMostNodes);
    if (random.OneIn(3)) GiveResize(random, other);
    pods.Append(std::move(other));
  }
  return Json::Object(
      {{"pod", std::move(pod)}, {"nodes", std::move(nodes)}, {"pods", std::move(pods)}});
}

}  // namespace maniple
