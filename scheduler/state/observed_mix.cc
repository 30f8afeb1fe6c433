#include "scheduler/state/observed_mix.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "api/base/sort_unique.h"
#include "queue/gpu_milli.h"

namespace maniple {
namespace {

constexpr int64_t kPod = 1000;  // thousandths
// Arrivals fade by the hour: the 24th root of one half, in millionths.
constexpr absl::Duration kStep = absl::Hours(1);
constexpr int64_t kLeftAfterStep = 971'532;
constexpr int64_t kMillion = 1'000'000;
constexpr int64_t kMostSteps = 2000;  // nothing is left after these
constexpr size_t kMostRequests = 64;
constexpr int64_t kMostAsked = 1 << 16;  // of one resource; keeps sums small
constexpr double kShareToMove = 0.1;

using Amounts = std::vector<std::pair<ResourceId, int64_t>>;
using RequestKind = std::pair<Amounts, uint64_t>;  // the amounts, and the models that will do

int64_t PodsIn(const std::vector<TypicalRequest>& requests) {
  int64_t pods = 0;
  for (const TypicalRequest& request : requests) pods += request.pods;
  return pods;
}

}  // namespace

ObservedMix::Seen* ObservedMix::Of(ShapeId shape) {
  if (!shapes_.Of(shape).wants_gpu) return nullptr;
  if (seen_.size() <= shape.index()) seen_.resize(shape.index() + 1);
  Seen& seen = seen_[shape.index()];
  if (!seen.listed) listed_.push_back(shape);
  seen.listed = true;
  return &seen;
}

void ObservedMix::NoteTime(absl::Time now) {
  if (!faded_at_.has_value()) faded_at_ = now;
  if (now - *faded_at_ < kStep) return;
  const int64_t steps = (now - *faded_at_) / kStep;
  *faded_at_ += steps * kStep;
  for (int64_t step = 0; step < std::min(steps, kMostSteps); ++step) {
    for (const ShapeId shape : listed_) {
      int64_t& arrived = seen_[shape.index()].arrived;
      arrived = arrived * kLeftAfterStep / kMillion;
    }
  }
  std::erase_if(listed_, [this](ShapeId shape) {
    Seen& seen = seen_[shape.index()];
    seen.listed = seen.arrived > 0 || seen.running > 0;
    return !seen.listed;
  });
  changes_ += kBetweenLooks;
}

void ObservedMix::NoteArrival(ShapeId shape) {
  Seen* seen = Of(shape);
  if (seen == nullptr) return;
  seen->arrived += kPod;
  ++changes_;
}

void ObservedMix::NoteCharge(ShapeId shape, int64_t pods) {
  Seen* seen = Of(shape);
  if (seen == nullptr) return;
  seen->running += pods;
  ++changes_;
}

void ObservedMix::Condense(ShapeTable& shapes, const UsedIds& of_pods) {
  std::vector<std::pair<ShapeId, int64_t>> gone;
  std::erase_if(listed_, [&](ShapeId shape) {
    if (of_pods.Has(shape)) return false;
    gone.emplace_back(shape, std::exchange(seen_[shape.index()], {}).arrived);
    return true;
  });
  std::ranges::stable_sort(gone, std::greater(), &std::pair<ShapeId, int64_t>::second);
  if (gone.size() > kMostGone) gone.resize(kMostGone);
  for (const auto& [shape, arrived] : gone) {
    const PodConstraints& known = shapes.Of(shape).constraints;
    PodConstraints enough;
    enough.requests = known.requests;
    enough.node_selector = known.node_selector;
    enough.required_node_terms = known.required_node_terms;
    Seen* seen = Of(shapes.Intern(enough, {}).id);
    if (seen != nullptr) seen->arrived += arrived;
  }
}

void ObservedMix::ForEachListed(absl::FunctionRef<void(ShapeId)> visit) const {
  for (const ShapeId shape : listed_) visit(shape);
}

void ObservedMix::NoteResources(UsedIds& used) const {
  if (mix_ == nullptr) return;
  for (const TypicalRequest& request : mix_->requests()) {
    for (const auto& [resource, amount] : request.amounts) used.Note(resource);
  }
}

int64_t ObservedMix::running(ShapeId shape) const {
  return shape.index() < seen_.size() ? seen_[shape.index()].running : 0;
}

// The worth that the resource's name tells; a name that tells none counts as a GPU.
int32_t ObservedMix::WorthOf(ResourceId resource) const {
  const std::string& name = draft_.tables.resources[resource.index()].name;
  PodConstraints one;
  one.requests = {{.resource = name, .amount = Amount(1)}};
  const int64_t milli = GpuMilliOf(one, GpuDivision{}).units();
  return milli > 0 ? static_cast<int32_t>(milli) : kGpuMilli;
}

int64_t ObservedMix::WorkOf(const TypicalRequest& request) const {
  int64_t work = 0;
  for (const auto& [resource, amount] : request.amounts) {
    if (!draft_.tables.resources[resource.index()].gpu) continue;
    work += std::min(amount, kMostAsked) * WorthOf(resource);
  }
  return work;
}

// The models that some pod names.
GpuModels ObservedMix::Models() const {
  GpuModels models{.label = source_.label};
  if (models.label.empty()) return models;
  for (const ShapeId shape : listed_) {
    AddNamedModels(shapes_.Of(shape).constraints, models.label, models.names);
  }
  SortUnique(models.names);
  if (models.names.size() > kMostNamedModels) models.names.resize(kMostNamedModels);
  return models;
}

ModelSupply ObservedMix::SupplyOf(GpuModels models) const {
  ModelSupply supply{.models = std::move(models)};
  if (supply.models.names.empty()) return supply;
  std::vector<int64_t> milli(supply.models.names.size() + 1, 0);
  source_.for_each_gpu(supply.models, [&](uint32_t model, ResourceId resource, int64_t amount) {
    milli[model] += std::min(amount, kMostAsked) * WorthOf(resource);
  });
  for (const int64_t each : milli) supply.gpus.push_back(each / kGpuMilli);
  return supply;
}

// Requests with the most GPU work in all come first.
std::vector<TypicalRequest> ObservedMix::Requests(const GpuModels& models) const {
  absl::btree_map<RequestKind, int64_t> pods;
  for (const ShapeId shape : listed_) {
    const Seen& seen = seen_[shape.index()];
    const int64_t counted = seen.arrived + seen.running * kPod;
    if (counted <= 0) continue;
    Amounts amounts;
    bool asks_for_gpus = false;
    for (const auto& [resource, amount] : shapes_.Of(shape).requests) {
      if (!IsOnNodes(resource)) continue;  // no node has such GPUs
      const bool gpu = draft_.tables.resources[resource.index()].gpu;
      asks_for_gpus = asks_for_gpus || gpu;
      if (gpu || resource == kCpu || resource == kMemory) amounts.emplace_back(resource, amount);
    }
    if (!asks_for_gpus) continue;
    std::sort(amounts.begin(), amounts.end());
    const uint64_t will_do =
        models.names.empty() ? ~uint64_t{0} : ModelsFor(shapes_.Of(shape).constraints, models);
    pods[{std::move(amounts), will_do}] += counted;
  }
  std::vector<std::pair<int64_t, TypicalRequest>> by_demand;
  for (const auto& [kind, counted] : pods) {
    TypicalRequest request{.amounts = kind.first, .models = kind.second, .pods = counted};
    by_demand.emplace_back(-WorkOf(request) * counted, std::move(request));
  }
  std::stable_sort(by_demand.begin(), by_demand.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (by_demand.size() > kMostRequests) by_demand.resize(kMostRequests);
  std::vector<TypicalRequest> requests;
  for (auto& [demand, request] : by_demand) requests.push_back(std::move(request));
  return requests;
}

std::vector<UnitWorth> ObservedMix::UnitsOf(const std::vector<TypicalRequest>& requests) const {
  std::vector<UnitWorth> units;
  for (const TypicalRequest& request : requests) {
    for (const auto& [resource, amount] : request.amounts) {
      const bool known = std::ranges::find(units, resource, &UnitWorth::resource) != units.end();
      if (known || !draft_.tables.resources[resource.index()].gpu) continue;
      if (units.size() < kMostFillUnits) {
        units.push_back({.resource = resource, .milli = WorthOf(resource)});
      }
    }
  }
  return units;
}

// Compares half the sum of all differences of shares, by pods and by the work they ask for.
bool ObservedMix::Moved(const std::vector<TypicalRequest>& requests) const {
  for (const bool by_work : {false, true}) {
    const auto weight = [&](const TypicalRequest& request) {
      return static_cast<double>(request.pods) *
             (by_work ? static_cast<double>(WorkOf(request)) : 1.0);
    };
    absl::btree_map<RequestKind, double> shares;
    double now = 0, before = 0, differences = 0;
    for (const TypicalRequest& request : requests) now += weight(request);
    for (const TypicalRequest& request : mix_->requests()) before += weight(request);
    for (const TypicalRequest& request : requests) {
      shares[{request.amounts, request.models}] += weight(request) / now;
    }
    for (const TypicalRequest& request : mix_->requests()) {
      shares[{request.amounts, request.models}] -= weight(request) / before;
    }
    for (const auto& [kind, difference] : shares) differences += std::abs(difference);
    if (differences / 2 > kShareToMove) return true;
  }
  return false;
}

std::shared_ptr<const RequestMix> ObservedMix::Renew() {
  if (changes_ < kBetweenLooks) return mix_;
  changes_ = 0;
  GpuModels models = Models();
  std::vector<TypicalRequest> requests = Requests(models);
  if (PodsIn(requests) < kLeastPods * kPod) return mix_;
  if (mix_ != nullptr && mix_->models() == models && !Moved(requests)) return mix_;
  std::vector<UnitWorth> units = UnitsOf(requests);
  mix_ = std::make_shared<const RequestMix>(std::move(requests), std::move(units),
                                            SupplyOf(std::move(models)));
  return mix_;
}

}  // namespace maniple
