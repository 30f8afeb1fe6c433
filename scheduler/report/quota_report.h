// The usage of each quota, and the quota that a gang lacks. Status, views and messages
// are made from these rows, so that all say the same.
//
// Pure functions of the quota book.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/encode.h"
#include "queue/quota_book.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/report/gang_view.h"
#include "scheduler/report/queue_view.h"

namespace maniple {

// One row per quota of the queue, in its order.
[[nodiscard]] std::vector<QuotaUsageView> UsageOfQueue(const Queue& queue, const QuotaBook& book);
// One row per flavor and resource of which the cohort, or a node below it, has or uses quota; by
// flavor and resource. `nominal` is its own and the part that nodes below it lend.
[[nodiscard]] std::vector<QuotaUsageView> UsageOfCohort(absl::string_view name,
                                                        const QuotaBook& book);
// Permille, as status shows it; 0 for a node that is not in the tree.
[[nodiscard]] int64_t FairShareOf(QuotaNodeId node, const QuotaBook& book);

[[nodiscard]] std::vector<QueueUsage> StatusRows(const std::vector<QuotaUsageView>& rows);
// "h100/gpu 12/16, cpu 4/40, and 2 more": used and nominal, in the width of a column.
[[nodiscard]] std::string UsageSummary(const std::vector<QuotaUsageView>& rows);

// REQUIRES: shortage.cell is valid.
[[nodiscard]] QuotaLineView QuotaLineOf(const QuotaShortage& shortage, const QuotaBook& book);
// Other queues of the tree that borrow what the queue of the line lacks, the largest borrower
// first.
[[nodiscard]] std::vector<BorrowerView> BorrowersOf(const QuotaLineView& line,
                                                    const QuotaBook& book);
// "it needs 3 of cpu, and queue "q" has 1 left (nominal 4, used 3, with borrowing at most 6);
// borrowed by r (2)".
[[nodiscard]] std::string QuotaText(const QuotaLineView& line);

}  // namespace maniple
