// Objects of a small cluster at random, of few names, so that they meet. Pods are in
// world_of_events.h.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/producers/kinds.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"

namespace maniple {

class RandomObjects {
 public:
  // The kinds of producers that it has objects of.
  static ResourceKind UpstreamGroups();
  static ResourceKind HyperNodes();

 protected:
  explicit RandomObjects(uint64_t seed) : random_(seed) {}

  template <typename... Texts>
  std::string Numbered(uint64_t below, Texts... prefix) {
    return absl::StrCat(prefix..., random_.Below(below));
  }
  std::string NodeName() { return Numbered(5, "n"); }
  std::string ClaimName() { return Numbered(5, "claim-"); }
  std::string VolumeName() { return Numbered(5, "pv-"); }
  std::string ClassName() { return Numbered(3, "class-"); }
  std::string DriverName() { return Numbered(2, "driver-"); }
  std::string NamespaceName() { return random_.OneIn(4) ? "other" : "default"; }

  ObjectEvent AnyNode();

  ObjectEvent AnyGroup();

  // Of scheduling.k8s.io, whether it makes a gang of its pods or not.
  ObjectEvent AnyUpstreamGroup();

  ObjectEvent AnyHyperNode();

  ObjectEvent AnyNamespace();

  ObjectEvent AnyPriorityClass();

  ObjectEvent AnyBudget();

  ObjectEvent AnyTopology();

  ObjectEvent AnyClaim();

  ObjectEvent AnyVolume();

  ObjectEvent AnyClass();

  ObjectEvent CsiNodeLimits();
  ObjectEvent AnyDriver();
  ObjectEvent AnyCapacity();
  ObjectEvent AnyAttachment();

  LabelSelector AnySelector();

  PodTerms AnyTerms(const std::string& in);

  Random random_;

 private:
  static ResourceKind KindNamed(absl::string_view api_version, absl::string_view kind);
};

}  // namespace maniple
