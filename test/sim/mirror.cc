#include "test/sim/mirror.h"

#include "absl/strings/str_cat.h"
#include "api/base/check.h"

namespace maniple::sim {

Mirror::Mirror(devcluster::ApiServer& server, absl::string_view collection)
    : server_(server), target_(absl::StrCat(collection, "?watch=true")) {}

void Mirror::Observe(absl::Time now) {
  if (watch_.valid() && Read()) return;
  // A new watch starts with everything there is.
  objects_.clear();
  watch_ = server_.Handle({.method = "GET", .target = target_}, now).watch;
  CHECK(watch_.valid() && Read()) << target_;
}

const Json& Mirror::At(const std::string& key) const {
  static const Json* const kNone = new Json;
  const auto found = objects_.find(key);
  return found == objects_.end() ? *kNone : found->second;
}

bool Mirror::Read() {
  const devcluster::WatchEvents output = server_.TakeWatchEvents(watch_);
  for (const devcluster::WatchEvent& event : output.events) {
    if (event.type == "BOOKMARK" || event.type == "ERROR") continue;
    const Json& meta = event.object["metadata"];
    const std::string key =
        absl::StrCat(meta["namespace"].AsString(), "/", meta["name"].AsString());
    if (event.type == "DELETED") {
      objects_.erase(key);
    } else {
      objects_[key] = event.object;
    }
  }
  if (output.ended) server_.CloseWatch(watch_);
  return !output.ended;
}

}  // namespace maniple::sim
