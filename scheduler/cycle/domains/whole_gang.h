// Domains for all live members of a gang of several shapes, before the quorum is asked about alone.
// Counts tell of each shape whether a domain takes all of it; this asks it of all shapes together.
// Used by domain_search.cc. Borrows its arguments, for the length of a search; one thread.
#pragma once

#include <memory>
#include <optional>

#include "scheduler/cycle/domains/domain_question.h"
#include "scheduler/cycle/search/joint_search.h"

namespace maniple {

class WholeGangSearch final {
 public:
  WholeGangSearch(const DomainSearch& ask, const DomainLevel& level, Overlay& overlay);
  WholeGangSearch(const WholeGangSearch&) = delete;
  WholeGangSearch& operator=(const WholeGangSearch&) = delete;

  // Whether the quorum leaves members out, so that there is something to ask.
  [[nodiscard]] bool applies() const { return applies_; }
  // The quorum out of places for everyone in the domain. None: there are none, none were found
  // after a few domains, or the quota covers no such quorum. The overlay is left as it was.
  [[nodiscard]] std::optional<SearchResult> QuorumIn(uint32_t domain);

 private:
  [[nodiscard]] SearchResult EveryoneIn(uint32_t domain);
  [[nodiscard]] SearchResult Joint(uint32_t domain);

  const DomainSearch& ask_;
  const DomainLevel& level_;
  Overlay& overlay_;
  const QuorumProblem everyone_;
  const bool applies_;
  std::unique_ptr<JointSearch> joint_;
  std::vector<std::vector<uint32_t>> nodes_;  // by domain, as joint_ numbers them
  int trials_ = 0;                            // that failed
  int64_t looks_ = 0;                         // members times nodes, of these
};

}  // namespace maniple
