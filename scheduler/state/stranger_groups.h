// PodGroups that pods of other schedulers name: one of these schedulers answers for such a group.
//
// Owned by the pod table, on its thread. Grows with the pods of others that name a group, and no
// further.
//
//   for (const GangKey& key : strangers.Note(pod, "default", "train")) …;
//   if (strangers.Has(gang.key)) …;
#pragma once

#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "api/model/ids.h"
#include "queue/gang.h"

namespace maniple {

class StrangerGroups final {
 public:
  // Sets the group that the pod names now, "" for none.
  // Returns the groups that got their first stranger or lost their last.
  std::vector<GangKey> Note(PodId pod, absl::string_view namespace_name, absl::string_view group);
  [[nodiscard]] bool Has(const GangKey& group) const {
    return !count_.empty() && count_.contains(group);
  }

 private:
  absl::btree_map<PodId, GangKey> named_;
  absl::btree_map<GangKey, int> count_;
};

}  // namespace maniple
