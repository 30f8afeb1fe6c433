// VolumeZone: a bound volume whose labels name zones or regions runs only where the node's labels
// agree. A node without any such label passes.
#include "plugins/factories.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plugins/framework/node_terms.h"

namespace maniple {
namespace {

NodeSelectorTerm Label(absl::string_view key, SelectorOperator op,
                       std::vector<std::string> values = {}) {
  return {.expressions = {{.key = std::string(key), .op = op, .values = std::move(values)}},
          .fields = {}};
}

// The label that has taken the place of one from the beta.
absl::string_view TodaysKey(absl::string_view key) {
  if (key == "failure-domain.beta.kubernetes.io/zone") return "topology.kubernetes.io/zone";
  if (key == "failure-domain.beta.kubernetes.io/region") return "topology.kubernetes.io/region";
  return key;
}

class BoundVolumeZone final : public NodeFilter {
 public:
  BoundVolumeZone(const Tables& tables, const std::vector<ZoneNeed>& needs) {
    const auto bind = [&](const NodeSelectorTerm& term) {
      BoundTerm bound(tables, term);
      of_class_only_ = of_class_only_ && bound.of_class_only();
      return bound;
    };
    for (const char* key :
         {"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
          "topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
      has_zone_.push_back(bind(Label(key, SelectorOperator::kExists)));
    }
    for (const ZoneNeed& need : needs) {
      const absl::string_view today = TodaysKey(need.key);
      needs_.push_back({.here = bind(Label(need.key, SelectorOperator::kIn, need.values)),
                        .absent = bind(Label(need.key, SelectorOperator::kDoesNotExist)),
                        .today = bind(Label(today, SelectorOperator::kIn, need.values))});
    }
  }

  FilterScope scope() const override {
    return of_class_only_ ? FilterScope::kNodeClass : FilterScope::kDynamic;
  }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    const auto matches = [&node](const BoundTerm& term) { return term.Matches(node); };
    if (std::none_of(has_zone_.begin(), has_zone_.end(), matches)) return {};
    const bool agrees = std::all_of(needs_.begin(), needs_.end(), [&](const Need& need) {
      return matches(need.here) || (matches(need.absent) && matches(need.today));
    });
    if (agrees) return {};
    return {.code = Code::kUnresolvable, .reason = {.id = kReasonVolumeZone}};
  }

 private:
  struct Need {
    BoundTerm here, absent, today;
  };
  std::vector<BoundTerm> has_zone_;
  std::vector<Need> needs_;
  bool of_class_only_ = true;
};

class VolumeZone final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "VolumeZone"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    const VolumeNeeds* needs = shape.constraints.volumes.get();
    if (needs == nullptr || needs->zones.empty()) return nullptr;
    return std::make_unique<BoundVolumeZone>(*cycle.snapshot.tables, needs->zones);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeVolumeZone() { return std::make_unique<VolumeZone>(); }

}  // namespace maniple
