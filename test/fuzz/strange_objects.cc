#include "test/fuzz/strange_objects.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

constexpr int kMost = 2047;
// JSON around the words of an object, a term, and one thing in a list.
constexpr size_t kObjectBytes = 700, kTermBytes = 130, kItemBytes = 12;

}  // namespace

std::string StrangeObjects::Word(absl::string_view kind, int number) {
  std::string word = absl::StrCat(salt_, kind, number);
  counted_ += kItemBytes + word.size();
  return word;
}

LabelSelector StrangeObjects::DrawSelector(int number) {
  static constexpr SelectorOperator kOperators[] = {SelectorOperator::kNotIn, SelectorOperator::kIn,
                                                    SelectorOperator::kExists,
                                                    SelectorOperator::kDoesNotExist};
  const SelectorOperator op = kOperators[bytes_.Below(4)];
  const std::string key = bytes_.Below(4) == 0 ? "app" : Word("key", number);
  std::vector<std::string> values;
  if (op == SelectorOperator::kNotIn || op == SelectorOperator::kIn) {
    values = {bytes_.Below(2) == 0 ? Word("value", number) : absl::StrCat(bytes_.Below(50))};
  }
  return {.requirements = {Requires(key, op, values)}};
}

void StrangeObjects::AddTerms(Pod& pod) {
  // Terms that differ in nothing but a word are what a program writes, so a few bytes give many.
  const int kind = bytes_.Below(6);
  const int count = bytes_.Many(kMost);
  const LabelSelector drawn = DrawSelector(0);
  PodTerms& terms = pod.constraints.pod_terms;
  for (int i = 0; i < count; ++i) {
    counted_ += kTermBytes;
    PodAffinityTerm term{.topology_key = i % 2 == 0 ? "zone" : "kubernetes.io/hostname",
                         .selector = drawn,
                         .namespaces = {pod.meta.namespace_name}};
    term.selector->requirements[0].key = Word("key", i);
    if (kind < 2) {
      terms.rather_apart.push_back({1 + i % 100, std::move(term)});
    } else if (kind == 2) {
      terms.rather_near.push_back({1 + i % 100, std::move(term)});
    } else if (kind == 3) {
      terms.apart.push_back(std::move(term));
    } else if (kind == 4) {
      terms.near.push_back(std::move(term));
    } else {
      pod.constraints.spread.push_back({.topology_key = term.topology_key,
                                        .namespace_name = pod.meta.namespace_name,
                                        .selector = std::move(term.selector)});
    }
  }
  std::ranges::sort(terms.rather_apart);
  std::ranges::sort(terms.rather_near);
  std::ranges::sort(terms.apart);
  std::ranges::sort(terms.near);
  std::ranges::sort(pod.constraints.spread);
}

void StrangeObjects::AddLabels(StringMap& labels, int most) {
  for (int i = bytes_.Many(most); i > 0; --i) labels.Set(Word("label", i), Word("v", i));
}

void StrangeObjects::AddResources(ResourceAmounts& amounts) {
  const int64_t amount = 1 + bytes_.Byte();
  for (int i = bytes_.Many(kMost); i > 0; --i) {
    amounts.push_back({absl::StrCat(Word("thing", i), ".example/x"), Amount(amount)});
    counted_ += 2 * kItemBytes;
  }
  std::ranges::sort(amounts);
}

void StrangeObjects::AddConstraints(Pod& pod) {
  PodConstraints& constraints = pod.constraints;
  switch (bytes_.Below(8)) {
    case 0:
    case 1:
      return AddResources(constraints.requests);
    case 2:
      return AddLabels(constraints.node_selector, kMost);
    case 3: {
      NodeSelectorTerm term;
      for (int i = bytes_.Many(256); i > 0; --i) {
        term.expressions.push_back(Requires(Word("key", i), SelectorOperator::kNotIn));
        for (int j = bytes_.Many(64); j > 0; --j) {
          term.expressions.back().values.push_back(Word("v", j));
        }
        std::ranges::sort(term.expressions.back().values);
      }
      std::ranges::sort(term.expressions);
      constraints.required_node_terms = {std::move(term)};
      return;
    }
    case 4:
      for (int i = bytes_.Many(kMost); i > 0; --i) {
        constraints.tolerations.push_back({.key = Word("taint", i), .value = "x", .effect = {}});
      }
      std::ranges::sort(constraints.tolerations);
      return;
    case 5:
      for (int i = bytes_.Many(kMost); i > 0; --i) {
        constraints.host_ports.push_back({.port = i});
        counted_ += 2 * kItemBytes;
      }
      return;
    case 6:
      for (int i = bytes_.Many(kMost); i > 0; --i) constraints.images.push_back(Word("image", i));
      std::ranges::sort(constraints.images);
      return;
    default:
      return AddTerms(pod);
  }
}

StrangeObject StrangeObjects::DrawPod(absl::string_view name) {
  counted_ = kObjectBytes;
  Pod pod = MakePod(name).Cpu(1 + bytes_.Byte());
  if (bytes_.Below(2) == 0) pod.scheduler_name = "other";
  if (bytes_.Below(4) == 0) pod.meta.labels.Set(kQueueLabel, Word("queue", 0));
  if (bytes_.Below(4) == 0) pod.meta.labels.Set(kPodGroupLabel, absl::StrCat(salt_, "group"));
  if (bytes_.Below(4) == 0) AddLabels(pod.meta.labels, kMost);
  if (bytes_.Below(3) == 0) pod.node_name = absl::StrCat("n", bytes_.Below(4));
  if (bytes_.Below(2) == 0) AddTerms(pod);
  for (int parts = bytes_.Below(3); parts >= 0; --parts) AddConstraints(pod);
  return {.object = std::move(pod), .bytes = counted_};
}

StrangeObject StrangeObjects::DrawNode(absl::string_view name) {
  counted_ = kObjectBytes;
  Node node = MakeNode(name).Gpu(bytes_.Below(16));
  AddLabels(node.meta.labels, kMost);
  AddResources(node.allocatable);
  for (int i = bytes_.Many(256); i > 0; --i) {
    node.taints.push_back({.key = Word("taint", i), .value = "x"});
  }
  node.unschedulable = bytes_.Below(4) == 0;
  return {.object = std::move(node), .bytes = counted_};
}

TopologyRequest StrangeObjects::DrawTopology() {
  TopologyRequest topology;
  const int which = bytes_.Below(4);
  if (which == 1) topology.required = "zone";
  if (which == 2) topology.preferred = Word("level", bytes_.Below(8));
  if (which == 3) {
    topology.slice_level = "zone";
    topology.slice_size = 1 + bytes_.Byte();
  }
  return topology;
}

StrangeObject StrangeObjects::DrawPodGroup(absl::string_view name) {
  counted_ = kObjectBytes;
  PodGroup group = MakePodGroup(name).MinMember(1 + bytes_.Many(kMost));
  if (bytes_.Below(2) == 0) group.spec.queue = Word("queue", 1);
  group.spec.topology = DrawTopology();
  const TopologyRequest topology = DrawTopology();
  const int32_t members = bytes_.Below(8);
  for (int i = bytes_.Many(64); i > 0; --i) {
    group.spec.sub_groups.push_back({Word("part", i), members, topology});
    counted_ += kTermBytes;
  }
  return {.object = std::move(group), .bytes = counted_};
}

}  // namespace maniple
