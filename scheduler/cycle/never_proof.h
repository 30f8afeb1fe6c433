// Proves that a gang fits at no time: not even on the empty cluster, with every node up and
// uncordoned, or under no choice of flavors both by nodes and by quota.
//
// Part of one decision, which has found no place for the gang today.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/cycle/domains/gang_search.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/quota_choices.h"
#include "scheduler/cycle/refusals.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/cycle/search/bound_request.h"

namespace maniple {

class NeverProof final {
 public:
  // `quota`: null where none applies. `in_the_way`: today some choice of flavors failed for quota.
  NeverProof(const BoundRequest& request, GangSearch& search, const QuotaChoices* quota,
             const Refusals& refusals, Refusals::Quota in_the_way)
      : request_(request),
        search_(search),
        quota_(quota),
        refusals_(refusals),
        in_the_way_(in_the_way) {}

  // None: it fits there, or the work of `now` is spent. Leaves the search's budget as it was.
  [[nodiscard]] std::optional<Rejection> Find(const Overlay& now);

 private:
  [[nodiscard]] std::optional<Rejection> ByChoice(BoundKinds& some_day, Overlay& emptied);
  [[nodiscard]] Rejection ExceedsMaxQuota(const std::vector<const QuotaOption*>& options) const;

  const BoundRequest& request_;
  GangSearch& search_;
  const QuotaChoices* quota_;
  const Refusals& refusals_;
  Refusals::Quota in_the_way_;
};

}  // namespace maniple
