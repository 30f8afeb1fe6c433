// What changes of the gangs and Queues that one caller watches, view after view. Owned by the
// thread that serves the caller.
//
//   AdminWatch watch("research");
//   while (…) if (watch.Next(*view, reply)) writer->Write(reply);
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "scheduler/report/view.h"

namespace maniple::admin::v1 {
class WatchReply;
}  // namespace maniple::admin::v1

namespace maniple {

class AdminWatch final {
 public:
  // "" = gangs of all namespaces, and Queues.
  explicit AdminWatch(std::string namespace_name) : namespace_name_(std::move(namespace_name)) {}

  // Everything at first; then what is new, other or gone since the last call. False: nothing is,
  // and `out` is to be thrown away.
  [[nodiscard]] bool Next(const ClusterView& view, admin::v1::WatchReply& out);

 private:
  // A hash of what was told last; by "namespace/name", or by name.
  using Told = absl::flat_hash_map<std::string, uint64_t>;

  const std::string namespace_name_;
  Told gangs_, queues_;
  bool began_ = false;
};

}  // namespace maniple
