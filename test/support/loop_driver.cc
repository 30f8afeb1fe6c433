#include "test/support/loop_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugins/builtin.h"

namespace maniple {
namespace {

std::unique_ptr<SchedulingLoop> NewLoop(const LoopDriver::Settings& settings) {
  LoopOptions options;
  options.fair_sharing = settings.fair_sharing;
  options.reservation_after = settings.reservation_after;
  options.ignore_pdb = settings.ignore_pdb;
  options.mig = settings.mig;
  options.search = settings.search;
  options.state.producers = settings.producers;
  options.node_requests = settings.node_requests;
  options.help_work_per_turn = settings.help_work_per_turn;
  options.profile = BuiltinProfile();
  auto loop = std::make_unique<SchedulingLoop>(std::move(options));
  loop->SetRole(SchedulingLoop::Role::kLeader);
  return loop;
}

}  // namespace

LoopDriver::LoopDriver(const Settings& settings) : settings_(settings), loop_(NewLoop(settings)) {}

void LoopDriver::Put(ObjectEvent event) { api.Put(std::get<ObjectUpserted>(event).object); }

void LoopDriver::Nodes(int count, int64_t gpu, absl::string_view prefix) {
  for (int i = 1; i <= count; ++i) Put(MakeNode(absl::StrCat(prefix, i)).Gpu(gpu));
}

void LoopDriver::Submit(const Job& job) {
  if (api.FindGroup(job.gang) == nullptr) {
    PodGroup group =
        MakePodGroup(job.gang).MinMember(job.min_member == 0 ? job.pods : job.min_member);
    group.spec.queue = job.queue;
    group.spec.expected_runtime = job.expected_runtime;
    group.meta.created = now;
    api.Put(group);
  }
  int index = 0;
  for (int made = 0; made < job.pods; ++index) {
    const std::string name = absl::StrCat(job.gang, "-", index);
    if (api.FindPod(name) != nullptr) continue;
    Pod pod = MakePod(name).Group(job.gang).Gpu(job.gpu).Priority(job.priority);
    pod.meta.created = now;
    pod.active_deadline = job.deadline;
    pod.meta.uid.clear();
    api.Put(pod);
    ++made;
  }
}

void LoopDriver::Tell(ObjectEvent event) {
  audit_.Hear(event);
  loop_->Accept(std::move(event));
}

bool LoopDriver::Turn() {
  std::vector<ObjectEvent> events = api.TakeEvents();
  std::vector<WriteResult> results = api.TakeResults();
  bool moved = !events.empty() || !results.empty();
  for (ObjectEvent& event : events) Tell(std::move(event));
  for (WriteResult& result : results) {
    audit_.Hear(result);
    loop_->Accept(std::move(result));
  }
  TurnOutput out = loop_->Turn(now);
  moved = moved || out.more || !out.writes.empty();
  next_ = out.next;
  const std::vector<std::string> lines = loop_->TakeDecisionLog();
  log_.insert(log_.end(), lines.begin(), lines.end());
  for (const std::string& violation : audit_.AfterTurn(*loop_, out, lines, now)) {
    ADD_FAILURE() << violation;
  }
  api.Carry(std::move(out.writes));
  return moved;
}

void LoopDriver::Exchange() { Turn(); }

void LoopDriver::Settle(absl::Duration later) {
  const absl::Time until = now + later;
  for (int turns = 0; turns < 20'000; ++turns) {
    if (Turn()) continue;
    if (next_ <= until) {
      now = std::max(now, next_);
      continue;
    }
    now = until;
    const absl::Status status = loop_->CheckParkedCannotStart(now);
    EXPECT_TRUE(status.ok()) << status;
    return;
  }
  ADD_FAILURE() << "the loop does not come to rest";
}

void LoopDriver::Restart() {
  loop_ = NewLoop(settings_);
  static_cast<void>(api.TakeEvents());
  static_cast<void>(api.TakeResults());
  audit_ = TurnAudit();
  for (ObjectEvent& event : api.List()) Tell(std::move(event));
}

int LoopDriver::Bound(absl::string_view gang) const {
  const std::vector<const Pod*> pods = api.Pods();
  return static_cast<int>(std::ranges::count_if(pods, [gang](const Pod* pod) {
    return pod->meta.labels.Get(kPodGroupLabel) == gang && !pod->node_name.empty() &&
           pod->phase != PodPhase::kFailed && !pod->meta.deleted.has_value();
  }));
}

std::string LoopDriver::NodeOf(absl::string_view name) const {
  const Pod* pod = api.FindPod(name);
  return pod == nullptr ? "" : pod->node_name;
}

const GangView* LoopDriver::ViewOf(absl::string_view gang) {
  view_ = loop_->View(now);
  const auto it = std::ranges::find(view_->gangs, gang, &GangView::name);
  return it == view_->gangs.end() ? nullptr : &*it;
}

const PodGroupStatus& LoopDriver::StatusOf(absl::string_view gang) const {
  static const PodGroupStatus kNone;
  const PodGroup* group = api.FindGroup(gang);
  return group == nullptr ? kNone : group->status;
}

}  // namespace maniple
