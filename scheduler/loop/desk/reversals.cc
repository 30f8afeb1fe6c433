#include "scheduler/loop/desk/reversals.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"
#include "scheduler/report/message.h"

namespace maniple {

bool Reversals::WasReclaimed(const Case& c) const {
  if (!c.record.left_for.has_value()) return false;
  return std::ranges::any_of(*c.record.left_for, [&](const LeftFor& left) {
    return !left.queue.empty() && Holds(left, c.gang);
  });
}

uint64_t Reversals::TermsBetween(const Gang& victim, const Gang& preemptor) const {
  const auto queued = [this](const Gang& gang) {
    const auto record = desk_.records.find(gang.id);
    return record == desk_.records.end() ? CreatedAt(gang) : QueuedAt(gang, *record->second);
  };
  return TermsOf({.quotas = desk_.ledger.book().fingerprint(),
                  .priority = victim.priority,
                  .preemptor_priority = preemptor.priority,
                  .queued = queued(victim),
                  .preemptor_queued = queued(preemptor)});
}

bool Reversals::Holds(const LeftFor& left, const Gang& victim) const {
  const std::pair<absl::string_view, absl::string_view> name =
      absl::StrSplit(left.name, absl::MaxSplits('/', 1));
  for (const GangDialect dialect : {GangDialect::kManiple, GangDialect::kSingleton}) {
    const std::optional<GangId> id =
        desk_.state.GangNamed({.dialect = dialect,
                               .namespace_name = std::string(name.first),
                               .name = std::string(name.second)});
    const Gang* other = id.has_value() ? desk_.state.FindGang(*id) : nullptr;
    if (other == nullptr || other->group_uid != left.uid) continue;
    return left.terms == TermsBetween(victim, *other);
  }
  return false;
}

bool Reversals::MadeLeave(const Gang& other, const Gang& gang) const {
  const auto record = desk_.records.find(gang.id);
  if (record == desk_.records.end() || !record->second->left_for.has_value()) return false;
  return std::ranges::any_of(*record->second->left_for, [&](const LeftFor& left) {
    return left.uid == other.group_uid && left.terms == TermsBetween(gang, other);
  });
}

std::optional<LeftFor> Reversals::LeavesFor(GangId id, const Gang& preemptor) {
  const Gang& victim = *desk_.state.FindGang(id);
  if (MadeLeave(victim, preemptor)) ++desk_.counters.preemption_reversals;
  if (preemptor.group_uid.empty()) return std::nullopt;
  const std::string& queue = desk_.records.at(id)->queue;
  return LeftFor{.name = GangText(preemptor.key),
                 .queue = queue.empty() || preemptor.queue == queue ? "" : preemptor.queue,
                 .uid = preemptor.group_uid,
                 .terms = TermsBetween(victim, preemptor)};
}

void Reversals::NoteLeft(GangRecord& victim, LeftFor left) {
  if (!victim.left_for.has_value()) {
    victim.left_for.emplace();
    ++desk_.bans;
  }
  Remember(std::move(left), *victim.left_for);
}

}  // namespace maniple
