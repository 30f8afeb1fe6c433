// Lines of rejected gangs: which one stands first in its Queue, and since when.
//
// Owned by the scheduling loop. Costs nothing while nothing changes.
//
//   lines.Join({.queue = "q", .gang = id, …}, now);    // again whenever its order may have changed
//   lines.Heads();                                     // one a Queue, by name
//   for (const std::string& queue : lines.TakeChanged()) lines.HeadOf(queue);
//   lines.Bar(id, until);                              // passed over; the next takes its turn
//   lines.Leave(id, now);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/time/time.h"
#include "api/base/due_times.h"
#include "api/model/ids.h"

namespace maniple {

class WaitingLines final {
 public:
  struct Place {
    std::string queue;  // "" = none
    int32_t priority = 0;
    absl::Time queued;
    std::string namespace_name, name;
    GangId gang;
    absl::Duration was_head = absl::ZeroDuration();  // as it left last
  };
  struct Head {
    std::string queue;
    GangId gang;
    absl::Time since;  // when it became the first, had it been so all the time that it was; a
                       // stand-in for a barred gang keeps the barred gang's time
  };

  WaitingLines() = default;
  WaitingLines(WaitingLines&&) = default;  // not copied: a line points to its places
  WaitingLines& operator=(WaitingLines&&) = default;

  void Join(Place place, absl::Time now);
  // Idempotent. How long the gang was the first of its line, in all.
  absl::Duration Leave(GangId gang, absl::Time now);
  // Does nothing if the gang stands in no line. REQUIRES: `until` is finite.
  void Bar(GangId gang, absl::Time until);
  // Gangs whose bar is over take their places again.
  void EndBars(absl::Time now);
  [[nodiscard]] absl::Time NextEnd() const;  // of a bar

  [[nodiscard]] bool empty() const { return places_.empty(); }
  [[nodiscard]] bool IsFirst(GangId gang) const;
  [[nodiscard]] std::vector<Head> Heads() const;
  [[nodiscard]] std::optional<Head> HeadOf(const std::string& queue) const;
  [[nodiscard]] bool HasChanged() const { return !changed_.empty(); }
  // The Queues whose head has changed since the last call, or that have none any more.
  [[nodiscard]] std::set<std::string> TakeChanged() { return std::exchange(changed_, {}); }

 private:
  struct Waiting;
  struct ComesBefore {
    bool operator()(const Waiting* a, const Waiting* b) const {
      return std::tie(b->priority, a->queued, a->namespace_name, a->name, a->gang) <
             std::tie(a->priority, b->queued, b->namespace_name, b->name, b->gang);
    }
  };
  struct Line {
    absl::btree_set<const Waiting*, ComesBefore> waiting;  // without barred ones
    int64_t barred = 0;
    GangId head;
    absl::Time since;
  };
  using Lines = std::map<std::string, Line>;  // by Queue; each has a gang that waits
  struct Waiting {
    Lines::value_type* line;
    int32_t priority = 0;
    GangId gang;
    absl::Time queued;
    std::string namespace_name, name;
    absl::Duration was_head = absl::ZeroDuration();  // before others went first
    friend bool operator==(const Waiting&, const Waiting&) = default;
  };
  enum class Since : uint8_t { kNow, kKept };
  void FindHead(Lines::value_type& line, absl::Time now, Since since);
  void TakeOut(const Waiting& waiting, absl::Time now);
  void DropIfEmpty(const Lines::value_type& line);

  Lines lines_;
  absl::node_hash_map<GangId, Waiting> places_;  // which lines borrow
  DueTimes<GangId> barred_;                      // until then
  std::set<std::string> changed_;
};

}  // namespace maniple
