// Whether nodes are divided by MIG only where nobody stands: the promises of Truth about that.
#include "absl/strings/str_cat.h"
#include "test/sim/truth.h"

namespace maniple::sim {
namespace {

// A request was decided so long before it was sent; replies that came meanwhile came too late.
constexpr absl::Duration kDecidedWithin = absl::Seconds(1);

}  // namespace

void Truth::NoteDivisionSent(const std::string& node, uint64_t life, absl::Time now) {
  divisions_[node] = {.life = life, .sent = now};
}

// A node with pods on it would not be divided, and would have nothing to give meanwhile.
void Truth::CheckDividedWhenIdle(const std::string& node, uint64_t life, absl::Time now) {
  const auto division = divisions_.find(node);
  const absl::Time sent = division == divisions_.end() ? now : division->second.sent;
  for (const auto& [key, pod] : pods_) {
    if (pod.node != node || pod.ended() || pod.devices.empty()) continue;
    // A new leader may have read a list from before the last binds of the one before it.
    const bool own = pod.ours && pod.bound_by == life;
    const bool told = pod.told_to == life && pod.told_at < sent - kDecidedWithin;
    if (!own && !told && pod.bound_at >= now - blind_for_) continue;
    Violated(now, absl::StrCat("DividedWhenIdle: ", node, " is divided anew while ", key,
                               " stands on it"));
    return;
  }
}

// Between its request and the answer of the node only the scheduler itself keeps pods away.
void Truth::CheckNobodyJoinsADivision(const PodFacts& pod, absl::Time now) {
  const auto division = divisions_.find(pod.node);
  const auto node = nodes().find(pod.node);
  if (division == divisions_.end() || node == nodes().end() || pod.devices.empty()) return;
  const bool knows = expected_.pod == pod.key && expected_.life == division->second.life &&
                     expected_.decided > division->second.sent;
  if (!knows || !node->second.is_being_divided) return;
  Violated(now, absl::StrCat("DividedWhenIdle: ", pod.key, " is bound on ", pod.node,
                             " by who has asked before for it to be divided anew"));
}

}  // namespace maniple::sim
