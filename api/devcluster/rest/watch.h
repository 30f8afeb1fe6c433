// The open watches: who is told of which change, in which form, when.
//
// Pull-based: a watch is a position in the history of its storage; its output is made when it is
// taken. So a slow reader holds no memory of its own, and is cut when the history has moved past
// it. Owned by ApiServer, one thread.
//
// Invariants:
//   1. Every change after a watch's position that concerns it is still to be sent.
//   2. A watch that is not ready has nothing to send.
//   3. The serialised form of a version is made once and shared (StoredObject::Text).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/base/random.h"
#include "api/devcluster/rest/api_exchange.h"
#include "api/devcluster/rest/list.h"
#include "api/devcluster/rest/table.h"
#include "api/devcluster/rest/watch_output.h"
#include "api/devcluster/store/store.h"

namespace maniple::devcluster {

class TypeRegistry;  // api/devcluster/types/type_registry.h: built-in types and CRDs

class Watches final : public ChangeObserver {
 public:
  // Both are borrowed.
  Watches(const Store& store, Random& random, absl::Duration bookmark_period);
  ~Watches() override;

  struct Form {
    ReplyForm form = ReplyForm::kJson;
    RowObject row_object = RowObject::kMetadata;
  };
  // Refused with 504 when the version lies in the future. A version that is too old starts a watch
  // whose only event is the error.
  ApiOr<WatchId> Start(const ResourceRequest& request, ListOptions options, Form form,
                       absl::Time now);

  void OnChange(const Change& change) override;

  [[nodiscard]] WatchOutput Take(WatchId id, absl::Time now);
  [[nodiscard]] WatchEvents TakeEvents(WatchId id, absl::Time now);
  [[nodiscard]] std::vector<WatchId> TakeReady();
  void Close(WatchId id);

  // Bookmarks and time limits.
  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(absl::Time now);

  // Cuts the watches of custom types that are no longer served.
  void OnTypesChanged(const TypeRegistry& types);
  void CutAll();

 private:
  struct Watch;
  // Where the output of a watch goes.
  struct Sink {
    std::string bytes;
    std::vector<WatchEvent>* events = nullptr;  // instead of bytes
  };
  // True when the watch has ended with this.
  [[nodiscard]] bool Drain(WatchId id, absl::Time now, Sink& out);
  void MarkReady(WatchId id, Watch& watch);
  void Schedule(WatchId id, Watch& watch);
  void AppendEvent(Watch& watch, const Change& change, absl::Time now, Sink& out) const;
  void AppendObject(Watch& watch, absl::string_view type, const ObjectPtr& object, absl::Time now,
                    Sink& out) const;
  void AppendBookmark(Watch& watch, absl::Time now, Sink& out) const;

  const Store& store_;
  Random& random_;
  const absl::Duration bookmark_period_;
  uint32_t next_id_ = 1;
  std::map<WatchId, std::unique_ptr<Watch>> watches_;
  absl::flat_hash_map<StorageId, std::vector<WatchId>> by_storage_;  // in id order
  std::set<WatchId> ready_;
  std::set<std::pair<absl::Time, WatchId>> deadlines_;
};

}  // namespace maniple::devcluster
