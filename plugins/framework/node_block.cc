#include "plugins/framework/node_block.h"

#include <algorithm>

#include "plugins/framework/fingerprint.h"
#include "plugins/framework/tables.h"

namespace maniple {
namespace {

// Amounts are clamped to kMostAmount, so overflow takes 8,192 absurd pods on one node. Even then,
// giving the amounts back restores them exactly.
int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t MaxOf(const Columns::Column& column) {
  return *std::max_element(column.begin(), column.end());
}

}  // namespace

void NodeRows::RecomputeMaxima() {
  max_allocatable.assign(allocatable.limit(), 0);
  for (uint32_t i = 0; i < allocatable.limit(); ++i) {
    max_allocatable[i] = MaxOf(allocatable.Of(ResourceId(i)));
  }
}

NodeBlock NodeBlock::Emptied() const {
  NodeBlock block(rows_);
  block.emptied_ = true;
  return block;
}

int64_t NodeBlock::MaxFree(ResourceId resource) const {
  const std::vector<int64_t>& maxima = emptied_ ? rows_->max_allocatable : max_free_;
  return resource.index() < maxima.size() ? maxima[resource.index()] : 0;
}

uint32_t NodeBlock::resource_limit() const {
  return std::max(free_.limit(), rows_->allocatable.limit());
}

uint64_t NodeBlock::Fingerprint() const {
  Fingerprinter out;
  for (uint32_t i = 0; i < resource_limit(); ++i) {
    out.Add(i, Free(ResourceId(i)));
    out.Add(i, Allocatable(ResourceId(i)));
  }
  rows_->present.ForEach([&](uint32_t row) {
    out.Add(uint64_t{row} << 32 | rows_->classes[row].index());
    out.Add(rows_->names[row]);
    for (const LabelColumn& column : rows_->label_columns) out.Add(column.values[row].index());
  });
  for (const UsedPort& used : used_ports_) out.Add(uint64_t{used.row} << 32 | used.port.index());
  for (const UsedVolume& used : used_volumes_) {
    out.Add(uint64_t{used.row} << 32 | used.use.index());
  }
  for (const NodeRows::AttachLimit& limit : rows_->attach_limits) {
    out.Add(uint64_t{limit.row} << 32 | limit.driver.index());
    out.Add(static_cast<uint64_t>(limit.most));
    out.Add(static_cast<uint64_t>(limit.unused));
  }
  const auto add = [&out](const PodCounts& counts, uint64_t mark) {
    for (const PodCounts::Entry& entry : counts.entries()) {
      out.Add(mark ^ (uint64_t{entry.row} << 32 | entry.count.index()));
      out.Add(static_cast<uint64_t>(entry.value));
    }
  };
  add(pod_counts_, 0);
  add(promised_counts_, ~uint64_t{0});
  for (const CoolDown& cool : cool_downs_) {
    out.Add(uint64_t{cool.row});
    out.Add(static_cast<uint64_t>(absl::ToUnixNanos(cool.until)));
  }
  return out.hash();
}

void NodeBlock::Materialise() {
  if (!emptied_) return;
  free_ = rows_->allocatable;
  max_free_ = rows_->max_allocatable;
  emptied_ = false;
}

void NodeBlock::AddFree(uint32_t row, ResourceId resource, int64_t amount) {
  Materialise();
  int64_t& free = free_.Mutable(resource)[row];
  free = WrappingAdd(free, amount);
  if (resource.index() >= max_free_.size()) max_free_.resize(resource.index() + 1, 0);
  max_free_[resource.index()] = std::max(max_free_[resource.index()], free);
}

std::span<const NodeBlock::UsedVolume> NodeBlock::UsedVolumesOn(uint32_t row) const {
  const auto first = std::ranges::lower_bound(used_volumes_, row, {}, &UsedVolume::row);
  const auto last = std::ranges::upper_bound(used_volumes_, row, {}, &UsedVolume::row);
  return {first, last};
}

void NodeBlock::Charge(uint32_t row, const PodShape& shape, Change change) {
  const bool takes =
      change == Change::kTake || change == Change::kTakePromised || change == Change::kTakeAmounts;
  for (const auto& [resource, amount] : shape.requests) {
    if (IsOnNodes(resource)) AddFree(row, resource, takes ? -amount : amount);
  }
  if (change == Change::kTakeAmounts || change == Change::kGiveAmounts) return;
  if (change == Change::kTake) pod_counts_.Add(row, shape.counts, 1);
  if (change == Change::kGive) pod_counts_.Add(row, shape.counts, -1);
  if (change == Change::kTakePromised) promised_counts_.Add(row, shape.counts, 1);
  if (change == Change::kGivePromised) promised_counts_.Add(row, shape.counts, -1);
  const auto charge = [takes](auto& all, const auto& used) {
    const auto at = std::lower_bound(all.begin(), all.end(), used);
    if (takes) {
      all.insert(at, used);
    } else if (at != all.end() && *at == used) {
      all.erase(at);
    }
  };
  for (const HostPortId port : shape.host_ports) {
    charge(used_ports_, UsedPort{.row = row, .port = port});
  }
  for (const VolumeUseId use : shape.volume_uses) {
    charge(used_volumes_, UsedVolume{.row = row, .use = use});
  }
}

void NodeBlock::SetCoolDown(uint32_t row, std::optional<absl::Time> until) {
  const auto at =
      std::lower_bound(cool_downs_.begin(), cool_downs_.end(), row,
                       [](const CoolDown& c, uint32_t wanted) { return c.row < wanted; });
  const bool present = at != cool_downs_.end() && at->row == row;
  if (!until.has_value()) {
    if (present) cool_downs_.erase(at);
  } else if (present) {
    at->until = *until;
  } else {
    cool_downs_.insert(at, CoolDown{.row = row, .until = *until});
  }
}

void NodeBlock::RecomputeMaxima() {
  if (emptied_) return;
  max_free_.assign(free_.limit(), 0);
  for (uint32_t i = 0; i < free_.limit(); ++i) max_free_[i] = MaxOf(free_.Of(ResourceId(i)));
}

}  // namespace maniple
