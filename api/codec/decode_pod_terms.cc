#include "api/codec/decode_pod_terms.h"

#include <algorithm>
#include <utility>

#include "api/base/sort_unique.h"
#include "api/codec/decode_parts.h"

namespace maniple {
namespace {

constexpr int32_t kMostTermWeight = 100;

// Equal meaning is equal bytes.
LabelSelector ReadCanonical(const Cursor& selector) {
  LabelSelector out = ReadLabelSelector(selector);
  for (SelectorRequirement& requirement : out.requirements) SortUnique(requirement.values);
  SortUnique(out.requirements);
  return out;
}

// Adds what the pod's own labels say of these keys; a label that the pod lacks says nothing.
void Fold(const std::vector<std::string>& keys, SelectorOperator op, const StringMap& labels,
          LabelSelector& selector) {
  for (const std::string& key : keys) {
    const std::string* value = labels.Find(key);
    if (value == nullptr) continue;
    selector.requirements.push_back({.key = key, .op = op, .values = {*value}});
  }
  SortUnique(selector.requirements);
}

// The matchLabelKeys that the server has not folded in yet: it does so when the pod is created, and
// the pod's labels may be others since; both values together would select nobody.
std::vector<std::string> NotFolded(std::vector<std::string> keys, const LabelSelector& selector) {
  std::erase_if(keys, [&](const std::string& key) {
    return std::ranges::any_of(selector.requirements, [&](const SelectorRequirement& known) {
      return known.key == key && known.op == SelectorOperator::kIn;
    });
  });
  return keys;
}

NodeInclusion ReadInclusion(const Cursor& policy) {
  return policy.View() == "Ignore" ? NodeInclusion::kIgnore : NodeInclusion::kHonor;
}

}  // namespace

void PodTermsReader::ReadAffinity(const Cursor& affinity) {
  for (const Cursor& field : affinity.Members()) {
    if (field.key() == "podAffinity") near_ = ReadTerms(field);
    if (field.key() == "podAntiAffinity") apart_ = ReadTerms(field);
  }
}

PodTermsReader::RawTerms PodTermsReader::ReadTerms(const Cursor& affinity) {
  RawTerms out;
  for (const Cursor& field : affinity.Members()) {
    if (field.key() == kRequiredTerms) {
      for (const Cursor& term : field.Items()) out.required.push_back(ReadTerm(term));
    }
    if (field.key() == kPreferredTerms) {
      for (const Cursor& term : field.Items()) out.preferred.push_back(ReadWeighted(term));
    }
  }
  return out;
}

PodTermsReader::RawTerm PodTermsReader::ReadWeighted(const Cursor& weighted) {
  RawTerm out;
  int32_t weight = 0;
  for (const Cursor& field : weighted.Members()) {
    if (field.key() == "weight") weight = field.Int32();
    if (field.key() == "podAffinityTerm") out = ReadTerm(field);
  }
  out.weight = std::clamp(weight, 0, kMostTermWeight);
  return out;
}

PodTermsReader::RawTerm PodTermsReader::ReadTerm(const Cursor& term) {
  RawTerm out;
  for (const Cursor& field : term.Members()) {
    const absl::string_view key = field.key();
    if (key == "topologyKey") out.term.topology_key = field.Text();
    if (key == "labelSelector") out.term.selector = ReadCanonical(field);
    if (key == "namespaces") out.term.namespaces = field.Texts();
    if (key == "namespaceSelector") out.term.namespace_selector = ReadCanonical(field);
    if (key == "matchLabelKeys") out.match_label_keys = field.Texts();
    if (key == "mismatchLabelKeys") out.mismatch_label_keys = field.Texts();
  }
  return out;
}

PodTermsReader::RawSpread PodTermsReader::ReadConstraint(const Cursor& constraint) {
  RawSpread out;
  TopologySpreadConstraint& spread = out.constraint;
  for (const Cursor& field : constraint.Members()) {
    const absl::string_view key = field.key();
    if (key == "topologyKey") spread.topology_key = field.Text();
    if (key == "maxSkew") spread.max_skew = field.Int32();
    if (key == "minDomains") spread.min_domains = field.Int32();
    if (key == "nodeAffinityPolicy") spread.node_affinity = ReadInclusion(field);
    if (key == "nodeTaintsPolicy" && field.View() == "Honor") {
      spread.node_taints = NodeInclusion::kHonor;
    }
    if (key == "labelSelector") spread.selector = ReadCanonical(field);
    if (key == "matchLabelKeys") out.match_label_keys = field.Texts();
    if (key == "whenUnsatisfiable" && field.View() == "ScheduleAnyway") {
      spread.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway;
    }
  }
  return out;
}

void PodTermsReader::ReadSpread(const Cursor& constraints) {
  spread_.clear();
  for (const Cursor& constraint : constraints.Items()) {
    spread_.push_back(ReadConstraint(constraint));
  }
}

PodAffinityTerm PodTermsReader::Completed(RawTerm raw, const ObjectMeta& meta) {
  using enum SelectorOperator;
  PodAffinityTerm term = std::move(raw.term);
  if (term.namespaces.empty() && !term.namespace_selector.has_value()) {
    term.namespaces = {meta.namespace_name};
  }
  SortUnique(term.namespaces);
  if (!term.selector.has_value()) return term;
  Fold(NotFolded(std::move(raw.match_label_keys), *term.selector), kIn, meta.labels,
       *term.selector);
  Fold(raw.mismatch_label_keys, kNotIn, meta.labels, *term.selector);
  return term;
}

std::vector<PodAffinityTerm> PodTermsReader::Required(std::vector<RawTerm> raw,
                                                      const ObjectMeta& meta) {
  std::vector<PodAffinityTerm> out;
  for (RawTerm& term : raw) out.push_back(Completed(std::move(term), meta));
  SortUnique(out);
  return out;
}

std::vector<WeightedPodTerm> PodTermsReader::Preferred(std::vector<RawTerm> raw,
                                                       const ObjectMeta& meta) {
  std::vector<WeightedPodTerm> out;
  for (RawTerm& term : raw) {
    const int32_t weight = term.weight;
    if (weight > 0) out.push_back({.weight = weight, .term = Completed(std::move(term), meta)});
  }
  std::sort(out.begin(), out.end());
  return out;
}

void PodTermsReader::Into(const ObjectMeta& meta, PodConstraints& constraints) && {
  PodTerms& terms = constraints.pod_terms;
  terms.near = Required(std::move(near_.required), meta);
  terms.apart = Required(std::move(apart_.required), meta);
  terms.rather_near = Preferred(std::move(near_.preferred), meta);
  terms.rather_apart = Preferred(std::move(apart_.preferred), meta);
  for (RawSpread& raw : spread_) {
    TopologySpreadConstraint spread = std::move(raw.constraint);
    spread.namespace_name = meta.namespace_name;
    if (spread.selector.has_value()) {
      Fold(raw.match_label_keys, SelectorOperator::kIn, meta.labels, *spread.selector);
    }
    constraints.spread.push_back(std::move(spread));
  }
  SortUnique(constraints.spread);
}

}  // namespace maniple
