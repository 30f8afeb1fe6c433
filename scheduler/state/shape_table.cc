#include "scheduler/state/shape_table.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "api/gpu/gpu_resource.h"

namespace maniple {
namespace {

// The order in which a report names lacking resources: scarce and dear ones come first.
int ReportOrder(ResourceId resource, const ResourceFacts& facts) {
  if (facts.gpu) return 0;
  if (resource == kPods) return 4;
  if (resource == kCpu) return 3;
  if (resource == kMemory) return 2;
  return 1;
}

// For a number that may be in use again, with an older value at its place.
template <typename T>
void PutAt(SharedVector<T>& table, size_t index, T value) {
  if (index < table.size()) {
    table.Set(index, std::move(value));
  } else {
    CHECK_EQ(index, table.size());
    table.PushBack(std::move(value));
  }
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
  NumberForNodes({"pods", "cpu", "memory"});
  CHECK(NodeResource("pods") == kPods && NodeResource("cpu") == kCpu &&
        NodeResource("memory") == kMemory);
}

std::optional<ResourceId> ShapeTable::NodeResource(absl::string_view name) const {
  return node_resources_.Find(std::string(name));
}

ResourceId ShapeTable::Asked(const std::string& name) {
  if (const std::optional<ResourceId> known = NodeResource(name)) return *known;
  const auto [id, is_new] = pod_resources_.Intern(name);
  if (is_new) {
    PutAt(draft_.tables.pod_resources, id.index(),
          {.name = name, .gpu = GpuResourceOf(name).has_value()});
  }
  return ResourceId(kFirstPodResource + id.index());
}

HostPortId ShapeTable::Port(const HostPort& port) {
  const auto [id, is_new] = ports_.Intern(port);
  if (is_new) PutAt(draft_.tables.host_ports, id.index(), port);
  return id;
}

VolumeDriverId ShapeTable::Driver(const std::string& name) {
  const auto [id, is_new] = drivers_.Intern(name);
  std::vector<std::string>& drivers = draft_.tables.volume_drivers;
  if (is_new) {
    if (id.index() >= drivers.size()) drivers.resize(id.index() + 1);
    drivers[id.index()] = name;
    draft_.changed = true;
  }
  return id;
}

VolumeDriverId ShapeTable::DriverOfNode(const std::string& name) {
  const VolumeDriverId id = Driver(name);
  drivers_of_nodes_.Note(id);
  return id;
}

VolumeUseId ShapeTable::Use(const VolumeUse& use) {
  const auto [id, is_new] = uses_.Intern(use);
  if (is_new) {
    const bool attached = use.kind == VolumeUseKind::kAttached;
    PutAt(draft_.tables.volume_uses, id.index(),
          {.use = use, .driver = attached ? Driver(use.driver) : VolumeDriverId()});
  }
  return id;
}

ImageId ShapeTable::Image(const std::string& name) {
  const auto [id, is_new] = images_.Intern(name);
  if (id.index() >= image_names_.size()) image_names_.resize(id.index() + 1);
  if (is_new) image_names_[id.index()] = name;
  return id;
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
  shape->id = ShapeId(shape_numbers_.Take());
  if (!shape->room_shape.valid()) shape->room_shape = shape->id;
  shape->constraints = constraints;
  SetRequests(*shape);
  shape->gpus = GpuAskOf(constraints, gpu_rules_);
  for (const HostPort& port : constraints.host_ports) shape->host_ports.push_back(Port(port));
  if (const VolumeNeeds* needs = constraints.volumes.get()) {
    for (const VolumeUse& use : needs->uses) shape->volume_uses.push_back(Use(use));
    std::sort(shape->volume_uses.begin(), shape->volume_uses.end());
  }
  for (const std::string& image : constraints.images) shape->images.push_back(Image(image));
  std::sort(shape->images.begin(), shape->images.end());

  const ShapeId id = shape->id;
  if (id.index() >= own_terms_.size()) own_terms_.resize(id.index() + 1);
  own_terms_[id.index()] = std::move(own);
  SetMatches(*shape, std::move(matches));
  std::shared_ptr<const PodShape> shared = std::move(shape);
  shapes_.emplace(Key{.constraints = &shared->constraints, .matches = shared->matches}, id);
  PutAt(draft_.tables.shapes, id.index(), std::move(shared));
  draft_.changed = true;
  ++live_;
  return {.id = id, .is_new = true};
}

void ShapeTable::SetRequests(PodShape& shape) {
  shape.requests = {{kPods, 1}};
  shape.wants_gpu = false;
  for (const ResourceAmount& request : shape.constraints.requests) {
    const int64_t amount = Clamped(request.amount);
    if (amount == 0) continue;
    const ResourceId resource = Asked(request.resource);
    shape.requests.emplace_back(resource, amount);
    shape.wants_gpu = shape.wants_gpu || draft_.tables.FactsOf(resource).gpu;
  }
  const auto report_key = [this](const std::pair<ResourceId, int64_t>& request) {
    const ResourceFacts& facts = draft_.tables.FactsOf(request.first);
    return std::make_tuple(ReportOrder(request.first, facts), absl::string_view(facts.name));
  };
  std::sort(shape.requests.begin(), shape.requests.end(),
            [&](const auto& a, const auto& b) { return report_key(a) < report_key(b); });
}

void ShapeTable::SetMatches(PodShape& shape, std::vector<PodCountId> matches) {
  const OwnTerms none;
  const SharedTerms& own = own_terms_[shape.id.index()];
  shape.counts = ChangesBy(own == nullptr ? none : *own, matches, queries_);
  shape.terms = maniple::TermsOf(own == nullptr ? none : *own, matches, queries_);
  shape.matches = std::move(matches);
}

}  // namespace maniple
