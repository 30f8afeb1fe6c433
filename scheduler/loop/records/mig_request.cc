#include "scheduler/loop/records/mig_request.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/gpu/gpu_resource.h"
#include "api/gpu/mig_profile.h"
#include "plugins/framework/cluster_filter.h"

namespace maniple {
namespace {

constexpr size_t kMostShapes = 256;  // bounds the question, however many gangs wait

// The one resource of GPUs that the shape wants; none: it wants several, or no GPU.
std::optional<std::pair<ResourceId, int64_t>> GpusWanted(const PodShape& shape,
                                                         const Tables& tables) {
  std::optional<std::pair<ResourceId, int64_t>> wanted;
  for (const auto& request : shape.requests) {
    if (!tables.FactsOf(request.first).gpu) continue;
    if (wanted.has_value()) return std::nullopt;
    wanted = request;
  }
  return wanted;
}

// The most of the resource that all GPUs of the node can give, however they are divided now.
int64_t MostOf(const std::string& resource, const MigFleet::Node& node) {
  if (node.table == nullptr || node.state == MigFleet::State::kOther) return 0;
  if (resource == kNvidiaGpu) return node.gpus;
  for (const MigSlice& slice : node.table->slices) {
    const auto profile = ParseMigProfile(slice.profile);
    if (profile.has_value() && MigResourceName(*profile) == resource) {
      return int64_t{node.gpus} * slice.max_per_gpu;
    }
  }
  return 0;
}

// One shape, with the filters that say which nodes let it in, GPUs aside.
class Asker final {
 public:
  Asker(const MigQuestion& question, const PodShape& shape) : shape_(shape) {
    for (const auto& block : question.snapshot.blocks) blocks_.push_back(block.get());
    for (const Question ask : {Question::kNow, Question::kEver}) {
      std::vector<std::unique_ptr<NodeFilter>>& filters = ask == Question::kNow ? now_ : ever_;
      for (const auto& plugin : question.profile.filters) {
        absl::StatusOr<std::unique_ptr<NodeFilter>> filter = plugin->Bind(
            {.snapshot = question.snapshot, .now = question.now, .question = ask}, shape);
        if (!filter.ok()) {
          refused_ = true;
        } else if (*filter != nullptr) {
          LetLookAround(**filter, blocks_);
          filters.push_back(*std::move(filter));
        }
      }
    }
  }

  // How many pods the node takes beside its GPUs; it may let them in only once its change is over.
  enum class Counted { kFree, kAllocatable };
  [[nodiscard]] int32_t MostOn(const NodeView& node, const Tables& tables, Question ask,
                               Counted counted = Counted::kFree) const {
    if (refused_) return 0;
    for (const auto& filter : ask == Question::kNow ? now_ : ever_) {
      const Verdict verdict = filter->Check(node, {});
      // Room is counted below; room for GPUs is the subject of the plan.
      if (verdict.code != Code::kFits && verdict.reason.id != kReasonInsufficient) return 0;
    }
    int64_t most = kNoCap;
    for (const auto& [resource, amount] : shape_.requests) {
      if (tables.FactsOf(resource).gpu || amount <= 0) continue;
      const int64_t there = counted == Counted::kFree ? node.block.Free(resource)[node.row]
                                                      : node.block.Allocatable(resource)[node.row];
      most = std::min(most, std::max<int64_t>(0, there) / amount);
    }
    return static_cast<int32_t>(most);
  }

 private:
  const PodShape& shape_;
  std::vector<const NodeBlock*> blocks_;
  bool refused_ = false;
  std::vector<std::unique_ptr<NodeFilter>> now_, ever_;
};

class Builder final {
 public:
  explicit Builder(const MigQuestion& question)
      : question_(question), tables_(*question.snapshot.tables) {}

  MigPlanInput Build(const std::vector<WaitingPods>& waiting) {
    input_.configs = question_.options.configs;
    input_.defaults = question_.options.defaults;
    for (const WaitingPods& pods : waiting) AddDemand(pods);
    if (input_.demands.empty()) return std::move(input_);
    for (const NodeId node : question_.snapshot.order->by_name) AddNode(node);
    for (const std::vector<int32_t>& most : kinds_in_order_) {
      for (size_t d = 0; d < most.size(); ++d) input_.demands[d].most.push_back(most[d]);
    }
    return std::move(input_);
  }

 private:
  void AddDemand(const WaitingPods& waiting) {
    const PodShape& shape = tables_.ShapeOf(waiting.shape);
    const auto wants = GpusWanted(shape, tables_);
    if (!wants.has_value() || input_.demands.size() >= kMostShapes) return;
    const std::string& name = tables_.FactsOf(wants->first).name;
    if (name != kNvidiaGpu && !MigProfileOfResource(name).has_value()) return;
    const auto known = std::find(resources_.begin(), resources_.end(), wants->first);
    input_.demands.push_back({.resource = static_cast<int32_t>(known - resources_.begin()),
                              .per_pod = wants->second,
                              .pods = waiting.pods,
                              .most = {}});
    if (known == resources_.end()) {
      resources_.push_back(wants->first);
      input_.resources.push_back(name);
    }
    askers_.emplace_back(question_, shape);
  }

  void AddNode(NodeId id) {
    const NodeView view{*question_.snapshot.blocks[BlockOf(id)], RowOf(id)};
    MigPlanNode node{.name = question_.snapshot.NodeName(id)};
    for (const ResourceId resource : resources_) {
      node.free.push_back(view.block.Free(resource)[view.row]);
    }
    Question ask = Question::kNow;
    const auto known = question_.fleet.nodes().find(node.name);
    if (known != question_.fleet.nodes().end()) {
      const MigFleet::Node& facts = known->second;
      node.gpus = facts.gpus;
      node.config = facts.config;
      if (const auto becoming = question_.fleet.Becoming(facts, question_.now)) {
        GiveWhatComes(facts, *becoming, view, node);
        ask = Question::kEver;
      } else if (question_.fleet.MayChange(facts, question_.now) && IsIdle(view)) {
        node.table = facts.table;
      }
    }
    const bool gives =
        std::any_of(node.free.begin(), node.free.end(), [](int64_t free) { return free > 0; });
    if (node.table == nullptr && !gives) return;
    std::vector<int32_t> most;
    for (size_t d = 0; d < askers_.size(); ++d) {
      // More than all the pods makes no difference, and the cap makes fewer kinds of nodes.
      const int64_t here = askers_[d].MostOn(view, tables_, ask);
      most.push_back(static_cast<int32_t>(std::min(here, input_.demands[d].pods)));
    }
    const auto [kind, is_new] = kinds_.try_emplace(most, static_cast<int32_t>(kinds_.size()));
    if (is_new) kinds_in_order_.push_back(std::move(most));
    node.kind = kind->second;
    input_.nodes.push_back(std::move(node));
  }

  // No pod has or holds any of its GPUs, not even one that the device plugin no longer reports.
  [[nodiscard]] bool IsIdle(const NodeView& view) const {
    for (uint32_t r = 0; r < view.block.resource_limit(); ++r) {
      if (!tables_.resources[r].gpu) continue;
      const ResourceId resource(r);
      if (view.block.Free(resource)[view.row] != view.block.Allocatable(resource)[view.row]) {
        return false;
      }
    }
    return true;
  }

  // The GPUs that the node will have, where it does not report them already.
  void GiveWhatComes(const MigFleet::Node& facts, const std::string& name, const NodeView& view,
                     MigPlanNode& node) {
    if (facts.table == nullptr) return;
    const std::optional<MigOffer> offer =
        OfferOf(name, question_.options.configs, *facts.table, facts.gpus);
    if (!offer.has_value()) return;
    for (size_t r = 0; r < resources_.size(); ++r) {
      int64_t comes = input_.resources[r] == kNvidiaGpu ? offer->whole_gpus : 0;
      for (size_t s = 0; s < facts.table->slices.size(); ++s) {
        const auto profile = ParseMigProfile(facts.table->slices[s].profile);
        if (profile.has_value() && MigResourceName(*profile) == input_.resources[r]) {
          comes = offer->slices[s];
        }
      }
      const bool shows = facts.state == MigFleet::State::kSettled &&
                         view.block.Allocatable(resources_[r])[view.row] >= comes;
      if (!shows) node.free[r] = comes;
    }
  }

  const MigQuestion& question_;
  const Tables& tables_;
  MigPlanInput input_;
  std::vector<ResourceId> resources_;  // parallel to the resources of the input
  std::vector<Asker> askers_;          // parallel to the demands
  std::map<std::vector<int32_t>, int32_t> kinds_;
  std::vector<std::vector<int32_t>> kinds_in_order_;
};

}  // namespace

MigPlanInput MigPlanInputFor(const MigQuestion& question, const std::vector<WaitingPods>& waiting) {
  return Builder(question).Build(waiting);
}

bool FitOnceDivided(const MigQuestion& question, const WaitingPods& pods) {
  const Tables& tables = *question.snapshot.tables;
  const PodShape& shape = tables.ShapeOf(pods.shape);
  const auto wanted = GpusWanted(shape, tables);
  if (!wanted.has_value()) return false;
  const auto [resource, per_pod] = *wanted;
  const Asker asker(question, shape);
  int64_t fit = 0;
  for (const NodeId id : question.snapshot.order->by_name) {
    const NodeView view{*question.snapshot.blocks[BlockOf(id)], RowOf(id)};
    int64_t gpus = view.block.Allocatable(resource)[view.row];
    const auto known = question.fleet.nodes().find(question.snapshot.NodeName(id));
    if (known != question.fleet.nodes().end()) {
      gpus = std::max(gpus, MostOf(tables.FactsOf(resource).name, known->second));
    }
    if (gpus < per_pod) continue;
    const int64_t beside =
        asker.MostOn(view, tables, Question::kEver, Asker::Counted::kAllocatable);
    fit += std::min(gpus / per_pod, beside);
    if (fit >= pods.pods) return true;
  }
  return false;
}

}  // namespace maniple
