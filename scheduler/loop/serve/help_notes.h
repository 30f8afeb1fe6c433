// One sentence in a waiting gang's status of a cheap change that would let it start. Which gangs to
// ask about, and the last answers; the search itself is made elsewhere (scheduler/advice/help.h).
//
// A gang is asked about ten seconds after it began to wait, and then every ten minutes, or every
// minute while it has a sentence. A sentence is dropped as soon as the message that it belongs to
// changes.
//
// Owned by Leadership; one thread.
#pragma once

#include <optional>
#include <string>

#include "api/base/due_times.h"
#include "scheduler/loop/desk/desk.h"

namespace maniple {

class HelpNotes final {
 public:
  explicit HelpNotes(Desk& desk) : desk_(desk) {}

  // The standing with the sentence that belongs to it, if there is one.
  [[nodiscard]] Standing WithNote(Case& c, Standing standing);
  void Forget(GangId gang) { due_.Erase(gang); }

  // The next gang to ask about; none: no gang is due.
  [[nodiscard]] std::optional<GangKey> TakeDue(absl::Time now);
  [[nodiscard]] absl::Time NextDue() const { return due_.Next(); }
  // `change`: "node n3 uncordoned"; "": nothing cheap would do. Does nothing if the gang has
  // another message by now.
  void Tell(const GangKey& gang, const std::string& change, absl::Time now);

 private:
  Desk& desk_;
  DueTimes<GangId> due_;
};

}  // namespace maniple
