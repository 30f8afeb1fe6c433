#include "scheduler/loop/desk/preemption_rights.h"

namespace maniple {

PreemptionPolicy PolicyOf(const Desk& desk, const Gang& gang) {
  const Queue* queue = desk.ledger.book().FindQueue(gang.queue);
  if (queue == nullptr) return {};
  return {.within = queue->within_queue,
          .reclaim = queue->reclaim,
          .borrowing_preempts_lower = queue->borrow_preempts_lower_priority,
          .borrow_threshold = queue->borrow_priority_threshold};
}

std::vector<FairStrategy> StrategiesOf(const Desk& desk, const Case& c) {
  std::vector<FairStrategy> strategies = desk.options.fair_strategies;
  // At most once per PodGroup, and never for a gang without a status to remember it in.
  if (c.gang.key.dialect == GangDialect::kSingleton || c.record.initial_share_used) {
    std::erase(strategies, FairStrategy::kLessThanInitialShare);
  }
  return strategies;
}

}  // namespace maniple
