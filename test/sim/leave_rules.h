// Who may make whom leave: the rules of Queues and of priority, by the Truth.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// May the gang evict the victim, by its policies and by priority?
[[nodiscard]] bool MayMakeLeave(const Truth& truth, const GangFacts& gang, const GangFacts& victim);
// … or may a leader believe so that has not seen the victim's PodGroup yet, or at all,
// and knows no Queue of it? A pod that we have bound names its Queue itself.
[[nodiscard]] bool MayBeMadeToLeave(const Truth& truth, const std::string& preemptor,
                                    const std::string& victim, absl::Time now);
// With the Queue that it is charged to, whatever it names since.
[[nodiscard]] GangFacts AsCharged(const Truth& truth, const std::string& gang);
// A scheduler of ours asks this gang's pod to leave. Its Queue is drained,
// or a gang that may make it leave is there, or was lately.
void CheckEviction(Truth& truth, const std::string& gang, const std::string& what, absl::Time now);

}  // namespace maniple::sim
