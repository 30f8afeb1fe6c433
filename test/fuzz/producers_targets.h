// Objects of other projects as hostile bytes: what is read of them, and the gangs that come of it.
// See codec_targets.h.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// A line of a watch, read as each kind that is known: the same line gives the same object twice; a
// gang of it has a name that a PodGroup may have and a quorum that its parts are within; and when
// the object goes, the gang goes.
[[nodiscard]] std::string FuzzForeign(absl::string_view bytes);

}  // namespace maniple
