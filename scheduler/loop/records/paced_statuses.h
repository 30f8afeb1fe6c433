// The statuses of the objects of one kind: each is looked at at most once per interval, and written
// only when it differs.
//
//   statuses.Touch("q");                              // something it shows may have changed
//   statuses.TouchAll();
//   for (const std::string& name : statuses.Due(now)) {
//     if (auto news = statuses.Take(name, Compute(name), now)) write(name, *news);
//   }
//   statuses.Made("q", version);                      // by that write, as the reply says
//   statuses.Seen("q", version);                      // by the watch: written again if it is later
//
// Another writer of the same status is written over less and less often,
// so that two writers do not fight over an object.
//
// Costs nothing for objects that are not due: between two looks an object is touched for free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/due_times.h"
#include "api/client/resource_version.h"

namespace maniple {

template <typename Status>
class PacedStatuses final {
 public:
  explicit PacedStatuses(absl::Duration interval) : interval_(interval) {}

  // A name that is not known yet becomes known.
  void Touch(const std::string& name) {
    Entry& entry = entries_[name];
    if (!entry.waits) Wait(name, entry);
  }
  void TouchAll() {
    for (const std::string& name : std::exchange(resting_, {})) Wait(name, entries_.at(name));
  }
  // Touches the object and has it written whatever its status is: it is another object, or its
  // status may be another writer's.
  void Forget(const std::string& name) {
    Entry& entry = entries_[name];
    entry.written.reset();
    Wait(name, entry);
  }
  void ForgetAll() {
    for (auto& [name, entry] : entries_) {
      entry.written.reset();
      entry.under_way = 0;  // no reply will be heard any more
      entry.made.clear();
      entry.again_at = absl::InfiniteFuture();
    }
    TouchAll();
  }
  // The write did not arrive.
  void Lost(const std::string& name, absl::Time now) {
    const auto it = entries_.find(name);
    if (it == entries_.end()) return;
    EndWrite(it->second);
    it->second.not_before = now + interval_;
    Forget(name);
  }
  // A later write was sent in its place.
  void Superseded(const std::string& name) {
    if (const auto it = entries_.find(name); it != entries_.end()) EndWrite(it->second);
  }
  // The write arrived, and made this version of the object.
  void Made(const std::string& name, absl::string_view version) {
    const auto it = entries_.find(name);
    if (it == entries_.end()) return;
    EndWrite(it->second);
    it->second.made = std::string(version);
    LookForStrangers(name, it->second);
  }
  // The object has this version. Another writer, or a late write of ours, may have made it.
  void Seen(const std::string& name, absl::string_view version) {
    Entry& entry = entries_[name];
    entry.seen = std::string(version);
    LookForStrangers(name, entry);
  }
  void Remove(const std::string& name) {
    entries_.erase(name);
    resting_.erase(name);
    due_.Set(name, absl::InfiniteFuture());
  }

  // In the order of their names.
  [[nodiscard]] std::vector<std::string> Due(absl::Time now) const { return due_.Until(now); }
  [[nodiscard]] absl::Time NextDeadline() const { return due_.Next(); }
  // The status that was written last; null: not known.
  [[nodiscard]] const Status* Written(const std::string& name) const {
    const auto it = entries_.find(name);
    return it == entries_.end() || !it->second.written.has_value() ? nullptr : &*it->second.written;
  }
  // None: the server has the status already; else it counts as written. REQUIRES: the name is due.
  [[nodiscard]] std::optional<Status> Take(const std::string& name, Status status, absl::Time now) {
    Entry& entry = entries_.at(name);
    entry.not_before = now + interval_;  // a look has its cost
    entry.waits = false;
    resting_.insert(name);
    const bool again = now >= entry.again_at;
    if (again || entry.written != status) entry.again_at = absl::InfiniteFuture();
    due_.Set(name, entry.again_at);
    if (entry.written == status && !again) return std::nullopt;
    if (now >= entry.taken_at + kForgottenAfter) entry.patience = absl::ZeroDuration();
    entry.taken_at = now;
    entry.written = status;
    ++entry.under_way;
    return status;
  }

 private:
  static constexpr absl::Duration kMostPatience = absl::Minutes(10);
  static constexpr absl::Duration kForgottenAfter = absl::Minutes(30);

  struct Entry {
    absl::Time not_before = absl::InfinitePast();
    bool waits = false;  // it is due some time
    std::optional<Status> written;
    absl::Time taken_at = absl::InfinitePast();    // to be written
    absl::Time again_at = absl::InfiniteFuture();  // when to write over another writer's status
    absl::Duration patience;                       // the pause before that was done last
    int32_t under_way = 0;                         // writes
    std::string made, seen;  // versions, by the last reply and by the watch; "" = not known
  };
  static void EndWrite(Entry& entry) { entry.under_way = std::max(0, entry.under_way - 1); }
  // Once for each version: a second write that changes nothing makes no new version.
  void LookForStrangers(const std::string& name, Entry& entry) {
    if (entry.under_way > 0 || entry.made.empty()) return;
    if (CompareVersions(entry.seen, entry.made) != VersionOrder::kNewer) return;
    entry.made = entry.seen;
    entry.patience = std::clamp(2 * entry.patience, interval_, kMostPatience);
    entry.again_at = entry.taken_at + entry.patience;
    if (!entry.waits) due_.Set(name, std::max(entry.not_before, entry.again_at));
  }
  void Wait(const std::string& name, Entry& entry) {
    entry.waits = true;
    resting_.erase(name);
    due_.Set(name, entry.not_before);
  }

  absl::Duration interval_;
  absl::flat_hash_map<std::string, Entry> entries_;
  std::set<std::string> resting_;  // not touched since the last look; all others wait
  DueTimes<std::string> due_;
};

}  // namespace maniple
