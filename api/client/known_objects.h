// The objects of one kind that the server has told us of: names, uid and resourceVersion, about 110
// bytes apiece.
//
// Enough to tell a replay from news and to name the objects that vanished while no watch was open.
// Owned by one WatchSession.
//
// Invariants:
//   1. At most one entry per (namespace, name).
//   2. Find returns exactly the strings that were Set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace maniple {

class KnownObjects final {
 public:
  struct Name {
    absl::string_view namespace_name, name;
  };
  struct Identity {
    std::string uid;
    std::string resource_version;  // "" after ForgetVersions
  };
  struct Forgotten {
    std::string namespace_name, name, uid;
  };

  KnownObjects() = default;
  KnownObjects(const KnownObjects&) = delete;
  KnownObjects& operator=(const KnownObjects&) = delete;

  [[nodiscard]] std::optional<Identity> Find(Name name) const;
  void Set(Name name, absl::string_view uid, absl::string_view resource_version);
  void Erase(Name name);
  [[nodiscard]] size_t size() const { return records_.size(); }

  // A sweep: EndSweep takes out all entries that were neither Set nor Touched after BeginSweep,
  // in order of (namespace, name).
  void BeginSweep() { ++sweep_; }
  void Touch(Name name);
  [[nodiscard]] std::vector<Forgotten> EndSweep();

  // For a server whose versions start afresh: every entry stays, its version becomes "".
  void ForgetVersions();

 private:
  // One allocation: a fixed header, then namespace and name, then uid and version if
  // they do not pack into the header.
  struct Header {
    uint64_t version = 0;  // when version_length is 0
    uint8_t uid[16] = {};  // a canonical UUID, when uid_length is 0 and uid_packed
    uint32_t sweep = 0;
    uint16_t namespace_length = 0;
    uint16_t name_length = 0;
    uint16_t uid_length = 0;
    uint16_t version_length = 0;
    bool uid_packed = false;
  };
  using Record = std::unique_ptr<char[]>;

  static Header HeaderOf(const Record& record);
  static Name NameOf(const Record& record);
  static Identity IdentityOf(const Record& record);
  static Record MakeRecord(Name name, absl::string_view uid, absl::string_view version);
  static void SetSweep(const Record& record, uint32_t sweep);

  struct HashRecord {
    using is_transparent = void;
    size_t operator()(Name name) const;
    size_t operator()(const Record& record) const { return (*this)(NameOf(record)); }
  };
  struct SameRecord {
    using is_transparent = void;
    static bool Same(Name a, Name b) {
      return a.name == b.name && a.namespace_name == b.namespace_name;
    }
    bool operator()(const Record& a, const Record& b) const { return Same(NameOf(a), NameOf(b)); }
    bool operator()(const Record& a, Name b) const { return Same(NameOf(a), b); }
    bool operator()(Name a, const Record& b) const { return Same(a, NameOf(b)); }
  };

  absl::flat_hash_set<Record, HashRecord, SameRecord> records_;
  uint32_t sweep_ = 0;
};

}  // namespace maniple
