// Which gang each pod belongs to: our label first, then what other projects' groups, marks and
// owners say (one identity, in a fixed order).
//
// A pure fold of pods and foreign objects, in whatever order they come. Owned by ClusterState;
// scheduling thread. A pod whose group is not there yet has a place all the same: a name that no
// gang answers to.
//
//   DirectoryChange change;
//   directory.Upsert(object, change);
//   for (PodId pod : change.pods) …directory.PlaceOf(pod)…
//   for (const GroupName& gang : change.gangs) …directory.Find(gang)…
//
// Invariants:
//   1. PlaceOf(pod) depends on the pod and the objects that are there, not on the order of events.
//      While a gang runs whose kind is served no more, or may not be read any more, its object
//      having been there decides, too.
//      So does YuniKorn's table of task groups while a pod of its application is there.
//   2. Every change of a place or of a gang is in the change of the call that made it.
//   3. The same source has the same group_name in every process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/model/ids.h"
#include "api/model/object.h"
#include "api/producers/foreign_gang.h"
#include "api/producers/producer_options.h"

namespace maniple {

struct GroupName {
  std::string namespace_name, group_name;
  friend auto operator<=>(const GroupName&, const GroupName&) = default;
};

struct DirectoryChange {
  std::vector<PodId> pods;       // belong elsewhere than before; each once, in order
  std::vector<GroupName> gangs;  // new, gone, or declared otherwise; each once, in order
};

class GangDirectory final {
 public:
  explicit GangDirectory(ProducerOptions options);
  ~GangDirectory();
  GangDirectory(const GangDirectory&) = delete;
  GangDirectory& operator=(const GangDirectory&) = delete;

  void Upsert(const ForeignObject& object, DirectoryChange& change);
  // A uid other than the known one speaks of an older object; "" of whichever is there.
  void Remove(const ObjectKey& key, absl::string_view uid, DirectoryChange& change);
  void Refuse(const ObjectInvalid& invalid, DirectoryChange& change);
  void SetServed(const KindServed& served, DirectoryChange& change);

  // Remembers what the pod says of itself: called at each of its events. The pod itself is not in
  // change.pods.
  [[nodiscard]] PodPlace Put(PodId pod, const Pod& seen, DirectoryChange& change);
  void Forget(PodId pod, DirectoryChange& change);
  // REQUIRES: Put, and not forgotten.
  [[nodiscard]] PodPlace PlaceOf(PodId pod) const;

  // Null: nobody declares it now.
  [[nodiscard]] const ForeignGang* Find(const GroupName& name) const;
  // The owner of pods that are there would make the gang of that name, if it asked for one: it is
  // scaled to one pod, say. Changes of that are changes of the gang.
  [[nodiscard]] bool AsksForNone(const GroupName& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
