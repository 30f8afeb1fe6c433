#include "plugins/framework/request_mix.h"

#include <algorithm>
#include <bit>

#include "api/base/check.h"

namespace maniple {
namespace {

// More of one resource than this does not matter; it keeps sums small.
constexpr int64_t kMostUnits = 1 << 16;
// The number of steps in which a unit's companions are told apart.
constexpr int64_t kSteps = 16;

// The price of a scarce model, in thousandths of a GPU. Chosen by bench/quality.
constexpr int32_t kModelPrice = 600;

int64_t UnitsIn(const FillRequest& request) {
  int64_t units = 0;
  for (const int32_t unit : request.units) units += unit;
  return units;
}

int64_t StepFor(int64_t most) {
  return static_cast<int64_t>(
      std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(most / kSteps, 1))));
}

}  // namespace

RequestMix::RequestMix(std::vector<TypicalRequest> requests, std::vector<UnitWorth> units,
                       ModelSupply supply)
    : requests_(std::move(requests)), units_(std::move(units)), models_(std::move(supply.models)) {
  CHECK(units_.size() <= kMostFillUnits) << "units";
  FillOptions options;
  for (size_t i = 0; i < units_.size(); ++i) options.unit_worth[i] = units_[i].milli;
  std::vector<FillRequest> typical;
  for (const TypicalRequest& each : requests_) {
    FillRequest request = Counted(each.amounts);
    const int64_t asked = UnitsIn(request);
    if (asked == 0) continue;
    cpu_.most = std::max(cpu_.most, (request.cpu + asked - 1) / asked);
    memory_.most = std::max(memory_.most, (request.memory + asked - 1) / asked);
    request.frequency = each.pods;
    request.models = each.models;
    typical.push_back(request);
  }
  cpu_.step = StepFor(cpu_.most);
  memory_.step = StepFor(memory_.most);
  fill_ = std::make_unique<const ExpectedFill>(std::move(typical), options);
  if (!models_.names.empty()) prices_ = PricesOf(*fill_, supply.gpus, kModelPrice);
}

FillRequest RequestMix::Counted(const std::vector<std::pair<ResourceId, int64_t>>& amounts) const {
  FillRequest request;
  for (const auto& [resource, amount] : amounts) {
    if (resource == kCpu) request.cpu = amount;
    if (resource == kMemory) request.memory = amount;
    for (size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].resource != resource) continue;
      request.units[i] = static_cast<int32_t>(std::min(amount, kMostUnits));
    }
  }
  return request;
}

std::optional<FillRequest> RequestMix::RequestOf(const PodShape& shape) const {
  const FillRequest request = Counted(shape.requests);
  if (shape.wants_gpu && UnitsIn(request) == 0) return std::nullopt;
  return request;
}

FillRoom RequestMix::Essence(FillRoom room, const FillRequest& next) const {
  int64_t units = 0;
  for (const int32_t unit : room.units) units += unit;
  room.cpu = cpu_.Essence(room.cpu, units, next.cpu);
  room.memory = memory_.Essence(room.memory, units, next.memory);
  return room;
}

MixRooms::ModelOfClass MixRooms::ModelsOf(const RequestMix& mix, const Tables& tables) {
  const GpuModels& models = mix.models();
  ModelOfClass model_of_class;
  if (models.names.empty()) return model_of_class;
  for (const auto& node_class : tables.classes) {
    model_of_class.push_back(
        models.IndexOf(node_class == nullptr ? nullptr : node_class->labels.Find(models.label)));
  }
  return model_of_class;
}

MixRooms::MixRooms(const RequestMix& mix, const FillRequest& next,
                   const ModelOfClass& model_of_class, const NodeBlock& block)
    : mix_(mix),
      next_(next),
      model_of_class_(model_of_class),
      classes_(block.rows().classes),
      cpu_(block.Free(kCpu)),
      memory_(block.Free(kMemory)) {
  for (size_t i = 0; i < mix_.units_.size(); ++i) free_[i] = &block.Free(mix_.units_[i].resource);
}

int64_t MixRooms::UnitsAt(uint32_t row, size_t unit) const {
  return std::clamp<int64_t>((*free_[unit])[row], 0, kMostUnits);
}

FillRoom MixRooms::At(uint32_t row) const {
  FillRoom room{.cpu = cpu_[row], .memory = memory_[row], .model = ModelAt(row)};
  for (size_t i = 0; i < mix_.units_.size(); ++i) {
    room.units[i] = static_cast<int32_t>(UnitsAt(row, i));
  }
  return mix_.Essence(room, next_);
}

void MixRooms::AddTo(AnswerPrint& print, uint32_t row) const {
  int64_t units = 0;
  for (size_t i = 0; i < mix_.units_.size(); ++i) {
    const int64_t unit = UnitsAt(row, i);
    units += unit;
    print.Add(static_cast<uint64_t>(unit));
  }
  if (!model_of_class_.empty()) print.Add(ModelAt(row));
  print.Add(static_cast<uint64_t>(mix_.cpu_.Essence(cpu_[row], units, next_.cpu)));
  print.Add(static_cast<uint64_t>(mix_.memory_.Essence(memory_[row], units, next_.memory)));
}

}  // namespace maniple
