// Named configurations of MIG, as nvidia.com/mig.config names them, and the offer of a node in one.
//
// mig-manager knows "all-disabled", "all-<profile>" and "all-balanced" for every model; others are
// configured. Immutable values; any thread.
//
//   const std::vector<MigConfig> configs = DefaultMigConfigs(table);
//   OfferOf(configs[1], table, 8);          // 56 slices of 1g.5gb on eight A100-40GB
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/gpu/mig_layout.h"
#include "api/gpu/mig_tables.h"

namespace maniple {

inline constexpr char kMigConfigLabel[] = "nvidia.com/mig.config";
inline constexpr char kMigConfigStateLabel[] = "nvidia.com/mig.config.state";
inline constexpr char kMigCapableLabel[] = "nvidia.com/mig.capable";
inline constexpr char kMigStrategyLabel[] = "nvidia.com/mig.strategy";
inline constexpr char kMigPending[] = "pending";
inline constexpr char kMigRebooting[] = "rebooting";
inline constexpr char kMigSuccess[] = "success";
inline constexpr char kMigFailed[] = "failed";

// Some GPUs of a node, each divided alike.
struct MigConfigPart {
  std::optional<int32_t> gpus;  // none: all that no other part names; at most one part of these
  // Of each GPU: profile and how many. Empty: MIG is off, and the GPU stays whole.
  std::vector<std::pair<std::string, int32_t>> slices;
  friend bool operator==(const MigConfigPart&, const MigConfigPart&) = default;
};

struct MigConfig {
  std::string name;   // a value of the label: "all-1g.10gb"
  std::string model;  // of the only table that it is for; "" = any that has its profiles
  std::vector<MigConfigPart> parts;
  friend bool operator==(const MigConfig&, const MigConfig&) = default;
};

// The configurations of mig-manager: by name, with all-disabled among them.
[[nodiscard]] std::vector<MigConfig> DefaultMigConfigs(const MigTable& table);

// The GPUs and slices that a node offers.
struct MigOffer {
  int32_t whole_gpus = 0;
  MigCounts slices;  // by index into table.slices
  friend bool operator==(const MigOffer&, const MigOffer&) = default;
};
// None: the configuration is not for this model, or not for so many GPUs; or a GPU cannot be
// divided like that. REQUIRES: gpus > 0.
[[nodiscard]] std::optional<MigOffer> OfferOf(const MigConfig& config, const MigTable& table,
                                              int32_t gpus);
// Of the configuration with this name: one of `configs` for the table's model, or else one of
// mig-manager's own. None: there is none, or as above. REQUIRES: gpus > 0.
[[nodiscard]] std::optional<MigOffer> OfferOf(absl::string_view name,
                                              const std::vector<MigConfig>& configs,
                                              const MigTable& table, int32_t gpus);

}  // namespace maniple
