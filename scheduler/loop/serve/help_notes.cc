#include "scheduler/loop/serve/help_notes.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

constexpr absl::Duration kFirstAfter = absl::Seconds(10);
constexpr absl::Duration kAgainAfter = absl::Minutes(10);
// A sentence that is told may become untrue though the message stays: others take the room.
constexpr absl::Duration kToldAgainAfter = absl::Minutes(1);

constexpr absl::string_view kLead = "; it would start with ";

// It waits for room or quota that it may have one day.
bool MayBeHelped(const Case& c, const Standing& standing) {
  return standing.phase == GangPhase::kPending && c.record.waiting != nullptr &&
         !c.record.claim.has_value();
}

}  // namespace

Standing HelpNotes::WithNote(Case& c, Standing standing) {
  if (!MayBeHelped(c, standing)) {
    c.record.help.reset();
    due_.Erase(c.gang.id);
    return standing;
  }
  const size_t of = absl::HashOf(standing.message);
  if (!c.record.help.has_value() || c.record.help->of != of) {
    const bool fresh = !c.record.help.has_value();
    c.record.help = HelpNote{.of = of, .asked = false, .change = ""};
    // What an earlier leader has said stands until it is asked about again.
    const std::string lead = absl::StrCat(standing.message, kLead);
    if (fresh && absl::StartsWith(c.gang.status.message, lead)) {
      c.record.help->change = c.gang.status.message.substr(lead.size());
    }
    const absl::Time due = due_.At(c.gang.id).value_or(absl::InfiniteFuture());
    due_.Set(c.gang.id, std::min(due, c.now + kFirstAfter));
  }
  if (!c.record.help->change.empty())
    absl::StrAppend(&standing.message, kLead, c.record.help->change);
  return standing;
}

std::optional<GangKey> HelpNotes::TakeDue(absl::Time now) {
  while (const std::optional<GangId> id = due_.PopDue(now)) {
    const auto it = desk_.records.find(*id);
    const Gang* gang = desk_.state.FindGang(*id);
    if (it == desk_.records.end() || gang == nullptr || !it->second->help.has_value()) continue;
    it->second->help->asked = true;
    due_.Set(*id, now + kAgainAfter);
    return gang->key;
  }
  return std::nullopt;
}

void HelpNotes::Tell(const GangKey& gang, const std::string& change, absl::Time now) {
  const std::optional<GangId> id = desk_.state.GangNamed(gang);
  std::optional<Case> c = id.has_value() ? desk_.Open(*id, now) : std::nullopt;
  if (!c.has_value() || !c->record.help.has_value()) return;
  HelpNote& note = *c->record.help;
  if (note.asked && !change.empty()) due_.Set(*id, now + kToldAgainAfter);
  if (!std::exchange(note.asked, false) || note.change == change) return;
  note.change = change;
  desk_.to_report.insert(*id);
}

}  // namespace maniple
