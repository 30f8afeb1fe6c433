// The quorum of gangs that marks on pods alone declare: Kueue's plain pod groups, Koordinator's
// annotations, YuniKorn's task groups.
//
// A function of its arguments: of several pods that disagree the largest number stands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/model/foreign.h"
#include "api/producers/marks.h"

namespace maniple {

struct MarkQuorum {
  int64_t minimum = 1;
  std::vector<ForeignPart> parts;  // not empty: these are the quorum
  std::string problem;
};

// The gangs that start together with Koordinator's of these marks, which is one of them: names in
// its namespace, sorted. One alone, or a list that is none: no other.
[[nodiscard]] std::vector<std::string> KoordinatorGroups(const PodMarks& marks);

// REQUIRES: `dialect` is one of kYunikorn, kKoordinator and kKueue.
[[nodiscard]] MarkQuorum QuorumOfMarks(MarkField dialect, const std::vector<PodMarks>& members);
// "kueue"
[[nodiscard]] absl::string_view DialectName(MarkField dialect);

}  // namespace maniple
