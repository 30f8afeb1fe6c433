// The name of a MIG profile, "[<c>c.]<g>g.<gb>gb[+attribute|-attribute]", and of its resource.
//
// A name does not determine a slice's share of its GPU.
// A 1g.10gb is one of seven on a part of 80 GB, and one of four on one of 40 GB.
// Sizes are looked up by model and name (api/gpu/mig_tables.h).
//
//   ParseMigProfile("1g.10gb+me")                      // {.compute = 1, .gigabytes = 10, "+me"}
//   MigResourceName(profile)                           // "nvidia.com/mig-1g.10gb.me"
//   MigProfileOfResource("nvidia.com/mig-1g.10gb.me")  // the same profile again
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

inline constexpr char kMigResourcePrefix[] = "nvidia.com/mig-";

struct MigProfile {
  // The size of a compute instance that does not fill its GPU instance; 0 = it does.
  // The device plugin does not offer such slices.
  int32_t compute_instance = 0;
  int32_t compute = 0;     // compute slices, the "g"
  int32_t gigabytes = 0;   // as rounded in the name
  std::string attributes;  // with its sign: "+me", "+me.all", "+gfx", "-me", "+me,gfx"; "" = none

  // It has media engines that the plain profile lacks, or all there are.
  [[nodiscard]] bool wants_media() const;
  friend auto operator<=>(const MigProfile&, const MigProfile&) = default;
};

// None: it is no name of a profile.
[[nodiscard]] std::optional<MigProfile> ParseMigProfile(absl::string_view text);
// "1g.10gb+me"
[[nodiscard]] std::string MigProfileName(const MigProfile& profile);
// The form in resource names and in names of configurations: "1g.10gb.me".
[[nodiscard]] std::string MigProfileLabel(const MigProfile& profile);
[[nodiscard]] std::string MigResourceName(const MigProfile& profile);
// None: it is no resource of a MIG profile under its usual name.
[[nodiscard]] std::optional<MigProfile> MigProfileOfResource(absl::string_view resource);

}  // namespace maniple
