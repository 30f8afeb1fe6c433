// Whose quota a foreign gang is charged to.
//
// A function of its arguments: of several pods that disagree the smallest name stands.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/model/foreign.h"
#include "api/producers/marks.h"
#include "api/producers/producer_options.h"

namespace maniple {

// "": nobody says, so that the defaults of the namespace and the configuration apply. `declared` is
// null where there is no object, and `owner` where it is the owner that declares, or is not known.
[[nodiscard]] std::string ChooseQueue(const ForeignSpec* declared, const ForeignSpec* owner,
                                      const std::vector<PodMarks>& members,
                                      const ProducerOptions& options);

// Whether all of the pods come with quota that Kueue has given them, so that no default is charged
// for them. Their labels say so; nothing that is watched proves it.
[[nodiscard]] bool BringsQuota(const std::vector<PodMarks>& members,
                               const ProducerOptions& options);

// The smallest text that a pod has in the field; "": none has one.
[[nodiscard]] absl::string_view SmallestMark(MarkField field, const std::vector<PodMarks>& members);

}  // namespace maniple
