#include "test/sim/asked_help.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/advice/help.h"

namespace maniple::sim {
namespace {

constexpr int kMostAsked = 3;
constexpr int64_t kSteps = 1'000'000;

std::string TextOf(const Help& help) {
  std::string text = HelpNote(help);
  for (const Help::Entry& entry : help.entries) absl::StrAppend(&text, "; ", HelpText(entry));
  return text;
}

}  // namespace

void CheckHelpIsPure(Truth& truth, SchedulingLoop& loop, absl::Time now) {
  const ClusterViewPtr view = loop.View(now);
  int asked = 0;
  for (const GangView& gang : view->gangs) {
    if (gang.stage.empty() || asked == kMostAsked) continue;
    const HelpQuestionPtr question =
        loop.HelpFor({.dialect = gang.singleton ? GangDialect::kSingleton : GangDialect::kManiple,
                      .namespace_name = gang.namespace_name,
                      .name = gang.name},
                     now);
    if (question == nullptr) continue;
    ++asked;
    const uint64_t before = question->as_is.snapshot->Fingerprint();
    const std::string first = TextOf(AnswerHelp(*question, kSteps));
    const std::string again = TextOf(AnswerHelp(*question, kSteps));
    const bool changed = question->as_is.snapshot->Fingerprint() != before;
    if (first == again && !first.empty() && !changed) continue;
    truth.Violated(now, absl::StrCat("HelpIsPure: ", gang.namespace_name, "/", gang.name, ": \"",
                                     first, "\", then \"", again, "\"",
                                     changed ? ", and the snapshot is another one" : ""));
  }
}

}  // namespace maniple::sim
