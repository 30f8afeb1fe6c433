// A loop on four nodes of eight GPUs, and objects of other projects that declare gangs for it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/codec/decode.h"
#include "api/producers/kinds.h"
#include "api/producers/reader.h"
#include "test/support/loop_driver.h"

namespace maniple {

// "podgroups.scheduling.x-k8s.io"
inline ResourceKind KindNamed(absl::string_view resource_and_group) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(resource_and_group, absl::MaxSplits('.', 1));
  const ForeignKinds& kinds = BuiltinForeignKinds();
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].resource == parts.first && kinds[i].group == parts.second) {
      return ForeignResource(i);
    }
  }
  ADD_FAILURE() << "no kind " << resource_and_group;
  return ForeignResource(0);
}

inline constexpr char kXk8s[] = "podgroups.scheduling.x-k8s.io";
inline constexpr char kVolcano[] = "podgroups.scheduling.volcano.sh";
inline constexpr char kJobs[] = "jobs.batch";
inline constexpr char kPyTorchJobs[] = "pytorchjobs.kubeflow.org";
inline constexpr char kMpiJobs[] = "mpijobs.kubeflow.org";
inline constexpr char kRay[] = "rayclusters.ray.io";
inline constexpr char kLws[] = "leaderworkersets.leaderworkerset.x-k8s.io";

class LoopProducers : public ::testing::Test {
 protected:
  LoopProducers() : d_({.producers = {.kinds = BuiltinForeignKinds()}}) {
    d_.Nodes(4, 8);
    for (size_t i = 0; i < BuiltinForeignKinds().size(); ++i) {
      const ResourceKind kind = ForeignResource(i);
      const bool served = std::ranges::any_of(
          std::initializer_list<const char*>{kXk8s, kVolcano, kJobs, kPyTorchJobs, kMpiJobs, kLws,
                                             kRay},
          [kind](const char* name) { return kind == KindNamed(name); });
      served ? d_.api.Serve(kind) : d_.api.Uninstall(kind);
    }
  }

  struct Foreign {
    const char* kind;
    std::string name;
    std::string spec = "{}";
    std::string uid = "";  // "" = made of the name
    std::string metadata = "";
  };
  void Put(const Foreign& foreign) {
    const ResourceKind kind = KindNamed(foreign.kind);
    const ForeignKind& known = BuiltinForeignKinds()[ForeignIndex(kind)];
    const std::string uid = foreign.uid.empty() ? absl::StrCat("u-", foreign.name) : foreign.uid;
    const std::string json = absl::StrCat(
        R"({"apiVersion":")", known.group, "/", known.versions.front(), R"(","kind":")", known.kind,
        R"(","metadata":{"name":")", foreign.name, R"(","namespace":"default","uid":")", uid, "\"",
        foreign.metadata, R"(},"spec":)", foreign.spec, "}");
    const std::unique_ptr<const ForeignReader> reader = MakeForeignReader(BuiltinForeignKinds());
    Decoder decoder(reader.get());
    absl::StatusOr<DecodedObject> decoded = decoder.Single(kind, json);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    auto* object = std::get_if<Object>(&decoded->what);
    ASSERT_NE(object, nullptr) << std::get<ObjectInvalid>(decoded->what).problem;
    d_.api.Put(std::move(*object));
  }

  struct Pods {
    std::string prefix;
    int from = 0, to = 0;
    std::string label, value;  // "" = none
    std::string annotation = "", text = "";
    std::optional<OwnerReference> owner = {};
    std::string queue = "";
    int32_t priority = 0;
  };
  void Submit(const Pods& pods) {
    for (int i = pods.from; i < pods.to; ++i) {
      MakePod made(absl::StrCat(pods.prefix, "-", i));
      made.Gpu(8).Priority(pods.priority);
      Pod pod = made;
      if (!pods.queue.empty()) pod.meta.labels.Set(kQueueLabel, pods.queue);
      if (!pods.label.empty()) pod.meta.labels.Set(pods.label, pods.value);
      if (!pods.annotation.empty()) pod.meta.annotations.Set(pods.annotation, pods.text);
      pod.meta.controller = pods.owner;
      pod.meta.created = d_.now;
      pod.meta.uid.clear();
      d_.api.Put(pod);
    }
  }
  // Pods of the MPIJob "mpi".
  void SubmitMpi(const std::string& prefix, const std::string& role, int to) {
    Submit({.prefix = prefix,
            .to = to,
            .label = "training.kubeflow.org/job-role",
            .value = role,
            .owner = OwnerReference{"MPIJob", "mpi", "u-mpi", "kubeflow.org/v2beta1"}});
    d_.Settle(absl::Seconds(5));
  }
  void SubmitXk8s(const std::string& group, int from, int to) {
    Submit({.prefix = group,
            .from = from,
            .to = to,
            .label = "scheduling.x-k8s.io/pod-group",
            .value = group});
  }

  // Pods whose names begin so.
  [[nodiscard]] int BoundOf(const std::string& prefix) {
    int bound = 0;
    for (const Pod* pod : d_.api.Pods()) {
      bound += absl::StartsWith(pod->meta.name, prefix + "-") && !pod->node_name.empty() ? 1 : 0;
    }
    return bound;
  }

  // The PodGroups of ours that stand for the object.
  [[nodiscard]] std::vector<PodGroup> StandingFor(absl::string_view name) {
    std::vector<PodGroup> found;
    for (const ObjectEvent& event : d_.api.List()) {
      const auto* upserted = std::get_if<ObjectUpserted>(&event);
      const auto* group = upserted == nullptr ? nullptr : std::get_if<PodGroup>(&upserted->object);
      if (group != nullptr && group->spec.source.name == name) found.push_back(*group);
    }
    return found;
  }
  [[nodiscard]] std::string PhaseOf(const char* kind, absl::string_view name) {
    for (const ObjectEvent& event : d_.api.List()) {
      const auto* upserted = std::get_if<ObjectUpserted>(&event);
      const auto* object =
          upserted == nullptr ? nullptr : std::get_if<ForeignObject>(&upserted->object);
      if (object != nullptr && object->meta.name == name &&
          KindOf(upserted->object) == KindNamed(kind)) {
        return object->phase;
      }
    }
    return "gone";
  }

  LoopDriver d_;
};

}  // namespace maniple
