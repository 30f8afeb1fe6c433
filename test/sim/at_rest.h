// What must hold when everything is at rest: promises about the Truth at quiescence.
#pragma once

#include "absl/time/time.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// A gang whose quorum may be missing for longer may stand without it when everything
// else is at rest.
inline constexpr absl::Duration kAtRest = absl::Minutes(8);

// No gang has some but fewer than its quorum. Nor has it any pod when its PodGroup
// was deleted before its quorum stood, under the eyes of a leader since `leads_since`.
void CheckGangAllOrNothing(Truth& truth, absl::Time leads_since, absl::Time now);
// No room is kept.
void CheckNobodyIsNominated(Truth& truth, absl::Time now);
// By the leader's statuses of its Queues: AdmittedStaysCharged and,
// where no room is held, NobodyElsesQuota.
void CheckAdmittedStaysCharged(Truth& truth, absl::Time leads_since, absl::Time now);
void CheckNobodyElsesQuotaIsUsed(Truth& truth, absl::Time leads_since, absl::Time now);

}  // namespace maniple::sim
