// The mix of requests for GPUs as the cluster shows it, by arriving and by running pods.
//
// Owned by ClusterState; scheduling thread. A pod that asks for GPUs, of any scheduler, counts once
// when it is first seen, and half as much a day later. It counts once more for as long as it is
// charged to a node. Integers only: equal histories give equal mixes.
//
//   mix.NoteTime(now);  mix.NoteArrival(shape);  mix.NoteCharge(shape, 1);
//   snapshot.mix = mix.Renew();
//
// Invariants:
//   1. running(shape) = charged pods of the shape, for shapes that ask for GPUs.
//   2. A mix is handed out again until requests have moved. They have when more than a tenth
//      of the pods, or of their GPU work, is of other kinds, or when pods name other models of GPU.
//      Only then are the GPUs of each model counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "plugins/framework/request_mix.h"
#include "scheduler/state/shape_table.h"

namespace maniple {

class ObservedMix final {
 public:
  static constexpr absl::Duration kHalfLife = absl::Hours(24);
  // There is no mix before so many pods, arrived or running, have been seen.
  static constexpr int64_t kLeastPods = 64;
  // Whether requests have moved is checked after so many arrivals, starts and ends.
  static constexpr int64_t kBetweenLooks = 64;

  // The source of models of GPU: the label of nodes whose values pods insist on,
  // and all GPUs on nodes, by model.
  using GpuVisitor = absl::FunctionRef<void(uint32_t model, ResourceId resource, int64_t amount)>;
  struct ModelSource {
    std::string label;  // "": models are not told apart
    std::function<void(const GpuModels& models, GpuVisitor visit)> for_each_gpu;
  };
  // Borrows `shapes` and the tables behind it for its life.
  ObservedMix(const ShapeTable& shapes, const DraftTables& draft, ModelSource models = {})
      : shapes_(shapes), draft_(draft), source_(std::move(models)) {}

  // Time passes. An earlier time than before changes nothing.
  void NoteTime(absl::Time now);
  void NoteArrival(ShapeId shape);
  void NoteCharge(ShapeId shape, int64_t pods);  // negative: so many are no longer charged

  // The mix to plan by; null while too little was seen. O(1) but for every kBetweenLooks-th change.
  [[nodiscard]] std::shared_ptr<const RequestMix> Renew();
  [[nodiscard]] int64_t running(ShapeId shape) const;

  // For sweeps. Shapes that no pod has any more give way to shapes of their requests and models
  // alone, which is enough for the mix. At most kMostGone of these are remembered.
  static constexpr size_t kMostGone = 1024;
  void Condense(ShapeTable& shapes, const UsedIds& of_pods);
  void ForEachListed(absl::FunctionRef<void(ShapeId)> visit) const;
  void NoteResources(UsedIds& used) const;  // of the mix that was handed out last

 private:
  struct Seen {
    int64_t arrived = 0;  // in thousandths of a pod, faded
    int64_t running = 0;
    bool listed = false;
  };

  [[nodiscard]] Seen* Of(ShapeId shape);
  [[nodiscard]] int32_t WorthOf(ResourceId resource) const;
  [[nodiscard]] int64_t WorkOf(const TypicalRequest& request) const;
  [[nodiscard]] GpuModels Models() const;
  [[nodiscard]] ModelSupply SupplyOf(GpuModels models) const;
  [[nodiscard]] std::vector<TypicalRequest> Requests(const GpuModels& models) const;
  [[nodiscard]] std::vector<UnitWorth> UnitsOf(const std::vector<TypicalRequest>& requests) const;
  [[nodiscard]] bool Moved(const std::vector<TypicalRequest>& requests) const;

  const ShapeTable& shapes_;
  const DraftTables& draft_;
  ModelSource source_;
  std::vector<Seen> seen_;       // by shape
  std::vector<ShapeId> listed_;  // seen shapes that ask for GPUs, in order of arrival
  std::optional<absl::Time> faded_at_;
  int64_t changes_ = 0;  // since the last look
  std::shared_ptr<const RequestMix> mix_;
};

}  // namespace maniple
