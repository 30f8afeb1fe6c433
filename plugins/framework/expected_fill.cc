#include "plugins/framework/expected_fill.h"

#include <algorithm>
#include <bitset>
#include <numeric>
#include <utility>

#include "api/base/check.h"
#include "api/base/random.h"

namespace maniple {
namespace {

constexpr int64_t kMicro = 1000;  // millionths of a GPU in a milli-GPU
constexpr int64_t kMillion = 1'000'000;

AnswerPrint PrintOf(const FillRoom& room) {
  AnswerPrint print;
  print.Add(static_cast<uint64_t>(room.cpu));
  print.Add(static_cast<uint64_t>(room.memory));
  print.Add((static_cast<uint64_t>(room.whole) << 32) | room.model);
  for (size_t i = 0; i < kMostFillUnits; i += 2) {
    const auto low = static_cast<uint32_t>(room.units[i]);
    const auto high = static_cast<uint32_t>(room.units[i + 1]);
    if ((low | high) != 0) print.Add((i << 60) ^ (uint64_t{high} << 32) ^ low);
  }
  for (size_t i = 0; i < kMostFillParts; i += 4) {
    uint64_t word = 0;
    for (size_t j = 0; j < 4; ++j) word = (word << 16) | static_cast<uint16_t>(room.parts[i + j]);
    if (word != 0) print.Add(word | (uint64_t{1} << 63));
  }
  return print;
}

}  // namespace

void FillRoom::AddPart(int32_t milli) {
  CHECK(parts.front() == 0 && milli > 0 && milli < kGpuMilli) << "no room for a part of " << milli;
  size_t at = 0;
  for (; at + 1 < parts.size() && parts[at + 1] < milli; ++at) parts[at] = parts[at + 1];
  parts[at] = static_cast<int16_t>(milli);
}

bool Fits(const FillRoom& room, const FillRequest& request) {
  if (room.cpu < request.cpu || room.memory < request.memory) return false;
  for (size_t i = 0; i < kMostFillUnits; ++i) {
    if (room.units[i] < request.units[i]) return false;
  }
  if (request.gpus == 0) return true;
  if (((request.models >> room.model) & 1) == 0) return false;
  if (room.whole >= request.gpus) return true;
  return request.milli < kGpuMilli && room.parts.back() >= request.milli;
}

void Take(FillRoom& room, const FillRequest& request) {
  room.cpu -= request.cpu;
  room.memory -= request.memory;
  for (size_t i = 0; i < kMostFillUnits; ++i) room.units[i] -= request.units[i];
  if (request.gpus == 0) return;
  if (request.milli == kGpuMilli) {
    room.whole -= request.gpus;
    return;
  }
  const auto tightest = std::ranges::lower_bound(room.parts, request.milli);
  int32_t left = kGpuMilli - request.milli;
  if (tightest == room.parts.end()) {
    --room.whole;
  } else {
    left = *tightest - request.milli;
    std::move_backward(room.parts.begin(), tightest, tightest + 1);
    room.parts.front() = 0;
  }
  if (left > 0) room.AddPart(left);
}

int64_t ScoreOfLoss(int64_t loss, int64_t work) {
  if (loss <= 0) return 100;
  const int64_t scale = (work > 0 ? work : kGpuMilli) * kMicro;
  return (100 * scale + (scale + loss) / 2) / (scale + loss);
}

ExpectedFill::ExpectedFill(std::vector<FillRequest> typical, const FillOptions& options)
    : typical_(std::move(typical)), options_(options), memo_(options.memo_bits) {
  CHECK(!typical_.empty() && typical_.size() <= kMostTypical) << "typical requests";
  int64_t frequencies = 0, demand = 0;
  for (const FillRequest& request : typical_) {
    work_.push_back(WorkOf(request));
    frequencies += request.frequency;
    demand += request.frequency * work_.back();
  }
  CHECK(demand > 0) << "typical requests without GPU work";
  for (size_t i = 0; i < typical_.size(); ++i) {
    by_demand_.push_back(static_cast<int64_t>(
        static_cast<double>(kMillion) * static_cast<double>(typical_[i].frequency * work_[i]) /
        static_cast<double>(demand)));
  }
  DrawSequences(frequencies);
}

// Each request occurs as often as its frequency says, to a rounding:
// chance must not make a rare one more or less frequent.
void ExpectedFill::DrawSequences(int64_t frequencies) {
  const auto drawn = static_cast<int64_t>(options_.sequences) * options_.length;
  int64_t until = 0;
  size_t next = 0;
  for (int64_t i = 0; i < drawn; ++i) {
    const auto at =
        static_cast<int64_t>((static_cast<double>(i) + 0.5) / static_cast<double>(drawn) *
                             static_cast<double>(frequencies));
    while (until + typical_[next].frequency <= at) until += typical_[next++].frequency;
    sequences_.push_back(static_cast<uint8_t>(next));
  }
  Random random(options_.seed);
  for (size_t i = sequences_.size(); i > 1; --i) {
    std::swap(sequences_[i - 1], sequences_[random.Below(i)]);
  }
}

int64_t ExpectedFill::WorkOf(const FillRequest& request) const {
  int64_t work = int64_t{request.gpus} * request.milli;
  for (size_t i = 0; i < kMostFillUnits; ++i) {
    work += int64_t{request.units[i]} * options_.unit_worth[i];
  }
  return work;
}

int64_t ExpectedFill::WorkIn(const FillRoom& room) const {
  int64_t work = int64_t{room.whole} * kGpuMilli;
  for (const int16_t part : room.parts) work += part;
  for (size_t i = 0; i < kMostFillUnits; ++i) {
    work += int64_t{room.units[i]} * options_.unit_worth[i];
  }
  return work;
}

std::span<const uint8_t> ExpectedFill::SequenceOf(int32_t number) const {
  return std::span(sequences_)
      .subspan(static_cast<size_t>(number) * options_.length, static_cast<size_t>(options_.length));
}

int64_t ExpectedFill::FillOf(const FillRoom& room) const {
  // A request that does not fit now will not fit later: its turns pass at once.
  std::bitset<kMostTypical> fitting;
  int32_t fitting_work = 0;
  for (size_t i = 0; i < typical_.size(); ++i) {
    fitting[i] = Fits(room, typical_[i]);
    if (fitting[i] && work_[i] > 0) ++fitting_work;
  }
  if (fitting_work == 0) return 0;
  int64_t accepted = 0;
  for (int32_t number = 0; number < options_.sequences; ++number) {
    FillRoom left = room;
    std::bitset<kMostTypical> may_fit = fitting;
    int32_t may_work = fitting_work;
    for (const uint8_t next : SequenceOf(number)) {
      if (!may_fit[next]) continue;
      if (Fits(left, typical_[next])) {
        Take(left, typical_[next]);
        accepted += work_[next];
        continue;
      }
      may_fit[next] = false;
      if (work_[next] > 0 && --may_work == 0) break;
    }
  }
  return accepted * kMicro / options_.sequences;
}

int64_t ExpectedFill::FragmentOf(const FillRoom& room) const {
  const int64_t all = WorkIn(room);
  int64_t fragment = 0;
  for (size_t i = 0; i < typical_.size(); ++i) {
    const FillRequest& request = typical_[i];
    if (by_demand_[i] == 0) continue;
    int64_t lost = all;
    if (Fits(room, request)) {
      if (request.gpus > 0) lost -= int64_t{room.whole} * kGpuMilli;
      for (const int16_t part : room.parts) {
        if (request.gpus > 0 && part >= request.milli) lost -= part;
      }
      for (size_t unit = 0; unit < kMostFillUnits; ++unit) {
        if (request.units[unit] > 0) lost -= int64_t{room.units[unit]} * options_.unit_worth[unit];
      }
    }
    fragment += by_demand_[i] * lost;
  }
  return fragment / kMicro;
}

int64_t ExpectedFill::ValueOf(const FillRoom& room) const {
  const AnswerPrint print = PrintOf(room);
  if (const std::optional<int64_t> known = memo_.Find(print)) return *known;
  const int64_t value = FillOf(room) - FragmentOf(room) * options_.fragment_weight / 1000;
  memo_.Put(print, value);
  return value;
}

std::vector<int64_t> PricesOf(const ExpectedFill& fill, std::span<const int64_t> gpus_by_model,
                              int32_t price) {
  const auto all =
      static_cast<double>(std::accumulate(gpus_by_model.begin(), gpus_by_model.end(), int64_t{0}));
  const auto gpus_asked_by = [&fill](const FillRequest& request) {
    return static_cast<double>(request.frequency * fill.WorkOf(request)) / kGpuMilli;
  };
  double asked = 0;
  for (const FillRequest& request : fill.typical()) asked += gpus_asked_by(request);
  std::vector<double> insisted(gpus_by_model.size());
  for (const FillRequest& request : fill.typical()) {
    double acceptable = 0;
    for (size_t model = 0; model < insisted.size(); ++model) {
      if ((request.models >> model) & 1) acceptable += static_cast<double>(gpus_by_model[model]);
    }
    if (acceptable == 0 || acceptable == all || fill.WorkOf(request) == 0) continue;
    for (size_t model = 0; model < insisted.size(); ++model) {
      if (((request.models >> model) & 1) == 0) continue;
      insisted[model] += gpus_asked_by(request) * static_cast<double>(gpus_by_model[model]) /
                         acceptable * all / asked;
    }
  }
  std::vector<int64_t> prices;
  for (size_t model = 0; model < insisted.size(); ++model) {
    const auto gpus = static_cast<double>(gpus_by_model[model]);
    const double scarcity = gpus > 0 ? std::min(1.0, insisted[model] / gpus) : 0;
    prices.push_back(static_cast<int64_t>(scarcity * price * kMicro));
  }
  return prices;
}

}  // namespace maniple
