#include "scheduler/report/quota_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/codec/quantity.h"
#include "queue/lending.h"

namespace maniple {
namespace {

constexpr size_t kMostInSummary = 3;
constexpr size_t kMostBorrowers = 5;

// The sum of the charges of all queues at or below the node.
Amount UsedWithin(const QuotaTree& tree, QuotaNodeId node, QuotaCellId cell) {
  const std::vector<QuotaNodeId>& children = tree.Children(node);
  if (children.empty()) return tree.Usage(node, cell);
  Amount used;
  for (const QuotaNodeId child : children) used += UsedWithin(tree, child, cell);
  return used;
}

Amount BorrowedBy(const QuotaTree& tree, QuotaNodeId node, QuotaCellId cell) {
  return std::max(Amount(), tree.Usage(node, cell) - tree.Quota(node, cell));
}

struct Borrowed {
  QuotaNodeId by_others_than;
  QuotaCellId cell;
};

bool IsAbove(const QuotaTree& tree, QuotaNodeId node, QuotaNodeId queue) {
  while (queue.valid() && queue != node) queue = tree.Parent(queue);
  return queue.valid();
}

void AddBorrowers(const Borrowed& what, const QuotaBook& book, QuotaNodeId node,
                  std::vector<BorrowerView>& borrowers) {
  const QuotaTree& tree = book.tree();
  if (tree.Children(node).empty()) {
    const Amount borrowed = BorrowedBy(tree, node, what.cell);
    if (node == what.by_others_than || borrowed == Amount()) return;
    borrowers.push_back({.queue = std::string(book.NameOf(node)), .amount = borrowed});
    return;
  }
  // Elsewhere, what a Cohort keeps for its own is lent to nobody outside, used or not.
  const bool keeps = tree.Usage(node, what.cell) <= tree.Guaranteed(node, what.cell);
  if (keeps && !IsAbove(tree, node, what.by_others_than)) return;
  for (const QuotaNodeId child : tree.Children(node)) {
    AddBorrowers(what, book, child, borrowers);
  }
}

// "nvidia.com/gpu" without the domain that every reader knows.
absl::string_view ShortName(absl::string_view resource) {
  const size_t slash = resource.rfind('/');
  return slash == absl::string_view::npos ? resource : resource.substr(slash + 1);
}

}  // namespace

std::vector<QuotaUsageView> UsageOfQueue(const Queue& queue, const QuotaBook& book) {
  std::vector<QuotaUsageView> rows;
  const QuotaNodeId id = book.QueueNamed(queue.meta.name);
  for (const FlavorQuota& flavor : queue.quotas) {
    for (const QuotaAmount& quota : flavor.resources) {
      QuotaUsageView row{.flavor = flavor.flavor,
                         .resource = quota.resource,
                         .nominal = quota.nominal,
                         .borrowing_limit = quota.borrowing_limit,
                         .lending_limit = quota.lending_limit};
      if (const QuotaCellId cell = book.CellNamed(flavor.flavor, quota.resource);
          id.valid() && cell.valid()) {
        row.used = book.tree().Usage(id, cell);
        row.borrowed = std::max(Amount(), row.used - quota.nominal);
        row.lent = LentOf(book.tree(), id, cell);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<QuotaUsageView> UsageOfCohort(absl::string_view name, const QuotaBook& book) {
  std::map<std::pair<std::string, std::string>, QuotaUsageView> rows;
  const QuotaTree& tree = book.tree();
  const QuotaNodeId id = book.CohortNamed(name);
  for (uint32_t i = 0; id.valid() && i < tree.cell_count(); ++i) {
    const QuotaCellId cell(i);
    QuotaUsageView row{.flavor = book.FlavorOfCell(cell),
                       .resource = book.ResourceOf(cell),
                       .nominal = tree.Quota(id, cell),
                       .used = UsedWithin(tree, id, cell),
                       .borrowed = BorrowedBy(tree, id, cell),
                       .lent = LentOf(tree, id, cell)};
    if (row.nominal == Amount() && row.used == Amount()) continue;
    rows.try_emplace({row.flavor, row.resource}, std::move(row));
  }
  std::vector<QuotaUsageView> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
}

int64_t FairShareOf(QuotaNodeId node, const QuotaBook& book) {
  return node.valid() ? book.tree().ShareWith(node, node, {}).RoundedUp() : 0;
}

std::vector<QueueUsage> StatusRows(const std::vector<QuotaUsageView>& rows) {
  std::vector<QueueUsage> out;
  for (const QuotaUsageView& row : rows) {
    out.push_back({.flavor = row.flavor,
                   .resource = row.resource,
                   .used = row.used,
                   .borrowed = row.borrowed,
                   .lent = row.lent});
  }
  return out;
}

std::string UsageSummary(const std::vector<QuotaUsageView>& rows) {
  std::vector<std::string> parts;
  for (const QuotaUsageView& row : rows) {
    if (parts.size() == kMostInSummary) {
      parts.push_back(absl::StrCat("and ", rows.size() - kMostInSummary, " more"));
      break;
    }
    parts.push_back(absl::StrCat(row.flavor, row.flavor.empty() ? "" : "/", ShortName(row.resource),
                                 " ", FormatAmount(row.resource, row.used), "/",
                                 FormatAmount(row.resource, row.nominal)));
  }
  return absl::StrJoin(parts, ", ");
}

QuotaLineView QuotaLineOf(const QuotaShortage& shortage, const QuotaBook& book) {
  const QuotaTree& tree = book.tree();
  QuotaLineView line{.queue = std::string(book.NameOf(shortage.queue)),
                     .flavor = book.FlavorOfCell(shortage.cell),
                     .resource = book.ResourceOf(shortage.cell),
                     .needs = shortage.needs,
                     .available = std::max(Amount(), shortage.available),
                     .most = shortage.potential,
                     .nominal = tree.Nominal(shortage.queue, shortage.cell),
                     .used = shortage.used};
  const Amount own = std::max(Amount(), line.nominal - line.used);
  line.borrowable = std::max(Amount(), line.available - own);
  const QuotaNodeId parent = tree.Parent(shortage.queue);
  if (!parent.valid()) return line;
  line.cohort = std::string(book.NameOf(parent));
  line.borrowers = BorrowersOf(line, book);
  return line;
}

std::vector<BorrowerView> BorrowersOf(const QuotaLineView& line, const QuotaBook& book) {
  const QuotaNodeId queue = book.QueueNamed(line.queue);
  const QuotaCellId cell = book.CellNamed(line.flavor, line.resource);
  std::vector<BorrowerView> borrowers;
  if (!queue.valid() || !cell.valid() || !book.tree().Parent(queue).valid()) return borrowers;
  AddBorrowers({.by_others_than = queue, .cell = cell}, book, book.tree().Root(queue), borrowers);
  std::ranges::sort(borrowers, [](const BorrowerView& a, const BorrowerView& b) {
    return std::tie(b.amount, a.queue) < std::tie(a.amount, b.queue);
  });
  return borrowers;
}

std::string QuotaText(const QuotaLineView& line) {
  const auto text = [&line](Amount amount) { return FormatAmount(line.resource, amount); };
  const std::string what =
      line.flavor.empty() ? line.resource : absl::StrCat(line.resource, " of flavor ", line.flavor);
  if (line.needs > line.most) {
    return absl::StrCat("it needs ", text(line.needs), " of ", what, ", and queue \"", line.queue,
                        "\" can have at most ", text(line.most), ", all borrowing included");
  }
  std::vector<std::string> borrowers;
  for (const BorrowerView& borrower : line.borrowers) {
    if (borrowers.size() == kMostBorrowers) {
      borrowers.push_back(absl::StrCat("and ", line.borrowers.size() - kMostBorrowers, " more"));
      break;
    }
    borrowers.push_back(absl::StrCat(borrower.queue, " (", text(borrower.amount), ")"));
  }
  return absl::StrCat("it needs ", text(line.needs), " of ", what, ", and queue \"", line.queue,
                      "\" has ", text(line.available), " left (nominal ", text(line.nominal),
                      ", used ", text(line.used), ", with borrowing at most ", text(line.most), ")",
                      borrowers.empty() ? "" : "; borrowed by ", absl::StrJoin(borrowers, ", "));
}

}  // namespace maniple
