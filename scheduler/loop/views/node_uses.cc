#include "scheduler/loop/views/node_uses.h"

namespace maniple {

NodeUses::NodeUses(std::vector<NodeRow>& rows) : rows_(rows) {
  by_name_.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) by_name_.emplace(rows[i].name, i);
}

NodeRow* NodeUses::Find(absl::string_view node) const {
  const auto found = by_name_.find(node);
  return found == by_name_.end() ? nullptr : &rows_[found->second];
}

// Gangs come one after the other, so the uses of this gang here are the last ones.
NodeUseView& NodeUses::UseIn(std::vector<NodeUseView>& uses, const std::string& resource) const {
  for (auto use = uses.rbegin(); use != uses.rend() && use->gang == gang_; ++use) {
    if (use->resource == resource) return *use;
  }
  return uses.emplace_back(NodeUseView{.gang = gang_, .resource = resource});
}

void NodeUses::Stands(absl::string_view node) {
  NodeRow* row = Find(node);
  if (row == nullptr) return;
  if (row->gangs.empty() || row->gangs.back() != gang_) row->gangs.push_back(gang_);
}

void NodeUses::Takes(absl::string_view node, const std::string& resource, int64_t amount,
                     Leaving leaving) {
  NodeRow* row = Find(node);
  if (row == nullptr) return;
  NodeUseView& use = UseIn(row->uses, resource);
  use.amount += amount;
  if (leaving == Leaving::kYes) use.leaving += amount;
}

void NodeUses::Keeps(absl::string_view node, const std::string& resource, int64_t amount) {
  if (NodeRow* row = Find(node)) UseIn(row->held, resource).amount += amount;
}

}  // namespace maniple
