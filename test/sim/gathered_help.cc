#include "test/sim/gathered_help.h"

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "scheduler/advice/help_question.h"

namespace maniple::sim {
namespace {

std::string TextOf(const Demand& demand) {
  return absl::StrJoin(demand, "+", [](std::string* out, const CellAmount& part) {
    absl::StrAppend(out, part.cell.index(), ":", part.amount.units());
  });
}

std::string TextOf(const VictimPod& pod) {
  return absl::StrCat(pod.pod.index(), "@", pod.node.index(), " shape ", pod.shape.index(), " of ",
                      pod.sub_group, " costs ", TextOf(pod.charge), " budgets ",
                      absl::StrJoin(pod.budgets, "+"));
}

// All but when it started: a gang that nobody knows the start of has started now.
std::string TextOf(const RunningGang& gang) {
  std::vector<std::string> parts = {gang.name, absl::StrCat("queue ", gang.queue.index()),
                                    absl::StrCat("priority ", gang.priority),
                                    absl::FormatTime(gang.queued, absl::UTCTimeZone()),
                                    absl::StrCat("surplus ", gang.surplus.members, " ",
                                                 absl::StrJoin(gang.surplus.sub_groups, "+"))};
  for (const VictimPod& pod : gang.members) parts.push_back(TextOf(pod));
  for (const FreedRoom& room : gang.held) {
    parts.push_back(absl::StrCat("held ", room.shape.index(), "@", room.node.index()));
  }
  parts.push_back(TextOf(gang.held_charge));
  return absl::StrJoin(parts, ", ");
}

std::map<GangId, std::string> TextsOf(const HelpQuestionPtr& question) {
  std::map<GangId, std::string> texts;
  if (question == nullptr) return texts;
  for (const RunningGang& gang : question->running) texts.emplace(gang.gang, TextOf(gang));
  return texts;
}

}  // namespace

void GatheredHelp::AfterTurn(SchedulingLoop& loop, absl::Time now) {
  if (!asked_.has_value()) asked_ = loop.TakeHelpDue(now);
  if (!asked_.has_value()) return;
  const std::optional<HelpQuestionPtr> gathered = loop.MoreHelp(*asked_, now);
  if (!gathered.has_value()) return;
  const auto as_gathered = TextsOf(*gathered);
  const auto as_is = TextsOf(loop.HelpFor(*asked_, now));
  asked_.reset();
  if (!flaw_.empty() || as_gathered == as_is) return;
  for (const auto& [gang, text] : as_gathered) {
    const auto same = as_is.find(gang);
    if (same == as_is.end())
      absl::StrAppend(&flaw_, "too much: ", text, "; ");
    else if (same->second != text)
      absl::StrAppend(&flaw_, text, " and not ", same->second, "; ");
  }
  for (const auto& [gang, text] : as_is) {
    if (!as_gathered.contains(gang)) absl::StrAppend(&flaw_, "it lacks ", text, "; ");
  }
}

}  // namespace maniple::sim
