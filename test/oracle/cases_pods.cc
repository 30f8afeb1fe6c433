// Cases of the families that look at the pods around: topology spread and inter-pod affinity.
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/oracle/families.h"
#include "test/oracle/json_parts.h"

namespace maniple {
namespace {

using Texts = std::vector<const char*>;

const Texts& Domains() {
  static const auto* const kDomains = new Texts{"zone", "rack", "kubernetes.io/hostname"};
  return *kDomains;
}
const Texts& Namespaces() {
  static const auto* const kNamespaces = new Texts{"default", "a", "b"};
  return *kNamespaces;
}
const Texts& LabelKeys() {
  static const auto* const kKeys = new Texts{"app", "tier", "rev"};
  return *kKeys;
}
const Texts& LabelValues() {
  static const auto* const kValues = new Texts{"x", "x", "y", ""};
  return *kValues;
}

Json SomeOf(Random& random, const Texts& from) {
  Json texts = Json::Array();
  for (const char* text : from) {
    if (random.OneIn(3)) texts.Append(text);
  }
  return texts;
}

// Two zones, three racks that need not nest in them, a name for each; any of them may be missing.
Json SomeNodes(Random& random) {
  Json nodes = Json::Array();
  const uint64_t count = 1 + random.Below(8);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = absl::StrCat("n", i);
    Json node = NodeObject(name);
    Json& labels = node.Mutable("metadata").Set("labels", Json::Object());
    if (!random.OneIn(8)) labels.Set("zone", absl::StrCat("z", random.Below(2)));
    if (!random.OneIn(4)) labels.Set("rack", absl::StrCat("r", random.Below(3)));
    if (!random.OneIn(10)) labels.Set("kubernetes.io/hostname", name);
    if (random.OneIn(3)) labels.Set("disk", PickText(random, {"ssd", "hdd"}));
    if (random.OneIn(5)) {
      Json taint = Json::Object(
          {{"key", "t"},
           {"effect", PickText(random, {"NoSchedule", "NoExecute", "PreferNoSchedule"})}});
      node.Mutable("spec").Set("taints", Json::Array({std::move(taint)}));
    }
    if (random.OneIn(12)) node.Mutable("spec").Set("unschedulable", true);
    nodes.Append(std::move(node));
  }
  return nodes;
}

Json RandomExpression(Random& random, const Texts& keys, const Texts& values) {
  const std::string op = PickText(random, {"In", "In", "NotIn", "Exists", "DoesNotExist"});
  Json out = Json::Object({{"key", PickText(random, keys)}, {"operator", op}});
  if (op != "In" && op != "NotIn") return out;
  Json& listed = out.Set("values", Json::Array({PickText(random, values)}));
  if (random.OneIn(3)) listed.Append(PickText(random, values));
  return out;
}

Json RandomSelector(Random& random, const Texts& keys, const Texts& values) {
  Json out = Json::Object();
  if (!random.OneIn(3)) {
    out.Set("matchLabels", Json::Object({{PickText(random, keys), PickText(random, values)}}));
  }
  if (random.OneIn(3)) {
    Json& expressions = out.Set("matchExpressions", Json::Array());
    for (uint64_t i = random.Below(3); i > 0; --i) {
      expressions.Append(RandomExpression(random, keys, values));
    }
  }
  return out;
}

// Namespaces with labels; one that pods are in may be unknown.
Json SomeNamespaces(Random& random) {
  Json out = Json::Array();
  for (const char* name : Namespaces()) {
    if (random.OneIn(8)) continue;
    Json space = NamedObject("Namespace", name);
    space.Mutable("metadata").Set("labels", RandomLabels(random, {"team", "app"}, {"x", "y"}));
    out.Append(std::move(space));
  }
  return out;
}

void GiveLabels(Random& random, Json& pod) {
  Json& meta = pod.Mutable("metadata");
  if (random.OneIn(3)) meta.Set("namespace", PickText(random, Namespaces()));
  meta.Set("labels", RandomLabels(random, LabelKeys(), LabelValues()));
}

// ---- spread

Json RandomSpread(Random& random) {
  Json out = Json::Object({{"maxSkew", static_cast<int64_t>(1 + random.Below(3))},
                           {"topologyKey", PickText(random, Domains())}});
  const bool must = !random.OneIn(4);
  out.Set("whenUnsatisfiable", must ? "DoNotSchedule" : "ScheduleAnyway");
  if (must && random.OneIn(3)) out.Set("minDomains", static_cast<int64_t>(1 + random.Below(4)));
  if (random.OneIn(3)) out.Set("nodeAffinityPolicy", PickText(random, {"Honor", "Ignore"}));
  if (random.OneIn(3)) out.Set("nodeTaintsPolicy", PickText(random, {"Honor", "Ignore"}));
  if (random.OneIn(12)) return out;  // no selector selects nobody
  out.Set("labelSelector", RandomSelector(random, {"app", "tier"}, LabelValues()));
  if (random.OneIn(4)) out.Set("matchLabelKeys", Json::Array({"rev"}));
  return out;
}

void GiveSpread(Random& random, Json& pod) {
  std::set<std::pair<std::string, std::string>> seen;  // the API server lets in one of each
  Json constraints = Json::Array();
  for (uint64_t i = 1 + random.Below(3); i > 0; --i) {
    Json constraint = RandomSpread(random);
    if (!seen.emplace(constraint["topologyKey"].AsString(),
                      constraint["whenUnsatisfiable"].AsString())
             .second) {
      continue;
    }
    constraints.Append(std::move(constraint));
  }
  Json& spec = pod.Mutable("spec");
  spec.Set("topologySpreadConstraints", std::move(constraints));
  if (random.OneIn(5)) spec.Set("nodeSelector", Json::Object({{"disk", "ssd"}}));
  if (random.OneIn(5)) {
    Json expression = RandomExpression(random, {"disk", "zone"}, {"ssd", "hdd", "z0"});
    Json term = Json::Object({{"matchExpressions", Json::Array({std::move(expression)})}});
    Json required = Json::Object({{"nodeSelectorTerms", Json::Array({std::move(term)})}});
    spec.Mutable("affinity")
        .Mutable("nodeAffinity")
        .Set("requiredDuringSchedulingIgnoredDuringExecution", std::move(required));
  }
  if (random.OneIn(4)) {
    spec.Set("tolerations", Json::Array({Json::Object({{"key", "t"}, {"operator", "Exists"}})}));
  }
}

// ---- inter-pod affinity

Json RandomPodTerm(Random& random) {
  Json out = Json::Object({{"topologyKey", PickText(random, Domains())}});
  if (!random.OneIn(15)) {
    out.Set("labelSelector", RandomSelector(random, {"app", "tier"}, LabelValues()));
    if (random.OneIn(6)) out.Set("matchLabelKeys", Json::Array({"rev"}));
    if (random.OneIn(6)) out.Set("mismatchLabelKeys", Json::Array({"tier"}));
  }
  if (random.OneIn(6)) out.Set("namespaces", SomeOf(random, Namespaces()));
  if (random.OneIn(6)) {
    out.Set("namespaceSelector",
            random.OneIn(3) ? Json::Object() : RandomSelector(random, {"team", "app"}, {"x", "y"}));
  }
  return out;
}

// Whose terms: namespaces by what they lack are another matter to kube-scheduler in those of the
// pod in question, see intended_differences_test.
enum class Whose { kOfThePod, kOfOthers };

void SelectByWhatIsThere(Json& term) {
  Json* selector = term.Find("namespaceSelector");
  if (selector == nullptr || selector->Find("matchExpressions") == nullptr) return;
  std::erase_if(selector->Mutable("matchExpressions").mutable_items(), [](const Json& expression) {
    const std::string op = expression["operator"].AsString();
    return op == "NotIn" || op == "DoesNotExist";
  });
}

Json SomePodTerms(Random& random, uint64_t count, Whose whose) {
  Json terms = Json::Array();
  for (; count > 0; --count) {
    Json term = RandomPodTerm(random);
    if (whose == Whose::kOfThePod) SelectByWhatIsThere(term);
    terms.Append(std::move(term));
  }
  return terms;
}

Json SomePreferredTerms(Random& random, Whose whose) {
  Json terms = Json::Array();
  for (uint64_t i = random.Below(3); i > 0; --i) {
    Json term = RandomPodTerm(random);
    if (whose == Whose::kOfThePod) SelectByWhatIsThere(term);
    terms.Append(Json::Object({{"weight", static_cast<int64_t>(1 + random.Below(100))},
                               {"podAffinityTerm", std::move(term)}}));
  }
  return terms;
}

Json RandomPodAffinity(Random& random, uint64_t most_required, Whose whose) {
  Json out = Json::Object();
  if (!random.OneIn(3)) {
    out.Set("requiredDuringSchedulingIgnoredDuringExecution",
            SomePodTerms(random, 1 + random.Below(most_required), whose));
  }
  if (random.OneIn(3)) {
    out.Set("preferredDuringSchedulingIgnoredDuringExecution", SomePreferredTerms(random, whose));
  }
  return out;
}

void GivePodAffinity(Random& random, Json& pod, uint64_t most_required, Whose whose) {
  Json& affinity = pod.Mutable("spec").Mutable("affinity");
  affinity = Json::Object();
  if (random.OneIn(2)) affinity.Set("podAffinity", RandomPodAffinity(random, most_required, whose));
  if (random.OneIn(2))
    affinity.Set("podAntiAffinity", RandomPodAffinity(random, most_required, whose));
}

}  // namespace

Json TopologySpreadCase(Random& random) {
  Json pod = PodObject("p");
  GiveLabels(random, pod);
  GiveSpread(random, pod);
  Json pods = Json::Array();
  for (uint64_t i = random.Below(12); i > 0; --i) {
    Json other = PodObject(absl::StrCat("o", i));
    GiveLabels(random, other);
    // Most stand where they count.
    if (!random.OneIn(4)) other.Mutable("metadata").Set("namespace", pod["metadata"]["namespace"]);
    SettleSomewhere(random, other, 8);
    pods.Append(std::move(other));
  }
  return Json::Object(
      {{"pod", std::move(pod)}, {"nodes", SomeNodes(random)}, {"pods", std::move(pods)}});
}

Json PodAffinityCase(Random& random) {
  Json pod = PodObject("p");
  GiveLabels(random, pod);
  constexpr uint64_t kAbsurd = 500;
  GivePodAffinity(random, pod, random.OneIn(500) ? kAbsurd : 2, Whose::kOfThePod);
  Json pods = Json::Array();
  for (uint64_t i = random.Below(14); i > 0; --i) {
    Json other = PodObject(absl::StrCat("o", i));
    GiveLabels(random, other);
    if (random.OneIn(3)) GivePodAffinity(random, other, 1, Whose::kOfOthers);
    SettleSomewhere(random, other, 8);
    pods.Append(std::move(other));
  }
  Json out = Json::Object(
      {{"pod", std::move(pod)}, {"nodes", SomeNodes(random)}, {"pods", std::move(pods)}});
  out.Set("namespaces", SomeNamespaces(random));
  return out;
}

}  // namespace maniple
