// Findings on names: do the objects that a manifest points at stand in it, or nowhere?
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/model/maniple_types.h"
#include "api/validation/manifest_object.h"

namespace maniple {
namespace {

constexpr char kNvlink[] = "nvlink";
constexpr char kNvlinkLabel[] = "nvidia.com/gpu.clique";

using ByName = std::map<std::string, const ManifestObject*>;

ByName OursOfKind(const std::vector<ManifestObject>& objects, absl::string_view kind) {
  ByName found;
  for (const ManifestObject& object : objects) {
    if (object.group == kManipleGroup && object.kind == kind)
      found.try_emplace(object.name, &object);
  }
  return found;
}

class ReferenceCheck {
 public:
  ReferenceCheck(const std::vector<ManifestObject>& objects, ManifestFindings& findings)
      : findings_(findings),
        queues_(OursOfKind(objects, "Queue")),
        cohorts_(OursOfKind(objects, "Cohort")),
        flavors_(OursOfKind(objects, "ResourceFlavor")),
        topologies_(OursOfKind(objects, "Topology")) {
    for (const ManifestObject& object : objects) {
      if (object.group == kManipleGroup && object.kind == "PodGroup") groups_.push_back(&object);
      if (object.group == kHyperNodeGroup)
        tier_names_.insert(object.value->At("spec.tierName").AsString());
    }
  }

  void Run() {
    for (const auto& [name, queue] : queues_) {
      CheckName(*queue, "spec.cohort", "Cohort", cohorts_);
      CheckQuotas(*queue);
    }
    for (const auto& [name, cohort] : cohorts_) {
      CheckName(*cohort, "spec.parent", "Cohort", cohorts_);
      CheckQuotas(*cohort);
    }
    CheckCycles();
    for (const ManifestObject* group : groups_) CheckGroup(*group);
  }

 private:
  void CheckName(const ManifestObject& object, const std::string& path, absl::string_view kind,
                 const ByName& known) {
    const std::string& name = object.value->At(path).AsString();
    if (name.empty() || known.contains(name)) return;
    findings_.Note(object, path, absl::StrCat(kind, " ", name, " is not among these files"));
  }

  void CheckQuotas(const ManifestObject& object) {
    size_t index = 0;
    for (const Json& quota : object.value->At("spec.quotas").items()) {
      const std::string path = absl::StrCat("spec.quotas[", index++, "].flavor");
      const std::string& flavor = quota["flavor"].AsString();
      if (flavor.empty() || flavors_.contains(flavor)) continue;
      findings_.Note(object, path,
                     absl::StrCat("ResourceFlavor ", flavor, " is not among these files"));
    }
  }

  // Each cycle is reported once, at its first cohort by name.
  void CheckCycles() {
    std::set<std::string> done;
    for (const auto& [name, cohort] : cohorts_) {
      std::vector<std::string> trail;
      std::string at = name;
      while (cohorts_.contains(at) && !done.contains(at)) {
        done.insert(at);
        trail.push_back(at);
        at = cohorts_.at(at)->value->At("spec.parent").AsString();
      }
      const auto start = std::find(trail.begin(), trail.end(), at);
      if (start == trail.end()) continue;
      const std::string cycle = absl::StrCat(absl::StrJoin(start, trail.end(), " -> "), " -> ", at);
      findings_.Error(*cohorts_.at(at), "spec.parent",
                      absl::StrCat("the parents form a cycle: ", cycle));
    }
  }

  void CheckGroup(const ManifestObject& group) {
    CheckName(group, "spec.queue", "Queue", queues_);
    CheckTopology(group, group.value->At("spec.topology"), "spec.topology");
    size_t index = 0;
    for (const Json& sub_group : group.value->At("spec.subGroups").items()) {
      CheckTopology(group, sub_group["topology"],
                    absl::StrCat("spec.subGroups[", index++, "].topology"));
    }
  }

  // The Topology that the request means, if it is certain: by its name, else the one called
  // default.
  const ManifestObject* TopologyOf(const Json& request) const {
    const std::string& named = request["topologyName"].AsString();
    const auto at = topologies_.find(named.empty() ? "default" : named);
    return at == topologies_.end() ? nullptr : at->second;
  }

  static constexpr int kNoLevel = -1;
  static int LevelIndex(const ManifestObject& topology, const std::string& level) {
    const std::vector<Json>& levels = topology.value->At("spec.levels").items();
    for (size_t i = 0; i < levels.size(); ++i) {
      if (levels[i]["name"].AsString() == level || levels[i]["nodeLabel"].AsString() == level) {
        return static_cast<int>(i);
      }
    }
    return kNoLevel;
  }

  void CheckTopology(const ManifestObject& group, const Json& request, const std::string& path) {
    const std::string& named = request["topologyName"].AsString();
    const ManifestObject* topology = TopologyOf(request);
    if (topology == nullptr) {
      if (!named.empty()) {
        findings_.Note(group, absl::StrCat(path, ".topologyName"),
                       absl::StrCat("Topology ", named, " is not among these files"));
      }
      return;
    }
    for (absl::string_view field : {"required", "preferred", "slice.level"}) {
      const std::string& level = request.At(field).AsString();
      if (level.empty() || level == kNvlink || level == kNvlinkLabel) continue;
      if (LevelIndex(*topology, level) != kNoLevel) continue;
      if (named.empty() && tier_names_.contains(level)) continue;
      if (absl::StartsWith(level, kTierWord)) continue;  // HyperNodes of the cluster may have it
      const std::string unknown = absl::StrCat("Topology ", topology->name, " has no level ", level,
                                               "; it has ", LevelNames(*topology));
      if (absl::StrContains(level, '/')) {
        findings_.Note(group, absl::StrCat(path, ".", field),
                       absl::StrCat(unknown,
                                    ". The scheduler's configuration may name the label "
                                    "among gpu.nvlinkDomainLabels"));
      } else {
        findings_.Error(group, absl::StrCat(path, ".", field), unknown);
      }
    }
    CheckSlice(group, request, path, *topology);
  }

  void CheckSlice(const ManifestObject& group, const Json& request, const std::string& path,
                  const ManifestObject& topology) {
    const int slice = LevelIndex(topology, request.At("slice.level").AsString());
    const int required = LevelIndex(topology, request["required"].AsString());
    if (slice == kNoLevel || required == kNoLevel || slice >= required) return;
    findings_.Error(group, absl::StrCat(path, ".slice.level"),
                    absl::StrCat("level ", request.At("slice.level").AsString(),
                                 " is broader than the required ", request["required"].AsString()));
  }

  static std::string LevelNames(const ManifestObject& topology) {
    std::vector<std::string> names;
    for (const Json& level : topology.value->At("spec.levels").items()) {
      names.push_back(level["name"].AsString());
    }
    return absl::StrJoin(names, ", ");
  }

  ManifestFindings& findings_;
  const ByName queues_, cohorts_, flavors_, topologies_;
  std::vector<const ManifestObject*> groups_;
  std::set<std::string> tier_names_;  // of the HyperNodes among the files
};

}  // namespace

void CheckReferences(const std::vector<ManifestObject>& objects, ManifestFindings& findings) {
  ReferenceCheck(objects, findings).Run();
}

}  // namespace maniple
