#include "plugins/fragmentation.h"

#include <algorithm>
#include <array>

#include "plugins/framework/request_mix.h"

namespace maniple {
namespace {

class BoundFragmentation final : public NodeScore {
 public:
  BoundFragmentation(std::shared_ptr<const RequestMix> mix, const FillRequest& request)
      : mix_(std::move(mix)), request_(request), work_(mix_->fill().WorkOf(request) * 1000) {}

  FilterScope scope() const override { return FilterScope::kDynamic; }

  int64_t Score(const NodeView& node) const override {
    return ScoreOf(mix_->Essence(MixRooms(*mix_, node.block).At(node.row), request_));
  }

  // Many nodes of a block are alike: what was said of a room is looked up before it is asked again.
  void AddTo(const NodeBlock& block, const NodeMask& rows, int64_t weight,
             std::span<int64_t> totals) const override {
    const MixRooms rooms(*mix_, block);
    std::array<FillRoom, kRemembered> known;
    std::array<int64_t, kRemembered> scores;
    uint64_t used = 0;
    rows.ForEach([&](uint32_t row) {
      const FillRoom room = mix_->Essence(rooms.At(row), request_);
      const size_t at = PlaceOf(room);
      if (((used >> at) & 1) == 0 || !(known[at] == room)) {
        used |= uint64_t{1} << at;
        known[at] = room;
        scores[at] = ScoreOf(room);
      }
      totals[row] += weight * scores[at];
    });
  }

 private:
  static constexpr size_t kRemembered = 64;

  static size_t PlaceOf(const FillRoom& room) {
    auto print = static_cast<uint64_t>(room.cpu) * 0x9e3779b97f4a7c15;
    print ^= static_cast<uint64_t>(room.memory) * 0xbf58476d1ce4e5b9;
    for (const int32_t units : room.units)
      print = (print ^ static_cast<uint32_t>(units)) * 0x94d049bb133111eb;
    return print >> 58;
  }

  // `room`: the essence of it, with this pod next.
  int64_t ScoreOf(const FillRoom& room) const {
    FillRoom after = room;
    Take(after, request_);
    const ExpectedFill& fill = mix_->fill();
    const int64_t loss =
        fill.ValueOf(mix_->Essence(room, {})) - fill.ValueOf(mix_->Essence(after, {}));
    if (loss <= 0) return kMostScore;
    return (kMostScore * work_ + (work_ + loss) / 2) / (work_ + loss);
  }

  std::shared_ptr<const RequestMix> mix_;
  FillRequest request_;
  int64_t work_;  // that the pod asks for, in millionths of a GPU
};

class Fragmentation final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Fragmentation"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    if (cycle.snapshot.mix == nullptr) return nullptr;
    const std::optional<FillRequest> request = cycle.snapshot.mix->RequestOf(shape.requests);
    if (!request.has_value()) return nullptr;
    return std::make_unique<BoundFragmentation>(cycle.snapshot.mix, *request);
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeFragmentation() { return std::make_unique<Fragmentation>(); }

}  // namespace maniple
