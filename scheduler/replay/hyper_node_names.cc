#include "scheduler/replay/hyper_node_names.h"

#include <utility>

#include "absl/strings/match.h"
#include "api/validation/pattern.h"

namespace maniple {

HyperNodeNames::HyperNodeNames(const std::vector<Json>& objects) {
  for (const Json& object : objects) {
    const std::string& name = object.At("metadata.name").AsString();
    if (IsHyperNode(object)) hyper_nodes_.push_back(name);
    if (object["apiVersion"].AsString() == "v1" && object["kind"].AsString() == "Node") {
      nodes_.push_back(name);
    }
  }
}

bool HyperNodeNames::IsHyperNode(const Json& object) {
  return object["kind"].AsString() == "HyperNode" &&
         absl::StartsWith(object["apiVersion"].AsString(), "topology.volcano.sh/");
}

Json HyperNodeNames::WithoutPatterns(const Json& object) const {
  Json members = Json::Array();
  for (const Json& member : object.At("spec.members").items()) {
    if (!member["selector"].Has("regexMatch")) {
      members.Append(member);
      continue;
    }
    const auto pattern = Pattern::Compile(member.At("selector.regexMatch.pattern").AsString());
    if (!pattern.ok()) continue;
    const bool below = member["type"].AsString() == "HyperNode";
    for (const std::string& name : below ? hyper_nodes_ : nodes_) {
      if (!pattern->Matches(name)) continue;
      Json exact = Json::Object({{"exactMatch", Json::Object({{"name", name}})}});
      members.Append(Json::Object({{"type", member["type"]}, {"selector", std::move(exact)}}));
    }
  }
  Json named = object;
  if (Json* spec = named.Find("spec"); spec != nullptr) spec->Set("members", std::move(members));
  return named;
}

}  // namespace maniple
