// What is used of which quota, and what a gang lacks of it: the rows that status, views and
// messages are made from, so that all say the same.
//
// Pure functions of the quota book.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/encode.h"
#include "queue/quota_book.h"
#include "scheduler/cycle/decision.h"
#include "scheduler/report/view.h"

namespace maniple {

// One row per quota of the queue, in its order.
[[nodiscard]] std::vector<QuotaUsageView> UsageOfQueue(const Queue& queue, const QuotaBook& book);
// One row per flavor and resource that the cohort and all below it have quota of or use, by flavor
// and resource; `nominal` is its own and what those below it lend.
[[nodiscard]] std::vector<QuotaUsageView> UsageOfCohort(absl::string_view name,
                                                        const QuotaBook& book);
// Permille, as status shows it; 0 for a node that is not in the tree.
[[nodiscard]] int64_t FairShareOf(QuotaNodeId node, const QuotaBook& book);

[[nodiscard]] std::vector<QueueUsage> StatusRows(const std::vector<QuotaUsageView>& rows);
// "h100/gpu 12/16, cpu 4/40, and 2 more": used and nominal, in the width of a column.
[[nodiscard]] std::string UsageSummary(const std::vector<QuotaUsageView>& rows);

// REQUIRES: shortage.cell is valid.
[[nodiscard]] QuotaLineView QuotaLineOf(const QuotaShortage& shortage, const QuotaBook& book);
// Who borrows now what the queue of the line lacks: the other queues of its tree, the largest
// first.
[[nodiscard]] std::vector<BorrowerView> BorrowersOf(const QuotaLineView& line,
                                                    const QuotaBook& book);
// "it needs 3 of cpu, and queue "q" has 1 left (nominal 4, used 3, with borrowing at most 6);
// borrowed by r (2)".
[[nodiscard]] std::string QuotaText(const QuotaLineView& line);

}  // namespace maniple
