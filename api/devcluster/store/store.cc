#include "api/devcluster/store/store.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"

namespace maniple::devcluster {
namespace {

void SetVersion(Json& object, uint64_t version) {
  object.Mutable("metadata").Set("resourceVersion", absl::StrCat(version));
}

bool EqualButForVersion(const Json& stored, Json& next) {
  next.Mutable("metadata").Set("resourceVersion", stored["metadata"]["resourceVersion"]);
  return stored == next;
}

}  // namespace

const std::string& StoredObject::Text() const {
  if (text_.empty()) text_ = value_.Dump();
  return text_;
}

const std::string& StoredObject::TextWithoutKind() const {
  if (text_without_kind_.empty()) {
    Json shown = value_;
    shown.Erase("kind");
    shown.Erase("apiVersion");
    text_without_kind_ = shown.Dump();
  }
  return text_without_kind_;
}

ObjectName NameOf(const Json& object) {
  const Json& metadata = object["metadata"];
  return {metadata["namespace"].AsString(), metadata["name"].AsString()};
}

Store::Store(size_t history, uint64_t first_version)
    : history_(std::max<size_t>(history, 1)), version_(first_version), floor_(first_version) {}

Store::Table& Store::TableOf(StorageId storage) {
  CHECK(storage.valid());
  while (tables_.size() <= storage.index()) {
    tables_.push_back(std::make_unique<Table>());
    tables_.back()->floor = floor_;
  }
  return *tables_[storage.index()];
}

const Store::Table* Store::FindTable(StorageId storage) const {
  if (!storage.valid() || storage.index() >= tables_.size()) return nullptr;
  return tables_[storage.index()].get();
}

ObjectPtr Store::Get(StorageId storage, const ObjectName& name) const {
  const Table* table = FindTable(storage);
  if (table == nullptr) return nullptr;
  const auto it = table->objects.find(name);
  return it == table->objects.end() ? nullptr : it->second;
}

std::vector<ObjectPtr> Store::List(StorageId storage, absl::string_view namespace_name) const {
  std::vector<ObjectPtr> out;
  const Table* table = FindTable(storage);
  if (table == nullptr) return out;
  if (namespace_name.empty()) {
    out.reserve(table->objects.size());
    for (const auto& [name, object] : table->objects) out.push_back(object);
    return out;
  }
  for (auto it = table->objects.lower_bound({std::string(namespace_name), ""});
       it != table->objects.end() && it->first.namespace_name == namespace_name; ++it) {
    out.push_back(it->second);
  }
  return out;
}

size_t Store::Count(StorageId storage) const {
  const Table* table = FindTable(storage);
  return table == nullptr ? 0 : table->objects.size();
}

ObjectPtr Store::Put(StorageId storage, Json object) {
  Table& table = TableOf(storage);
  ObjectName name = NameOf(object);
  CHECK(!name.name.empty());
  const auto [it, inserted] = table.objects.try_emplace(name);
  if (!inserted && EqualButForVersion(*it->second, object)) return it->second;
  SetVersion(object, ++version_);
  const ObjectPtr stored(std::move(object));
  Change change{.storage = storage,
                .kind = inserted ? ChangeKind::kAdded : ChangeKind::kModified,
                .name = std::move(name),
                .object = stored,
                .previous = std::exchange(it->second, stored),
                .version = version_};
  Announce(table, std::move(change));
  return stored;
}

void Store::Erase(StorageId storage, const ObjectName& name) {
  Table& table = TableOf(storage);
  const auto it = table.objects.find(name);
  if (it == table.objects.end()) return;
  ObjectPtr previous = std::move(it->second);
  table.objects.erase(it);
  Json last = *previous;
  SetVersion(last, ++version_);
  Announce(table, {.storage = storage,
                   .kind = ChangeKind::kDeleted,
                   .name = name,
                   .object = ObjectPtr(std::move(last)),
                   .previous = std::move(previous),
                   .version = version_});
}

void Store::Announce(Table& table, Change change) {
  table.history.push_back(std::move(change));
  while (table.history.size() > history_) {
    table.floor = table.history.front().version;
    table.history.pop_front();
    ++table.first_position;
  }
  // A copy of the pointers: an observer may not write, but the deque is not its business either.
  const Change told = table.history.back();
  for (ChangeObserver* observer : observers_) observer->OnChange(told);
}

std::optional<std::vector<ObjectPtr>> Store::ListAt(StorageId storage, uint64_t version,
                                                    absl::string_view namespace_name) const {
  CHECK_LE(version, version_);
  const Table* table = FindTable(storage);
  if (table == nullptr) return std::vector<ObjectPtr>();
  if (version < table->floor) return std::nullopt;
  std::vector<ObjectPtr> now = List(storage, namespace_name);
  if (table->history.empty() || table->history.back().version <= version) return now;

  // What the objects that changed since looked like then: the earliest change after it tells.
  std::map<ObjectName, ObjectPtr> then;
  for (auto it = table->history.rbegin(); it != table->history.rend() && it->version > version;
       ++it) {
    if (!namespace_name.empty() && it->name.namespace_name != namespace_name) continue;
    then[it->name] = it->previous;
  }
  std::vector<ObjectPtr> out;
  auto changed = then.begin();
  for (ObjectPtr& object : now) {
    const ObjectName name = NameOf(*object);
    for (; changed != then.end() && changed->first < name; ++changed) {
      if (changed->second != nullptr) out.push_back(changed->second);
    }
    if (changed != then.end() && changed->first == name) {
      if (changed->second != nullptr) out.push_back(changed->second);
      ++changed;
    } else {
      out.push_back(std::move(object));
    }
  }
  for (; changed != then.end(); ++changed) {
    if (changed->second != nullptr) out.push_back(changed->second);
  }
  return out;
}

uint64_t Store::HistoryFloor(StorageId storage) const {
  const Table* table = FindTable(storage);
  return table == nullptr ? floor_ : table->floor;
}

uint64_t Store::HistoryPositionAfter(StorageId storage, uint64_t version) const {
  const Table* table = FindTable(storage);
  if (table == nullptr) return 0;
  CHECK_GE(version, table->floor);
  const auto it = std::partition_point(table->history.begin(), table->history.end(),
                                       [&](const Change& c) { return c.version <= version; });
  return table->first_position + static_cast<uint64_t>(it - table->history.begin());
}

uint64_t Store::HistoryEnd(StorageId storage) const {
  const Table* table = FindTable(storage);
  return table == nullptr ? 0 : table->first_position + table->history.size();
}

const Change* Store::ChangeAt(StorageId storage, uint64_t position) const {
  const Table* table = FindTable(storage);
  if (table == nullptr || position < table->first_position) return nullptr;
  const uint64_t index = position - table->first_position;
  return index < table->history.size() ? &table->history[index] : nullptr;
}

void Store::AddObserver(ChangeObserver* observer) { observers_.push_back(observer); }

void Store::Renumber() {
  std::vector<std::pair<uint64_t, ObjectPtr*>> by_age;
  for (const std::unique_ptr<Table>& table : tables_) {
    for (auto& [name, object] : table->objects) {
      uint64_t version = 0;
      CHECK(absl::SimpleAtoi((*object)["metadata"]["resourceVersion"].AsString(), &version));
      by_age.emplace_back(version, &object);
    }
  }
  std::sort(by_age.begin(), by_age.end());
  for (auto& [old_version, object] : by_age) {
    Json renumbered = **object;
    SetVersion(renumbered, ++version_);
    *object = ObjectPtr(std::move(renumbered));
  }
  floor_ = version_;
  for (const std::unique_ptr<Table>& table : tables_) {
    table->first_position += table->history.size();
    table->history.clear();
    table->floor = floor_;
  }
}

void Store::RestartVersions() {
  version_ = kFirstVersion;
  Renumber();
}

}  // namespace maniple::devcluster
