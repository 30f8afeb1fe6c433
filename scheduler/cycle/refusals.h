// Words the rejections of one decision: which code, of which shape, with which facts.
//
// Functions of a search and its results; nothing is searched here.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "scheduler/cycle/domains/gang_search.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/search/bound_request.h"

namespace maniple {

class Refusals final {
 public:
  // `today` is what the plugins say of the shapes now: reasons are told by it.
  Refusals(const BoundRequest& request, const GangSearch& search, BoundKinds& today)
      : request_(request), search_(search), today_(today) {}

  // The caller assembles the gang first, so this speaks of a request that makes no sense.
  [[nodiscard]] std::optional<Rejection> MembersLacking() const;
  // Members that stand already may have made a required domain impossible.
  [[nodiscard]] std::optional<Rejection> TornApart() const;
  // The work was spent before any room was counted.
  [[nodiscard]] Rejection GivenUp() const;
  // A plugin, or the topology, refused the request as such.
  [[nodiscard]] Rejection Of(const absl::Status& status) const;
  // No plugin lets this shape in, of which so many are wanted.
  [[nodiscard]] Rejection OfShape(const Shortage& shortage) const;

  enum class Quota : uint8_t { kNotInTheWay, kInTheWay };
  // The search over `overlay` found no place.
  [[nodiscard]] Rejection Of(RejectionCode code, const DomainResult& result, const Overlay& overlay,
                             Quota quota) const;

 private:
  [[nodiscard]] const MemberGroup* TornGroup() const;
  [[nodiscard]] std::string DetailOf(const DomainResult& result) const;

  const BoundRequest& request_;
  const GangSearch& search_;
  BoundKinds& today_;
};

}  // namespace maniple
