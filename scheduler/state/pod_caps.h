// How much one pod may ask for, so that no pod makes work or memory beyond its own size.
//
// A pod of ours that asks for more is refused as not supported, with the limit in the reason. Of a
// pod of another scheduler the rest is left out, for it is placed by others. Pure.
//
//   const CappedPod capped = CappedPodOf(constraints);
//   if (capped.left_out > 0) … capped.constraints, capped.constraints.unsupported …
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "api/model/model.h"

namespace maniple {

// Terms on other pods and spread constraints: each is a selector that pods of its namespaces are
// held against. Charts that spread and separate their pods have fewer than ten.
inline constexpr size_t kMostPodTerms = 128;
// Distinct resources. Nodes report fewer than twenty.
inline constexpr size_t kMostResourcesOfPod = 64;
// Label keys of nodes that its selectors and affinity name, each time that they do.
inline constexpr size_t kMostNodeLabelKeys = 256;
// Values in all of its selectors. A list of nodes by name is the longest that is seen.
inline constexpr size_t kMostSelectorValues = 8192;
// Distinct selectors that all pods of one namespace ask about together: each pod is held against
// the selectors that may select it, of any namespace. A gang has two of its own, if any.
inline constexpr size_t kMostQueriesOfNamespace = 4096;
inline constexpr size_t kMostHostPorts = 256;
inline constexpr size_t kMostImages = 256;
inline constexpr size_t kMostTolerations = 256;
// A prefix of 253 characters, a slash, a name of 63.
inline constexpr size_t kLongestResourceName = 317;
// Of all names and values in it: a shape is kept once more for every set of selectors that it
// matches.
inline constexpr size_t kMostConstraintBytes = size_t{1} << 18;

// Claims and disks. No node attaches so many.
inline constexpr size_t kMostPodVolumes = 256;

struct CappedPod {
  // Within the caps; `unsupported` names the cap that was exceeded, with the limit and the number.
  PodConstraints constraints;
  int64_t left_out = 0;
};
struct CappedVolumes {
  PodVolumes volumes;       // the first of the volumes
  std::string unsupported;  // "", or the message about the rest
  int64_t left_out = 0;
};
[[nodiscard]] bool IsWithinCaps(const PodVolumes& volumes);
[[nodiscard]] CappedVolumes CappedVolumesOf(const PodVolumes& volumes);
// O(size of the constraints), all of these.
[[nodiscard]] size_t PodTermsOf(const PodConstraints& constraints);
[[nodiscard]] bool IsWithinCaps(const PodConstraints& constraints);
[[nodiscard]] CappedPod CappedPodOf(const PodConstraints& constraints);
// Without terms on other pods, since their namespace has used up its selectors.
[[nodiscard]] CappedPod WithoutPodTerms(const PodConstraints& constraints);

}  // namespace maniple
