#include "scheduler/state/shape_table.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "api/gpu/gpu_resource.h"

namespace maniple {
namespace {

// The order in which a report names what is lacking: what is scarce and dear comes first.
int ReportOrder(ResourceId resource, const ResourceFacts& facts) {
  if (facts.gpu) return 0;
  if (resource == kPods) return 4;
  if (resource == kCpu) return 3;
  if (resource == kMemory) return 2;
  return 1;
}

}  // namespace

int64_t Clamped(Amount amount) { return std::clamp<int64_t>(amount.units(), 0, kMostAmount); }

SharedVolumeNeeds OccupancyOf(const SharedVolumeNeeds& volumes) {
  if (volumes.get() == nullptr) return {};
  VolumeNeeds occupancy;
  occupancy.uses = volumes.get()->uses;
  return SharedVolumeNeeds(std::move(occupancy));
}

PodConstraints OccupancyOf(const PodConstraints& constraints) {
  PodConstraints occupancy;
  occupancy.requests = constraints.requests;
  occupancy.host_ports = constraints.host_ports;
  occupancy.volumes = OccupancyOf(constraints.volumes);
  occupancy.pod_terms = constraints.pod_terms;
  return occupancy;
}

ShapeTable::ShapeTable(DraftTables& draft, const GpuRules& gpu_rules, PodQueries& queries)
    : draft_(draft), gpu_rules_(gpu_rules), queries_(queries) {
  CHECK_EQ(Resource("pods"), kPods);
  CHECK_EQ(Resource("cpu"), kCpu);
  CHECK_EQ(Resource("memory"), kMemory);
}

ResourceId ShapeTable::Resource(absl::string_view name) {
  if (const auto it = resources_.find(name); it != resources_.end()) return it->second;
  if (draft_.tables.resources.size() > kMostResources) return kBeyondCounting;
  const ResourceId id(static_cast<uint32_t>(draft_.tables.resources.size()));
  const absl::string_view known_as = id == kBeyondCounting ? "resources beyond counting" : name;
  draft_.tables.resources.push_back(
      {.name = std::string(known_as), .gpu = GpuResourceOf(known_as).has_value()});
  draft_.changed = true;
  resources_.emplace(known_as, id);
  return id;
}

HostPortId ShapeTable::Port(const HostPort& port) {
  const HostPortId next(static_cast<uint32_t>(draft_.tables.host_ports.size()));
  const auto [it, is_new] = ports_.try_emplace(port, next);
  if (is_new) {
    draft_.tables.host_ports.push_back(port);
    draft_.changed = true;
  }
  return it->second;
}

VolumeDriverId ShapeTable::Driver(const std::string& name) {
  const VolumeDriverId next(static_cast<uint32_t>(draft_.tables.volume_drivers.size()));
  const auto [it, is_new] = drivers_.try_emplace(name, next);
  if (is_new) {
    draft_.tables.volume_drivers.push_back(name);
    draft_.changed = true;
  }
  return it->second;
}

VolumeUseId ShapeTable::Use(const VolumeUse& use) {
  const VolumeUseId next(static_cast<uint32_t>(draft_.tables.volume_uses.size()));
  const auto [it, is_new] = uses_.try_emplace(use, next);
  if (is_new) {
    const bool attached = use.kind == VolumeUseKind::kAttached;
    draft_.tables.volume_uses.push_back(
        {.use = use, .driver = attached ? Driver(use.driver) : VolumeDriverId()});
    draft_.changed = true;
  }
  return it->second;
}

ShapeTable::SharedTerms ShapeTable::TermsOf(const PodConstraints& constraints) const {
  const auto at = shapes_.lower_bound({.constraints = &constraints, .matches = {}});
  const bool known = at != shapes_.end() && *at->first.constraints == constraints;
  return known ? own_terms_[at->second.index()] : nullptr;
}

ShapeId ShapeTable::WithMatches(ShapeId shape, std::vector<PodCountId> matches) {
  return Intern(Of(shape).constraints, std::move(matches), own_terms_[shape.index()]).id;
}

ShapeTable::Interned ShapeTable::Intern(const PodConstraints& constraints,
                                        std::vector<PodCountId> matches, SharedTerms own) {
  if (const auto it = shapes_.find({.constraints = &constraints, .matches = matches});
      it != shapes_.end()) {
    return {.id = it->second};
  }

  auto shape = std::make_unique<PodShape>();
  if (!constraints.images.empty()) {
    PodConstraints of_room = constraints;
    of_room.images.clear();
    shape->room_shape = Intern(of_room, matches, own).id;
  }
  shape->id = ShapeId(static_cast<uint32_t>(draft_.tables.shapes.size()));
  if (!shape->room_shape.valid()) shape->room_shape = shape->id;
  shape->constraints = constraints;
  shape->requests.emplace_back(kPods, 1);
  for (const ResourceAmount& request : constraints.requests) {
    const int64_t amount = Clamped(request.amount);
    if (amount == 0) continue;
    const ResourceId resource = Resource(request.resource);
    shape->requests.emplace_back(resource, amount);
    shape->wants_gpu = shape->wants_gpu || draft_.tables.resources[resource.index()].gpu;
  }
  const auto report_key = [this](const std::pair<ResourceId, int64_t>& request) {
    const ResourceFacts& facts = draft_.tables.resources[request.first.index()];
    return std::make_tuple(ReportOrder(request.first, facts), absl::string_view(facts.name));
  };
  std::sort(shape->requests.begin(), shape->requests.end(),
            [&](const auto& a, const auto& b) { return report_key(a) < report_key(b); });
  shape->gpus = GpuAskOf(constraints, gpu_rules_);
  for (const HostPort& port : constraints.host_ports) shape->host_ports.push_back(Port(port));
  if (const VolumeNeeds* needs = constraints.volumes.get()) {
    for (const VolumeUse& use : needs->uses) shape->volume_uses.push_back(Use(use));
    std::sort(shape->volume_uses.begin(), shape->volume_uses.end());
  }

  for (const std::string& image : constraints.images) {
    shape->images.push_back(images_.Intern(image));
  }
  std::sort(shape->images.begin(), shape->images.end());

  const OwnTerms none;
  shape->counts = ChangesBy(own == nullptr ? none : *own, matches, queries_);
  shape->terms = maniple::TermsOf(own == nullptr ? none : *own, matches, queries_);
  shape->matches = std::move(matches);

  const ShapeId id = shape->id;
  std::shared_ptr<const PodShape> shared = std::move(shape);
  shapes_.emplace(Key{.constraints = &shared->constraints, .matches = shared->matches}, id);
  draft_.tables.shapes.PushBack(std::move(shared));
  own_terms_.push_back(std::move(own));
  draft_.changed = true;
  return {.id = id, .is_new = true};
}

}  // namespace maniple
