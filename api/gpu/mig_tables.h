// The share of each MIG profile in each model of GPU, and the places where its slices may start.
//
// A GPU is an axis of memory slices. A slice covers `size` of them from one of its allowed starts;
// slices do not overlap, and at most one of them has extra media engines. That is all there is to
// legality (api/gpu/mig_layout.h). Immutable values; any thread.
//
//   const MigTables tables;                                          // those we know
//   const MigTable* table = tables.Find("NVIDIA-H100-80GB-HBM3", 81559);
//   table->Find("1g.10gb")->max_per_gpu;                             // 7
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace maniple {

// One profile of one model.
struct MigSlice {
  std::string profile;          // "1g.10gb+me"
  int32_t compute = 0;          // compute slices
  int32_t size = 0;             // memory slices; 0 = unknown, and with it where it may start
  std::vector<int32_t> starts;  // ascending
  int32_t max_per_gpu = 0;
  bool media = false;  // "+me" or "+me.all": one slice of a GPU at most
  // 0 = unknown.
  int32_t multiprocessors = 0;
  int32_t memory_mib = 0;
};

struct MigTable {
  std::string model;  // "H100-80GB"
  std::vector<MigSlice> slices;

  [[nodiscard]] const MigSlice* Find(absl::string_view profile) const;
  // Memory slices of a GPU: the largest size.
  [[nodiscard]] int32_t width() const;
  // Whether sizes and starts are known, not only how many there may be.
  [[nodiscard]] bool has_placements() const;
};

class MigTables final {
 public:
  MigTables();

  // By nvidia.com/gpu.product and nvidia.com/gpu.memory (MiB). Null: no MIG that we know of,
  // or the memory does not tell which of several tables it is. A product that names slices
  // instead of a GPU ("…-MIG-1g.10gb") has none, and neither has a shared one.
  [[nodiscard]] const MigTable* Find(absl::string_view product,
                                     std::optional<int64_t> memory_mib) const;
  // "H100-80GB"
  [[nodiscard]] const MigTable* OfModel(absl::string_view model) const;
  [[nodiscard]] const std::vector<MigTable>& all() const { return tables_; }  // by model

  // Replaces the table of that model, or adds one, which is found by `product` wherever that
  // is part of a node's product. The status tells the error in it.
  [[nodiscard]] absl::Status Put(MigTable table, absl::string_view product);

 private:
  struct Rule {
    std::string product;  // tokens of the product, in any case: "RTX-PRO-6000"
    int64_t least_mib = 0;
    int64_t below_mib = 0;  // 0 = any memory, known or not
    std::string model;
  };
  void Add(MigTable table);

  std::vector<MigTable> tables_;
  std::vector<Rule> rules_;
};

}  // namespace maniple
