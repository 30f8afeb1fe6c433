// Which foreign kinds are followed, and which Queues of ours theirs are. Plain values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/model/foreign.h"

namespace maniple {

struct ProducerOptions {
  ForeignKinds kinds;  // those that are watched; their order is that of ResourceKind
  // Foreign queue name → Queue of ours.
  std::vector<std::pair<std::string, std::string>> queues;
  // For foreign groups that say "default", as those do whose users said nothing. One of ours that
  // is called so is meant only where `queues` says so.
  std::string default_queue;
  // Pods that Kueue has admitted are charged to no Queue that they do not name. Any tenant can
  // write the labels of Kueue, so this must not hold where nothing may start without a Queue.
  bool kueue_brings_quota = true;
};

}  // namespace maniple
