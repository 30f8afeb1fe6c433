// The embedded API server without its sockets: requests in, replies and watch streams out.
//
// A state machine: no threads, no clock, no I/O. The Beast shell (http_shell.h) and the simulation
// both drive it from one thread. Time enters as `now`; what must happen later (graceful deletion,
// the simulated kubelet, bookmarks) is announced by NextDeadline() and done by OnTime().
//
//   ApiServer server(options);
//   ApiReply reply = server.Handle({.method = "GET", .target = "/api/v1/pods?watch=true"}, now);
//   if (reply.watch.valid()) for (…) send(server.TakeWatchOutput(reply.watch));
#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/base/thread_owner.h"
#include "api/codec/json.h"
#include "api/devcluster/controllers/api_server_options.h"
#include "api/devcluster/rest/api_exchange.h"
#include "api/devcluster/rest/watch_output.h"

namespace maniple::devcluster {

class ApiServer final {
 public:
  explicit ApiServer(ApiServerOptions options);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  [[nodiscard]] ApiReply Handle(const ApiRequest& request, absl::Time now);

  // What has become ready for the watch since the last call; cheap when nothing has.
  [[nodiscard]] WatchOutput TakeWatchOutput(WatchId watch);
  // The same events without making their text. REQUIRES: the watch asked for JSON, and nobody takes
  // its output.
  [[nodiscard]] WatchEvents TakeWatchEvents(WatchId watch);
  // Watches that have output ready, in id order; each is named once until its output is taken.
  [[nodiscard]] std::vector<WatchId> ReadyWatches();
  void CloseWatch(WatchId watch);

  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(absl::Time now);

  // For loading manifests at start and snapshots at exit.
  absl::Status Load(const std::vector<Json>& objects, absl::Time now);
  [[nodiscard]] std::vector<Json> Dump() const;

  // For simulation: as if the server had been restarted on a compacted etcd, every watch is cut and
  // every version that anybody remembers has expired.
  void ForgetHistory();
  // The same with the versions of an etcd restored from a backup: they begin anew at the lowest.
  void RestartVersions();

 private:
  class Impl;
  const ThreadOwner owner_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple::devcluster
