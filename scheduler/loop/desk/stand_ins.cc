#include "scheduler/loop/desk/stand_ins.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/fingerprint.h"
#include "scheduler/report/events.h"
#include "scheduler/report/foreign_phase.h"

namespace maniple {
namespace {

// A gang that starts at once, and whose producer counts its members, needs no word of ours before.
constexpr absl::Duration kSilentFor = absl::Seconds(1);

// A write shows in the watch by then, unless another has taken its place.
constexpr absl::Duration kStandInShowsWithin = absl::Seconds(10);

// An object that is about to show in the watch, or a right that is about to be given, is no
// trouble.
constexpr int kRefusalsBeforeTelling = 2;

// For so long the PodGroup keeps the memory that its gang has run.
constexpr absl::Duration kKeptAfterLastPod = absl::Minutes(10);

// No garbage collector takes it: it is made of marks on pods alone, or its owner stays.
bool IsOrphan(const Gang& gang) {
  const GangSource& source = gang.spec.source;
  const bool of_marks = source.kind == "Pod" && source.api_version == "v1";
  return gang.group_exists && gang.foreign == nullptr && gang.members.empty() &&
         (of_marks || gang.source_is == SourceIs::kAsksNone);
}

ToldCondition ConditionOf(const Standing& standing, absl::Time at) {
  return {.reason = standing.reason, .words = FingerprintOf(standing.message), .at = at};
}

bool Succeeded(const WriteResult& result) {
  return result.outcome == WriteOutcome::kAnswered && result.http_status / 100 == 2;
}

}  // namespace

bool StandIns::HasSomethingToSay(const Case& c, const Standing& standing) {
  switch (standing.phase) {
    case GangPhase::kRunning:
      return true;  // a quorum is bound: the next leader must know
    case GangPhase::kCompleted:
    case GangPhase::kFailed:
      return false;
    case GangPhase::kWaiting:
    case GangPhase::kPending:
    case GangPhase::kBinding:
      return c.now >= c.record.first_seen + kSilentFor;
  }
  return false;
}

void StandIns::KeepStandIn(Case& c, const Standing& standing) {
  GangRecord& record = c.record;
  const bool stands = c.gang.stand_in.has_value();
  PodGroupSpec spec = StorableSpec(c.gang.spec);
  if (stands && c.gang.stand_in->spec == spec) {
    record.stand_in.reset();
    return;
  }
  if (!stands && !HasSomethingToSay(c, standing)) {
    if (standing.phase != GangPhase::kCompleted && standing.phase != GangPhase::kFailed) {
      record.status_due = std::min(record.status_due, record.first_seen + kSilentFor);
    }
    return;
  }
  if (!record.stand_in.has_value()) record.stand_in.emplace();
  StandInWork& work = *record.stand_in;
  if (work.under_way) return;  // its reply brings us back
  if (work.goes) work = {};
  if (!stands) TellTroubleOnce(c, work);
  // What has arrived, and is no longer what is to be said, is not waited for.
  const bool overtaken = stands && work.trouble.empty() && work.sent != spec;
  absl::Time due = overtaken ? c.now : work.again_at;
  if (stands) due = std::max(due, specs_.MayAt(c.gang.id));
  if (c.now < due) {
    record.status_due = std::min(record.status_due, due);
    return;
  }
  if (stands && !specs_.Spend(c.gang.id, c.now)) return;
  work.under_way = true;
  work.sent = spec;
  const GangKey& key = c.gang.key;
  desk_.Send({.kind = ErrandKind::kStandIn, .gang = c.gang.id},
             stands ? PodGroupSpecRequest(key.namespace_name, key.name, c.gang.stand_in->uid, spec)
                    : MakePodGroupRequest({.namespace_name = key.namespace_name,
                                           .name = key.name,
                                           .spec = std::move(spec),
                                           .owner = c.gang.foreign->owner}));
}

void StandIns::TellTroubleOnce(const Case& c, StandInWork& work) {
  if (work.refusals < kRefusalsBeforeTelling || std::exchange(work.told, true)) return;
  desk_.SendEvent(PodGroupRefusedEvent(c.gang, work.trouble), c.now);
}

// The server's own words may change at each attempt, and each change would be a write to each pod.
absl::string_view StandIns::TroubleOf(const Case& c) {
  const Rare<StandInWork>& work = c.record.stand_in;
  const bool told = work.has_value() && work->told && !c.gang.stand_in.has_value();
  return told ? "; no PodGroup can be made for it, as an event says" : "";
}

void StandIns::DropStandIn(Case& c) {
  if (!IsOrphan(c.gang)) return;
  if (!c.record.stand_in.has_value()) c.record.stand_in.emplace();
  StandInWork& work = *c.record.stand_in;
  if (work.under_way) return;
  const bool is_over = c.gang.source_is == SourceIs::kAsksNone;
  if (!work.goes) work = {.goes = true, .again_at = is_over ? c.now : c.now + kKeptAfterLastPod};
  if (c.now < work.again_at) {
    c.record.status_due = std::min(c.record.status_due, work.again_at);
    return;
  }
  work.under_way = true;
  const GangKey& key = c.gang.key;
  desk_.Send({.kind = ErrandKind::kStandIn, .gang = c.gang.id},
             DeletePodGroupRequest(key.namespace_name, key.name, c.gang.group_uid));
}

void StandIns::HearStandIn(GangId id, const WriteResult& result, absl::Time now) {
  const auto it = desk_.records.find(id);
  if (it == desk_.records.end() || !it->second->stand_in.has_value()) return;
  StandInWork& work = *it->second->stand_in;
  work.under_way = false;
  desk_.to_report.insert(id);
  if (Succeeded(result)) {
    work.trouble.clear();
    work.told = false;
    work.refusals = 0;
    work.again_at = now + kStandInShowsWithin;
    return;
  }
  // We or an earlier leader have made it, as the watch will show, or another object has the name.
  const bool exists = result.http_status == 409 && result.status.reason == "AlreadyExists";
  const Gang* gang = desk_.state.FindGang(id);
  const bool comes = exists && (gang == nullptr || !gang->name_is_taken);
  work.trouble = exists ? "a PodGroup of its name is there already, and does not stand for it"
                        : result.status.message;
  // A server that is busy, or cannot be reached, has refused nothing.
  const bool refused = result.http_status / 100 == 4 && result.http_status != 429;
  if (refused && !comes) ++work.refusals;
  work.again_at = now + work.backoff.Next(desk_.random);
}

// Each is sent once: what somebody else writes over it is not fought for while the phase stays.
absl::Time StandIns::ConditionDue(Case& c, absl::string_view phase,
                                  const Standing& standing) const {
  if (phase == "Running") return absl::InfiniteFuture();  // also of one that has lost members
  const bool waits = standing.phase == GangPhase::kWaiting || standing.phase == GangPhase::kPending;
  const bool has_one = c.gang.foreign->status->dialect == ForeignStatusTarget::Dialect::kVolcano;
  if (!waits || !has_one) return absl::InfiniteFuture();
  Rare<ToldCondition>& told = c.record.told_condition;
  if (!told.has_value()) {
    // An earlier leader has said it, along with the status of ours.
    if (c.gang.status.reason != WaitReasonName(standing.reason)) return absl::InfinitePast();
    told = ConditionOf(standing, absl::InfinitePast());
  }
  if (told->reason != standing.reason) return absl::InfinitePast();
  if (told->words == FingerprintOf(standing.message)) return absl::InfiniteFuture();
  return told->at + desk_.options.status_interval;
}

void StandIns::TellProducer(Case& c, const Standing& standing) {
  const std::optional<ForeignStatusTarget>& target = c.gang.foreign->status;
  if (!target.has_value() || !desk_.options.foreign_statuses.Writes(target->dialect)) return;
  const bool admits = !desk_.directory.RefusalOf(c.gang, desk_.ledger.book()).has_value();
  const absl::string_view phase = PhaseInDialect(
      target->dialect, {.standing = standing, .assembly = c.assembly, .queue_admits = admits});
  GangRecord& record = c.record;
  const bool stays = phase.empty() || phase == target->phase;
  const absl::Time wanted = stays ? ConditionDue(c, phase, standing) : c.now;
  const bool under_way = record.phase.has_value() && record.phase->under_way;
  if (wanted > c.now && !under_way) record.phase.reset();
  const absl::Time due = std::max(wanted, phases_.MayAt(c.gang.id));
  if (due > c.now) {
    record.status_due = std::min(record.status_due, due);
    return;
  }
  if (!record.phase.has_value()) record.phase.emplace();
  PhaseWork& work = *record.phase;
  if (work.under_way) return;
  const bool news = work.sent != phase;
  if (!news && c.now < work.again_at) {
    record.status_due = std::min(record.status_due, work.again_at);
    return;
  }
  if (!phases_.Spend(c.gang.id, c.now)) return;
  work.under_way = true;
  work.sent = std::string(phase);
  const bool volcano = target->dialect == ForeignStatusTarget::Dialect::kVolcano;
  const bool on_object = volcano && (!volcano_has_status_ || work.no_status);
  Rare<ToldCondition>& told = record.told_condition;
  const bool numbers = stays && told.has_value() && told->reason == standing.reason;
  if (volcano) told = ConditionOf(standing, c.now);
  ++desk_.counters.statuses_written;
  desk_.Send(
      {.kind = ErrandKind::kForeignPhase, .gang = c.gang.id, .begun = on_object, .news = !numbers},
      ForeignPhaseRequest(
          absl::StrCat(target->path, on_object ? "" : "/status"),
          PhaseToWrite(target->dialect, c.gang.spec.source.uid, phase, standing, c.now)));
}

bool StandIns::IsOfVolcano(GangId id) const {
  const Gang* gang = desk_.state.FindGang(id);
  return gang != nullptr && gang->foreign != nullptr && gang->foreign->status.has_value() &&
         gang->foreign->status->dialect == ForeignStatusTarget::Dialect::kVolcano;
}

void StandIns::HearPhase(const Errand& errand, const WriteResult& result, absl::Time now) {
  const auto it = desk_.records.find(errand.gang);
  if (it == desk_.records.end() || !it->second->phase.has_value()) return;
  PhaseWork& work = *it->second->phase;
  work.under_way = false;
  desk_.to_report.insert(errand.gang);
  if (Succeeded(result)) {
    // Volcano's own definition has no status subresource, but some copies of it have.
    if (work.no_status && errand.begun) volcano_has_status_ = false;
    work.again_at = now + kStandInShowsWithin;
    return;
  }
  if (Rare<ToldCondition>& told = it->second->told_condition; told.has_value()) {
    *told = {.reason = told->reason};
  }
  // An object that is gone answers so as well: the object itself is asked next.
  const bool asks_object =
      result.http_status == 404 && !errand.begun && volcano_has_status_ && IsOfVolcano(errand.gang);
  work.no_status = asks_object;
  if (asks_object) {
    work.sent.clear();
    return;
  }
  work.again_at = now + work.backoff.Next(desk_.random);
}

}  // namespace maniple
