// A place that was chosen and reserved, looked at again before the pod is bound to it: others may
// have come meanwhile, and the node may have changed.
#include <vector>

#include "scheduler/cycle/decide.h"
#include "scheduler/loop/leadership.h"

namespace maniple {

bool Leadership::PlaceIsStillGood(const Case& c, PodId pod, NodeId node) {
  const PodFacts* facts = state_.FindPod(pod);
  return facts != nullptr && facts->reserved == node &&
         state_.StillFits(facts->shape, node, c.gang.priority) && TermsStillHold(c, pod, node);
}

// Affinity and spread, of the pod and of those around it: decided afresh for this pod and this node
// alone, as if it were not there. Holds are for later and stand in nobody's way.
bool Leadership::TermsStillHold(const Case& c, PodId pod, NodeId node) {
  const ShapeId shape = state_.FindPod(pod)->shape;
  const Snapshot& snapshot = Picture();
  const PodShape& known = snapshot.tables->ShapeOf(shape);
  if (!state_.AsksOfPods(shape) && known.matches.empty()) return true;
  // Volumes that are set aside for it would look taken.
  if (known.constraints.volumes.get() != nullptr) return true;
  GangRequest request{.gang = c.gang.id,
                      .wants = {{.pod = pod, .shape = shape}},
                      .need = {.total = 1},
                      .outranked = state_.PromisedBelow(c.gang.priority)};
  std::vector<FreedRoom> freed = {{.node = node, .shape = shape}};
  if (snapshot.holds != nullptr) {
    for (const HeldRoom& held : *snapshot.holds) {
      if (held.node == node) freed.push_back({node, held.shape, Occupant::kHold});
    }
  }
  Supposition there({.snapshot = snapshot, .request = request, .now = c.now, .seed = options_.seed},
                    ledger_.tree(), std::nullopt);
  there.Free(freed);
  there.Restrict({node}, Supposition::To::kThese);
  return FindPlan(there.Input(), options_.profile).has_value();
}

}  // namespace maniple
