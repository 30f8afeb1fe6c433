// The objects of the cluster: the newest version of each, one counter of versions for all, and a
// bounded history per storage from which watches and paged lists are served.
//
// Knows nothing of REST: no kinds, no defaulting, no deletion rules (those are writes.h). Owned by
// ApiServer, one thread. A stored object never changes; a write puts a new one in its place.
//
//   ObjectPtr pod = store.Get(pods, {"default", "web-0"});
//   Json next = *pod;
//   next.Mutable("status").Set("phase", "Running");
//   store.Put(pods, std::move(next));
//
// Invariants:
//   1. metadata.resourceVersion of a stored object is the version of the write that put it there.
//   2. Versions grow by one with every change, over all storages.
//   3. The history of a storage is contiguous: from the current objects and the history the state
//      at any version since HistoryFloor() can be told.
//   4. Observers hear each change once, in order, after the store holds it, and do not write from
//      within OnChange: they note what they must do and do it when their time comes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

// One version of an object, and its text once somebody has asked for it: replies, lists and watches
// share it.
class StoredObject final {
 public:
  explicit StoredObject(Json value) : value_(std::move(value)) {}

  [[nodiscard]] const Json& value() const { return value_; }
  // As JSON.
  [[nodiscard]] const std::string& Text() const;
  // The same without kind and apiVersion.
  [[nodiscard]] const std::string& TextWithoutKind() const;

 private:
  const Json value_;
  mutable std::string text_;  // empty: nobody has asked
  mutable std::string text_without_kind_;
};

// Points at a Json, or nowhere; never changes what it points at.
class ObjectPtr final {
 public:
  ObjectPtr() = default;
  ObjectPtr(std::nullptr_t) {}  // NOLINT: nowhere
  explicit ObjectPtr(Json object) : object_(std::make_shared<StoredObject>(std::move(object))) {}

  const Json& operator*() const { return object_->value(); }
  const Json* operator->() const { return &object_->value(); }
  [[nodiscard]] const Json* get() const { return object_ == nullptr ? nullptr : &**this; }
  [[nodiscard]] const StoredObject& stored() const { return *object_; }
  friend bool operator==(const ObjectPtr&, const ObjectPtr&) = default;
  friend bool operator==(const ObjectPtr& pointer, std::nullptr_t) {
    return pointer.object_ == nullptr;
  }

 private:
  std::shared_ptr<const StoredObject> object_;
};

struct ObjectName {
  std::string namespace_name;  // empty: cluster scope
  std::string name;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ObjectName& name) {
    return H::combine(std::move(h), name.namespace_name, name.name);
  }
};
[[nodiscard]] ObjectName NameOf(const Json& object);

enum class ChangeKind { kAdded, kModified, kDeleted };

// One change of one object.
struct Change {
  StorageId storage;
  ChangeKind kind = ChangeKind::kAdded;
  ObjectName name;
  ObjectPtr object;    // new state; of a deletion the last one, at the version of the deletion
  ObjectPtr previous;  // null for kAdded
  uint64_t version = 0;
};

class ChangeObserver {
 public:
  virtual ~ChangeObserver() = default;
  virtual void OnChange(const Change& change) = 0;
};

class Store final {
 public:
  // A cluster does not begin at 1: versions below its beginning are expired ones.
  static constexpr uint64_t kFirstVersion = 100;

  // `history`: changes kept per storage.
  explicit Store(size_t history, uint64_t first_version = kFirstVersion);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // nullptr when there is none.
  [[nodiscard]] ObjectPtr Get(StorageId storage, const ObjectName& name) const;
  // In order of namespace, then name. An empty namespace means all of them.
  [[nodiscard]] std::vector<ObjectPtr> List(StorageId storage,
                                            absl::string_view namespace_name = "") const;
  [[nodiscard]] size_t Count(StorageId storage) const;

  // Creates the object or replaces it, at the next version, and tells the observers. An object
  // equal to the stored one changes nothing. The resourceVersion in `object` is overwritten.
  // REQUIRES: metadata.name is set.
  ObjectPtr Put(StorageId storage, Json object);
  // Takes the object away; watches see its last state at a new version. Nothing if it is gone.
  void Erase(StorageId storage, const ObjectName& name);

  [[nodiscard]] uint64_t version() const { return version_; }

  // The state at `version`, in list order. nullopt: history does not reach back so far.
  // REQUIRES: version <= version().
  [[nodiscard]] std::optional<std::vector<ObjectPtr>> ListAt(
      StorageId storage, uint64_t version, absl::string_view namespace_name) const;

  // The oldest version V such that every change after V is still in the history.
  [[nodiscard]] uint64_t HistoryFloor(StorageId storage) const;
  // The changes after `version`, oldest first. REQUIRES: version >= HistoryFloor(storage).
  // The position of the first one; walk with ChangeAt up to HistoryEnd.
  [[nodiscard]] uint64_t HistoryPositionAfter(StorageId storage, uint64_t version) const;
  [[nodiscard]] uint64_t HistoryEnd(StorageId storage) const;
  // nullptr: dropped from the history already.
  [[nodiscard]] const Change* ChangeAt(StorageId storage, uint64_t position) const;

  // Borrowed; heard for the store's life. In order of adding.
  void AddObserver(ChangeObserver* observer);

  // No history is left: every object has a new version, above all that were ever given, so that an
  // old one answers 410. Watches must be cut.
  void Renumber();
  // The same, but the versions begin anew at the lowest, as in a store restored from a backup.
  void RestartVersions();

 private:
  struct Table {
    absl::btree_map<ObjectName, ObjectPtr> objects;
    std::deque<Change> history;
    uint64_t first_position = 0;  // of history.front()
    uint64_t floor = 0;
  };
  Table& TableOf(StorageId storage);
  const Table* FindTable(StorageId storage) const;
  void Announce(Table& table, Change change);

  const size_t history_;
  uint64_t version_;
  uint64_t floor_;                              // of tables that have no history yet
  std::vector<std::unique_ptr<Table>> tables_;  // by StorageId
  std::vector<ChangeObserver*> observers_;
};

}  // namespace maniple::devcluster
