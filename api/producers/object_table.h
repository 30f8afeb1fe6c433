// The group objects and owners that are there, what they declare, and who asked for them.
//
// A slot stands for a name, whether an object of it is there or not: so that who looked for it can
// be found when it comes. Equal declarations are kept once. Owned by a GangDirectory; scheduling
// thread.
//
//   ObjectSlot& slot = table.At(kind, "ns", "train");
//   slot.watchers.push_back(who);
//   if (slot.record.has_value()) use(slot.record->spec);
//
// Invariants:
//   1. A slot has a record or a watcher, once Tidy was called on it.
//   2. A slot stays where it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/id.h"
#include "api/model/object.h"
#include "api/producers/kinds.h"

namespace maniple {

struct PodClass;  // gang_directory.cc: pods of equal marks

// The controller of a producer's object, if it is of a kind in the table.
struct ParentRef {
  uint8_t kind = 0;  // by place in the table of kinds
  std::string name, uid;
  friend bool operator==(const ParentRef&, const ParentRef&) = default;
};

struct ObjectRecord {
  std::string uid;
  Id<struct WordTag> api_version;  // a word of the table
  absl::Time created = absl::InfinitePast();
  std::unique_ptr<const ParentRef> parent;   // null: none that matters
  std::unique_ptr<const std::string> phase;  // null: ""
  std::shared_ptr<const ForeignSpec> spec;   // never null
};

struct ObjectSlot {
  uint8_t kind = 0;
  Id<struct WordTag> namespace_id;
  std::string name;
  std::optional<ObjectRecord> record;
  std::vector<PodClass*> watchers;  // whose place depends on it; each once
  size_t runners = 0;               // pods of its watchers that have a node and have not ended
  bool asked_for_gang = false;      // the object that is there, or was there last
};

class ObjectTable final {
 public:
  explicit ObjectTable(ForeignKinds kinds);
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  // What changed; null: nothing that decides anything.
  ObjectSlot* Upsert(const ForeignObject& object);
  ObjectSlot* Refuse(const ObjectInvalid& invalid);
  // REQUIRES: Tidy is called after the watchers have looked.
  ObjectSlot* Remove(const ObjectKey& key, absl::string_view uid);
  // Whether that is news.
  bool SetServed(const KindServed& served);

  [[nodiscard]] ObjectSlot& At(uint8_t kind, absl::string_view namespace_name,
                               absl::string_view name);
  // Null: nobody asked for it, and it is not there.
  [[nodiscard]] const ObjectSlot* Find(uint8_t kind, absl::string_view namespace_name,
                                       absl::string_view name) const;
  // Whether the object counts, if it is there. A right that is lost parts no gang: what runs is
  // what it was when the object could be read last.
  [[nodiscard]] bool IsHeeded(uint8_t kind, absl::string_view namespace_name,
                              absl::string_view name) const;
  // Forgets a slot that nobody needs.
  void Tidy(ObjectSlot& slot);

  [[nodiscard]] const ForeignKinds& kinds() const { return kinds_; }
  [[nodiscard]] ProducerRole role(uint8_t kind) const { return roles_[kind]; }
  // The first kind of that role.
  [[nodiscard]] std::optional<uint8_t> KindOf(ProducerRole role) const;
  [[nodiscard]] ServedState served(uint8_t kind) const { return served_[kind]; }
  [[nodiscard]] bool IsServed(uint8_t kind) const { return served_[kind] == ServedState::kServed; }
  [[nodiscard]] const std::string& Word(Id<struct WordTag> word) const { return words_.Name(word); }
  [[nodiscard]] const std::string& NamespaceOf(const ObjectSlot& slot) const {
    return words_.Name(slot.namespace_id);
  }

 private:
  struct SlotKey {
    uint8_t kind = 0;
    Id<struct WordTag> namespace_id;
    absl::string_view name;
    friend bool operator==(const SlotKey&, const SlotKey&) = default;
  };
  static SlotKey KeyOf(const SlotKey& key) { return key; }
  static SlotKey KeyOf(const std::unique_ptr<ObjectSlot>& slot) {
    return {slot->kind, slot->namespace_id, slot->name};
  }
  struct SlotHash {
    using is_transparent = void;
    template <typename Slot>
    size_t operator()(const Slot& slot) const {
      const SlotKey key = KeyOf(slot);
      return absl::HashOf(key.kind, key.namespace_id, key.name);
    }
  };
  struct SlotEqual {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return KeyOf(a) == KeyOf(b);
    }
  };
  struct SpecHash {
    size_t operator()(const std::shared_ptr<const ForeignSpec>& spec) const;
  };
  struct SpecEqual {
    bool operator()(const std::shared_ptr<const ForeignSpec>& a,
                    const std::shared_ptr<const ForeignSpec>& b) const {
      return *a == *b;
    }
  };

  ObjectSlot* Put(ObjectSlot& slot, ObjectRecord record);
  std::shared_ptr<const ForeignSpec> Shared(const ForeignSpec& spec);
  void Drop(std::shared_ptr<const ForeignSpec> spec);

  const ForeignKinds kinds_;
  std::vector<ProducerRole> roles_;
  std::vector<ServedState> served_;
  Interner<Id<struct WordTag>> words_;  // namespaces and versions: few
  absl::flat_hash_set<std::unique_ptr<ObjectSlot>, SlotHash, SlotEqual> slots_;
  absl::flat_hash_set<std::shared_ptr<const ForeignSpec>, SpecHash, SpecEqual> specs_;
};

}  // namespace maniple
