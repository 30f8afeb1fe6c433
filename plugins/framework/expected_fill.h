// The worth of a node to the pods that are likely to come next.
//
// A node is valued by the GPU work that sequences of typical pods could still put on it.
// The value is a mean over fixed pseudo-random sequences: of the work that this node alone would
// accept, in order of arrival, the tightest GPU first. A whole sequence shows that cores run
// out before GPUs do, and which remnants fit together. A look one pod ahead (the fragmentation
// gradient, Weng et al., ATC'23) cannot. The gradient's fragment comes off with a small weight.
// It counts each typical pod by its GPU work, so that rare large pods keep their whole nodes.
// Where some models of GPU are in demand by name, each GPU of theirs also has a price.
//
// Immutable but for a memo of answers: any thread may ask, without locks. Equal arguments give
// equal answers, on any thread and in any order.
//
//   const ExpectedFill fill(typical, {});
//   const int64_t loss = fill.ValueOf(before) - fill.ValueOf(after);   // place where it is least
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/framework/answer_memo.h"

namespace maniple {

inline constexpr int32_t kGpuMilli = 1000;
inline constexpr size_t kMostFillParts = 16;
inline constexpr size_t kMostFillUnits = 8;
inline constexpr size_t kMostTypical = 256;

// The free room of a node. GPUs that are shared by the milli stand in `parts`; every other GPU
// resource (slices of a profile, replicas, another vendor's GPUs) is counted in units of its own.
struct FillRoom {
  int64_t cpu = 0;     // milli
  int64_t memory = 0;  // in the unit of the requests
  int32_t whole = 0;   // GPUs that are not in use
  uint32_t model = 0;  // of the GPUs; below 64
  std::array<int32_t, kMostFillUnits> units{};
  std::array<int16_t, kMostFillParts> parts{};  // free milli of GPUs in use: ascending, zeros first
  friend bool operator==(const FillRoom&, const FillRoom&) = default;

  // Keeps the order. REQUIRES: 0 < milli < kGpuMilli, and parts.front() is zero.
  void AddPart(int32_t milli);
};

struct FillRequest {
  int64_t cpu = 0, memory = 0;
  int32_t gpus = 0;
  int32_t milli = kGpuMilli;  // of each; less only with one GPU
  std::array<int32_t, kMostFillUnits> units{};
  uint64_t models = ~uint64_t{0};  // a bit per model that will do
  int64_t frequency = 1;           // among the typical ones
};

[[nodiscard]] bool Fits(const FillRoom& room, const FillRequest& request);
// REQUIRES: it fits.
void Take(FillRoom& room, const FillRequest& request);

struct FillOptions {
  int32_t sequences = 64;
  int32_t length = 30;
  // The weight of the fragment against the expected fill, in thousandths. Chosen by bench/quality.
  int32_t fragment_weight = 300;
  // The worth of one unit of a resource, in milli-GPUs.
  std::array<int32_t, kMostFillUnits> unit_worth{};
  uint32_t memo_bits = 16;  // the memo has 2^bits places
  uint64_t seed = 1;
};

// A loss as a score: 100 for no loss; 50 for a loss of exactly the GPU work that the pod asks for
// (a whole GPU, for a pod that asks for none); less where it breaks GPUs that others need whole.
// The loss is in millionths of a GPU, the work in thousandths.
[[nodiscard]] int64_t ScoreOfLoss(int64_t loss, int64_t work);

class ExpectedFill final {
 public:
  // REQUIRES: at most kMostTypical, at least one of which asks for GPU work.
  ExpectedFill(std::vector<FillRequest> typical, const FillOptions& options);
  ExpectedFill(const ExpectedFill&) = delete;
  ExpectedFill& operator=(const ExpectedFill&) = delete;

  // In millionths of a GPU; remembered.
  [[nodiscard]] int64_t ValueOf(const FillRoom& room) const;
  // The two parts of the value, computed afresh: expected fill and expected fragment, unweighted.
  [[nodiscard]] int64_t FillOf(const FillRoom& room) const;
  [[nodiscard]] int64_t FragmentOf(const FillRoom& room) const;

  // GPU work in milli-GPUs.
  [[nodiscard]] int64_t WorkOf(const FillRequest& request) const;
  [[nodiscard]] int64_t WorkIn(const FillRoom& room) const;
  [[nodiscard]] const std::vector<FillRequest>& typical() const { return typical_; }
  [[nodiscard]] std::span<const uint8_t> SequenceOf(int32_t number) const;

 private:
  void DrawSequences(int64_t frequencies);

  std::vector<FillRequest> typical_;
  FillOptions options_;
  std::vector<int64_t> work_;       // by typical request
  std::vector<int64_t> by_demand_;  // of each in the fragment, in millionths
  std::vector<uint8_t> sequences_;  // indices of typical requests, one sequence after the other
  AnswerMemo memo_;
};

// The price of a GPU of each model, in millionths of a GPU.
// It is `price` thousandths where pods that insist on models would ask for all GPUs of this one,
// if requests of this mix filled all GPUs; less where they ask for fewer. So a pod that accepts any
// model leaves the scarce ones to others. A pod without a choice pays the same everywhere.
[[nodiscard]] std::vector<int64_t> PricesOf(const ExpectedFill& fill,
                                            std::span<const int64_t> gpus_by_model, int32_t price);

}  // namespace maniple
