// Help for a gang that waits: the smallest single changes, each of which would let it start now. A
// pure function, like Decide, which proves every one of them.
//
// The question owns all that the answer needs, but for the profile. It is gathered on
// the scheduling thread between turns, and answered on another thread, at the cost of no turn.
//
//   while (!question.has_value()) question = loop.MoreHelp(gang, now);  // and a turn
//   const Help help = AnswerHelp(**question);        // elsewhere
//   for (const HelpfulChange& change : help.changes) … HelpText(change) …
//
// An answer promises:
//   1. With a change made, and no other gang asked to leave, Decide finds a plan. (With a higher
//      priority PlanPreemption finds one.)
//   2. With one unit less of it, Decide finds none: a GPU, a unit of quota, a step of priority, one
//      member fewer to do without, the next narrower level.
//   3. A change that cannot help by itself is not listed. Several changes stand in one entry only
//      where no single one was found: two, or the ends of a few gangs. Each of them is needed.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/advice/help_question.h"

namespace maniple {

// In steps, as SearchWork counts them.
inline constexpr int64_t kHelpSteps = 40'000'000;
[[nodiscard]] Help AnswerHelp(const HelpQuestion& question, int64_t steps = kHelpSteps);

// "16 more nvidia.com/gpu of quota for Queue research, flavor h100".
[[nodiscard]] std::string HelpText(const HelpfulChange& change);
[[nodiscard]] std::string HelpText(const Help::Entry& entry);
// For a sentence without room for all: of the single changes that are but a setting, the one that
// costs least: a node let in again, quota, a wider required level. "" = there is none.
[[nodiscard]] std::string CheapHelp(const Help& help);
// Why there is no entry, or whether there may be more; "" = nothing to add.
[[nodiscard]] std::string HelpNote(const Help& help);

}  // namespace maniple
