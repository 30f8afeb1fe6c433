#include "test/sim/first_words.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "test/sim/job_recipes.h"
#include "test/sim/kept_room.h"

namespace maniple::sim {
namespace {

// "default/g0" of a request about the status of that PodGroup; "" when it is about something else.
std::string StatusOf(const HttpRequest& request) {
  if (!absl::StartsWith(request.target, "/apis/scheduling.maniple.dev/")) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(request.target, '/');
  const bool status = parts.size() == 9 && parts[6] == "podgroups" && parts[8] == "status";
  return status ? absl::StrCat(parts[5], "/", parts[7]) : "";
}

}  // namespace

// "park default/g1 quorum: NoFit: …"
void FirstWords::OnDecision(uint64_t life, absl::string_view line) {
  if (EndsLead(line)) {
    unsaid_.erase(life);
    return;
  }
  // Who had a place for a moment, or ran, is no news any more: that is on its way already.
  if (absl::ConsumePrefix(&line, "bound ")) {
    spoken_.insert({life, std::string(line)});
    return;
  }
  const bool parks = absl::ConsumePrefix(&line, "park ");
  if (!parks && !absl::ConsumePrefix(&line, "place ")) return;
  const std::vector<absl::string_view> words = absl::StrSplit(line, absl::MaxSplits(' ', 1));
  const std::string gang(words.front());
  if (!parks) spoken_.insert({life, gang});
  const auto group = truth_.groups().find(gang);
  const bool untold = group != truth_.groups().end() && group->second.phase.empty();
  // A PodGroup of ours that stands for a job is not there before somebody has to say something.
  if (parks && untold && !IsOfProducer(gang) && absl::StartsWith(words.back(), "quorum") &&
      !spoken_.contains({life, gang})) {
    unsaid_[life].insert(gang);
  } else {
    unsaid_[life].erase(gang);
  }
}

void FirstWords::OnSent(uint64_t life, const HttpRequest& request, bool in_order, absl::Time now) {
  const std::string gang = StatusOf(request);
  if (gang.empty()) return;
  spoken_.insert({life, gang});
  std::set<std::string>& unsaid = unsaid_[life];
  unsaid.erase(gang);
  std::erase_if(unsaid, [this](const std::string& waiting) {
    const auto group = truth_.groups().find(waiting);
    return group == truth_.groups().end() || !group->second.phase.empty();
  });
  if (!in_order || unsaid.empty() || !absl::StrContains(request.body, R"("phase":"Running")"))
    return;
  truth_.Violated(now, absl::StrCat("FirstWordsFirst: ", life, " tells ", gang,
                                    " that it runs before it tells why they wait: ",
                                    absl::StrJoin(unsaid, ", ")));
}

}  // namespace maniple::sim
