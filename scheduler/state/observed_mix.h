// The mix of requests for GPUs as the cluster shows it: what arrives, and what runs.
//
// Owned by ClusterState; scheduling thread. A pod of whatever scheduler that asks for GPUs counts
// once when it is first seen, half as much a day later, and once more for as long as it is charged
// to a node. Integers only: equal histories give equal mixes.
//
//   mix.NoteTime(now);  mix.NoteArrival(shape);  mix.NoteCharge(shape, 1);
//   snapshot.mix = mix.Renew();
//
// Invariants:
//   1. running(shape) = charged pods of the shape, for shapes that ask for GPUs.
//   2. A mix, once handed out, is handed out again until requests have moved: until more than a
//      tenth of the pods, or of the GPU work that they ask for, is of other kinds, or pods name
//      other models of GPU. How many GPUs there are of each model is counted then, and only then.
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
  // So many pods, arrived or running, have to be seen before there is a mix at all.
  static constexpr int64_t kLeastPods = 64;
  // Whether requests have moved is asked after so many arrivals, starts and ends.
  static constexpr int64_t kBetweenLooks = 64;

  // Where models of GPU stand: the label of nodes whose values pods insist on, and all GPUs on
  // nodes, by model.
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
  void NoteCharge(ShapeId shape, int64_t pods);  // negative: so many are charged no more

  // The mix to plan by; null while too little was seen. O(1) but for every kBetweenLooks-th change.
  [[nodiscard]] std::shared_ptr<const RequestMix> Renew();
  [[nodiscard]] int64_t running(ShapeId shape) const;

  // What sweeps do. Shapes that arrived and that no pod has: for the mix their requests and models
  // are enough, and so they give way to shapes of these alone; only so many of them are remembered.
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
  std::vector<ShapeId> listed_;  // those that were seen and ask for GPUs, as they came
  std::optional<absl::Time> faded_at_;
  int64_t changes_ = 0;  // since the last look
  std::shared_ptr<const RequestMix> mix_;
};

}  // namespace maniple
