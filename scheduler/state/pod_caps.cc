#include "scheduler/state/pod_caps.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/gpu/gpu_resource.h"

namespace maniple {

size_t PodTermsOf(const PodConstraints& constraints) {
  const PodTerms& terms = constraints.pod_terms;
  return terms.near.size() + terms.apart.size() + terms.rather_near.size() +
         terms.rather_apart.size() + constraints.spread.size();
}

namespace {

// The size of selectors, added up.
struct SelectorSize {
  size_t keys = 0, values = 0, bytes = 0;

  void Add(const std::vector<SelectorRequirement>& requirements) {
    for (const SelectorRequirement& requirement : requirements) {
      ++keys;
      values += requirement.values.size();
      bytes += requirement.key.size();
      for (const std::string& value : requirement.values) bytes += value.size();
    }
  }
  void Add(const NodeSelectorTerm& term) {
    Add(term.expressions);
    Add(term.fields);
  }
  void Add(const PodAffinityTerm& term) {
    bytes += term.topology_key.size();
    if (term.selector.has_value()) Add(term.selector->requirements);
    if (term.namespace_selector.has_value()) Add(term.namespace_selector->requirements);
    values += term.namespaces.size();
    for (const std::string& name : term.namespaces) bytes += name.size();
  }
};

SelectorSize OfNodes(const PodConstraints& constraints) {
  SelectorSize size;
  for (const auto& [key, value] : constraints.node_selector.entries()) {
    ++size.keys;
    ++size.values;
    size.bytes += key.size() + value.size();
  }
  if (constraints.required_node_terms.has_value()) {
    for (const NodeSelectorTerm& term : *constraints.required_node_terms) size.Add(term);
  }
  for (const PreferredNodeTerm& rather : constraints.preferred_node_terms) size.Add(rather.term);
  return size;
}

SelectorSize OfPods(const PodConstraints& constraints) {
  SelectorSize size;
  const PodTerms& terms = constraints.pod_terms;
  for (const auto* required : {&terms.near, &terms.apart}) {
    for (const PodAffinityTerm& term : *required) size.Add(term);
  }
  for (const auto* preferred : {&terms.rather_near, &terms.rather_apart}) {
    for (const WeightedPodTerm& rather : *preferred) size.Add(rather.term);
  }
  for (const TopologySpreadConstraint& spread : constraints.spread) {
    size.bytes += spread.topology_key.size();
    if (spread.selector.has_value()) size.Add(spread.selector->requirements);
  }
  return size;
}

size_t BytesOf(const PodConstraints& constraints) {
  size_t bytes = OfNodes(constraints).bytes + OfPods(constraints).bytes;
  for (const ResourceAmount& request : constraints.requests) bytes += request.resource.size();
  for (const std::string& image : constraints.images) bytes += image.size();
  for (const Toleration& toleration : constraints.tolerations) {
    bytes += toleration.key.size() + toleration.value.size();
  }
  return bytes;
}

size_t Shorten(auto& list, size_t most) {
  const size_t had = list.size();
  if (had > most) list.erase(list.begin() + static_cast<int64_t>(most), list.end());
  return had - list.size();
}

size_t DropPodTerms(PodConstraints& pod) {
  const size_t had = PodTermsOf(pod);
  pod.pod_terms = {};
  pod.spread.clear();
  return had;
}

size_t DropNodeTerms(PodConstraints& pod) {
  const size_t had = OfNodes(pod).keys;
  pod.node_selector = {};
  pod.required_node_terms.reset();
  pod.preferred_node_terms.clear();
  return had;
}

// Required terms come before preferred ones.
size_t ShortenPodTerms(PodConstraints& pod) {
  size_t left = kMostPodTerms, out = 0;
  const auto keep = [&](auto& list) {
    out += Shorten(list, left);
    left -= list.size();
  };
  keep(pod.pod_terms.apart);
  keep(pod.pod_terms.near);
  keep(pod.spread);
  keep(pod.pod_terms.rather_apart);
  keep(pod.pod_terms.rather_near);
  return out;
}

// Kubernetes' own resources and GPUs stay: a running pod is charged for them. Those of vendors come
// before names that anybody may have made up.
size_t ShortenRequests(PodConstraints& pod) {
  const auto rank = [](const ResourceAmount& request) {
    if (request.resource.find('/') == std::string::npos) return 0;
    if (!GpuResourceOf(request.resource).has_value()) return 3;
    return IsOfKnownVendor(request.resource) ? 1 : 2;
  };
  std::ranges::stable_sort(pod.requests, {}, rank);
  const size_t out = Shorten(pod.requests, kMostResourcesOfPod);
  std::ranges::sort(pod.requests, {}, &ResourceAmount::resource);
  return out + Shorten(pod.most_per_container, kMostResourcesOfPod);
}

// No API server accepts longer names; a file may hold them.
size_t DropLongNames(PodConstraints& pod) {
  const auto is_long = [](const ResourceAmount& amount) {
    return amount.resource.size() > kLongestResourceName;
  };
  std::erase_if(pod.most_per_container, is_long);
  return std::erase_if(pod.requests, is_long);
}

struct Cap {
  absl::string_view path, what;
  size_t most;
  size_t (*number)(const PodConstraints&);
  size_t (*shorten)(PodConstraints&);  // returns how much it leaves out
};

constexpr Cap kCaps[] = {
    {"spec.affinity", "terms on other pods and spread constraints", kMostPodTerms, PodTermsOf,
     ShortenPodTerms},
    {"spec.containers[*].resources.requests", "resources", kMostResourcesOfPod,
     [](const PodConstraints& pod) { return pod.requests.size(); }, ShortenRequests},
    {"spec.affinity.nodeAffinity", "label keys of nodes", kMostNodeLabelKeys,
     [](const PodConstraints& pod) { return OfNodes(pod).keys; }, DropNodeTerms},
    {"spec.affinity", "values in selectors", kMostSelectorValues,
     [](const PodConstraints& pod) { return OfNodes(pod).values + OfPods(pod).values; },
     [](PodConstraints& pod) { return DropPodTerms(pod) + DropNodeTerms(pod); }},
    {"spec.containers[*].ports[*].hostPort", "host ports", kMostHostPorts,
     [](const PodConstraints& pod) { return pod.host_ports.size(); },
     [](PodConstraints& pod) { return Shorten(pod.host_ports, kMostHostPorts); }},
    {"spec.containers[*].image", "images", kMostImages,
     [](const PodConstraints& pod) { return pod.images.size(); },
     [](PodConstraints& pod) { return Shorten(pod.images, kMostImages); }},
    {"spec.tolerations", "tolerations", kMostTolerations,
     [](const PodConstraints& pod) { return pod.tolerations.size(); },
     [](PodConstraints& pod) { return Shorten(pod.tolerations, kMostTolerations); }},
    {"spec", "bytes of names and values", kMostConstraintBytes, BytesOf,
     [](PodConstraints& pod) {
       const size_t images = Shorten(pod.images, 0);
       return images + DropPodTerms(pod) + DropNodeTerms(pod) + Shorten(pod.tolerations, 0) +
              DropLongNames(pod);
     }},
};

}  // namespace

bool IsWithinCaps(const PodConstraints& constraints) {
  return std::ranges::all_of(kCaps,
                             [&](const Cap& cap) { return cap.number(constraints) <= cap.most; });
}

CappedPod CappedPodOf(const PodConstraints& constraints) {
  CappedPod capped{.constraints = constraints};
  for (const Cap& cap : kCaps) {
    const size_t number = cap.number(capped.constraints);
    if (number <= cap.most) continue;
    capped.left_out += static_cast<int64_t>(cap.shorten(capped.constraints));
    capped.constraints.unsupported.push_back(
        absl::StrCat(cap.path, " with ", number, " ", cap.what, " (at most ", cap.most, ")"));
  }
  std::ranges::sort(capped.constraints.unsupported);
  return capped;
}

bool IsWithinCaps(const PodVolumes& volumes) { return volumes.size() <= kMostPodVolumes; }

CappedVolumes CappedVolumesOf(const PodVolumes& volumes) {
  CappedVolumes capped{.volumes = volumes};
  const size_t number = volumes.size();
  if (number <= kMostPodVolumes) return capped;
  size_t out = Shorten(capped.volumes.claims, kMostPodVolumes);
  out += Shorten(capped.volumes.disks, kMostPodVolumes - capped.volumes.claims.size());
  out += Shorten(capped.volumes.attached,
                 kMostPodVolumes - capped.volumes.claims.size() - capped.volumes.disks.size());
  capped.left_out = static_cast<int64_t>(out);
  capped.unsupported = absl::StrCat("spec.volumes with ", number, " claims and disks (at most ",
                                    kMostPodVolumes, ")");
  return capped;
}

CappedPod WithoutPodTerms(const PodConstraints& constraints) {
  CappedPod capped{.constraints = constraints};
  capped.left_out = static_cast<int64_t>(DropPodTerms(capped.constraints));
  capped.constraints.unsupported.push_back(absl::StrCat(
      "spec.affinity with ", capped.left_out, " terms beyond the ", kMostQueriesOfNamespace,
      " distinct selectors that the pods of one namespace may ask about"));
  std::ranges::sort(capped.constraints.unsupported);
  return capped;
}

}  // namespace maniple
