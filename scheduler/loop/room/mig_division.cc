#include "scheduler/loop/room/mig_division.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/records/mig_request.h"
#include "scheduler/report/events.h"

namespace maniple {
namespace {

constexpr absl::Duration kBetweenPlans = absl::Seconds(10);

// The first time for a plan that is not before this one.
absl::Time PlanTime(absl::Time now) {
  const absl::Time before = absl::UnixEpoch() + absl::Floor(now - absl::UnixEpoch(), kBetweenPlans);
  return before < now ? before + kBetweenPlans : before;
}

// A write that does not show by then has not happened, or is another leader's to see.
constexpr absl::Duration kShowsWithin = absl::Minutes(1);

constexpr absl::Duration kAfterFailure = absl::Minutes(1);

bool WaitsForNodes(WaitReason reason) {
  return reason == WaitReason::kNoFit || reason == WaitReason::kTopologyNoFit ||
         reason == WaitReason::kNeverFits || reason == WaitReason::kSearchLimitReached;
}

}  // namespace

void MigDivision::NoteForMig() {
  if (desk_.options.mig.reconfigure == MigReconfigure::kOff) return;
  due_ = absl::InfinitePast();  // room, gangs or nodes may be others
  for (const std::string& name : desk_.warm.mig_fleet.TakeShown()) EndMigHold(name);
}

void MigDivision::EndMigHold(const std::string& name) {
  const std::optional<NodeId> node = desk_.state.NodeNamed(name);
  if (!node.has_value()) return;
  desk_.state.CoolDown(*node, absl::InfinitePast());
  desk_.warm.cool_downs.Opened(*node);
  desk_.news.room_grew.insert(*node);
}

MigQuestion MigDivision::QuestionForMig(absl::Time now) {
  return {.snapshot = desk_.Picture(),
          .profile = desk_.options.profile,
          .fleet = desk_.warm.mig_fleet,
          .options = desk_.options.mig,
          .now = now};
}

void MigDivision::PlanMigNodes(absl::Time now) {
  if (desk_.options.mig.reconfigure == MigReconfigure::kOff || desk_.warm.draining) return;
  if (now < due_ || desk_.warm.mig_fleet.nodes().empty()) return;
  // The gangs that are ready may take the room when they are decided.
  if (desk_.queue.ready() > 0 && desk_.errands.binds() < desk_.options.max_binds_under_way) return;
  if (due_ == absl::InfinitePast()) due_ = PlanTime(now + absl::Nanoseconds(1));
  if (now < due_) return;
  due_ = PlanTime(desk_.warm.mig_fleet.NextChange(now));
  if (const std::string overdue = desk_.warm.mig_fleet.Overdue(now); !overdue.empty()) {
    if (desk_.warm.mig_fleet.Tell(overdue, "overdue", now)) {
      const MigFleet::Node& node = desk_.warm.mig_fleet.nodes().at(overdue);
      desk_.SendEvent(MigOverdueEvent({overdue, node.uid}, node.config, now - node.changed_at),
                      now);
    }
    due_ = std::min(due_, PlanTime(now + desk_.options.mig.hold_off));
    return;
  }
  const MigPlan plan = PlanMig(MigPlanInputFor(QuestionForMig(now), PodsThatWaitForNodes(now)));
  for (const MigProposal& proposal : plan.proposals) {
    const std::string why = absl::StrCat(
        "with ",
        plan.proposals.size() == 1 ? "this" : absl::StrCat("these ", plan.proposals.size()),
        " changed, ", plan.served, " instead of ", plan.served_before,
        " waiting pods find their GPUs or slices");
    Propose(proposal, why, now);
  }
  due_ = std::min(due_, PlanTime(desk_.warm.mig_fleet.NextChange(now)));
}

void MigDivision::MindMig(const Case& c, const GangRequest& request, absl::Time now,
                          Rejection& rejection) {
  if (desk_.options.mig.reconfigure != MigReconfigure::kOn) return;
  if (rejection.code != RejectionCode::kNeverFits || !rejection.shape.valid()) return;
  const auto pods = std::ranges::count(request.wants, rejection.shape, &Want::shape);
  const WaitingPods lacking{.shape = rejection.shape,
                            .pods = std::min<int64_t>(pods, request.need.total)};
  if (!FitOnceDivided(QuestionForMig(now), lacking)) return;
  const bool lacks_quota = rejection.quota.has_value() && !parts_.preemptions.PoliciesLetEvict(c);
  rejection.code = lacks_quota ? RejectionCode::kQuotaExceeded : RejectionCode::kNoFit;
}

bool MigDivision::LacksQuotaForGood(const Case& c, const GangRequest& request) {
  return !parts_.preemptions.PoliciesLetEvict(c) && parts_.charges.LacksQuota(c, request);
}

// For each shape, as many pods as the quorums lack. The first gang that has not waited long enough
// sets the time of the next plan.
std::vector<WaitingPods> MigDivision::PodsThatWaitForNodes(absl::Time now) {
  std::map<ShapeId, int64_t> pods;
  for (const QueueItem& item : desk_.queue.ParkedItems()) {
    const std::optional<Case> c = desk_.Open(item.gang, now);
    if (!c.has_value() || item.kind == ItemKind::kSurplus) continue;
    if (c->record.waiting == nullptr || !WaitsForNodes(c->record.waiting->reason)) continue;
    const absl::Time since = QueuedAt(c->gang, c->record) + desk_.options.mig.after;
    if (since > now) {
      due_ = std::min(due_, PlanTime(since));
      continue;
    }
    const GangRequest request = desk_.RequestOf(*c, item.kind);
    if (LacksQuotaForGood(*c, request)) continue;
    const auto lacking = static_cast<size_t>(std::max(0, request.need.total));
    for (size_t i = 0; i < std::min(lacking, request.wants.size()); ++i) {
      ++pods[request.wants[i].shape];
    }
  }
  std::vector<WaitingPods> out;
  for (const auto& [shape, count] : pods) out.push_back({.shape = shape, .pods = count});
  return out;
}

void MigDivision::Propose(const MigProposal& proposal, const std::string& why, absl::Time now) {
  const MigFleet::Node& node = desk_.warm.mig_fleet.nodes().at(proposal.node);
  const std::string from = node.config.empty() ? "no configuration" : node.config;
  const MigChange change{{proposal.node, node.uid}, from, proposal.config, why};
  if (desk_.options.mig.reconfigure == MigReconfigure::kDryRun) {
    if (!desk_.warm.mig_fleet.Tell(proposal.node, proposal.config, now)) return;
    desk_.LogOf("mig", proposal.node, absl::StrCat(" (dry run): ", from, " -> ", proposal.config),
                now);
    desk_.SendEvent(MigProposedEvent(change), now);
    return;
  }
  const std::optional<NodeId> id = desk_.state.NodeNamed(proposal.node);
  if (!id.has_value()) return;
  ++desk_.counters.mig_changes;
  desk_.LogOf("mig", proposal.node, absl::StrCat(": ", from, " -> ", proposal.config), now);
  // Until the label shows, no pod of ours may go there; from then on the label itself says so.
  desk_.state.CoolDown(*id, now + kShowsWithin);
  desk_.warm.cool_downs.Shut(*id, now + kShowsWithin);
  MetadataPatch patch{.resource_version = node.resource_version};
  patch.labels.Set(kMigConfigLabel, proposal.config);
  patch.labels.Set(kMigConfigStateLabel, kMigPending);
  patch.annotations.Set(kMigChangedAt,
                        absl::FormatTime(absl::RFC3339_sec, now, absl::UTCTimeZone()));
  patch.annotations.Set(kMigChangedFrom, node.config);
  desk_.Send({.kind = ErrandKind::kNodeConfig, .name = proposal.node},
             NodeMetadataRequest(proposal.node, patch));
  desk_.warm.mig_fleet.Asked(proposal.node, proposal.config, now + kShowsWithin);
  desk_.SendEvent(MigChangedEvent(change), now);
}

void MigDivision::HearNodeConfig(const std::string& name, const WriteResult& result,
                                 absl::Time now) {
  const int kind = result.outcome == WriteOutcome::kAnswered ? result.http_status / 100 : 0;
  // Without an answer, or after a server error, the write may have been done.
  // If it does not show in time, it was not.
  if (result.outcome == WriteOutcome::kUnknown || kind == 2 || kind == 5) return;
  desk_.warm.mig_fleet.Failed(name, now + kAfterFailure);
  due_ = absl::InfinitePast();
  EndMigHold(name);
  desk_.LogOf("mig", name, absl::StrCat(": not changed: HTTP ", result.http_status), now);
}

}  // namespace maniple
