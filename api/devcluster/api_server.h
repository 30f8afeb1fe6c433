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

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/id.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

struct ApiServerOptions {
  absl::Duration kubelet_start_delay = absl::ZeroDuration();
  absl::Duration delete_delay = absl::ZeroDuration();
  absl::Duration volume_delay = absl::ZeroDuration();  // that claims and volumes take
  // Off: no simulated kubelet and no controllers, as with a bare kube-apiserver.
  enum class Controllers { kSimulated, kNone } controllers = Controllers::kSimulated;
  size_t watch_history =
      20'000;  // events kept per resource type; older resource versions answer 410
  absl::Duration bookmark_period = absl::Seconds(30);
  uint64_t first_version = 100;  // resource versions count from here
  uint64_t seed = 1;             // uids and generated names
};

struct ApiRequest {
  std::string method;  // "GET"
  std::string target;  // path and query, percent-encoded
  std::string content_type;
  std::string accept;
  std::string body;
  std::string if_none_match;
  std::string user = "admin";
};

using WatchId = Id<struct WatchTag>;

struct ApiReply {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  WatchId watch;  // valid: the body is a stream, read it with TakeWatchOutput
};

struct WatchOutput {
  std::string bytes;
  bool ended = false;  // after these bytes the stream is closed by the server
};

// The same for a reader in this process: values rather than text.
struct WatchEvent {
  absl::string_view type;  // "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"
  Json object;             // as it is shown to who watches; shared with the store
};
struct WatchEvents {
  std::vector<WatchEvent> events;
  bool ended = false;
};

class Store;         // api/devcluster/store.h: objects, versions, history
class TypeRegistry;  // api/devcluster/type_registry.h: built-in types and CRDs

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
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple::devcluster
