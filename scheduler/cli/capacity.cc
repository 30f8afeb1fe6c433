#include "scheduler/cli/capacity.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/app/answers/printing.h"

namespace maniple {
namespace {

// Pods by domain, for each level.
using Levels = std::vector<std::map<std::string, int64_t>>;

struct Room {
  int64_t free = 0;
  std::vector<std::string> path;
};
// A resource of nodes whose GPUs are of one model: a slice that goes by the name of a GPU is none.
struct Device {
  std::string resource, model;
  friend auto operator<=>(const Device&, const Device&) = default;
};
struct CountedResource {
  std::vector<Room> rooms;  // of nodes that take pods
  int64_t largest = 0;      // that one container gets on one node
  int64_t free = 0, allocatable = 0;
};

// What a node says that it has may be anything.
int64_t BoundedSum(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::numeric_limits<int64_t>::max() : out;
}

// A scheduler of an older version does not tell whether a node is closed; then only what Kubernetes
// itself keeps pods away from is known. Other taints are for somebody to tolerate.
bool TakesPods(const Json& node) {
  return node["schedulable"].AsBool() && node["closed"].AsString().empty() &&
         std::ranges::none_of(node["taints"].items(), [](const Json& taint) {
           return absl::StartsWith(taint.AsString(), "node.kubernetes.io/");
         });
}

std::map<Device, CountedResource> ResourcesOf(const Json& nodes) {
  std::map<Device, CountedResource> resources;
  for (const Json& node : nodes["items"].items()) {
    if (!TakesPods(node)) continue;
    std::vector<std::string> path;
    for (const Json& value : node["path"].items()) path.push_back(value.AsString());
    for (const Json& amount : node["resources"].items()) {
      if (!amount["gpu"].AsBool()) continue;
      CountedResource& resource =
          resources[{amount["name"].AsString(), node["gpuModel"].AsString()}];
      const int64_t free = std::max<int64_t>(0, Number(amount["free"]));
      const int64_t all = Number(amount["allocatable"]);
      resource.rooms.push_back({.free = free, .path = path});
      const bool one_each = amount["onePerContainer"].AsBool();
      resource.largest = std::max(resource.largest, one_each ? std::min<int64_t>(1, all) : all);
      resource.free = BoundedSum(resource.free, free);
      resource.allocatable = BoundedSum(resource.allocatable, all);
    }
  }
  return resources;
}

// A node without the label of a level is in no domain of it, nor of a narrower one.
void AddTo(Levels& levels, const Room& room, int64_t pods) {
  std::string domain;
  for (size_t level = 0; level < room.path.size() && !room.path[level].empty(); ++level) {
    absl::StrAppend(&domain, level == 0 ? "" : "/", room.path[level]);
    if (levels.size() <= level) levels.resize(level + 1);
    int64_t& so_far = levels[level][domain];
    so_far = BoundedSum(so_far, pods);
  }
}

Json Best(const Levels& levels) {
  Json domains = Json::Array();
  for (const auto& level : levels) {
    const auto best = std::ranges::max_element(level, {}, [](const auto& it) { return it.second; });
    domains.Append(Json::Object({{"domain", best->first}, {"pods", best->second}}));
  }
  return domains;
}

Json RowOf(const Device& device, const CountedResource& resource, int64_t size) {
  int64_t pods = 0;
  Levels levels;
  for (const Room& room : resource.rooms) {
    pods = BoundedSum(pods, room.free / size);
    AddTo(levels, room, room.free / size);
  }
  return Json::Object({{"resource", device.resource},
                       {"model", device.model},
                       {"size", size},
                       {"pods", pods},
                       {"free", resource.free},
                       {"allocatable", resource.allocatable},
                       {"domains", Best(levels)}});
}

}  // namespace

Json CapacityOf(const Json& nodes) {
  Json items = Json::Array();
  for (const auto& [device, resource] : ResourcesOf(nodes)) {
    // Twice the size may be beyond all numbers.
    for (int64_t size = 1, left = resource.largest; left > 0; left /= 2) {
      items.Append(RowOf(device, resource, size));
      if (left > 1) size *= 2;
    }
  }
  return Json::Object({{"items", std::move(items)}});
}

std::string CapacityTable(const Json& capacity) {
  std::vector<std::vector<std::string>> rows = {
      {"RESOURCE", "MODEL", "PODS OF", "ANYWHERE", "FREE", "IN ONE DOMAIN"}};
  for (const Json& item : capacity["items"].items()) {
    std::vector<std::string> domains;
    for (const Json& domain : item["domains"].items()) {
      domains.push_back(absl::StrCat(domain["pods"].AsInt(), " in ", domain["domain"].AsString()));
    }
    rows.push_back({item["resource"].AsString(), OrDash(item["model"].AsString()),
                    absl::StrCat(item["size"].AsInt()), absl::StrCat(item["pods"].AsInt()),
                    absl::StrCat(item["free"].AsInt(), "/", item["allocatable"].AsInt()),
                    domains.empty() ? "-" : absl::StrJoin(domains, ", ")});
  }
  return Table(rows);
}

}  // namespace maniple
