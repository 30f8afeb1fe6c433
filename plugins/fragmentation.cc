// Fragmentation: a pod goes where its coming costs least to the GPU pods that are likely to come.
//
// The loss is that of the expected fill (plugins/framework/expected_fill.h) over the mix
// of requests in the snapshot. A pod without GPUs is scored as well: on a node with GPUs it takes
// cores and memory that they need. Nothing to say without a mix: then packing decides.
#include "plugins/factories.h"

#include <utility>

#include "plugins/framework/request_mix.h"

namespace maniple {
namespace {

AnswerPrint PrintOf(const FillRequest& request) {
  AnswerPrint print;
  print.Add(static_cast<uint64_t>(request.cpu));
  print.Add(static_cast<uint64_t>(request.memory));
  for (const int32_t units : request.units) print.Add(static_cast<uint64_t>(units));
  return print;
}

class BoundFragmentation final : public NodeScore {
 public:
  BoundFragmentation(std::shared_ptr<const RequestMix> mix, const FillRequest& request,
                     const Tables& tables)
      : mix_(std::move(mix)),
        model_of_class_(MixRooms::ModelsOf(*mix_, tables)),
        request_(request),
        print_(PrintOf(request)),
        work_(mix_->fill().WorkOf(request)) {}

  int64_t Score(const NodeView& node) const override {
    return ScoreAt(MixRooms(*mix_, request_, model_of_class_, node.block), node.row);
  }

  void AddTo(const NodeBlock& block, const NodeMask& rows, int64_t weight,
             std::span<int64_t> totals) const override {
    const MixRooms rooms(*mix_, request_, model_of_class_, block);
    rows.ForEach([&](uint32_t row) { totals[row] += weight * ScoreAt(rooms, row); });
  }

 private:
  // Most nodes are like one that was scored before, for this pod or in another decision.
  int64_t ScoreAt(const MixRooms& rooms, uint32_t row) const {
    AnswerPrint print = print_;
    rooms.AddTo(print, row);
    if (const std::optional<int64_t> known = mix_->scores().Find(print)) return *known;
    const FillRoom room = rooms.At(row);
    FillRoom after = room;
    Take(after, request_);
    const ExpectedFill& fill = mix_->fill();
    const int64_t price = mix_->PriceOf(room.model) * work_ / kGpuMilli;
    const int64_t loss =
        fill.ValueOf(mix_->Essence(room, {})) - fill.ValueOf(mix_->Essence(after, {})) + price;
    const int64_t score = ScoreOfLoss(loss, work_);
    mix_->scores().Put(print, score);
    return score;
  }

  std::shared_ptr<const RequestMix> mix_;
  MixRooms::ModelOfClass model_of_class_;
  FillRequest request_;
  AnswerPrint print_;  // the print of the request
  int64_t work_;
};

class Fragmentation final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Fragmentation"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    if (cycle.snapshot.mix == nullptr) return nullptr;
    const std::optional<FillRequest> request = cycle.snapshot.mix->RequestOf(shape);
    if (!request.has_value()) return nullptr;  // no request of the mix has such GPUs
    return std::make_unique<BoundFragmentation>(cycle.snapshot.mix, *request,
                                                *cycle.snapshot.tables);
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeFragmentation() { return std::make_unique<Fragmentation>(); }

}  // namespace maniple
