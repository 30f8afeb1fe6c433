// The caps on what one pod may ask for. Fears: a cap is off by one; what is left is still beyond a
// cap, and the state caps it for ever; a GPU of a running pod is left out before a fancy resource;
// a pod within the caps is touched.
#include "scheduler/state/pod_caps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/base/random.h"
#include "test/support/builders.h"

namespace maniple::state_pod_caps_test {
namespace {

// Each adds one of what a cap counts.
struct Kind {
  size_t most;
  void (*add)(PodConstraints&, size_t);
};

void AddResource(PodConstraints& pod, size_t i) {
  pod.requests.push_back({absl::StrFormat("made.up/r%05d", i), Amount(1)});
}
void AddPort(PodConstraints& pod, size_t i) {
  pod.host_ports.push_back({.port = static_cast<int32_t>(i)});
}
void AddImage(PodConstraints& pod, size_t i) { pod.images.push_back(absl::StrFormat("i%05d", i)); }
void AddToleration(PodConstraints& pod, size_t i) {
  pod.tolerations.push_back({.key = absl::StrCat(i)});
}
void AddNodeKey(PodConstraints& pod, size_t i) {
  pod.node_selector.Set(absl::StrFormat("k%05d", i), "");
}
void AddSpread(PodConstraints& pod, size_t i) {
  pod.spread.push_back({.topology_key = absl::StrFormat("k%05d", i)});
}
void AddNear(PodConstraints& pod, size_t i) {
  pod.pod_terms.near.push_back({.topology_key = absl::StrFormat("k%05d", i)});
}

constexpr Kind kKinds[] = {{kMostResourcesOfPod, AddResource},
                           {kMostHostPorts, AddPort},
                           {kMostImages, AddImage},
                           {kMostTolerations, AddToleration},
                           {kMostNodeLabelKeys, AddNodeKey},
                           {kMostPodTerms, AddSpread},
                           {kMostPodTerms, AddNear}};

TEST(PodCapsTest, LetsThroughWhatIsAtEachCapAndNoMore) {
  for (const Kind& kind : kKinds) {
    PodConstraints pod;
    for (size_t i = 0; i < kind.most; ++i) kind.add(pod, i);
    EXPECT_TRUE(IsWithinCaps(pod));
    EXPECT_TRUE(CappedPodOf(pod).constraints == pod);
    EXPECT_EQ(CappedPodOf(pod).left_out, 0);
    kind.add(pod, kind.most);
    EXPECT_FALSE(IsWithinCaps(pod));
    const CappedPod capped = CappedPodOf(pod);
    EXPECT_GE(capped.left_out, 1);
    ASSERT_EQ(capped.constraints.unsupported.size(), 1);
    EXPECT_NE(capped.constraints.unsupported[0].find(absl::StrCat("with ", kind.most + 1, " ")),
              std::string::npos);
  }
}

// A term of a preference with values and a key, as large as `bytes`.
void AddLargeTerm(PodConstraints& pod, size_t values, size_t bytes) {
  SelectorRequirement requirement = Requires("key", SelectorOperator::kIn);
  requirement.values.resize(values);
  requirement.key.resize(bytes, 'x');
  pod.preferred_node_terms.push_back({.weight = 1, .term = {.expressions = {requirement}}});
}

TEST(PodCapsTest, LeavesWhatIsWithinAllCaps) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    PodConstraints pod;
    for (const Kind& kind : kKinds) {
      const size_t number = random.Below(kind.most + kind.most / 2);
      for (size_t i = 0; i < number; ++i) kind.add(pod, i);
    }
    if (random.OneIn(3)) AddLargeTerm(pod, kMostSelectorValues + random.Below(2), 1);
    if (random.OneIn(3)) AddLargeTerm(pod, 1, kMostConstraintBytes);
    if (random.OneIn(4)) {
      for (ResourceAmount& request : pod.requests) request.resource.resize(5000, 'x');
    }
    const CappedPod capped = CappedPodOf(pod);
    EXPECT_TRUE(IsWithinCaps(capped.constraints)) << "seed " << seed;
    EXPECT_EQ(capped.left_out == 0, IsWithinCaps(pod)) << "seed " << seed;
    EXPECT_EQ(capped.constraints.unsupported.empty(), IsWithinCaps(pod)) << "seed " << seed;
  }
}

TEST(PodCapsTest, KeepsWhatARunningPodIsChargedFor) {
  PodConstraints pod;
  pod.requests.push_back({"cpu", Amount(1)});
  for (size_t i = 0; i < kMostResourcesOfPod; ++i) AddResource(pod, i);
  pod.requests.push_back({"memory", Amount(1)});
  pod.requests.push_back({kGpuResource, Amount(8)});
  const CappedPod capped = CappedPodOf(pod);
  EXPECT_EQ(capped.left_out, 3);
  EXPECT_EQ(capped.constraints.requests.size(), kMostResourcesOfPod);
  EXPECT_TRUE(std::ranges::is_sorted(capped.constraints.requests));
  for (const char* kept : {"cpu", "memory", kGpuResource}) {
    EXPECT_TRUE(std::ranges::any_of(capped.constraints.requests, [&](const ResourceAmount& amount) {
      return amount.resource == kept;
    })) << kept;
  }
}

TEST(PodCapsTest, KeepsTheFirstVolumesOfAllKindsTogether) {
  for (const size_t claims : {0, 100, 256, 300}) {
    PodVolumes volumes;
    for (size_t i = 0; i < claims; ++i) volumes.claims.push_back({.claim = absl::StrCat(i)});
    for (size_t i = 0; i < 100; ++i) volumes.disks.push_back({.name = absl::StrCat(i)});
    for (size_t i = 0; i < 100; ++i) volumes.attached.push_back({"driver", absl::StrCat(i)});
    const CappedVolumes capped = CappedVolumesOf(volumes);
    EXPECT_EQ(capped.volumes.size(), std::min(volumes.size(), kMostPodVolumes));
    EXPECT_EQ(capped.left_out + capped.volumes.size(), volumes.size());
    EXPECT_EQ(capped.unsupported.empty(), IsWithinCaps(volumes));
    EXPECT_EQ(capped.volumes.claims.size(), std::min(claims, kMostPodVolumes));
  }
}

TEST(PodCapsTest, DropsTermsOnPodsAndSaysHowMany) {
  PodConstraints pod;
  AddSpread(pod, 1);
  AddNear(pod, 2);
  AddPort(pod, 3);
  const CappedPod capped = WithoutPodTerms(pod);
  EXPECT_EQ(capped.left_out, 2);
  EXPECT_EQ(PodTermsOf(capped.constraints), 0);
  EXPECT_EQ(capped.constraints.host_ports, pod.host_ports);
  EXPECT_EQ(capped.constraints.unsupported.size(), 1);
}

TEST(PodCaps, RealGpusStayThoughOthersAreMadeUpBeforeThem) {
  PodConstraints pod;
  for (int i = 0; i < 70; ++i) {
    pod.requests.push_back({absl::StrFormat("a%05d.made.up/gpu", i), Amount(1)});
  }
  pod.requests.push_back({"nvidia.com/gpu", Amount(8)});
  const CappedPod capped = CappedPodOf(pod);
  EXPECT_EQ(capped.constraints.requests.size(), kMostResourcesOfPod);
  EXPECT_EQ(capped.constraints.requests.back().resource, "nvidia.com/gpu");
}

}  // namespace
}  // namespace maniple::state_pod_caps_test
