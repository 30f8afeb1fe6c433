// The options of a watch session, and its counters. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/client/right.h"
#include "api/model/object.h"

namespace maniple {

struct WatchSessionOptions {
  ResourceKind kind = ResourceKind::kPod;
  uint16_t owner = 0;  // of the request ids
  // The paths of the collection, one per version, in order of preference;
  // for a producer's kind only. "/apis/scheduling.x-k8s.io/v1alpha1/podgroups"
  std::vector<std::string> collections = {};
  int page_size = 500;  // objects, at most; fewer where they are large
  size_t longest_page = 32u << 20;
  size_t wanted_page = 8u << 20;  // judged by the size of the objects on the page before
  size_t longest_line = 64u << 20;
  absl::Duration least_watch = absl::Seconds(300);  // timeoutSeconds is uniform in [least, 2 least)
  absl::Duration idle_timeout = absl::Seconds(150);  // more than two bookmark intervals
  absl::Duration list_timeout = absl::Seconds(60);   // per page
  // No answer at all for so long: the connection is half-open, or the server slow. Each silence in
  // a row is waited for twice as long as the one before, up to list_timeout.
  absl::Duration head_timeout = absl::Seconds(5);
  BackoffPolicy backoff = {.first = absl::Milliseconds(200), .most = absl::Seconds(10)};
  // Between looks for a producer's kind that is not installed.
  BackoffPolicy look_again = {.first = absl::Seconds(1), .most = absl::Seconds(7.5)};
  // A collection that existed and answers 404 for so long is taken for uninstalled: its objects are
  // reported deleted.
  absl::Duration uninstalled_after = absl::Seconds(30);
  // A producer's kind that is installed and cannot be listed for so long (its conversion fails)
  // is left out. Pods that name its objects wait, all others go on.
  absl::Duration unreadable_after = absl::Seconds(30);
  // A producer's kind that answers 403 for so long may not be read. An API server that starts up
  // answers so until it knows all roles; to believe that at once would part gangs that wait.
  // The first: of a kind that was read before.
  absl::Duration forbidden_after = absl::Seconds(30);
  absl::Duration forbidden_at_first_after = absl::Seconds(5);
};

enum class SessionState {
  kIdle,  // before Start, after Stop
  kListing,
  kWatching,
  kBackingOff,    // see problem(); the next attempt is at NextDeadline()
  kNotInstalled,  // no such collection (a CRD that is not there yet); looked for again at
                  // NextDeadline()
};

struct SessionCounters {
  uint64_t lists = 0, pages = 0,
           watches = 0;        // requests that were answered with 200; lists: whole ones
  uint64_t invalid = 0;        // objects that could not be read
  uint64_t stale = 0;          // objects not newer than the known ones
  uint64_t unknown_lines = 0;  // of a type or kind that we do not know: skipped
  // Lines or bodies that are no JSON of the kind, HTML, lines beyond the bound.
  uint64_t garbage = 0;
  uint64_t cut_lines = 0;  // streams that ended inside a line
  uint64_t expired = 0;    // 410, as HTTP or as a line
  uint64_t unauthorized = 0, throttled = 0;
  uint64_t transport_failures = 0, idle_timeouts = 0;
  uint64_t went_back = 0;  // lists older than an earlier answer
  ForbiddenCounts forbidden;
};

}  // namespace maniple
