#include "scheduler/replay/what_if.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/base/status_macros.h"
#include "api/base/time_text.h"
#include "scheduler/replay/cluster_changes.h"
#include "scheduler/replay/job_pods.h"
#include "scheduler/replay/known_ends.h"
#include "scheduler/replay/object_shape.h"

namespace maniple {
namespace {

// The longest time that a scheduler and a cluster need to come to rest after a change.
constexpr absl::Duration kSettles = absl::Seconds(3);
// … and after an end that the scheduler waited for.
constexpr absl::Duration kReacts = absl::Milliseconds(100);
constexpr int kMostSteps = 10'000;
// A question is as old as the state that it is asked about, give or take the reading of that.
constexpr absl::Duration kReading = absl::Minutes(1);
constexpr size_t kMostNamed = 3;  // divided nodes, in a sentence

std::string TextOf(const GangView& gang) {
  return absl::StrCat(gang.namespace_name, "/", gang.name);
}

bool HasStarted(const GangView& gang) {
  return gang.phase == "Running" || gang.phase == "Completed";
}

// After this time without an end or a start no node is divided any more; zero: none is ever.
absl::Duration DivisionsSettle(const MigOptions& mig) {
  if (mig.reconfigure != MigReconfigure::kOn) return absl::ZeroDuration();
  return mig.after + mig.hold_off + kDivisionTakes + absl::Minutes(1);
}

bool NeverStarts(absl::string_view reason) {
  static constexpr absl::string_view kFinal[] = {
      "NeverFits",    "ExceedsMaxQuota", "InvalidSpec", "QueueNotFound",     "NamespaceNotAllowed",
      "QueueStopped", "QueueInactive",   "QuorumLost",  "WaitingForMembers", "SchedulingGated"};
  return std::ranges::find(kFinal, reason) != std::end(kFinal);
}

// One answer in the making.
class Asking final {
 public:
  Asking(LoopOptions options, absl::Time start, const RunTimes& run_times, KnownEnds ends,
         std::set<absl::Time> protection_ends)
      : divisions_settle_(DivisionsSettle(options.mig)),
        replay_(std::move(options), start),
        run_times_(run_times),
        ends_(std::move(ends)),
        protection_ends_(std::move(protection_ends)) {
    for (const auto& [at, pod] : ends_.pods) ended_or_runs_.insert(pod);
    ended_or_runs_.insert(ends_.overdue.begin(), ends_.overdue.end());
  }

  absl::Status Begin(const std::vector<Json>& cluster, const std::vector<Json>& job,
                     const std::vector<std::string>& gangs) {
    RETURN_IF_ERROR(replay_.Load(cluster));
    Settle();
    const ClusterViewPtr before = replay_.View();
    std::set<std::string> completed;
    for (const GangView& gang : before->gangs) {
      Remember(gang);
      if (gang.phase == "Completed") completed.insert(TextOf(gang));
    }
    RETURN_IF_ERROR(Annotate(replay_.Load(job), "the job"));
    Settle();
    const ClusterViewPtr view = replay_.View();
    for (const GangView& gang : view->gangs) {
      const bool named = std::ranges::find(gangs, TextOf(gang)) != gangs.end();
      const bool asked_for = named || !known_.contains(TextOf(gang)) || IsOf(job, gang);
      if (asked_for) starts_[TextOf(gang)] = StartOf(gang);
    }
    for (const std::string& gang : gangs) {
      if (!starts_.contains(gang)) {
        return absl::NotFoundError(absl::StrCat("there is no gang ", gang));
      }
    }
    const std::set<std::string> ran = GangsThatRan(cluster);
    for (auto& [key, start] : starts_) {
      if (start.kind != StartKind::kNow) continue;
      if (completed.contains(key) || ran.contains(key)) {
        start.kind = completed.contains(key) ? StartKind::kHasCompleted : StartKind::kRuns;
        continue;
      }
      start.evicts = GangsEvictedFor(key);
      if (!start.evicts.empty()) start.kind = StartKind::kAfterEvicting;
    }
    return absl::OkStatus();
  }

  // Runs on from end to end, of runs, of protections and of those that are evicted for want of a
  // quorum, and on from each while nodes may be divided.
  void LookAhead(absl::Time until) {
    happened_ = replay_.now();
    for (int steps = 0; SomeWait() && steps < kMostSteps; ++steps) {
      const absl::Time at = NextLook(until);
      if (at > until) break;
      replay_.RunUntil(at);
      const bool some_end = EndUntil(at);
      Settle(kReacts);
      const bool some_start = NoteStarts(at);
      const size_t divisions = replay_.Divisions().size();
      if (std::exchange(divisions_, divisions) != divisions || some_end || some_start) {
        happened_ = replay_.now();
      }
    }
  }

  WhatIfAnswer Take() && {
    WhatIfAnswer answer{.some_ends_unknown = ends_.some_unknown};
    for (auto& [key, start] : starts_) answer.gangs.push_back(std::move(start));
    return answer;
  }

 private:
  void Settle(absl::Duration time = kSettles) {
    replay_.RunUntil(replay_.now() + time);
    NoteRuns();
  }
  // Infinite: nothing more is to be expected.
  [[nodiscard]] absl::Time NextLook(absl::Time until) const {
    absl::Time next = absl::InfiniteFuture();
    if (!ends_.pods.empty()) next = std::max(ends_.pods.begin()->first, replay_.now());
    const auto unprotected = protection_ends_.upper_bound(replay_.now());
    if (unprotected != protection_ends_.end()) next = std::min(next, *unprotected);
    next = std::min({next, next_given_up_,
                     leaving_ ? NextGone(replay_.Dump(), replay_.now()) : absl::InfiniteFuture()});
    const absl::Time settled = std::min(happened_ + divisions_settle_, until);
    return settled > replay_.now() ? std::min(next, settled) : next;
  }
  // True: some pod has ended.
  bool EndUntil(absl::Time at) {
    const size_t before = ends_.pods.size();
    while (!ends_.pods.empty() && ends_.pods.begin()->first <= at) {
      const std::string& pod = ends_.pods.begin()->second;
      const std::pair<std::string, std::string> names =
          absl::StrSplit(pod, absl::MaxSplits('/', 1));
      replay_.Succeed(names.first, names.second);
      ends_.pods.erase(ends_.pods.begin());
    }
    const bool some = ends_.pods.size() < before;
    some_ended_ |= some;
    return some;
  }
  void Remember(const GangView& gang) {
    known_.insert(TextOf(gang));
    for (const GangMemberView& member : gang.pods) {
      gang_of_[absl::StrCat(gang.namespace_name, "/", member.pod)] = TextOf(gang);
    }
  }
  // A gang that started here also ends here.
  void NoteRuns() {
    const ClusterViewPtr view = replay_.View();
    next_given_up_ = absl::InfiniteFuture();
    leaving_ = false;
    for (const GangView& gang : view->gangs) {
      if (gang.given_up_at > replay_.now()) {
        next_given_up_ = std::min(next_given_up_, gang.given_up_at);
      }
      for (const GangMemberView& member : gang.pods) {
        leaving_ = leaving_ || member.state == "terminating";
        const std::string pod = absl::StrCat(gang.namespace_name, "/", member.pod);
        const auto run_time = run_times_.find(pod);
        if (member.state != "running" || run_time == run_times_.end()) continue;
        if (ended_or_runs_.insert(pod).second) {
          ends_.pods.emplace(replay_.now() + run_time->second, pod);
        }
      }
    }
  }
  static bool IsOf(const std::vector<Json>& job, const GangView& gang) {
    return std::ranges::any_of(job, [&gang](const Json& object) {
      return object["kind"].AsString() == "PodGroup" && KeyOf(object) == TextOf(gang);
    });
  }
  [[nodiscard]] GangStart StartOf(const GangView& gang) const {
    GangStart start{.namespace_name = gang.namespace_name, .name = gang.name, .queue = gang.queue};
    if (HasStarted(gang)) {
      start.kind = StartKind::kNow;
      start.nodes = gang.nodes;
      for (NodeDivision& division : replay_.Divisions()) {
        const bool is_there = std::ranges::binary_search(gang.nodes, division.node);
        if (is_there) start.divides.push_back(std::move(division));
      }
      return start;
    }
    start.kind = NeverStarts(gang.reason) ? StartKind::kNever : StartKind::kNotSoon;
    start.reason = gang.reason;
    start.message = gang.message;
    return start;
  }
  [[nodiscard]] std::vector<std::string> GangsEvictedFor(const std::string& gang) const {
    std::set<std::string> gangs;
    for (const Preemption& preemption : replay_.preemptions()) {
      if (preemption.gang == gang) gangs.insert(preemption.victim);
    }
    return {gangs.begin(), gangs.end()};
  }
  [[nodiscard]] std::string GangOf(const std::string& pod) const {
    const auto gang = gang_of_.find(pod);
    return gang == gang_of_.end() ? pod : gang->second;
  }
  [[nodiscard]] std::set<std::string> GangsThatRan(const std::vector<Json>& cluster) const {
    std::set<std::string> gangs;
    for (const Json& object : cluster) {
      if (StandsSomewhere(object)) gangs.insert(GangOf(KeyOf(object)));
    }
    return gangs;
  }
  [[nodiscard]] bool SomeWait() const {
    return std::ranges::any_of(
        starts_, [](const auto& entry) { return entry.second.kind == StartKind::kNotSoon; });
  }
  // True: one of the gangs has started. It starts at the end that it waited for, or before, when
  // its nodes have been divided.
  bool NoteStarts(absl::Time at) {
    bool some = false;
    const ClusterViewPtr view = replay_.View();
    for (const GangView& gang : view->gangs) {
      const auto it = starts_.find(TextOf(gang));
      if (it == starts_.end() || it->second.kind != StartKind::kNotSoon) continue;
      it->second = StartOf(gang);
      if (it->second.kind != StartKind::kNow) continue;
      it->second.kind = StartKind::kLater;
      it->second.at = std::min(at, BoundAt(gang));
      it->second.after_ends = some_ended_;
      it->second.evicts = GangsEvictedFor(it->first);
      some = true;
    }
    return some;
  }
  // When the last of its pods was bound.
  [[nodiscard]] absl::Time BoundAt(const GangView& gang) const {
    std::set<std::string> pods;
    for (const GangMemberView& member : gang.pods) {
      pods.insert(absl::StrCat(gang.namespace_name, "/", member.pod));
    }
    absl::Time last = absl::InfinitePast();
    for (const PodDeed& deed : replay_.Deeds()) {
      if (!deed.node.empty() && pods.contains(deed.pod)) last = std::max(last, deed.at);
    }
    return last;
  }

  const absl::Duration divisions_settle_;  // after what happened last
  Replay replay_;
  const RunTimes& run_times_;
  KnownEnds ends_;
  const std::set<absl::Time> protection_ends_;
  absl::Time happened_;   // an end, a start or a division
  size_t divisions_ = 0;  // so far
  bool some_ended_ = false;
  absl::Time next_given_up_ = absl::InfiniteFuture();  // of a gang that has lost its quorum
  bool leaving_ = false;                               // some pod of a gang is
  std::set<std::string> ended_or_runs_;                // pods that had started, or have an end here
  std::set<std::string> known_;                        // gangs that were there before
  std::map<std::string, std::string> gang_of_;         // by pod
  std::map<std::string, GangStart> starts_;            // of the job's gangs
};

// The server would take each of them for the other one.
absl::Status CheckNewcomers(const std::vector<Json>& cluster, const std::vector<Json>& job) {
  const auto name_of = [](const Json& object) {
    return absl::StrCat(object["kind"].AsString(), " ", KeyOf(object));
  };
  std::set<std::string> there, asked;
  for (const Json& object : cluster) there.insert(name_of(object));
  for (const Json& object : job) {
    const std::string& kind = object["kind"].AsString();
    if (kind != "Job" && kind != "Pod") continue;
    if (there.contains(name_of(object))) {
      return absl::AlreadyExistsError(
          absl::StrCat(name_of(object), " is in the cluster already: ask for its gang, as ",
                       absl::AsciiStrToLower(kind), "/", object["metadata"]["name"].AsString()));
    }
    if (!asked.insert(name_of(object)).second) {
      return absl::InvalidArgumentError(absl::StrCat(name_of(object), " is asked for twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WhatIfAnswer> AnswerWhatIf(const WhatIfQuestion& question, LoopOptions options) {
  std::vector<Json> objects = question.cluster.objects;
  for (const Json& object : objects) RETURN_IF_ERROR(CheckShape(object));
  for (const AddedNodes& added : question.nodes) {
    RETURN_IF_ERROR(AddNodes(added, objects));
  }
  for (const AddedQuota& added : question.quota) {
    RETURN_IF_ERROR(AddQuota(added, objects));
  }
  ASSIGN_OR_RETURN(const std::vector<Json> job, WithPodsOfJobs(question.job));
  RETURN_IF_ERROR(CheckNewcomers(objects, job));
  std::vector<Json> all = objects;
  all.insert(all.end(), job.begin(), job.end());
  const RunTimes run_times = RunTimesOf(all);
  if (question.at < question.cluster.at - kReading && question.at != absl::InfinitePast()) {
    return absl::InvalidArgumentError(absl::StrCat("--at ", TimeText(question.at),
                                                   " is before the cluster's state, which is of ",
                                                   TimeText(question.cluster.at)));
  }
  const absl::Time start = std::max(question.cluster.at, question.at);
  KnownEnds ends = KnownEndsOf(objects, run_times, question.cluster.at, Overdue::kEndsSometime);
  // Pods that end before the question's time are gone before the scheduler looks.
  std::set<std::string> gone;
  while (!ends.pods.empty() && ends.pods.begin()->first <= start && start > question.cluster.at) {
    gone.insert(ends.pods.begin()->second);
    ends.pods.erase(ends.pods.begin());
  }
  std::erase_if(objects, [&gone](const Json& object) {
    return object["kind"].AsString() == "Pod" && gone.contains(KeyOf(object));
  });
  Asking asking(std::move(options), start, run_times, std::move(ends), ProtectionEndsOf(objects));
  RETURN_IF_ERROR(asking.Begin(objects, job, question.gangs));
  asking.LookAhead(start + question.horizon);
  return std::move(asking).Take();
}

namespace {

// ", after MIG has divided n1 (all-1g.10gb), which is taken to last 1m"
std::string DivisionText(const std::vector<NodeDivision>& divides) {
  if (divides.empty()) return "";
  std::vector<std::string> nodes;
  for (size_t i = 0; i < std::min(divides.size(), kMostNamed); ++i) {
    nodes.push_back(absl::StrCat(divides[i].node, " (", divides[i].config, ")"));
  }
  const size_t others = divides.size() - nodes.size();
  return absl::StrCat(", after MIG has divided ", absl::StrJoin(nodes, ", "),
                      others > 0 ? absl::StrCat(" and ", others, " more") : "",
                      ", which is taken to last ", absl::FormatDuration(kDivisionTakes));
}

// ", after default/a, default/b were evicted"
std::string EvictionText(const std::vector<std::string>& gangs) {
  if (gangs.empty()) return "";
  return absl::StrCat(", after ", absl::StrJoin(gangs, ", "),
                      gangs.size() == 1 ? " was evicted" : " were evicted");
}

}  // namespace

std::string GangStartText(const GangStart& start) {
  const std::string where =
      absl::StrCat("on ", start.nodes.size(), start.nodes.size() == 1 ? " node" : " nodes");
  switch (start.kind) {
    case StartKind::kHasCompleted:
      return "has completed";
    case StartKind::kRuns:
      return absl::StrCat("runs already ", where);
    case StartKind::kNow:
      return absl::StrCat("would start now ", where);
    case StartKind::kAfterEvicting:
      return absl::StrCat("would start now ", where, EvictionText(start.evicts));
    case StartKind::kLater:
      return absl::StrCat(
          "would start at ", TimeText(start.at), " ", where, EvictionText(start.evicts),
          start.after_ends ? ", by the ends that are known" : "", DivisionText(start.divides));
    case StartKind::kNotSoon:
      return absl::StrCat("would wait: ", start.reason, ": ", start.message);
    case StartKind::kNever:
      break;
  }
  return absl::StrCat("would not start: ", start.reason, ": ", start.message);
}

}  // namespace maniple
