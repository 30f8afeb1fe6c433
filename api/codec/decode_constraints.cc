#include "api/codec/decode_constraints.h"

#include <algorithm>
#include <limits>

#include "api/base/sort_unique.h"
#include "api/codec/decode_parts.h"

namespace maniple {
namespace {

NodeSelectorTerm ReadNodeTerm(const Cursor& term) {
  NodeSelectorTerm out;
  for (const Cursor& field : term.Members()) {
    if (field.key() == "matchExpressions") out.expressions = ReadNodeRequirements(field);
    if (field.key() == "matchFields") out.fields = ReadNodeRequirements(field);
  }
  return out;
}

}  // namespace

NodeTerms ReadNodeSelector(const Cursor& selector) {
  NodeTerms out;
  for (const Cursor& field : selector.Members()) {
    if (field.key() != "nodeSelectorTerms") continue;
    for (const Cursor& term : field.Items()) out.push_back(ReadNodeTerm(term));
  }
  SortUnique(out);
  return out;
}

namespace {

PreferredNodeTerm ReadPreferredTerm(const Cursor& preferred) {
  PreferredNodeTerm out;
  for (const Cursor& field : preferred.Members()) {
    if (field.key() == "weight") out.weight = field.Int32();
    if (field.key() == "preference") out.term = ReadNodeTerm(field);
  }
  return out;
}

void ReadNodeAffinity(const Cursor& affinity, PodConstraints& constraints) {
  for (const Cursor& field : affinity.Members()) {
    if (field.key() == kRequiredTerms) constraints.required_node_terms = ReadNodeSelector(field);
    if (field.key() != kPreferredTerms) continue;
    std::vector<PreferredNodeTerm>& terms = constraints.preferred_node_terms;
    for (const Cursor& preferred : field.Items()) terms.push_back(ReadPreferredTerm(preferred));
    std::sort(terms.begin(), terms.end());  // equal terms weigh twice: none is dropped
  }
}

// nullopt for a toleration of an operator or effect that no taint here can have: it never matches.
std::optional<Toleration> ReadToleration(const Cursor& toleration) {
  Toleration out;
  bool can_match = true;
  for (const Cursor& field : toleration.Members()) {
    const absl::string_view key = field.key();
    if (key == "key") out.key = field.Text();
    if (key == "value") out.value = field.Text();
    if (key == "operator") {
      const absl::string_view op = field.View();
      if (op == "Exists") out.op = TolerationOperator::kExists;
      can_match &= op == "Exists" || op == "Equal" || op.empty();
    }
    if (key == "effect" && !field.View().empty()) {
      out.effect = ReadTaintEffect(field);
      can_match &= out.effect.has_value();
    }
  }
  if (out.op == TolerationOperator::kExists) out.value.clear();
  return can_match ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

void ReadAffinity(const Cursor& affinity, PodConstraints& constraints) {
  for (const Cursor& field : affinity.Members()) {
    if (field.key() == "nodeAffinity") ReadNodeAffinity(field, constraints);
  }
}

std::vector<Toleration> ReadTolerations(const Cursor& tolerations) {
  std::vector<Toleration> out;
  for (const Cursor& item : tolerations.Items()) {
    if (std::optional<Toleration> toleration = ReadToleration(item)) {
      out.push_back(*std::move(toleration));
    }
  }
  SortUnique(out);
  return out;
}

void ReadHostPorts(const Cursor& ports, HostPortDefault otherwise, std::vector<HostPort>& out) {
  constexpr Cursor::Bounds kPort{0, std::numeric_limits<uint16_t>::max()};
  for (const Cursor& item : ports.Items()) {
    HostPort port;
    int32_t container_port = 0;
    for (const Cursor& field : item.Members()) {
      const absl::string_view key = field.key();
      if (key == "hostPort") port.port = static_cast<int32_t>(field.Int(kPort));
      if (key == "containerPort") container_port = static_cast<int32_t>(field.Int(kPort));
      if (key == "protocol" && !field.View().empty()) port.protocol = field.Text();
      if (key == "hostIP" && !field.View().empty()) port.ip = field.Text();
    }
    if (port.port == 0 && otherwise == HostPortDefault::kContainerPort) port.port = container_port;
    if (port.port > 0) out.push_back(std::move(port));
  }
}

void ReadRestartRules(const Cursor& rules, std::vector<std::string>& unsupported) {
  for (const Cursor& rule : rules.Items()) {
    for (const Cursor& field : rule.Members()) {
      const bool asks = field.key() == "action" && field.View() == "RestartAllContainers";
      if (asks) unsupported.push_back(field.Path());
    }
  }
}

}  // namespace maniple
