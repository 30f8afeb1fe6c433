// Idle nodes are divided for the slices that wait: when to plan, and what becomes of a plan.
//
// A plan costs a node minutes, so it is made only for gangs that have waited for a while, and no
// more often than kBetweenPlans. A node under change counts as what it will be; a node that was
// changed is left alone for MigOptions::hold_off, by what stands on the node itself; every plan
// serves more than what there is. So with the same gangs waiting there is no second plan for what
// the first one brings, and no way back.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/loop/mig_request.h"
#include "scheduler/report/events.h"

namespace maniple {
namespace {

constexpr absl::Duration kBetweenPlans = absl::Seconds(10);
// A write that does not show by then has not happened, or is another leader's to see.
constexpr absl::Duration kShowsWithin = absl::Minutes(1);
constexpr absl::Duration kAfterFailure = absl::Minutes(1);

bool WaitsForNodes(WaitReason reason) {
  return reason == WaitReason::kNoFit || reason == WaitReason::kTopologyNoFit ||
         reason == WaitReason::kNeverFits || reason == WaitReason::kSearchLimitReached;
}

}  // namespace

void Leadership::NoteForMig() {
  if (options_.mig.reconfigure == MigReconfigure::kOff) return;
  mig_due_ = absl::InfinitePast();  // room, gangs or nodes may be others
  for (const std::string& name : mig_fleet_.TakeShown()) EndMigHold(name);
}

// From here on the label on the node keeps GPU pods away.
void Leadership::EndMigHold(const std::string& name) {
  const std::optional<NodeId> node = state_.NodeNamed(name);
  if (!node.has_value()) return;
  state_.CoolDown(*node, absl::InfinitePast());
  news_.room_grew.insert(*node);
}

MigQuestion Leadership::QuestionForMig(absl::Time now) {
  return {.snapshot = Picture(),
          .profile = options_.profile,
          .fleet = mig_fleet_,
          .options = options_.mig,
          .now = now};
}

void Leadership::PlanMigNodes(absl::Time now) {
  if (options_.mig.reconfigure == MigReconfigure::kOff || warm_.draining) return;
  if (now < mig_due_ || mig_fleet_.nodes().empty()) return;
  // What is about to be decided may take the room.
  if (queue_->ready() > 0 && errands_.binds() < options_.max_binds_under_way) return;
  if (now < mig_planned_ + kBetweenPlans) {
    mig_due_ = mig_planned_ + kBetweenPlans;
    return;
  }
  mig_planned_ = now;
  mig_due_ = mig_fleet_.NextChange(now);
  if (const std::string overdue = mig_fleet_.Overdue(now); !overdue.empty()) {
    if (mig_fleet_.Tell(overdue, "overdue", now)) {
      const MigFleet::Node& node = mig_fleet_.nodes().at(overdue);
      SendEvent(MigOverdueEvent({overdue, node.uid}, node.config, now - node.changed_at), now);
    }
    mig_due_ = std::min(mig_due_, now + options_.mig.hold_off);
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
  mig_due_ = std::min(mig_due_, mig_fleet_.NextChange(now));
}

// "Never" is said of the nodes as they are; those that may be divided anew can be others.
void Leadership::MindMig(const GangRequest& request, absl::Time now, Rejection& rejection) {
  if (options_.mig.reconfigure != MigReconfigure::kOn) return;
  if (rejection.code != RejectionCode::kNeverFits || !rejection.shape.valid()) return;
  const auto pods = std::ranges::count(request.wants, rejection.shape, &Want::shape);
  const WaitingPods lacking{.shape = rejection.shape,
                            .pods = std::min<int64_t>(pods, request.need.total)};
  if (FitOnceDivided(QuestionForMig(now), lacking)) rejection.code = RejectionCode::kNoFit;
}

// Of each shape, as many as their quorums lack. Of gangs that have not waited long enough, the
// first sets the time of the next plan.
std::vector<WaitingPods> Leadership::PodsThatWaitForNodes(absl::Time now) {
  std::map<ShapeId, int64_t> pods;
  for (const QueueItem& item : queue_->ParkedItems()) {
    const std::optional<Case> c = Open(item.gang, now);
    if (!c.has_value() || item.kind == ItemKind::kSurplus) continue;
    if (c->record.waiting == nullptr || !WaitsForNodes(c->record.waiting->reason)) continue;
    const absl::Time since = QueuedAt(c->gang, c->record) + options_.mig.after;
    if (since > now) {
      mig_due_ = std::min(mig_due_, since);
      continue;
    }
    const GangRequest request = RequestOf(*c, item.kind);
    const auto lacking = static_cast<size_t>(std::max(0, request.need.total));
    for (size_t i = 0; i < std::min(lacking, request.wants.size()); ++i) {
      ++pods[request.wants[i].shape];
    }
  }
  std::vector<WaitingPods> out;
  for (const auto& [shape, count] : pods) out.push_back({.shape = shape, .pods = count});
  return out;
}

void Leadership::Propose(const MigProposal& proposal, const std::string& why, absl::Time now) {
  const MigFleet::Node& node = mig_fleet_.nodes().at(proposal.node);
  const std::string from = node.config.empty() ? "no configuration" : node.config;
  const MigChange change{{proposal.node, node.uid}, from, proposal.config, why};
  if (options_.mig.reconfigure == MigReconfigure::kDryRun) {
    if (!mig_fleet_.Tell(proposal.node, proposal.config, now)) return;
    LogOf("mig", proposal.node, absl::StrCat(" (dry run): ", from, " -> ", proposal.config), now);
    SendEvent(MigProposedEvent(change), now);
    return;
  }
  const std::optional<NodeId> id = state_.NodeNamed(proposal.node);
  if (!id.has_value()) return;
  ++counters_.mig_changes;
  LogOf("mig", proposal.node, absl::StrCat(": ", from, " -> ", proposal.config), now);
  // Until the label shows, nobody of ours may go there; from then on the label itself says so.
  state_.CoolDown(*id, now + kShowsWithin);
  warm_.cool_downs.EndsAt(now + kShowsWithin);
  MetadataPatch patch{.resource_version = node.resource_version};
  patch.labels.Set(kMigConfigLabel, proposal.config);
  patch.labels.Set(kMigConfigStateLabel, kMigPending);
  patch.annotations.Set(kMigChangedAt,
                        absl::FormatTime(absl::RFC3339_sec, now, absl::UTCTimeZone()));
  patch.annotations.Set(kMigChangedFrom, node.config);
  writes_.push_back(errands_.Send({.kind = ErrandKind::kNodeConfig, .name = proposal.node},
                                  NodeMetadataRequest(proposal.node, patch)));
  mig_fleet_.Asked(proposal.node, proposal.config, now + kShowsWithin);
  SendEvent(MigChangedEvent(change), now);
}

void Leadership::HearNodeConfig(const std::string& name, const WriteResult& result,
                                absl::Time now) {
  const int kind = result.outcome == WriteOutcome::kAnswered ? result.http_status / 100 : 0;
  // No answer, or a server that fails: it may have been done. What does not show in time was not.
  if (result.outcome == WriteOutcome::kUnknown || kind == 2 || kind == 5) return;
  mig_fleet_.Failed(name, now + kAfterFailure);
  mig_due_ = absl::InfinitePast();
  EndMigHold(name);
  LogOf("mig", name, absl::StrCat(": not changed: HTTP ", result.http_status), now);
}

}  // namespace maniple
