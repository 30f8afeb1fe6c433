#include "queue/assembly.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "api/base/time_text.h"

namespace maniple {
namespace {

// The progress of one quorum: the gang's, or a sub-group's.
struct Tally {
  int32_t wanted = 0;
  int32_t live = 0;
  int32_t gated = 0;
  int32_t succeeded = 0;

  [[nodiscard]] int32_t present() const { return live + succeeded; }
  [[nodiscard]] bool ready() const { return present() >= wanted; }
  [[nodiscard]] bool ready_without_gates() const { return present() + gated >= wanted; }

  void Count(MemberState state, int32_t members = 1) {
    switch (state) {
      case MemberState::kPending:
      case MemberState::kBound:
        live += members;
        break;
      case MemberState::kGated:
        gated += members;
        break;
      case MemberState::kSucceeded:
        succeeded += members;
        break;
      case MemberState::kTerminating:
      case MemberState::kFailed:
        break;
    }
  }

  // "3 of 4 pods exist", "1 of 2 pods is gated", "7 of 10 pods are gated, and 4 are needed".
  [[nodiscard]] std::string Lacking() const {
    if (ready_without_gates()) {
      const int32_t all = present() + gated;
      std::string text =
          absl::StrCat(gated, " of ", all, " pods ", gated == 1 ? "is" : "are", " gated");
      if (all == wanted) return text;
      return absl::StrCat(text, ", and ", wanted, wanted == 1 ? " is" : " are", " needed");
    }
    std::string text = absl::StrCat(present() + gated, " of ", wanted, " pods exist");
    if (gated > 0) absl::StrAppend(&text, ", ", gated, " of them gated");
    return text;
  }
};

void CountInto(MemberCounts& counts, const Member& member) {
  ++counts.total;
  if (member.running && member.state == MemberState::kBound) ++counts.running;
  switch (member.state) {
    case MemberState::kPending:
    case MemberState::kGated:
      ++counts.pending;
      break;
    case MemberState::kBound:
      ++counts.bound;
      break;
    case MemberState::kSucceeded:
      ++counts.succeeded;
      break;
    case MemberState::kFailed:
      ++counts.failed;
      break;
    case MemberState::kTerminating:
      break;
  }
}

// A gang that has begun goes on, and its lost members are replaced.
bool MayNotBegin(const Gang& gang) {
  return gang.on_hold && std::ranges::none_of(gang.members, [](const Member& member) {
           return member.state == MemberState::kBound;
         });
}

// The creation of the last of its pods, or else of the object that declares them.
absl::Time NewestOf(const Gang& gang) {
  absl::Time newest = gang.created;
  for (const Member& member : gang.members) newest = std::max(newest, member.created);
  return newest;
}

// The progress of a producer is not known here, so people are told for how long nothing came.
std::string LackingText(const Gang& gang, const Tally& whole, const std::vector<Tally>& parts) {
  std::string text;
  if (!whole.ready()) text = whole.Lacking();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].ready()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", "sub-group ", gang.spec.sub_groups[i].name,
                    ": ", parts[i].Lacking());
  }
  if (gang.foreign != nullptr && !whole.ready_without_gates() &&
      NewestOf(gang) != absl::InfinitePast()) {
    absl::StrAppend(&text, ", since ", TimeText(NewestOf(gang)));
  }
  return text;
}

}  // namespace

bool QuorumNeed::Met() const {
  return total <= 0 && std::ranges::all_of(sub_groups, [](int32_t n) { return n <= 0; });
}

std::vector<int32_t> CleanedBySubGroup(const Gang& gang) {
  std::vector<int32_t> counts(gang.spec.sub_groups.size(), 0);
  if (gang.cleaned.empty()) return counts;
  for (const Rank& rank : gang.cleaned.ranks) {
    const auto part = static_cast<size_t>(rank.sub_group);
    if (part < counts.size()) ++counts[part];
  }
  // Those of no rank are taken for the members that sub-groups lack beside the ones that are there.
  std::vector<int32_t> there(counts.size(), 0);
  for (const Member& member : gang.members) {
    const bool lost =
        member.state == MemberState::kFailed || member.state == MemberState::kTerminating;
    const auto part = static_cast<size_t>(member.rank.sub_group);
    if (!lost && part < there.size()) ++there[part];
  }
  int32_t unranked = gang.cleaned.unranked;
  for (const bool beside : {true, false}) {
    for (size_t i = 0; i < counts.size() && unranked > 0; ++i) {
      const int32_t has = counts[i] + (beside ? there[i] : 0);
      const int32_t more = std::clamp(gang.spec.sub_groups[i].min_member - has, 0, unranked);
      counts[i] += more;
      unranked -= more;
    }
  }
  return counts;
}

Assembly Assemble(const Gang& gang) {
  Assembly out;
  Tally whole{.wanted = std::max(1, gang.spec.min_member)};
  std::vector<Tally> parts(gang.spec.sub_groups.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].wanted = std::max(0, gang.spec.sub_groups[i].min_member);
  }
  const bool kept_back = MayNotBegin(gang);
  for (const Member& member : gang.members) {
    CountInto(out.counts, member);
    const bool gated = kept_back && member.state == MemberState::kPending;
    const MemberState state = gated ? MemberState::kGated : member.state;
    whole.Count(state);
    const auto part = static_cast<size_t>(member.rank.sub_group);
    if (part < parts.size()) parts[part].Count(state);
  }
  out.counts.total += gang.cleaned.count();
  out.counts.succeeded += gang.cleaned.count();
  whole.Count(MemberState::kSucceeded, gang.cleaned.count());
  const std::vector<int32_t> cleaned = CleanedBySubGroup(gang);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].Count(MemberState::kSucceeded, cleaned[i]);

  bool ready_without_gates = whole.ready_without_gates();
  out.members_ready = whole.ready();
  for (const Tally& part : parts) {
    out.members_ready = out.members_ready && part.ready();
    ready_without_gates = ready_without_gates && part.ready_without_gates();
  }
  out.need = NeedWith(gang, [](const Member& member) {
    return member.state == MemberState::kBound || member.state == MemberState::kSucceeded;
  });

  out.live = whole.live;
  if (!out.members_ready) out.lacking = LackingText(gang, whole, parts);
  out.gated = !out.members_ready && ready_without_gates;
  if (kept_back && out.gated) {
    out.lacking = absl::StrCat("it is on hold: annotation ", kHoldAnnotation, " of its ",
                               gang.key.dialect == GangDialect::kSingleton ? "pod" : "PodGroup");
  }
  const bool ended = whole.live == 0 && whole.gated == 0;
  out.failed = ended && out.counts.failed > 0 && !out.members_ready;
  // A quorum that succeeded has done its work, even if a member beyond it failed.
  out.completed = ended && whole.succeeded > 0 && (out.counts.failed == 0 || out.members_ready);
  return out;
}

int32_t QuorumOf(const PodGroupSpec& spec) {
  int64_t parts = 0;
  for (const SubGroup& part : spec.sub_groups) parts += std::max(0, part.min_member);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(std::min(std::max<int64_t>({1, spec.min_member, parts}), kMost));
}

QuorumCount::QuorumCount(const Gang& gang)
    : total_(int64_t{std::max(1, gang.spec.min_member)} - gang.cleaned.count()) {
  const std::vector<int32_t> cleaned = CleanedBySubGroup(gang);
  need_.sub_groups.reserve(cleaned.size());
  for (size_t i = 0; i < cleaned.size(); ++i) {
    need_.sub_groups.push_back(std::max(0, gang.spec.sub_groups[i].min_member - cleaned[i]));
  }
}

void QuorumCount::Add(const Member& member) {
  --total_;
  const auto part = static_cast<size_t>(member.rank.sub_group);
  if (part < need_.sub_groups.size() && need_.sub_groups[part] > 0) --need_.sub_groups[part];
}

QuorumNeed QuorumCount::Need() && {
  // The minimums of sub-groups may add up to more than minMember; then they rule.
  int64_t parts = 0;
  for (const int32_t part : need_.sub_groups) parts += part;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  need_.total = static_cast<int32_t>(std::clamp<int64_t>(std::max(total_, parts), 0, kMost));
  return std::move(need_);
}

QuorumNeed NeedWith(const Gang& gang, absl::FunctionRef<bool(const Member&)> counts) {
  QuorumCount count(gang);
  for (const Member& member : gang.members) {
    if (counts(member)) count.Add(member);
  }
  return std::move(count).Need();
}

bool QuorumMayPreempt(const Gang& gang) {
  QuorumNeed need =
      NeedWith(gang, [](const Member& member) { return member.state == MemberState::kSucceeded; });
  std::vector<const Member*> others;  // that no sub-group's minimum needs
  for (const Member& member : gang.members) {
    if (!IsLive(member)) continue;
    const auto part = static_cast<size_t>(member.rank.sub_group);
    if (part >= need.sub_groups.size() || need.sub_groups[part] <= 0) {
      others.push_back(&member);
      continue;
    }
    --need.sub_groups[part];
    --need.total;
    if (!member.preempts) return false;
  }
  const size_t rest = std::min(others.size(), static_cast<size_t>(std::max(0, need.total)));
  return std::all_of(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(rest),
                     [](const Member* member) { return member->preempts; });
}

std::optional<absl::Duration> ExpectedRuntime(const Gang& gang) {
  if (gang.spec.expected_runtime.has_value()) return gang.spec.expected_runtime;
  std::optional<absl::Duration> longest;
  for (const Member& member : gang.members) {
    const bool over = member.state == MemberState::kSucceeded ||
                      member.state == MemberState::kFailed ||
                      member.state == MemberState::kTerminating;
    if (over) continue;
    if (!member.deadline.has_value()) return std::nullopt;
    longest = std::max(longest.value_or(absl::ZeroDuration()), *member.deadline);
  }
  return longest;
}

std::vector<int32_t> RankGroupsOf(const Gang& gang) {
  // Members are in order of rank, so those of one group stand together.
  std::vector<int32_t> groups;
  groups.reserve(gang.members.size());
  const Rank* last = nullptr;
  for (const Member& member : gang.members) {
    const Rank& rank = member.rank;
    const bool same = last != nullptr && last->sub_group == rank.sub_group && last->job == rank.job;
    groups.push_back(groups.empty() ? 0 : groups.back() + (same ? 0 : 1));
    last = &rank;
  }
  return groups;
}

int32_t SubGroupIndex(absl::string_view sub_group, const PodGroupSpec& spec) {
  const auto& parts = spec.sub_groups;
  if (sub_group.empty()) return static_cast<int32_t>(parts.size());
  return static_cast<int32_t>(std::ranges::find(parts, sub_group, &SubGroup::name) - parts.begin());
}

Rank RankOf(const StringMap& labels, absl::string_view sub_group, const PodGroupSpec& spec) {
  static constexpr absl::string_view kRoleLabels[] = {
      "training.kubeflow.org/replica-type", "training.kubeflow.org/job-role",
      "jobset.sigs.k8s.io/replicatedjob-name", "volcano.sh/task-spec", "ray.io/node-type"};
  // Kueue's counts within the whole group, so it goes before that of the controller of a pod.
  static constexpr absl::string_view kIndexLabels[] = {"kueue.x-k8s.io/pod-group-pod-index",
                                                       "batch.kubernetes.io/job-completion-index",
                                                       "apps.kubernetes.io/pod-index",
                                                       "training.kubeflow.org/replica-index",
                                                       "leaderworkerset.sigs.k8s.io/worker-index",
                                                       "volcano.sh/task-index",
                                                       "ray.io/replica-host-index"};
  static constexpr absl::string_view kJobLabels[] = {"jobset.sigs.k8s.io/job-index",
                                                     "ray.io/worker-group-replica-index",
                                                     "leaderworkerset.sigs.k8s.io/group-index"};
  const auto index_of = [&labels](absl::string_view key) -> int64_t {
    int64_t value = -1;
    return absl::SimpleAtoi(labels.Get(key), &value) && value >= 0 ? value : -1;
  };

  Rank rank;
  rank.sub_group = SubGroupIndex(sub_group, spec);
  for (const absl::string_view key : kRoleLabels) {
    if (rank.job.empty()) rank.job = std::string(labels.Get(key));
  }
  for (const absl::string_view key : kJobLabels) {
    const int64_t job = index_of(key);
    if (job < 0) continue;
    // Zero-padded, so that text order is number order.
    absl::StrAppend(&rank.job, "/", absl::StrFormat("%019d", job));
    break;
  }
  if (rank.job.empty()) rank.job = std::string(labels.Get("batch.kubernetes.io/job-name"));
  for (const absl::string_view key : kIndexLabels) {
    if (rank.index >= 0) break;
    rank.index = index_of(key);
  }
  return rank;
}

}  // namespace maniple
