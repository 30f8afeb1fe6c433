// A spec within the bounds that the schema of PodGroups has (deploy/crds/podgroups.yaml).
#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/base/fingerprint.h"
#include "api/codec/encode.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

constexpr absl::Duration kLongestScheduleTimeout = absl::Hours(24);
constexpr absl::Duration kLongestTime = absl::Seconds(315'360'000);  // ten years
constexpr int32_t kMostMembers = 1'000'000;
constexpr size_t kMostSubGroups = 64;
constexpr size_t kLongestLabelValue = 63;
constexpr size_t kLongestName = 253;
constexpr size_t kLongestQualifiedName = 317;
constexpr size_t kLongestUid = 128;

absl::Duration Stored(absl::Duration time, absl::Duration least, absl::Duration most) {
  return std::clamp(absl::Ceil(time, absl::Seconds(1)), least, most);
}

void Cut(std::string& text, size_t limit) { text.resize(Utf8Prefix(text, limit).size()); }

void Fit(TopologyRequest& topology) {
  Cut(topology.required, kLongestQualifiedName);
  Cut(topology.preferred, kLongestQualifiedName);
  Cut(topology.slice_level, kLongestQualifiedName);
  Cut(topology.topology_name, kLongestName);
  topology.slice_size = std::clamp(topology.slice_size, 0, kMostMembers);
  if (topology.slice_level.empty()) topology.slice_size = 0;
  if (topology.slice_size == 0) topology.slice_level.clear();
}

bool IsLabelValue(const std::string& name) {
  return !name.empty() && name.size() <= kLongestLabelValue &&
         absl::ascii_isalnum(static_cast<unsigned char>(name.front())) &&
         absl::ascii_isalnum(static_cast<unsigned char>(name.back())) &&
         std::ranges::all_of(name, [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

GangSource StorableSource(GangSource source) {
  Cut(source.api_version, kLongestQualifiedName);
  Cut(source.kind, kLongestLabelValue);
  Cut(source.name, kLongestName);
  Cut(source.part, kLongestName);
  // Cut, the uids of two objects could be the same.
  if (source.uid.size() > kLongestUid) {
    source.uid = absl::StrCat("long-", absl::Hex(FingerprintOf(source.uid), absl::kZeroPad16));
  }
  return source;
}

PodGroupSpec StorableSpec(PodGroupSpec spec) {
  Cut(spec.queue, kLongestName);
  Cut(spec.priority_class_name, kLongestName);
  spec.min_member = std::clamp(spec.min_member, 1, kMostMembers);
  absl::flat_hash_set<std::string> names;
  std::erase_if(spec.sub_groups, [&](const SubGroup& each) {
    return !IsLabelValue(each.name) || !names.insert(each.name).second;
  });
  if (spec.sub_groups.size() > kMostSubGroups) spec.sub_groups.resize(kMostSubGroups);
  for (SubGroup& each : spec.sub_groups) {
    each.min_member = std::clamp(each.min_member, 0, kMostMembers);
    Fit(each.topology);
  }
  Fit(spec.topology);
  const TopologyRequest nothing{.topology_name = spec.topology.topology_name};
  if (spec.sub_groups.empty() && spec.topology == nothing) spec.topology = {};
  spec.schedule_timeout = Stored(spec.schedule_timeout, absl::Seconds(1), kLongestScheduleTimeout);
  spec.protected_runtime = Stored(spec.protected_runtime, absl::ZeroDuration(), kLongestTime);
  spec.quorum_loss_grace = Stored(spec.quorum_loss_grace, absl::ZeroDuration(), kLongestTime);
  if (spec.expected_runtime.has_value()) {
    spec.expected_runtime = Stored(*spec.expected_runtime, absl::Seconds(1), kLongestTime);
  }
  spec.source = StorableSource(std::move(spec.source));
  return spec;
}

}  // namespace maniple
