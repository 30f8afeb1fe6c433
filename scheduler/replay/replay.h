// A cluster and its scheduler in a time of their own: the real loop and the real client on
// an embedded API server. It shows what the live scheduler would do from the same objects,
// in milliseconds.
//
// One thread. Nothing outside is touched. There is no private durable state,
// so a scheduler that starts here does what a new leader there would do.
//
//   Replay replay(settings, snapshot.at);
//   RETURN_IF_ERROR(replay.Load(snapshot.objects));
//   replay.RunUntil(replay.now() + absl::Seconds(2));
//   const ClusterViewPtr view = replay.View();
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/client/cluster_client.h"
#include "api/codec/json.h"
#include "api/devcluster/rest/api_server.h"
#include "scheduler/loop/scheduling_loop.h"
#include "scheduler/replay/local_transport.h"

namespace maniple {

// A deed of the scheduler to a pod.
struct PodDeed {
  absl::Time at;
  std::string pod;   // "namespace/name"
  std::string node;  // the node of the binding; "": the pod was evicted
};

// A gang that had to leave for another, whole or some of its pods; "namespace/name" each.
struct Preemption {
  std::string gang, victim;
};

// A node that the scheduler asked to have its GPUs divided otherwise by MIG.
struct NodeDivision {
  absl::Time at;
  std::string node, config;
};

// What mig-manager does is done here, too. For so long a change of a node lasts; a real one takes
// about that without a reboot.
inline constexpr absl::Duration kDivisionTakes = absl::Minutes(1);

class Replay final {
 public:
  Replay(LoopOptions options, absl::Time start);

  // As an API server shows them, or manifests; an object comes after those that it needs.
  // An object of an unknown kind is passed over; kinds that declare gangs need no definition.
  [[nodiscard]] absl::Status Load(const std::vector<Json>& objects);
  [[nodiscard]] std::vector<Json> Dump() const { return server_.Dump(); }
  // The pod ends as controllers and kubelets would write it. Does nothing if the pod is gone.
  void Succeed(const std::string& namespace_name, const std::string& pod);
  // Deletes as a user or controller would: at once. `path`: "/api/v1/namespaces/N/pods/P".
  void Delete(const std::string& path);
  void RunUntil(absl::Time when);

  [[nodiscard]] absl::Time now() const { return now_; }
  // The next time at which something is due by itself; RunUntil goes there.
  [[nodiscard]] absl::Time next() const { return next_; }
  [[nodiscard]] ClusterViewPtr View() const { return loop_.View(now_); }
  // Since the start, in order, without those who were chosen and then stayed.
  [[nodiscard]] const std::vector<Preemption>& preemptions() const { return preemptions_; }
  [[nodiscard]] std::vector<NodeDivision> Divisions() const;  // since TakeDeeds
  [[nodiscard]] std::vector<PodDeed> Deeds() const;           // likewise
  [[nodiscard]] std::vector<PodDeed> TakeDeeds();
  // The scheduler worked on and on at one moment without coming to rest.
  [[nodiscard]] bool spins() const { return spins_; }

 private:
  // Does the work of the real process's threads until nothing moves at this moment.
  void Work();
  bool Turn();  // something moved
  [[nodiscard]] bool Serves(const Json& object);
  [[nodiscard]] absl::Status Define(const std::vector<Json>& definitions);  // once each

  absl::Time now_;
  const ForeignKinds kinds_;
  devcluster::ApiServer server_;
  LocalTransport transport_;
  SchedulingLoop loop_;
  ClusterClient client_;
  std::set<std::string> defined_;                          // names of definitions
  std::map<std::string, std::set<std::string>> kinds_of_;  // the served kinds, by apiVersion
  std::vector<Preemption> preemptions_;
  bool started_ = false;
  bool spins_ = false;
  absl::Time next_ = absl::InfiniteFuture();
};

}  // namespace maniple
