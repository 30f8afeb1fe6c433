// Topologies of Kueue and KAI.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/import/dialects.h"

namespace maniple {

// A level is named by the last part of its label; PodGroups may name the label as well.
void ImportTopology(ForeignManifest& topology, Imported& out) {
  Json levels = Json::Array();
  std::set<std::string> named;
  const Json& theirs = topology.Take("levels");
  for (size_t i = 0; i < theirs.items().size(); ++i) {
    const Json& level = theirs.items()[i];
    const std::string& label = level["nodeLabel"].AsString();
    const std::string last = label.substr(label.rfind('/') + 1);
    std::string name = last;
    for (int next = 2; !named.insert(name).second; ++next) name = absl::StrCat(last, "-", next);
    levels.Append(Json::Object({{"name", name}, {"nodeLabel", label}}));
    topology.TellOthers(absl::StrCat("spec.levels[", i, "]"), level, {"nodeLabel"}, out.findings);
  }
  if (topology.name() != "default") {
    topology.Note("",
                  "a PodGroup that names no Topology means the one called default, or the only one "
                  "of the cluster: beside another, name this one (spec.topology.topologyName)",
                  out.findings);
  }
  out.objects.push_back(
      OurObject("Topology", topology.name(), Json::Object({{"levels", std::move(levels)}})));
}

}  // namespace maniple
