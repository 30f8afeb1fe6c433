// The news that the client of a cluster tells its scheduling loop,
// and the folding of news of several moments into one.
//
// NewsFold is for a loop that is slower than its client. It keeps one event per incarnation of an
// object, and one more for a pod that succeeded and is gone. It has no lock of its own.
//
//   fold.Add(client.TakeNews());       // as often as there are news
//   loop.Hear(fold.Take(), now);       // whenever the loop has time
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/client/write_command.h"
#include "api/model/object.h"

namespace maniple {

struct ClusterNews {
  std::vector<ObjectEvent> events;  // of a fold: as above, in order of first arrival
  std::vector<WriteResult> results;
  std::optional<bool> leading;  // set when that changed
  // The lead was lost meanwhile, even if it is back: another process may have led in between.
  bool lost_lead = false;
  uint64_t lead = 0;  // how often this process has come to lead: writes say under which they began
};

class NewsFold final {
 public:
  void Add(ClusterNews news);
  [[nodiscard]] ClusterNews Take();

 private:
  void Add(ObjectEvent event);

  ClusterNews folded_;
  absl::flat_hash_map<ObjectKey, size_t> pending_;  // position in folded_.events
};

}  // namespace maniple
