// Our own resources, group scheduling.maniple.dev/v1alpha1, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "api/base/amount.h"
#include "api/model/model.h"

namespace maniple {

inline constexpr char kManipleGroup[] = "scheduling.maniple.dev";
inline constexpr char kManipleVersion[] = "v1alpha1";
inline constexpr char kManipleApiVersion[] = "scheduling.maniple.dev/v1alpha1";
inline constexpr char kPodGroupLabel[] = "scheduling.maniple.dev/pod-group";
inline constexpr char kSubGroupLabel[] = "scheduling.maniple.dev/sub-group";
inline constexpr char kQueueLabel[] = "scheduling.maniple.dev/queue";
inline constexpr char kDefaultQueueLabel[] = "scheduling.maniple.dev/default-queue";
// On a pod that we have bound: the Queue under which it was bound, if there was one.
inline constexpr char kAdmittedQueueAnnotation[] = "scheduling.maniple.dev/admitted-queue";
// On a PodGroup, "true": nothing of the gang starts. Its running pods are left alone.
inline constexpr char kHoldAnnotation[] = "scheduling.maniple.dev/hold";

// "tier-1" in the place of a level: the HyperNodes of that tier where there are some; else that
// level of the Topology, counted from the narrowest without single nodes, as Volcano counts.
inline constexpr char kTierWord[] = "tier-";

struct TopologyRequest {
  std::string required;  // level name or node label, "" = none
  std::string preferred;
  int32_t slice_size = 0;  // 0 = no slices
  std::string slice_level;
  std::string topology_name;
  friend auto operator<=>(const TopologyRequest&, const TopologyRequest&) = default;
};

struct SubGroup {
  std::string name;
  int32_t min_member = 0;
  TopologyRequest topology;
  friend auto operator<=>(const SubGroup&, const SubGroup&) = default;
};

enum class QuorumLossAction { kEvict, kKeep };

// The origin of a PodGroup that Maniple has made for a gang of another declarer: the foreign
// group or owner, and which of its gangs.
struct GangSource {
  std::string api_version, kind, name, uid, part;
  [[nodiscard]] bool empty() const { return uid.empty(); }
  friend auto operator<=>(const GangSource&, const GangSource&) = default;
};

struct PodGroupSpec {
  std::string queue;
  int32_t min_member = 1;
  std::string priority_class_name;
  TopologyRequest topology;
  std::vector<SubGroup> sub_groups;
  absl::Duration schedule_timeout = absl::Seconds(60);
  std::optional<absl::Duration> expected_runtime;
  bool preempts = true;  // preemption.policy is PreemptLowerPriority
  absl::Duration protected_runtime = absl::ZeroDuration();
  QuorumLossAction quorum_loss_action = QuorumLossAction::kEvict;
  absl::Duration quorum_loss_grace = absl::Seconds(300);
  GangSource source = {};  // empty: a user's own PodGroup
  friend bool operator==(const PodGroupSpec&, const PodGroupSpec&) = default;
};

struct Condition {
  std::string type, status, reason, message;
  absl::Time last_transition = absl::InfinitePast();
  int64_t observed_generation = 0;
  friend bool operator==(const Condition&, const Condition&) = default;
};

struct MemberCounts {
  int32_t total = 0, pending = 0, bound = 0, running = 0, succeeded = 0, failed = 0;
  friend bool operator==(const MemberCounts&, const MemberCounts&) = default;
};

// As it stands on the server; written by scheduler/report only.
struct PodGroupStatus {
  std::string phase;  // Waiting, Pending, Binding, Running, Completed, Failed; "" = never written
  MemberCounts members;
  std::vector<Condition> conditions;  // sorted by type
  std::string reason, message;
  std::vector<std::string> placement_nodes;  // sorted
  std::vector<std::string> placement_domains;
  std::optional<absl::Time> quorum_reached_at;
  int32_t quorum_met = 0;  // the size of the quorum when it was bound last; 0: not known
  std::optional<absl::Time> last_undone_at;
  bool initial_share_preemption_used = false;
  std::string preempted_by;
  std::string admitted_queue;  // "" = no member is placed, or no Queue applied
  friend bool operator==(const PodGroupStatus&, const PodGroupStatus&) = default;
};

struct PodGroup {
  ObjectMeta meta;
  PodGroupSpec spec;
  PodGroupStatus status;
};

struct QuotaAmount {
  std::string resource;
  Amount nominal;
  std::optional<Amount> borrowing_limit;
  std::optional<Amount> lending_limit;
};
struct FlavorQuota {
  std::string flavor;  // "" = nodes that no other entry names
  std::vector<QuotaAmount> resources;
};
enum class QueueOrdering { kBestEffortFifo, kStrictFifo, kBackfill };
enum class StopPolicy { kNone, kHold, kHoldAndDrain };
enum class WithinQueuePreemption { kNever, kLowerPriority, kLowerOrNewerEqualPriority };
enum class ReclaimWithinCohort { kNever, kLowerPriority, kAny };

inline constexpr int64_t kMostResourceSeconds = int64_t{1} << 53;  // JSON has no larger ones
// The use of one GPU resource of one flavor by the gangs of one namespace: amount by time.
struct ResourceSeconds {
  std::string namespace_name;  // "" = all that have no row of their own
  std::string flavor;          // "" = nodes that no ResourceFlavor names
  std::string resource;
  int64_t total = 0;   // since the Queue was made
  int64_t recent = 0;  // the same, where past use halves every seven days
  friend bool operator==(const ResourceSeconds&, const ResourceSeconds&) = default;
};
// The use within one Queue, as its status tells. Written by the scheduler only.
struct UsageRecord {
  absl::Time as_of = absl::InfinitePast();  // the infinite past: nothing is told
  std::vector<ResourceSeconds> rows;        // by namespace, flavor and resource
  friend bool operator==(const UsageRecord&, const UsageRecord&) = default;
};

struct Queue {
  ObjectMeta meta;
  std::string cohort;
  std::optional<LabelSelector> namespace_selector;  // absent = every namespace
  std::vector<FlavorQuota> quotas;
  QueueOrdering ordering = QueueOrdering::kBestEffortFifo;
  WithinQueuePreemption within_queue = WithinQueuePreemption::kNever;
  ReclaimWithinCohort reclaim = ReclaimWithinCohort::kNever;
  bool borrow_preempts_lower_priority = false;
  std::optional<int32_t> borrow_priority_threshold;
  absl::Duration min_runtime = absl::ZeroDuration();             // no gang is a victim before
  absl::Duration most_protected_runtime = absl::ZeroDuration();  // that a PodGroup may ask for
  int64_t fair_share_weight_milli = 1000;
  StopPolicy stop = StopPolicy::kNone;
  // As they stand on the server.
  UsageRecord used;
  std::vector<Condition> conditions;
};

struct Cohort {
  ObjectMeta meta;
  std::string parent;
  std::vector<FlavorQuota> quotas;
  int64_t fair_share_weight_milli = 1000;
  std::vector<Condition> conditions;  // as they stand on the server
};

struct ResourceFlavor {
  ObjectMeta meta;
  StringMap node_labels;
  int32_t priority = 0;
};

struct TopologyLevel {
  std::string name, node_label;
};
struct Topology {
  ObjectMeta meta;
  std::vector<TopologyLevel> levels;  // broadest first
};

}  // namespace maniple
