// The phase that a foreign group object tells of its gang, in the words of its own dialect.
//
// Pure. Written where it is read (Volcano's controllers make no pods while the phase is Pending)
// or where `kubectl get` would show nothing (x-k8s). Volcano's Unknown is never written, since it
// makes its Job controller restart the job. Sources: the CRDs of both and the controllers' code.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/encode.h"
#include "api/producers/foreign_gang.h"
#include "scheduler/report/status.h"

namespace maniple {

struct ForeignPhaseFacts {
  const Standing& standing;
  const Assembly& assembly;
  bool queue_admits = true;  // its Queue exists, is active, and lets it in
};

// "Running"; "" = the dialect has no word for it, and the present phase stays.
[[nodiscard]] absl::string_view PhaseInDialect(ForeignStatusTarget::Dialect dialect,
                                               const ForeignPhaseFacts& facts);

// The phase as it is written over the object of that uid, for Volcano with the conditions that
// belong to it.
[[nodiscard]] ForeignPhase PhaseToWrite(ForeignStatusTarget::Dialect dialect, absl::string_view uid,
                                        absl::string_view phase, const Standing& standing,
                                        absl::Time now);

}  // namespace maniple
