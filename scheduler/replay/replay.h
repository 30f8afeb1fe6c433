// A cluster and its scheduler in a time of their own: the real loop and the real client on an
// embedded API server. What the live scheduler would do from the same objects, in milliseconds.
//
// One thread. Nothing of the outside is touched. There is no private durable state, so what a
// scheduler that starts here does is what a new leader there would do.
//
//   Replay replay(settings, snapshot.at);
//   RETURN_IF_ERROR(replay.Load(snapshot.objects));
//   replay.RunUntil(replay.now() + absl::Seconds(2));
//   const ClusterViewPtr view = replay.View();
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/client/cluster_client.h"
#include "api/codec/json.h"
#include "api/devcluster/api_server.h"
#include "scheduler/loop/scheduling_loop.h"
#include "scheduler/replay/local_transport.h"

namespace maniple {

// What the scheduler did to a pod.
struct PodDeed {
  absl::Time at;
  std::string pod;   // "namespace/name"
  std::string node;  // where it was bound; "": it was made to leave
};

class Replay final {
 public:
  Replay(LoopOptions options, absl::Time start);

  // As an API server shows them, or manifests: what needs another object comes after it. An object
  // of a kind that nobody knows is passed over.
  [[nodiscard]] absl::Status Load(const std::vector<Json>& objects);
  [[nodiscard]] std::vector<Json> Dump() const { return server_.Dump(); }
  // As controllers and kubelets would write it. Nothing if the pod is gone.
  void Succeed(const std::string& namespace_name, const std::string& pod);
  // As its user or a controller would: gone at once. Of an API path "/api/v1/namespaces/N/pods/P".
  void Delete(const std::string& path);
  void RunUntil(absl::Time when);

  [[nodiscard]] absl::Time now() const { return now_; }
  // When something is due of itself; RunUntil goes there.
  [[nodiscard]] absl::Time next() const { return next_; }
  [[nodiscard]] ClusterViewPtr View() const { return loop_.View(now_); }
  // Pods that the scheduler has made leave, "namespace/name", in order; since TakeDeeds.
  [[nodiscard]] std::vector<std::string> Evicted() const;
  [[nodiscard]] std::vector<PodDeed> TakeDeeds();
  // It worked on and on at one moment without coming to rest.
  [[nodiscard]] bool spins() const { return spins_; }

 private:
  // What the threads of the real process do until nothing moves at this moment.
  void Work();
  bool Turn();  // something moved
  [[nodiscard]] bool Serves(const Json& object);

  absl::Time now_;
  const ForeignKinds kinds_;
  devcluster::ApiServer server_;
  LocalTransport transport_;
  SchedulingLoop loop_;
  ClusterClient client_;
  std::map<std::string, std::set<std::string>> kinds_of_;  // that are served, by apiVersion
  bool started_ = false;
  bool spins_ = false;
  absl::Time next_ = absl::InfiniteFuture();
};

}  // namespace maniple
