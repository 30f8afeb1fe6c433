#include "scheduler/bind/volume_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "plugins/framework/volume_choice.h"

namespace maniple {
namespace {

// Claims against volumes, by augmenting paths: a claim that came earlier may be given
// another volume, but never none.
class Matching final {
 public:
  using VolumeIndex = VolumeChoice::VolumeIndex;

  explicit Matching(std::vector<std::vector<VolumeIndex>> wanted)
      : wanted_(std::move(wanted)), given_(wanted_.size()) {}

  // Breadth first, so that as few claims as possible are given another volume.
  bool Serve(size_t claim) {
    std::map<VolumeIndex, size_t> takers;  // the claim that would take each volume
    std::vector<size_t> line = {claim};
    for (size_t at = 0; at < line.size(); ++at) {
      for (const VolumeIndex volume : wanted_[line[at]]) {
        if (!takers.emplace(volume, line[at]).second) continue;
        const auto owner = owner_.find(volume);
        if (owner == owner_.end()) {
          MoveUp(volume, takers);
          return true;
        }
        line.push_back(owner->second);
      }
    }
    return false;
  }
  [[nodiscard]] std::optional<VolumeIndex> Of(size_t claim) const { return given_[claim]; }

 private:
  void Give(size_t claim, VolumeIndex volume) {
    given_[claim] = volume;
    owner_[volume] = claim;
  }

  // Each taker leaves its volume to the next, up to the claim that had none.
  void MoveUp(VolumeIndex free, const std::map<VolumeIndex, size_t>& takers) {
    for (std::optional<VolumeIndex> next = free; next.has_value();) {
      const VolumeIndex volume = *next;
      const size_t taker = takers.at(volume);
      next = given_[taker];
      Give(taker, volume);
    }
  }

  std::vector<std::vector<VolumeIndex>> wanted_;  // by claim, best first
  std::vector<std::optional<VolumeIndex>> given_;
  std::map<VolumeIndex, size_t> owner_;
};

bool CanProvision(const Tables& tables, const UnboundClaim& claim, const NodeView& node) {
  if (!claim.provision_where.has_value()) return false;
  return std::all_of(
      claim.provision_where->begin(), claim.provision_where->end(),
      [&](const NodeTerms& terms) { return BoundTerms(tables, terms).Matches(node); });
}

bool HasReserved(const Tables& tables, const UnboundClaim& claim, const NodeView& node) {
  return claim.reserved_where.has_value() &&
         (claim.reserved_where->empty() || BoundTerms(tables, *claim.reserved_where).Matches(node));
}

}  // namespace

std::optional<std::vector<ClaimGoal>> PlanVolumes(const Snapshot& snapshot,
                                                  const std::vector<ClaimAsk>& asks) {
  const Tables& tables = *snapshot.tables;
  std::vector<ClaimGoal> goals;
  std::vector<const ClaimAsk*> open;  // parallel to the goals
  std::vector<UnboundClaim> claims;
  std::set<std::pair<std::string, std::string>> known;
  for (const ClaimAsk& ask : asks) {
    const ClaimToBind& claim = ask.claim;
    if (!known.insert({claim.namespace_name, claim.name}).second) continue;
    goals.push_back({.pod = ask.pod,
                     .namespace_name = claim.namespace_name,
                     .name = claim.name,
                     .uid = claim.uid,
                     .node = snapshot.NodeName(ask.node)});
    open.push_back(&ask);
    claims.push_back(claim.need);
  }
  const VolumeChoice choice(snapshot, claims);
  std::vector<std::vector<VolumeChoice::VolumeIndex>> wanted(goals.size());
  std::vector<bool> can_provision(goals.size());
  for (size_t i = 0; i < goals.size(); ++i) {
    const NodeView node{.block = *snapshot.blocks[BlockOf(open[i]->node)],
                        .row = RowOf(open[i]->node)};
    can_provision[i] = CanProvision(tables, claims[i], node);
    if (claims[i].provision_only) continue;
    if (HasReserved(tables, claims[i], node)) {
      goals[i].volume = open[i]->claim.reserved_volume;
    } else if (!claims[i].reserved_where.has_value()) {
      for (const VolumeChoice::VolumeIndex volume : choice.On(goals[i].node)) {
        if (Serves(choice.At(volume), claims[i])) wanted[i].push_back(volume);
      }
    }
  }
  Matching matching(std::move(wanted));
  // Claims whose volume can be provisioned take only what the others leave.
  for (const bool may_do_without : {false, true}) {
    for (size_t i = 0; i < goals.size(); ++i) {
      if (!goals[i].volume.empty() || can_provision[i] != may_do_without) continue;
      if (!matching.Serve(i) && !may_do_without) return std::nullopt;
    }
  }
  for (size_t i = 0; i < goals.size(); ++i) {
    if (const auto volume = matching.Of(i)) goals[i].volume = choice.At(*volume).name;
  }
  return goals;
}

}  // namespace maniple
