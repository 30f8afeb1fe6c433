// Nodes, namespaces, priority classes, disruption budgets and leases.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "api/base/sort_unique.h"
#include "api/codec/decode_parts.h"
#include "api/codec/decode_requests.h"

namespace maniple {
namespace {

Taint ReadTaint(const Cursor& taint) {
  Taint out;
  std::optional<TaintEffect> effect;
  for (const Cursor& field : taint.Members()) {
    const absl::string_view key = field.key();
    if (key == "key") out.key = field.Text();
    if (key == "value") out.value = field.Text();
    if (key == "effect") effect = ReadTaintEffect(field);
  }
  // A taint that we do not understand must not be taken for none.
  if (!effect.has_value()) taint.Refuse("has no known effect");
  out.effect = effect.value_or(TaintEffect::kNoSchedule);
  return out;
}

// Absent when there is no condition Ready.
std::optional<bool> ReadReady(const Cursor& conditions) {
  std::optional<bool> ready;
  for (const Cursor& condition : conditions.Items()) {
    absl::string_view type;
    absl::string_view status;
    for (const Cursor& field : condition.Members()) {
      if (field.key() == "type") type = field.View();
      if (field.key() == "status") status = field.View();
    }
    if (type == "Ready") ready = status == "True";
  }
  return ready;
}

void ReadNodeSpec(const Cursor& spec, Node& node) {
  for (const Cursor& field : spec.Members()) {
    if (field.key() == "unschedulable") node.unschedulable = field.Bool();
    if (field.key() != "taints") continue;
    node.taints.clear();
    for (const Cursor& taint : field.Items()) node.taints.push_back(ReadTaint(taint));
    SortUnique(node.taints);
  }
}

// One entry may have several names, and two entries may share one.
std::vector<NodeImage> ReadImages(const Cursor& images) {
  std::vector<NodeImage> out;
  for (const Cursor& image : images.Items()) {
    const size_t first = out.size();
    int64_t bytes = 0;
    for (const Cursor& field : image.Members()) {
      if (field.key() == "sizeBytes") bytes = field.Int({0, std::numeric_limits<int64_t>::max()});
      if (field.key() != "names") continue;
      for (const Cursor& name : field.Items()) out.push_back({.name = name.Text(), .bytes = 0});
    }
    for (size_t i = first; i < out.size(); ++i) out[i].bytes = bytes;
  }
  std::sort(out.begin(), out.end());
  const auto same_name = [](const NodeImage& a, const NodeImage& b) { return a.name == b.name; };
  out.erase(std::unique(out.begin(), out.end(), same_name), out.end());
  return out;
}

void ReadNodeStatus(const Cursor& status, Node& node) {
  for (const Cursor& field : status.Members()) {
    if (field.key() == "allocatable") node.allocatable = RequestTable::Read(field).Amounts();
    if (field.key() == "images") node.images = ReadImages(field);
    if (field.key() == "conditions") node.ready = ReadReady(field).value_or(node.ready);
  }
}

}  // namespace

Node ReadNode(const Cursor& root) {
  Node node;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") node.meta = ReadMeta(field);
    if (field.key() == "spec") ReadNodeSpec(field, node);
    if (field.key() == "status") ReadNodeStatus(field, node);
  }
  return node;
}

Namespace ReadNamespace(const Cursor& root) {
  Namespace out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
  }
  return out;
}

PriorityClass ReadPriorityClass(const Cursor& root) {
  PriorityClass out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
    if (field.key() == "value") out.value = field.Int32();
    if (field.key() == "preemptionPolicy") out.preempts = field.View() != "Never";
  }
  return out;
}

PodDisruptionBudget ReadPodDisruptionBudget(const Cursor& root) {
  PodDisruptionBudget out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
    if (field.key() == "spec") {
      for (const Cursor& part : field.Members()) {
        if (part.key() == "selector") out.selector = ReadLabelSelector(part);
      }
    }
    if (field.key() == "status") {
      for (const Cursor& part : field.Members()) {
        if (part.key() == "disruptionsAllowed") out.disruptions_allowed = part.Int32();
        if (part.key() == "observedGeneration") {
          out.observed_generation = part.Int({0, std::numeric_limits<int64_t>::max()});
        }
      }
    }
  }
  return out;
}

}  // namespace maniple
