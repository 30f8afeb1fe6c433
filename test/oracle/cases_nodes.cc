// Cases of the families that look at a node's own facts: its name, cordon, taints and labels.
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/oracle/families.h"
#include "test/oracle/json_parts.h"

namespace maniple {
namespace {

constexpr uint64_t kMostNodes = 8;

std::string NodeName(uint64_t number) { return absl::StrCat("n", number); }

Json SomeNodes(Random& random) {
  Json nodes = Json::Array();
  const uint64_t count = 1 + random.Below(kMostNodes);
  for (uint64_t i = 0; i < count; ++i) nodes.Append(NodeObject(NodeName(i)));
  return nodes;
}

// ---- taints

const std::vector<const char*>& TaintKeys() {
  static const auto* const kKeys =
      new std::vector<const char*>{"a", "b", "node.kubernetes.io/unschedulable", "example.com/a"};
  return *kKeys;
}

Json RandomTaints(Random& random) {
  Json taints = Json::Array();
  std::set<std::pair<std::string, std::string>> seen;  // the API server lets in one of each
  for (uint64_t i = random.Below(4); i > 0; --i) {
    std::string key = PickText(random, TaintKeys());
    std::string effect = PickText(random, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    if (!seen.emplace(key, effect).second) continue;
    Json taint = Json::Object({{"key", key}, {"effect", effect}});
    if (!random.OneIn(3)) taint.Set("value", PickText(random, {"", "x", "1", "5"}));
    taints.Append(std::move(taint));
  }
  return taints;
}

Json RandomToleration(Random& random) {
  Json out = Json::Object();
  if (!random.OneIn(4)) out.Set("key", random.OneIn(8) ? "" : PickText(random, TaintKeys()));
  if (!random.OneIn(4)) {
    out.Set("operator", random.OneIn(20) ? PickText(random, {"Lt", "Gt"})
                                         : PickText(random, {"Equal", "Exists", ""}));
  }
  if (!random.OneIn(3)) out.Set("value", PickText(random, {"", "x", "1", "5", "9"}));
  if (!random.OneIn(3)) {
    out.Set("effect", PickText(random, {"", "NoSchedule", "PreferNoSchedule", "NoExecute"}));
  }
  if (random.OneIn(5)) out.Set("tolerationSeconds", static_cast<int64_t>(random.Below(3)) * 100);
  return out;
}

Json RandomTolerations(Random& random) {
  Json tolerations = Json::Array();
  for (uint64_t i = random.Below(5); i > 0; --i) tolerations.Append(RandomToleration(random));
  return tolerations;
}

// ---- node affinity

const std::vector<const char*>& LabelKeys() {
  static const auto* const kKeys = new std::vector<const char*>{"a", "b", "example.com/size"};
  return *kKeys;
}
const std::vector<const char*>& LabelValues() {
  static const auto* const kValues = new std::vector<const char*>{
      "", "x", "x", "y", "1", "2", "3", "10", "10", "007", "1.5", "9223372036854775808"};
  return *kValues;
}

Json SomeTexts(Random& random, const std::vector<const char*>& from, uint64_t count) {
  Json texts = Json::Array();
  for (uint64_t i = 0; i < count; ++i) texts.Append(PickText(random, from));
  return texts;
}

// What no API server lets in must not match by accident either. But kube-scheduler runs no pod at
// all whose preferences it cannot read; ours only leaves these out.
enum class Soundness { kSound, kMayBeBroken };

Json RandomExpression(Random& random, Soundness soundness) {
  const std::string op = PickText(random, {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
  Json out = Json::Object({{"key", PickText(random, LabelKeys())}, {"operator", op}});
  if (op == "In" || op == "NotIn") {
    out.Set("values", SomeTexts(random, LabelValues(), 1 + random.Below(3)));
  } else if (op == "Gt" || op == "Lt") {
    out.Set("values",
            SomeTexts(random, {"0", "1", "2", "5", "9", "007", "9223372036854775807"}, 1));
  }
  if (soundness == Soundness::kSound) return out;
  if (random.OneIn(20) && (op == "Gt" || op == "Lt")) {
    out.Set("values", SomeTexts(random, {"-3", "+1", "x", "", "1.5", "9223372036854775808"},
                                1 + random.Below(2)));
  }
  if (random.OneIn(60)) out.Set("values", SomeTexts(random, {"no label!", "x", "-"}, 1));
  if (random.OneIn(60)) out.Set("values", Json::Array());
  if (random.OneIn(60)) out.Set("key", PickText(random, {"no key!", "No.Prefix/a", "a/b/c"}));
  return out;
}

Json RandomField(Random& random) {
  return Json::Object({{"key", "metadata.name"},
                       {"operator", PickText(random, {"In", "NotIn"})},
                       {"values", Json::Array({NodeName(random.Below(kMostNodes))})}});
}

Json RandomTerm(Random& random, Soundness soundness) {
  Json term = Json::Object();
  if (!random.OneIn(6)) {
    Json& expressions = term.Set("matchExpressions", Json::Array());
    for (uint64_t i = 1 + random.Below(2); i > 0; --i) {
      expressions.Append(RandomExpression(random, soundness));
    }
  }
  if (random.OneIn(6)) {
    Json& fields = term.Set("matchFields", Json::Array());
    for (uint64_t i = random.Below(3); i > 0; --i) fields.Append(RandomField(random));
  }
  return term;
}

Json RandomNodeAffinity(Random& random) {
  Json affinity = Json::Object();
  if (!random.OneIn(4)) {
    Json terms = Json::Array();
    for (uint64_t i = random.Below(5); i > 0; --i)
      terms.Append(RandomTerm(random, Soundness::kMayBeBroken));
    affinity.Set("requiredDuringSchedulingIgnoredDuringExecution",
                 Json::Object({{"nodeSelectorTerms", std::move(terms)}}));
  }
  if (random.OneIn(2)) {
    Json& preferred =
        affinity.Set("preferredDuringSchedulingIgnoredDuringExecution", Json::Array());
    for (uint64_t i = random.Below(4); i > 0; --i) {
      Json term = RandomTerm(random, Soundness::kSound);
      preferred.Append(Json::Object({{"weight", static_cast<int64_t>(1 + random.Below(100))},
                                     {"preference", std::move(term)}}));
    }
  }
  return affinity;
}

// ---- images

struct Image {
  const char* name;
  int64_t mebibytes;
};
// Around what counts for nothing and what counts for everything, and beyond what can be counted.
constexpr Image kImages[] = {{"app:1", 20},
                             {"app:latest", 300},
                             {"host:5000/team/app:latest", 700},
                             {"host:5000/team/app@sha256:aa", 2500},
                             {"huge:latest", int64_t{1} << 40}};

Json RandomContainers(Random& random, uint64_t count) {
  Json containers = Json::Array();
  for (uint64_t i = 0; i < count; ++i) {
    containers.Append(
        Json::Object({{"name", absl::StrCat("c", i)},
                      {"image", PickText(random, {"app", "app:1", "host:5000/team/app", "huge",
                                                  "host:5000/team/app@sha256:aa", "other:1"})}}));
  }
  return containers;
}

Json RandomImages(Random& random) {
  Json images = Json::Array();
  for (const Image& image : kImages) {
    if (random.OneIn(2)) continue;
    images.Append(
        Json::Object({{"names", Json::Array({absl::StrCat("alias/", image.name), image.name})},
                      {"sizeBytes", image.mebibytes << 20}}));
  }
  return images;
}

}  // namespace

Json NodeNameCase(Random& random) {
  Json pod = PodObject("p");
  if (!random.OneIn(4)) {
    pod.Mutable("spec").Set("nodeName", random.OneIn(8) ? "" : NodeName(random.Below(kMostNodes)));
  }
  return Json::Object({{"pod", std::move(pod)}, {"nodes", SomeNodes(random)}});
}

Json NodeUnschedulableCase(Random& random) {
  Json pod = PodObject("p");
  pod.Mutable("spec").Set("tolerations", RandomTolerations(random));
  Json nodes = SomeNodes(random);
  for (Json& node : nodes.mutable_items()) {
    Json& spec = node.Mutable("spec");
    if (!random.OneIn(3)) spec.Set("unschedulable", !random.OneIn(4));
    spec.Set("taints", RandomTaints(random));
  }
  return Json::Object({{"pod", std::move(pod)}, {"nodes", std::move(nodes)}});
}

Json TaintCase(Random& random) {
  Json pod = PodObject("p");
  pod.Mutable("spec").Set("tolerations", RandomTolerations(random));
  Json nodes = SomeNodes(random);
  for (Json& node : nodes.mutable_items()) node.Mutable("spec").Set("taints", RandomTaints(random));
  return Json::Object({{"pod", std::move(pod)}, {"nodes", std::move(nodes)}});
}

Json NodeAffinityCase(Random& random) {
  Json pod = PodObject("p");
  Json& spec = pod.Mutable("spec");
  if (random.OneIn(6)) {
    Json& selector = spec.Set("nodeSelector", Json::Object());
    if (!random.OneIn(5)) {
      const std::string value = PickText(random, LabelValues());  // drawn first, by every compiler
      selector.Set(PickText(random, LabelKeys()), value);
    }
  }
  if (!random.OneIn(10)) {
    Json affinity = Json::Object();
    if (!random.OneIn(10)) affinity.Set("nodeAffinity", RandomNodeAffinity(random));
    spec.Set("affinity", std::move(affinity));
  }
  Json nodes = SomeNodes(random);
  for (Json& node : nodes.mutable_items()) {
    node.Mutable("metadata").Set("labels", RandomLabels(random, LabelKeys(), LabelValues()));
  }
  Json out = Json::Object({{"pod", std::move(pod)}, {"nodes", std::move(nodes)}});
  // A label that is the level of a Topology stands in a column, not in a class of nodes.
  if (random.OneIn(3)) out.Set("columns", SomeTexts(random, LabelKeys(), 1));
  return out;
}

Json ImageCase(Random& random) {
  Json pod = PodObject("p");
  Json& spec = pod.Mutable("spec");
  spec.Set("containers", RandomContainers(random, 1 + random.Below(3)));
  if (random.OneIn(3)) spec.Set("initContainers", RandomContainers(random, 1));
  Json nodes = SomeNodes(random);
  for (Json& node : nodes.mutable_items()) {
    node.Mutable("status").Set("images", RandomImages(random));
    if (random.OneIn(4)) node.Mutable("spec").Set("unschedulable", true);
  }
  return Json::Object({{"pod", std::move(pod)}, {"nodes", std::move(nodes)}});
}

}  // namespace maniple
