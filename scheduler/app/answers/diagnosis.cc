#include "scheduler/app/answers/diagnosis.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/base/clock.h"
#include "api/proto/admin.pb.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/answers/printing.h"
#include "scheduler/app/config/version.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

constexpr double kMost = 0.99;
constexpr double kMebi = 1 << 20;
constexpr size_t kProblemsNamed = 3;

double Seconds(absl::Time time) {
  return time == absl::InfinitePast() ? 0 : absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

absl::Time TimeOf(const Json& seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds.AsDouble());
}

// The least bound below which so many turns lie; 0: there is none.
double BoundOfMost(const TurnTimes& turns) {
  uint64_t so_far = 0;
  for (size_t i = 0; i < TurnTimes::kBounds.size(); ++i) {
    so_far += turns.buckets()[i];
    if (static_cast<double>(so_far) >= kMost * static_cast<double>(turns.count())) {
      return TurnTimes::kBounds[i];
    }
  }
  return 0;
}

void FillCounters(const LoopCounters& counters, pb::Diagnosis& out) {
  out.set_gangs(counters.gangs);
  out.set_parked(counters.gangs_parked);
  out.set_ready(counters.gangs_ready);
  out.set_binding(counters.gangs_binding);
  out.set_placed(counters.plans);
  out.set_refused(counters.rejections);
  out.set_given_up(counters.searches_given_up);
  out.set_steps(counters.search_steps);
  out.set_binds_in_flight(counters.binds_under_way);
  out.set_bound(counters.binds_succeeded);
  out.set_binds_retried(counters.binds_retried);
  out.set_binds_unknown(counters.binds_unknown);
  out.set_binds_refused(counters.binds_refused);
  out.set_binds_gone(counters.binds_gone);
  out.set_kubelet_rejections(counters.kubelet_rejections);
  out.set_gangs_preempted(counters.gangs_preempted);
  out.set_gangs_undone(counters.gangs_undone);
  out.set_gangs_evicted(counters.gangs_evicted);
  out.set_statuses_written(counters.statuses_written);
  out.set_events_written(counters.events_written);
  out.set_events_dropped(counters.events_over_budget + counters.events_crowded_out);
}

void FillForbidden(const ForbiddenCounts& forbidden, pb::Diagnosis& out) {
  for (const auto& [right, times] : forbidden) {
    pb::Forbidden& row = *out.add_forbidden();
    row.set_right(RightText(right));
    row.set_times(times);
  }
}

std::string Troubles(const Json& diagnosis) {
  std::string text;
  if (!diagnosis["synced"].AsBool()) {
    absl::StrAppend(&text, "  ! the first lists are not complete: nothing is decided yet\n");
  }
  const absl::Duration since = TimeOf(diagnosis["now"]) - TimeOf(diagnosis["lastTurn"]);
  if (since > kStalledAfter) {
    absl::StrAppend(&text, "  ! no turn has ended for ", Age(since),
                    "; the last object that was read is ", diagnosis["lastObject"].AsString(),
                    "\n");
  }
  const std::vector<Json>& problems = diagnosis["problems"].items();
  for (size_t i = 0; i < std::min(problems.size(), kProblemsNamed); ++i) {
    absl::StrAppend(&text, "  ! ", problems[i].AsString(), "\n");
  }
  if (problems.size() > kProblemsNamed) {
    absl::StrAppend(&text, "  ! and ", problems.size() - kProblemsNamed,
                    " more with the API server\n");
  }
  for (const Json& row : diagnosis["forbidden"].items()) {
    absl::StrAppend(&text, "  ! the API server forbids Maniple to ", row["right"].AsString(), " (",
                    Number(row["times"]), " times)\n");
  }
  return text;
}

// "0.4 ms"
std::string Milliseconds(const Json& seconds) {
  return absl::StrFormat("%.3g ms", 1000 * seconds.AsDouble());
}

std::string InMillions(int64_t count) {
  constexpr int64_t kMillion = 1'000'000;
  if (count < kMillion) return absl::StrCat(count);
  return absl::StrFormat("%.1f million", static_cast<double>(count) / kMillion);
}

}  // namespace

DiagnosisFacts FactsOf(Bulletin& bulletin) {
  const Bulletin::Health health = bulletin.health();
  return {.counters = bulletin.counters(),
          .health = health,
          .process = {.leading = health.leading,
                      .synced = health.synced,
                      .version = MANIPLE_VERSION,
                      .forbidden = {bulletin.forbidden()},
                      .answers = bulletin.answers(),
                      .writes = bulletin.writes(),
                      .turns = bulletin.turn_times(),
                      .process = FiguresOfThisProcess(),
                      .figures = bulletin.figures(),
                      .now = RealClock().Now()},
          .problems = bulletin.problems()};
}

void DiagnosisInto(const DiagnosisFacts& facts, pb::Diagnosis& out) {
  const ProcessFacts& process = facts.process;
  VersionInto(*out.mutable_version());
  out.set_leading(process.leading);
  out.set_synced(process.synced);
  out.set_now(Seconds(process.now));
  out.set_started(process.process.start_seconds);
  out.set_last_turn(Seconds(facts.health.progress));
  if (const ObjectKey& last = facts.health.at; !last.name.empty()) {
    out.set_last_object(absl::StrCat(ResourceKindName(last.kind), " ", last.namespace_name,
                                     last.namespace_name.empty() ? "" : "/", last.name));
  }
  const auto turns = static_cast<int64_t>(process.turns.count());
  out.set_turns(turns);
  out.set_mean_turn(turns == 0 ? 0 : process.turns.seconds() / static_cast<double>(turns));
  out.set_most_turns_within(turns == 0 ? 0 : BoundOfMost(process.turns));
  out.set_cpu(process.process.cpu_seconds);
  out.set_memory_bytes(static_cast<int64_t>(process.process.resident_bytes));
  out.set_open_descriptors(static_cast<int64_t>(process.process.open_descriptors));
  out.set_most_descriptors(static_cast<int64_t>(process.process.most_descriptors));
  FillCounters(facts.counters, out);
  FillForbidden(facts.counters.forbidden, out);
  for (const ForbiddenCounts& forbidden : process.forbidden) FillForbidden(forbidden, out);
  for (const std::string& problem : facts.problems) out.add_problems(problem);
}

absl::StatusOr<std::string> DiagnosisJson(const DiagnosisFacts& facts) {
  pb::Diagnosis diagnosis;
  DiagnosisInto(facts, diagnosis);
  return AdminMessageJson(diagnosis);
}

std::string DiagnosisText(const Json& d) {
  const auto count = [&d](const char* field) { return Number(d[field]); };
  const absl::Time now = TimeOf(d["now"]);
  const double within = d["mostTurnsWithin"].AsDouble();
  std::string text = absl::StrCat(
      "maniple-scheduler ", d.At("version.version").AsString(), ": ",
      d["leading"].AsBool() ? "leads" : "stands by, and decides nothing", "\n", Troubles(d));
  absl::StrAppend(
      &text, "  up            ", Age(now - TimeOf(d["started"])),
      absl::StrFormat(", %.1f s of CPU, %.0f MiB, %d of %d descriptors\n", d["cpu"].AsDouble(),
                      static_cast<double>(count("memoryBytes")) / kMebi, count("openDescriptors"),
                      count("mostDescriptors")));
  absl::StrAppend(&text, "  turns         ", count("turns"), ", ", Milliseconds(d["meanTurn"]),
                  " each, ",
                  within > 0 ? absl::StrCat("99 of 100 within ", Milliseconds(d["mostTurnsWithin"]))
                             : "more than 1 of 100 longer than 10 s",
                  "; the last ended ", Age(now - TimeOf(d["lastTurn"])), " ago\n");
  absl::StrAppend(&text, "  gangs         ", count("gangs"), ": ", count("parked"), " wait, ",
                  count("ready"), " to be decided, ", count("binding"), " being bound\n");
  absl::StrAppend(&text, "  decisions     ", count("placed"), " placed, ", count("refused"),
                  " refused, ", count("givenUp"), " gave up; ", InMillions(count("steps")),
                  " steps of searches\n");
  absl::StrAppend(&text, "  binds         ", count("bound"), " done, ", count("bindsRetried"),
                  " retried, ", count("bindsUnknown"), " unknown, ", count("bindsRefused"),
                  " refused, ", count("bindsGone"), " gone, ", count("bindsInFlight"),
                  " under way; kubelets rejected ", count("kubeletRejections"), " pods\n");
  absl::StrAppend(&text, "  left          ", count("gangsPreempted"), " preempted or drained, ",
                  count("gangsEvicted"), " for loss of their quorum, ", count("gangsUndone"),
                  " undone\n");
  absl::StrAppend(&text, "  writes        ", count("statusesWritten"), " statuses, ",
                  count("eventsWritten"), " events, ", count("eventsDropped"),
                  " events not written\n");
  return text;
}

}  // namespace maniple
