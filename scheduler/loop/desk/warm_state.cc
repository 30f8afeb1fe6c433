#include "scheduler/loop/desk/warm_state.h"

#include <utility>

#include "api/model/event_key.h"

namespace maniple {
namespace {

// A log that is never taken must not grow for ever.
constexpr size_t kLongestLog = 100'000;

}  // namespace

WarmState::WarmState(LoopOptions given)
    : options(std::move(given)),
      random(options.seed),
      state(options.state),
      directory(options.queue_status_interval, options.without_queue),
      mig_fleet(options.mig),
      cool_downs(options.node_cool_down) {
  state.KeepRunners(false);
}

void WarmState::Apply(const ObjectEvent& event, absl::Time now) {
  if (const std::optional<ObjectKey> key = KeyOf(event); options.applies && key.has_value()) {
    options.applies(*key);
  }
  directory.Note(event, now);
  ledger.Note(event);
  state.Apply(event, now, news);
  if (options.mig.reconfigure != MigReconfigure::kOff) (void)mig_fleet.Note(event);
  ++counters.events;
}

const Snapshot& WarmState::Picture() {
  picture = state.Publish();  // the state keeps the last one alive
  return *picture;
}

WarmState::QuotaChange WarmState::FollowQuota() {
  QuotaChange change;
  change.tree = change.costs = ledger.Refresh();
  const auto follow = [&](NodeId node) {
    change.costs =
        ledger.NodeChanged(node, state.LabelsOf(node), state.GpusOf(node)) || change.costs;
  };
  if (change.tree) {
    directory.AllChanged();
    news.queues_changed = true;
    for (const NodeId node : Picture().order->by_name) follow(node);
  } else {
    for (const NodeId node : news.nodes_changed) follow(node);
  }
  return change;
}

void WarmState::ForgetLead() {
  // The next leader may decide otherwise.
  for (const GangId gang : state.Gangs()) state.SetAdmitted(gang, std::nullopt, news);
  errands.Forget();
  directory.Forget();
  ledger.Forget();
  mig_fleet.Forget();
  news = {};
}

void WarmState::Log(DecisionEntry entry) {
  if (log.size() < kLongestLog) log.push_back(std::move(entry));
}

}  // namespace maniple
