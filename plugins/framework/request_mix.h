// The mix of requests: typical pods with GPUs here, and the worth of nodes to the next of them.
//
// Observed by scheduler/state and frozen into snapshots. A new mix makes all remembered scores
// worthless. So it is published only when requests have moved (scheduler/state/observed_mix.h
// says how far): two snapshots are of one mix iff they share the pointer.
// Immutable but for a memo of answers (expected_fill.h): any thread may read it.
//
// A scheduler sees counts, not devices. So every GPU resource of the mix is a unit of its own:
// whole GPUs, slices of a profile, or shared replicas.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plugins/framework/expected_fill.h"
#include "plugins/framework/gpu_models.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

struct TypicalRequest {
  // By resource; no zero amounts, no pod slots; at least one GPU resource.
  std::vector<std::pair<ResourceId, int64_t>> amounts;
  uint64_t models = ~uint64_t{0};  // of GPU that will do, a bit each
  int64_t pods = 0;                // how many are like it, in thousandths; positive
  friend bool operator==(const TypicalRequest&, const TypicalRequest&) = default;
};

// A GPU resource and the worth of one unit of it, in thousandths of a GPU.
struct UnitWorth {
  ResourceId resource;
  int32_t milli = kGpuMilli;
};

// The models that some request insists on, and the number of GPUs of each;
// the last number is for all others.
struct ModelSupply {
  GpuModels models;
  std::vector<int64_t> gpus;
};

class RequestMix final {
 public:
  // At most kMostTypical requests and kMostFillUnits units; a resource that is neither a unit, nor
  // cores, nor memory does not count. REQUIRES: some request asks for a unit.
  RequestMix(std::vector<TypicalRequest> requests, std::vector<UnitWorth> units,
             ModelSupply supply = {});

  [[nodiscard]] const std::vector<TypicalRequest>& requests() const { return requests_; }
  [[nodiscard]] const ExpectedFill& fill() const { return *fill_; }
  [[nodiscard]] const GpuModels& models() const { return models_; }
  // The price of a GPU of the model, in millionths of one; 0 while no pod insists on models.
  [[nodiscard]] int64_t PriceOf(uint32_t model) const {
    return model < prices_.size() ? prices_[model] : 0;
  }
  // A memo for scores that follow from this mix and the facts in the print.
  [[nodiscard]] const AnswerMemo& scores() const { return scores_; }

  // The needs of the shape that bear on the worth of nodes; none: it asks for GPUs,
  // but for none of the mix.
  [[nodiscard]] std::optional<FillRequest> RequestOf(const PodShape& shape) const;
  // The room without the part that `next` and typical requests after it cannot use,
  // so that fewer rooms differ. That part is cores and memory beyond the companions of free units;
  // finer differences are rounded up.
  [[nodiscard]] FillRoom Essence(FillRoom room, const FillRequest& next) const;

 private:
  friend class MixRooms;
  static constexpr uint32_t kScoreBits = 14;
  [[nodiscard]] FillRequest Counted(
      const std::vector<std::pair<ResourceId, int64_t>>& amounts) const;
  // The most that one unit takes along, and the power of two in which it is told apart.
  struct Companion {
    int64_t most = 0;
    int64_t step = 1;
    [[nodiscard]] int64_t Essence(int64_t free, int64_t units, int64_t next) const {
      const int64_t usable = most * units + next;
      if (free >= usable) return usable;
      return free <= 0 ? 0 : std::min(usable, (free + step - 1) & -step);
    }
  };

  std::vector<TypicalRequest> requests_;
  std::vector<UnitWorth> units_;
  Companion cpu_, memory_;
  std::unique_ptr<const ExpectedFill> fill_;
  GpuModels models_;
  std::vector<int64_t> prices_;  // by model; empty: no pod insists
  AnswerMemo scores_{kScoreBits};
};

// The essences of the rooms of one block's nodes, with one request to come next; borrows all.
class MixRooms final {
 public:
  // The model of each node class; empty: models are not told apart.
  using ModelOfClass = std::vector<uint32_t>;
  [[nodiscard]] static ModelOfClass ModelsOf(const RequestMix& mix, const Tables& tables);

  MixRooms(const RequestMix& mix, const FillRequest& next, const ModelOfClass& model_of_class,
           const NodeBlock& block);
  [[nodiscard]] FillRoom At(uint32_t row) const;
  [[nodiscard]] uint32_t ModelAt(uint32_t row) const {
    return model_of_class_.empty() ? 0 : model_of_class_[classes_[row].index()];
  }
  // Adds to `print` the facts that tell it from other essences; cheaper than the essence itself.
  void AddTo(AnswerPrint& print, uint32_t row) const;

 private:
  [[nodiscard]] int64_t UnitsAt(uint32_t row, size_t unit) const;

  const RequestMix& mix_;
  const FillRequest& next_;
  const ModelOfClass& model_of_class_;
  const std::vector<NodeClassId>& classes_;  // by row
  const Columns::Column& cpu_;
  const Columns::Column& memory_;
  std::array<const Columns::Column*, kMostFillUnits> free_{};
};

}  // namespace maniple
