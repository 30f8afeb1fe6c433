#include "api/gpu/mig_tables.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/gpu/mig_profile.h"

namespace maniple {
namespace {

constexpr int32_t kMostWidth = 16, kMostSlices = 32, kMostPerGpu = 64;

// The parts of seven compute and eight memory slices differ in the memory of a slice alone. Sizes
// and starts: NVIDIA's MIG user guide, and `nvidia-smi mig -lgipp` as captured on A100, H100, H100
// NVL and B200 in k8s-device-plugin and dra-driver-nvidia-gpu. (go-nvml's mock tables give 3g and
// 7g other sizes on Hopper and later; the hardware has these.)
struct SevenSliceNames {
  const char* model;
  // 1g, 1g of double memory, 2g, 3g, 4g, 7g: mig-parted's table of known configurations.
  std::array<int32_t, 6> gigabytes;
};
constexpr SevenSliceNames kSevenSlices[] = {
    {"A100-40GB", {5, 10, 10, 20, 20, 40}},       {"A100-80GB", {10, 20, 20, 40, 40, 80}},
    {"B200-180GB", {23, 45, 45, 90, 90, 180}},    {"B300-269GB", {34, 67, 67, 135, 135, 269}},
    {"GB200-186GB", {23, 47, 47, 93, 93, 186}},   {"GB200-189GB", {24, 47, 47, 95, 95, 189}},
    {"GB300-278GB", {35, 70, 70, 139, 139, 278}}, {"GH200-144GB", {18, 36, 36, 72, 72, 144}},
    {"H100-80GB", {10, 20, 20, 40, 40, 80}},      {"H100-94GB", {12, 24, 24, 47, 47, 94}},
    {"H100-96GB", {12, 24, 24, 48, 48, 96}},      {"H200-141GB", {18, 35, 35, 71, 71, 141}},
};

// Multiprocessors and MiB of 1g, 1g+me, 1g of double memory, 2g, 3g, 4g, 7g,
// where they have been captured. From Hopper on they do not grow with the slices.
struct SevenSliceSizes {
  const char* model;
  std::array<int32_t, 7> multiprocessors, memory_mib;
};
constexpr SevenSliceSizes kSevenSliceSizes[] = {
    {"A100-40GB", {14, 14, 14, 28, 42, 56, 98}, {4864, 4864, 9984, 9984, 20096, 20096, 40320}},
    {"B200-180GB",
     {18, 18, 30, 36, 70, 72, 148},
     {20992, 20992, 45312, 45312, 91136, 91136, 182784}},
    {"H100-80GB", {16, 16, 26, 32, 60, 64, 132}, {9984, 9984, 20096, 20096, 40448, 40448, 81152}},
};

MigTable SevenSliceTable(const SevenSliceNames& names) {
  const auto named = [&](int32_t compute, size_t column, absl::string_view attributes) {
    return absl::StrCat(compute, "g.", names.gigabytes[column], "gb", attributes);
  };
  const std::vector<int32_t> any = {0, 1, 2, 3, 4, 5, 6};
  MigTable table{
      .model = names.model,
      .slices = {
          {.profile = named(1, 0, ""), .compute = 1, .size = 1, .starts = any, .max_per_gpu = 7},
          {.profile = named(1, 0, "+me"),
           .compute = 1,
           .size = 1,
           .starts = any,
           .max_per_gpu = 1,
           .media = true},
          {.profile = named(1, 1, ""),
           .compute = 1,
           .size = 2,
           .starts = {0, 2, 4, 6},
           .max_per_gpu = 4},
          {.profile = named(2, 2, ""),
           .compute = 2,
           .size = 2,
           .starts = {0, 2, 4},
           .max_per_gpu = 3},
          {.profile = named(3, 3, ""), .compute = 3, .size = 4, .starts = {0, 4}, .max_per_gpu = 2},
          {.profile = named(4, 4, ""), .compute = 4, .size = 4, .starts = {0}, .max_per_gpu = 1},
          {.profile = named(7, 5, ""), .compute = 7, .size = 8, .starts = {0}, .max_per_gpu = 1},
      }};
  for (const SevenSliceSizes& sizes : kSevenSliceSizes) {
    if (table.model != sizes.model) continue;
    for (size_t i = 0; i < table.slices.size(); ++i) {
      table.slices[i].multiprocessors = sizes.multiprocessors[i];
      table.slices[i].memory_mib = sizes.memory_mib[i];
    }
  }
  return table;
}

// Four compute slices on an axis of `unit` times four. Sizes in multiprocessors and MiB of 1g, 2g
// and 4g.
struct FourSliceModel {
  const char* model;
  int32_t unit;  // 0: where slices may start is not known
  std::array<int32_t, 3> multiprocessors, memory_mib;
  struct Row {
    const char* profile;
    int32_t max_per_gpu;
  };
  std::array<Row, 11> rows;  // the used ones come first
};
constexpr FourSliceModel kFourSlices[] = {
    // The user guide; memory as in NVIDIA's mock.
    {"A30-24GB",
     1,
     {14, 28, 56},
     {5836, 11672, 23344},
     {{{"1g.6gb", 4}, {"1g.6gb+me", 1}, {"2g.12gb", 2}, {"2g.12gb+me", 1}, {"4g.24gb", 1}}}},
    // "At most two instances": placements have not been published.
    {"RTX-PRO-5000-48GB",
     0,
     {},
     {},
     {{{"1g.12gb", 2},
       {"1g.12gb+me", 1},
       {"1g.12gb+gfx", 2},
       {"1g.12gb-me", 2},
       {"2g.24gb-me", 2},
       {"4g.48gb", 1},
       {"4g.48gb+gfx", 1}}}},
    // dra-driver-nvidia-gpu and the user guide: twelve placement units.
    {"RTX-PRO-6000-96GB",
     3,
     {46, 94, 188},
     {24187, 48517, 97280},
     {{{"1g.24gb", 4},
       {"1g.24gb+gfx", 4},
       {"1g.24gb-me", 4},
       {"1g.24gb+me", 1},
       {"1g.24gb+me.all", 1},
       {"2g.48gb", 2},
       {"2g.48gb+gfx", 2},
       {"2g.48gb-me", 2},
       {"2g.48gb+me.all", 1},
       {"4g.96gb", 1},
       {"4g.96gb+gfx", 1}}}},
};

MigTable FourSliceTable(const FourSliceModel& model) {
  MigTable table{.model = model.model, .slices = {}};
  for (const FourSliceModel::Row& row : model.rows) {
    if (row.profile == nullptr) break;
    const std::optional<MigProfile> profile = ParseMigProfile(row.profile);
    MigSlice slice{.profile = row.profile,
                   .compute = profile->compute,
                   .size = profile->compute * model.unit,
                   .starts = {},
                   .max_per_gpu = row.max_per_gpu,
                   .media = profile->wants_media()};
    for (int32_t start = 0; slice.size > 0 && start < 4 * model.unit; start += slice.size) {
      slice.starts.push_back(start);
    }
    const size_t column = profile->compute == 4 ? 2 : static_cast<size_t>(profile->compute - 1);
    slice.multiprocessors = model.multiprocessors[column];
    slice.memory_mib = model.memory_mib[column];
    table.slices.push_back(std::move(slice));
  }
  return table;
}

// A scheduler does not see device ids: the words of the product, and the driver's figure for the
// memory, tell the models apart.
struct BuiltinRule {
  const char* product;
  int64_t least_mib, below_mib;
  const char* model;
};
constexpr BuiltinRule kRules[] = {
    {"A30", 20'000, 30'000, "A30-24GB"},
    {"A100", 30'000, 60'000, "A100-40GB"},
    {"A100", 60'000, 100'000, "A100-80GB"},
    {"A800", 30'000, 60'000, "A100-40GB"},
    {"A800", 60'000, 100'000, "A100-80GB"},
    {"PG506", 90'000, 110'000, "H100-96GB"},
    {"H100", 70'000, 90'000, "H100-80GB"},
    {"H100", 90'000, 97'000, "H100-94GB"},
    {"H100", 97'000, 110'000, "H100-96GB"},
    {"H800", 70'000, 90'000, "H100-80GB"},
    {"H20", 90'000, 110'000, "H100-96GB"},
    {"H200", 120'000, 160'000, "H200-141GB"},
    {"GH200", 90'000, 120'000, "H100-96GB"},
    {"GH200", 120'000, 160'000, "GH200-144GB"},
    {"B200", 150'000, 200'000, "B200-180GB"},
    {"GB200", 170'000, 191'500, "GB200-186GB"},
    {"GB200", 191'500, 210'000, "GB200-189GB"},
    {"B300", 240'000, 300'000, "B300-269GB"},
    {"GB300", 240'000, 300'000, "GB300-278GB"},
    {"RTX-PRO-6000", 90'000, 110'000, "RTX-PRO-6000-96GB"},
    {"RTX-PRO-5000", 40'000, 60'000, "RTX-PRO-5000-48GB"},
};

std::vector<std::string> WordsOf(absl::string_view product) {
  return absl::StrSplit(absl::AsciiStrToUpper(product), absl::ByAnyChar("-_ "), absl::SkipEmpty());
}

bool Contains(const std::vector<std::string>& words, const std::vector<std::string>& some) {
  return !some.empty() &&
         std::search(words.begin(), words.end(), some.begin(), some.end()) != words.end();
}

// "…-80GB"
std::optional<int64_t> MemoryInName(const std::vector<std::string>& words) {
  for (absl::string_view word : words) {
    int64_t gigabytes = 0;
    if (absl::ConsumeSuffix(&word, "GB") && absl::SimpleAtoi(word, &gigabytes) && gigabytes > 0 &&
        gigabytes < 10'000) {
      return gigabytes * 1024;
    }
  }
  return std::nullopt;
}

absl::Status CheckSlice(const MigSlice& slice, int32_t width) {
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("profile \"", slice.profile, "\": ", what));
  };
  if (!ParseMigProfile(slice.profile).has_value()) return wrong("is no name of a MIG profile");
  if (slice.compute < 1 || slice.compute > kMostWidth) return wrong("compute is not in 1..16");
  if (slice.max_per_gpu < 1 || slice.max_per_gpu > kMostPerGpu) return wrong("max is not in 1..64");
  if (slice.size < 0 || slice.size > kMostWidth) return wrong("size is not in 0..16");
  if ((slice.size == 0) != slice.starts.empty()) return wrong("starts and size go together");
  if ((slice.size == 0) != (width == 0)) return wrong("has a size and others have none");
  if (std::adjacent_find(slice.starts.begin(), slice.starts.end(), std::greater_equal<>()) !=
      slice.starts.end()) {
    return wrong("starts do not ascend");
  }
  if (!slice.starts.empty() &&
      (slice.starts.front() < 0 || slice.starts.back() > width - slice.size)) {
    return wrong("starts outside the GPU");
  }
  return absl::OkStatus();
}

absl::Status CheckTable(const MigTable& table) {
  if (table.model.empty()) return absl::InvalidArgumentError("the model has no name");
  if (table.slices.empty() || table.slices.size() > kMostSlices) {
    return absl::InvalidArgumentError("needs 1 to 32 profiles");
  }
  std::vector<absl::string_view> names;
  for (const MigSlice& slice : table.slices) {
    if (absl::Status status = CheckSlice(slice, table.width()); !status.ok()) return status;
    names.push_back(slice.profile);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("profile \"", *twice, "\" is named twice"));
}

}  // namespace

const MigSlice* MigTable::Find(absl::string_view profile) const {
  const auto at = std::find_if(slices.begin(), slices.end(),
                               [&](const MigSlice& slice) { return slice.profile == profile; });
  return at == slices.end() ? nullptr : &*at;
}

int32_t MigTable::width() const {
  int32_t width = 0;
  for (const MigSlice& slice : slices) width = std::max(width, slice.size);
  return width;
}

bool MigTable::has_placements() const { return width() > 0; }

MigTables::MigTables() {
  for (const SevenSliceNames& names : kSevenSlices) Add(SevenSliceTable(names));
  for (const FourSliceModel& model : kFourSlices) Add(FourSliceTable(model));
  for (const BuiltinRule& rule : kRules) {
    rules_.push_back({.product = rule.product,
                      .least_mib = rule.least_mib,
                      .below_mib = rule.below_mib,
                      .model = rule.model});
  }
}

void MigTables::Add(MigTable table) {
  const auto at =
      std::lower_bound(tables_.begin(), tables_.end(), table,
                       [](const MigTable& a, const MigTable& b) { return a.model < b.model; });
  if (at != tables_.end() && at->model == table.model) {
    *at = std::move(table);
  } else {
    tables_.insert(at, std::move(table));
  }
}

absl::Status MigTables::Put(MigTable table, absl::string_view product) {
  if (absl::Status status = CheckTable(table); !status.ok()) return status;
  if (!product.empty()) {
    if (WordsOf(product).empty()) return absl::InvalidArgumentError("the product has no words");
    // Before the built-in rules: the first one that matches counts.
    rules_.insert(rules_.begin(), Rule{.product = std::string(product), .model = table.model});
  } else if (OfModel(table.model) == nullptr) {
    return absl::InvalidArgumentError("a new model needs a product to be found by");
  }
  Add(std::move(table));
  return absl::OkStatus();
}

const MigTable* MigTables::OfModel(absl::string_view model) const {
  const auto at = std::find_if(tables_.begin(), tables_.end(),
                               [&](const MigTable& table) { return table.model == model; });
  return at == tables_.end() ? nullptr : &*at;
}

const MigTable* MigTables::Find(absl::string_view product,
                                std::optional<int64_t> memory_mib) const {
  const std::vector<std::string> words = WordsOf(product);
  for (const absl::string_view word : {"MIG", "SHARED"}) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return nullptr;
  }
  if (!memory_mib.has_value()) memory_mib = MemoryInName(words);
  const std::string* only = nullptr;
  for (const Rule& rule : rules_) {
    if (!Contains(words, WordsOf(rule.product))) continue;
    if (rule.below_mib == 0) return OfModel(rule.model);
    if (memory_mib.has_value()) {
      if (rule.least_mib <= *memory_mib && *memory_mib < rule.below_mib) return OfModel(rule.model);
    } else if (only != nullptr && *only != rule.model) {
      return nullptr;  // the memory would have to tell
    } else {
      only = &rule.model;
    }
  }
  return only == nullptr ? nullptr : OfModel(*only);
}

}  // namespace maniple
