// VolumeBinding: the volumes that a pod's claims are bound to must be reachable from its node; a
// claim that waits for the node needs a volume there, or a provisioner that can make one.
#include "plugins/factories.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "plugins/framework/volume_choice.h"

namespace maniple {
namespace {

constexpr Verdict Refused(ReasonId reason) {
  return {.code = Code::kUnresolvable, .reason = {.id = reason}};
}

// One claim that waits for the node.
class WaitingClaim final {
 public:
  WaitingClaim(const Tables& tables, const UnboundClaim& claim) : claim_(claim) {
    if (claim.reserved_where.has_value() && !claim.reserved_where->empty()) {
      reserved_.emplace(tables, *claim.reserved_where);
    }
    if (!claim.provision_where.has_value()) return;
    for (const NodeTerms& terms : *claim.provision_where) provision_.emplace_back(tables, terms);
  }

  [[nodiscard]] const UnboundClaim& claim() const { return claim_; }
  [[nodiscard]] bool HasReserved(const NodeView& node) const {
    return claim_.reserved_where.has_value() &&
           (!reserved_.has_value() || reserved_->Matches(node));
  }
  // A volume set aside for the claim rules out all others.
  [[nodiscard]] bool MayChoose() const {
    return !claim_.provision_only && !claim_.reserved_where.has_value();
  }
  [[nodiscard]] bool CanProvision(const NodeView& node) const {
    return claim_.provision_where.has_value() &&
           std::all_of(provision_.begin(), provision_.end(),
                       [&node](const BoundTerms& terms) { return terms.Matches(node); });
  }
  [[nodiscard]] bool of_class_only() const {
    return (!reserved_.has_value() || reserved_->of_class_only()) &&
           std::all_of(provision_.begin(), provision_.end(),
                       [](const BoundTerms& terms) { return terms.of_class_only(); });
  }

 private:
  const UnboundClaim& claim_;
  std::optional<BoundTerms> reserved_;  // none although set aside: reached from everywhere
  std::vector<BoundTerms> provision_;
};

class BoundVolumeBinding final : public NodeFilter {
 public:
  BoundVolumeBinding(const CycleInput& cycle, const VolumeNeeds& needs) {
    const Tables& tables = *cycle.snapshot.tables;
    for (const NodeTerms& terms : needs.reachable) reachable_.emplace_back(tables, terms);
    // One day another volume may be there, or another node be selected.
    if (cycle.question == Question::kEver) return;
    torn_ = needs.torn;
    selected_node_ = needs.selected_node;
    for (const UnboundClaim& claim : needs.unbound) claims_.emplace_back(tables, claim);
    choice_.emplace(cycle.snapshot, needs.unbound);
    if (choice_->empty()) choice_.reset();
  }

  FilterScope scope() const override {
    const bool of_class_only =
        std::all_of(reachable_.begin(), reachable_.end(),
                    [](const BoundTerms& terms) { return terms.of_class_only(); }) &&
        std::all_of(claims_.begin(), claims_.end(),
                    [](const WaitingClaim& claim) { return claim.of_class_only(); });
    return of_class_only && selected_node_.empty() && !choice_.has_value() ? FilterScope::kNodeClass
                                                                           : FilterScope::kDynamic;
  }
  FilterCoupling coupling() const override {
    return choice_.has_value() ? FilterCoupling::kShared : FilterCoupling::kNone;
  }

  Verdict Check(const NodeView& node, const PartialPlan& placed) const override {
    VolumeChoice::VolumeSet taken;
    if (choice_.has_value()) taken = choice_->TakenBy(placed.placed);
    return CheckWith(node, taken);
  }

  void Narrow(const NodeBlock& block, const PartialPlan& placed, NodeMask& fits) const override {
    VolumeChoice::VolumeSet taken;
    if (choice_.has_value()) taken = choice_->TakenBy(placed.placed);
    fits.ForEach([&](uint32_t row) {
      if (!CheckWith({.block = block, .row = row}, taken).fits()) fits.Clear(row);
    });
  }

  int32_t CapOn(const NodeView& node) const override {
    if (!CheckWith(node, {}).fits()) return 0;
    int32_t hungry = 0;  // claims that only a volume can serve there
    for (const WaitingClaim& claim : claims_) {
      if (claim.MayChoose() && !claim.CanProvision(node)) ++hungry;
    }
    if (hungry == 0 || !choice_.has_value()) return kNoCap;
    const auto serves = [&](VolumeChoice::VolumeIndex volume) {
      return std::any_of(claims_.begin(), claims_.end(), [&](const WaitingClaim& claim) {
        return claim.MayChoose() && !claim.CanProvision(node) &&
               Serves(choice_->At(volume), claim.claim());
      });
    };
    const auto volumes = choice_->On(node.block.rows().names[node.row]);
    const auto useful = std::count_if(volumes.begin(), volumes.end(), serves);
    return std::max(1, static_cast<int32_t>(useful / hungry));
  }

 private:
  [[nodiscard]] Verdict CheckWith(const NodeView& node,
                                  const VolumeChoice::VolumeSet& taken_before) const {
    const bool reaches =
        std::all_of(reachable_.begin(), reachable_.end(),
                    [&node](const BoundTerms& terms) { return terms.Matches(node); });
    if (!reaches) return Refused(kReasonVolumeOutOfReach);
    const std::string& name = node.block.rows().names[node.row];
    if (torn_ || (!selected_node_.empty() && selected_node_ != name)) {
      return Refused(kReasonOtherNodeSelected);
    }
    VolumeChoice::VolumeSet taken = taken_before;
    for (const WaitingClaim& claim : claims_) {
      if (claim.HasReserved(node)) continue;
      if (claim.MayChoose() && choice_.has_value()) {
        const auto volume = choice_->Choose(claim.claim(), name, taken);
        if (volume.has_value()) {
          VolumeChoice::Take(taken, *volume);
          continue;
        }
      }
      if (claim.CanProvision(node)) continue;
      return Refused(claim.claim().short_of_capacity ? kReasonStorageFull : kReasonNoVolume);
    }
    return {};
  }

  std::vector<BoundTerms> reachable_;
  std::string selected_node_;  // "" = none is
  bool torn_ = false;          // two claims have different nodes
  std::vector<WaitingClaim> claims_;
  std::optional<VolumeChoice> choice_;  // none: no volume is there to choose from
};

class VolumeBinding final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "VolumeBinding"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    const VolumeNeeds* needs = shape.constraints.volumes.get();
    if (needs == nullptr) return nullptr;
    if (needs->trouble != VolumeTrouble::kNone) {
      if (cycle.question == Question::kEver) return nullptr;
      return absl::FailedPreconditionError("a volume of the pod is not ready");
    }
    if (needs->reachable.empty() && needs->unbound.empty()) return nullptr;
    return std::make_unique<BoundVolumeBinding>(cycle, *needs);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeVolumeBinding() {
  return std::make_unique<VolumeBinding>();
}

}  // namespace maniple
