// Shapes that are made anew, and shapes that are given back.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "api/gpu/gpu_resource.h"
#include "scheduler/state/shape_table.h"

namespace maniple {

void ShapeTable::ForEach(absl::FunctionRef<void(const PodShape&)> visit) const {
  for (uint32_t i = 0; i < draft_.tables.shapes.size(); ++i) {
    if (Has(ShapeId(i))) visit(Of(ShapeId(i)));
  }
}

void ShapeTable::Unlist(const PodShape& shape) {
  const auto at = shapes_.find({.constraints = &shape.constraints, .matches = shape.matches});
  if (at != shapes_.end() && at->second == shape.id) shapes_.erase(at);
}

void ShapeTable::Remake(ShapeId shape, std::shared_ptr<const PodShape> made) {
  Unlist(Of(shape));
  shapes_.try_emplace(Key{.constraints = &made->constraints, .matches = made->matches}, shape);
  draft_.tables.shapes.Set(shape.index(), std::move(made));
  draft_.changed = true;
}

// ---- numbers of the nodes

std::vector<ShapeId> ShapeTable::AskingFor(const std::vector<std::string>& names) const {
  const absl::flat_hash_set<absl::string_view> asked(names.begin(), names.end());
  std::vector<ShapeId> shapes;
  ForEach([&](const PodShape& shape) {
    const bool asks = std::ranges::any_of(
        shape.constraints.requests,
        [&](const ResourceAmount& request) { return asked.contains(request.resource); });
    if (asks) shapes.push_back(shape.id);
  });
  return shapes;
}

void ShapeTable::RemakeAskingFor(const std::vector<std::string>& names) {
  for (const ShapeId shape : AskingFor(names)) {
    auto made = std::make_shared<PodShape>(Of(shape));
    SetRequests(*made);
    Remake(shape, std::move(made));
  }
}

void ShapeTable::NumberForNodes(const std::vector<std::string>& names) {
  std::vector<ResourceFacts>& resources = draft_.tables.resources;
  std::vector<std::string> fresh;
  for (const std::string& name : names) {
    if (node_resources_.size() >= kMostResources) break;
    const auto [id, is_new] = node_resources_.Intern(name);
    if (!is_new) continue;
    if (id.index() >= resources.size()) resources.resize(id.index() + 1);
    resources[id.index()] = {.name = name, .gpu = GpuResourceOf(name).has_value()};
    fresh.push_back(name);
    draft_.changed = true;
  }
  if (!fresh.empty()) RemakeAskingFor(fresh);
}

void ShapeTable::KeepOnlyNodeResources(const UsedIds& used) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < draft_.tables.resources.size(); ++i) {
    ResourceFacts& facts = draft_.tables.resources[i];
    if (used.Has(ResourceId(i)) || facts.name.empty()) continue;
    names.push_back(std::exchange(facts, {}).name);
    draft_.changed = true;
  }
  if (names.empty()) return;
  node_resources_.KeepOnly(used);
  RemakeAskingFor(names);
}

// ---- sweeps

UsedIds ShapeTable::KeepOnly(UsedIds used) {
  ForEach([&](const PodShape& shape) {
    if (used.Has(shape.id)) used.Note(shape.room_shape);
  });
  UsedIds resources, ports, uses, images, drivers = drivers_of_nodes_;
  std::vector<ShapeId> unused;
  ForEach([&](const PodShape& shape) {
    if (!used.Has(shape.id)) {
      unused.push_back(shape.id);
      return;
    }
    for (const auto& [resource, amount] : shape.requests) {
      if (!IsOnNodes(resource)) resources.Note(ResourceId(resource.index() - kFirstPodResource));
    }
    for (const HostPortId port : shape.host_ports) ports.Note(port);
    for (const VolumeUseId use : shape.volume_uses) {
      const VolumeDriverId driver = draft_.tables.volume_uses[use.index()].driver;
      if (uses.Note(use) && driver.valid()) drivers.Note(driver);
    }
    for (const ImageId image : shape.images) images.Note(image);
  });
  for (const ShapeId shape : unused) {
    Unlist(Of(shape));
    draft_.tables.shapes.Set(shape.index(), nullptr);
    own_terms_[shape.index()] = nullptr;
    shape_numbers_.GiveBack(shape.index());
    --live_;
    draft_.changed = true;
  }
  pod_resources_.KeepOnly(resources);
  ports_.KeepOnly(ports);
  uses_.KeepOnly(uses);
  drivers_.KeepOnly(drivers);
  images_.KeepOnly(images);
  for (uint32_t i = 0; i < image_names_.size(); ++i) {
    if (!images.Has(ImageId(i))) image_names_[i] = std::string();
  }
  return images;
}

UsedIds ShapeTable::CountsAskedFor() const {
  UsedIds counts;
  for (const SharedTerms& own : own_terms_) {
    if (own != nullptr) own->ForEachCount([&counts](PodCountId count) { counts.Note(count); });
  }
  return counts;
}

void ShapeTable::MatchOnly(const UsedIds& counts) {
  const auto is_gone = [&counts](PodCountId count) { return !counts.Has(count); };
  std::vector<ShapeId> shapes;
  ForEach([&](const PodShape& shape) {
    if (std::ranges::any_of(shape.matches, is_gone)) shapes.push_back(shape.id);
  });
  for (const ShapeId shape : shapes) {
    auto made = std::make_shared<PodShape>(Of(shape));
    std::vector<PodCountId> matches = made->matches;
    std::erase_if(matches, is_gone);
    SetMatches(*made, std::move(matches));
    Remake(shape, std::move(made));
  }
}

}  // namespace maniple
