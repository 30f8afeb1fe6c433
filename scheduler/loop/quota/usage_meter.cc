#include "scheduler/loop/quota/usage_meter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <tuple>

namespace maniple {
namespace {

int64_t Rounded(double seconds) {
  // What absurd pods have used may be more than any integer.
  return std::llround(std::min(seconds, static_cast<double>(kMostResourceSeconds)));
}

// The part of one second's use that counts after so long.
double Faded(absl::Duration age) { return std::exp2(-absl::FDivDuration(age, kUsageHalfLife)); }

// The largest keep a row of their own.
void FoldSmallRows(std::vector<ResourceSeconds>& rows, size_t most) {
  const auto first = std::ranges::find_if(
      rows, [](const ResourceSeconds& row) { return !row.namespace_name.empty(); });
  const auto own = static_cast<size_t>(rows.end() - first);
  if (own <= most) return;
  std::vector<int64_t> totals;
  for (auto row = first; row != rows.end(); ++row) totals.push_back(row->total);
  std::ranges::nth_element(totals, totals.begin() + static_cast<ptrdiff_t>(most), std::greater());
  const int64_t least = totals[most];
  std::map<std::pair<std::string, std::string>, ResourceSeconds> others;
  std::erase_if(rows, [&](const ResourceSeconds& row) {
    if (!row.namespace_name.empty() && row.total > least) return false;
    ResourceSeconds& sum = others[{row.flavor, row.resource}];
    sum.flavor = row.flavor;
    sum.resource = row.resource;
    sum.total = std::min(kMostResourceSeconds, sum.total + row.total);
    sum.recent = std::min(kMostResourceSeconds, sum.recent + row.recent);
    return true;
  });
  std::vector<ResourceSeconds> sums;
  for (auto& [key, sum] : others) sums.push_back(std::move(sum));
  rows.insert(rows.begin(), sums.begin(), sums.end());
}

bool SameTotals(const UsageRecord& a, const UsageRecord& b) {
  return std::ranges::equal(a.rows, b.rows, [](const auto& x, const auto& y) {
    return std::tie(x.namespace_name, x.flavor, x.resource, x.total) ==
           std::tie(y.namespace_name, y.flavor, y.resource, y.total);
  });
}

}  // namespace

// Usage is even meanwhile, so the integral of its fading has a closed form.
void UsageMeter::Cell::Settle(absl::Time now) {
  if (now <= since) return;
  const absl::Duration age = since == absl::InfinitePast() ? absl::ZeroDuration() : now - since;
  const double left = Faded(age), used = static_cast<double>(amount);
  const double mean_life = absl::ToDoubleSeconds(kUsageHalfLife) / std::numbers::ln2;
  total += used * absl::ToDoubleSeconds(age);
  recent = recent * left + used * mean_life * (1 - left);
  since = now;
}

void UsageMeter::Cell::AddTotals(const Cell& past) {
  total += past.total;
  recent += past.recent;
}

UsageMeter::Cell& UsageMeter::CellOf(const Payer& payer, const Use& use) {
  return cells_[{payer.queue, payer.namespace_name, use.flavor, use.resource}];
}

void UsageMeter::Add(const GangUse& use, int64_t sign, absl::Time now) {
  for (const auto& [cell, amount] : use.cells) {
    cell->Settle(now);
    cell->amount += sign * amount;
  }
  if (use.queue.empty()) return;
  if ((in_use_[use.queue] += sign) == 0) in_use_.erase(use.queue);
}

void UsageMeter::Set(GangId gang, const Payer& payer, const std::vector<Use>& uses,
                     absl::Time now) {
  const auto known = gangs_.find(gang);
  if (uses.empty() && known == gangs_.end()) return;
  GangUse news{.queue = payer.queue, .cells = {}};
  for (const Use& use : uses) news.cells.emplace_back(&CellOf(payer, use), use.amount);
  if (known != gangs_.end()) {
    if (known->second == news) return;
    Add(known->second, -1, now);
    gangs_.erase(known);
  }
  if (news.cells.empty()) return;
  Add(news, 1, now);
  gangs_.emplace(gang, std::move(news));
}

void UsageMeter::Credit(const Payer& payer, const Use& use, absl::Duration age, absl::Time now) {
  if (age <= absl::ZeroDuration()) return;
  Cell& cell = CellOf(payer, use);
  cell.Settle(now);
  Cell past{.amount = use.amount, .since = now - age};
  past.Settle(now);
  cell.AddTotals(past);
}

void UsageMeter::Recall(const std::string& queue, const UsageRecord& told) {
  for (const ResourceSeconds& row : told.rows) {
    Cell& cell = cells_[{queue, row.namespace_name, row.flavor, row.resource}];
    Cell past{.since = told.as_of,
              .total = static_cast<double>(row.total),
              .recent = static_cast<double>(row.recent)};
    cell.Settle(told.as_of);
    past.Settle(cell.since);
    cell.AddTotals(past);
  }
  if (told.as_of != absl::InfinitePast()) told_[queue] = told;
}

void UsageMeter::GiveToNone(const std::string& queue, absl::Time now) {
  for (auto it = cells_.lower_bound({.queue = queue});
       it != cells_.end() && it->first.queue == queue; ++it) {
    Cell& cell = it->second;
    cell.Settle(now);
    if (cell.total == 0) continue;
    const Key& of = it->first;
    Cell& none = cells_[{"", of.namespace_name, of.flavor, of.resource}];
    none.Settle(now);
    none.AddTotals(cell);
    cell.total = cell.recent = 0;
  }
}

void UsageMeter::Restart(const std::string& queue, absl::Time now) {
  told_.erase(queue);
  for (auto it = cells_.lower_bound({.queue = queue}); it != cells_.end();) {
    if (it->first.queue != queue) break;
    Cell& cell = it->second;
    if (cell.amount == 0) {
      it = cells_.erase(it);
      continue;
    }
    cell = {.amount = cell.amount, .since = now};
    ++it;
  }
}

UsageRecord UsageMeter::RecordOf(const std::string& queue, absl::Time now) const {
  UsageRecord record{.as_of = now};
  for (auto it = cells_.lower_bound({.queue = queue});
       it != cells_.end() && it->first.queue == queue; ++it) {
    Cell cell = it->second;
    cell.Settle(now);
    record.rows.push_back({.namespace_name = it->first.namespace_name,
                           .flavor = it->first.flavor,
                           .resource = it->first.resource,
                           .total = Rounded(cell.total),
                           .recent = Rounded(cell.recent)});
  }
  FoldSmallRows(record.rows, kMostRows);
  return record;
}

UsageRecord UsageMeter::RecordBeside(absl::FunctionRef<bool(const std::string&)> is_queue,
                                     absl::Time now) const {
  UsageMeter sums;
  for (const auto& [of, cell] : cells_) {
    if (is_queue(of.queue)) continue;
    Cell until_now = cell;
    until_now.Settle(now);
    sums.cells_[{"", of.namespace_name, of.flavor, of.resource}].AddTotals(until_now);
  }
  return sums.RecordOf("", now);
}

const UsageRecord& UsageMeter::ToTell(const std::string& queue, absl::Duration interval,
                                      absl::Time now) {
  UsageRecord& told = told_[queue];
  if (told.as_of != absl::InfinitePast() && now < told.as_of + interval) return told;
  UsageRecord record = RecordOf(queue, now);
  if (!SameTotals(record, told)) told = std::move(record);
  return told;
}

}  // namespace maniple
