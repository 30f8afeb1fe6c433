#include "api/producers/object_table.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"

namespace maniple {
namespace {

template <typename T>
bool SameValue(const std::unique_ptr<const T>& a, const std::unique_ptr<const T>& b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

}  // namespace

size_t ObjectTable::SpecHash::operator()(const std::shared_ptr<const ForeignSpec>& spec) const {
  size_t hash = absl::HashOf(spec->minimum, spec->most, spec->left, spec->asked, spec->is_gang,
                             spec->queue, spec->problem, spec->parent_group);
  for (const ForeignPart& part : spec->parts) {
    hash = absl::HashOf(hash, part.name, part.members, part.pods);
  }
  return hash;
}

ObjectTable::ObjectTable(ForeignKinds kinds)
    : kinds_(std::move(kinds)), served_(kinds_.size(), ServedState::kNotInstalled) {
  for (const ForeignKind& kind : kinds_) roles_.push_back(RoleOf(kind));
}

std::optional<uint8_t> ObjectTable::KindOf(ProducerRole role) const {
  const auto found = std::find(roles_.begin(), roles_.end(), role);
  if (found == roles_.end()) return std::nullopt;
  return static_cast<uint8_t>(found - roles_.begin());
}

std::shared_ptr<const ForeignSpec> ObjectTable::Shared(const ForeignSpec& spec) {
  return *specs_.insert(std::make_shared<const ForeignSpec>(spec)).first;
}

void ObjectTable::Drop(std::shared_ptr<const ForeignSpec> spec) {
  constexpr int kOurs = 2;  // the table's, and this
  if (spec.use_count() == kOurs) specs_.erase(spec);
}

ObjectSlot& ObjectTable::At(uint8_t kind, absl::string_view namespace_name,
                            absl::string_view name) {
  const SlotKey key{kind, words_.Intern(namespace_name), name};
  if (const auto found = slots_.find(key); found != slots_.end()) return **found;
  auto slot = std::make_unique<ObjectSlot>();
  slot->kind = kind;
  slot->namespace_id = key.namespace_id;
  slot->name = std::string(name);
  return **slots_.insert(std::move(slot)).first;
}

const ObjectSlot* ObjectTable::Find(uint8_t kind, absl::string_view namespace_name,
                                    absl::string_view name) const {
  const std::optional<Id<struct WordTag>> word = words_.Find(namespace_name);
  if (!word.has_value()) return nullptr;
  const auto found = slots_.find(SlotKey{kind, *word, name});
  return found != slots_.end() ? found->get() : nullptr;
}

bool ObjectTable::IsHeeded(uint8_t kind, absl::string_view namespace_name,
                           absl::string_view name) const {
  if (served_[kind] != ServedState::kForbidden) return IsServed(kind);
  const ObjectSlot* slot = Find(kind, namespace_name, name);
  return slot != nullptr && slot->record.has_value() && slot->runners > 0;
}

void ObjectTable::Tidy(ObjectSlot& slot) {
  if (slot.record.has_value() || !slot.watchers.empty()) return;
  slots_.erase(slots_.find(SlotKey{slot.kind, slot.namespace_id, slot.name}));
}

ObjectSlot* ObjectTable::Put(ObjectSlot& slot, ObjectRecord record) {
  if (slot.record.has_value()) {
    ObjectRecord& known = *slot.record;
    const bool same = known.uid == record.uid && known.api_version == record.api_version &&
                      known.created == record.created && known.spec == record.spec &&
                      SameValue(known.phase, record.phase) &&
                      SameValue(known.parent, record.parent);
    if (same) return nullptr;
    Drop(std::exchange(known.spec, nullptr));
  }
  slot.record = std::move(record);
  slot.asked_for_gang = slot.record->spec->is_gang;
  return &slot;
}

ObjectSlot* ObjectTable::Upsert(const ForeignObject& object) {
  const size_t kind = ForeignIndex(static_cast<ResourceKind>(object.kind));
  CHECK_LT(kind, kinds_.size());
  ObjectRecord record;
  record.uid = object.meta.uid;
  record.api_version = words_.Intern(object.api_version);
  if (!object.phase.empty()) {
    record.phase = std::make_unique<const std::string>(object.phase);
  }
  record.created = object.meta.created;
  if (const auto& controller = object.meta.controller; controller.has_value()) {
    const auto parent = KindIndexOf(kinds_, controller->api_version, controller->kind);
    if (parent.has_value()) {
      record.parent =
          std::make_unique<const ParentRef>(ParentRef{*parent, controller->name, controller->uid});
    }
  }
  record.spec = Shared(object.spec);
  return Put(At(static_cast<uint8_t>(kind), object.meta.namespace_name, object.meta.name),
             std::move(record));
}

ObjectSlot* ObjectTable::Refuse(const ObjectInvalid& invalid) {
  const size_t kind = ForeignIndex(invalid.key.kind);
  CHECK_LT(kind, kinds_.size());
  ObjectRecord record;
  record.uid = invalid.uid;
  const ForeignKind& known = kinds_[kind];
  record.api_version = words_.Intern(known.group + "/" + known.versions.front());
  ForeignSpec spec;
  spec.problem = invalid.problem;
  record.spec = Shared(spec);
  return Put(At(static_cast<uint8_t>(kind), invalid.key.namespace_name, invalid.key.name),
             std::move(record));
}

ObjectSlot* ObjectTable::Remove(const ObjectKey& key, absl::string_view uid) {
  const size_t kind = ForeignIndex(key.kind);
  CHECK_LT(kind, kinds_.size());
  ObjectSlot& slot = At(static_cast<uint8_t>(kind), key.namespace_name, key.name);
  if (!slot.record.has_value() || (!uid.empty() && slot.record->uid != uid)) {
    Tidy(slot);
    return nullptr;
  }
  Drop(std::exchange(slot.record->spec, nullptr));
  slot.record.reset();
  return &slot;
}

bool ObjectTable::SetServed(const KindServed& served) {
  const size_t kind = ForeignIndex(served.kind);
  CHECK_LT(kind, kinds_.size());
  return std::exchange(served_[kind], served.state) != served.state;
}

}  // namespace maniple
