#include "scheduler/simulate/simulation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/status_macros.h"
#include "scheduler/replay/known_ends.h"
#include "scheduler/replay/object_shape.h"
#include "scheduler/replay/replay.h"
#include "scheduler/replay/shown_kinds.h"
#include "scheduler/simulate/gpu_use.h"
#include "scheduler/simulate/job_objects.h"

namespace maniple {
namespace {

// A controller makes an evicted job again after this time.
constexpr absl::Duration kMadeAgain = absl::Seconds(1);
// Once nothing runs and nothing comes any more, waiting jobs get so long.
constexpr absl::Duration kLastWait = absl::Hours(1);
constexpr absl::Duration kTellEvery = absl::Minutes(10);  // of simulated time

enum class EventKind : uint8_t { kEnd, kPodEnds, kRemake, kSubmit };  // in this order at one moment

struct Event {
  absl::Time at;
  EventKind kind = EventKind::kSubmit;
  int64_t job = 0;
  int64_t life = 0;  // the event is void in another life
  std::string pod;   // of kPodEnds: "namespace/name"
  friend bool operator>(const Event& a, const Event& b) {
    return std::tie(a.at, a.kind, a.job) > std::tie(b.at, b.kind, b.job);
  }
};

enum class JobState : uint8_t { kToCome, kWaits, kRuns, kLeaves, kEnded };

struct Job {
  JobState state = JobState::kToCome;
  int64_t life = 0;
  std::map<std::string, std::string> nodes;  // of its pods that are bound
  absl::Time began;                          // of this life, once it runs
};

class Simulation final {
 public:
  Simulation(const SimulationInput& input, LoopOptions options)
      : input_(input),
        form_{.scheduler_name = input.scheduler_name, .tells_run_times = input.tells_run_times},
        replay_(std::move(options), input.start),
        gpus_(input.cluster),
        run_times_(RunTimesOf(input.cluster)),
        jobs_(input.jobs.size()) {
    result_.nodes = gpus_.nodes();
    result_.gpus = gpus_.all();
    result_.jobs.resize(input.jobs.size());
  }

  absl::Status Begin() {
    for (const Json& object : input_.cluster) {
      RETURN_IF_ERROR(CheckShape(object));
      if (PodOfJobNamed(KeyOf(object)).has_value()) named_alike_.insert(KeyOf(object));
    }
    RETURN_IF_ERROR(replay_.Load(input_.cluster));
    std::set<int32_t> priorities;
    for (const TraceJob& job : input_.jobs) priorities.insert(job.priority);
    std::vector<Json> classes;
    for (const int32_t priority : priorities) {
      if (priority != 0) classes.push_back(PriorityClassOf(priority));
    }
    RETURN_IF_ERROR(replay_.Load(classes));
    replay_.RunUntil(input_.start);
    found_ = FoundGangs(input_.cluster, *replay_.View());
    const KnownEnds ends = KnownEndsOf(input_.cluster, run_times_, input_.start, Overdue::kEndsNow);
    for (const auto& [at, pod] : ends.pods) {
      events_.push({.at = at, .kind = EventKind::kPodEnds, .pod = pod});
    }
    for (size_t i = 0; i < input_.jobs.size(); ++i) {
      result_.jobs[i].submitted = input_.jobs[i].submitted;
      events_.push({.at = input_.start + input_.jobs[i].submitted, .job = static_cast<int64_t>(i)});
      last_submission_ = std::max(last_submission_, input_.start + input_.jobs[i].submitted);
    }
    NotePoint();
    return absl::OkStatus();
  }

  absl::Status Run(const std::function<void(const Progress&)>& tell) {
    absl::Time told = input_.start;
    absl::Time last_event = input_.start;
    const absl::Time stop = last_submission_ + input_.horizon;
    while (true) {
      NoteDeeds();
      const absl::Time next =
          events_.empty() ? last_event + kLastWait : std::max(events_.top().at, replay_.now());
      if (events_.empty() && waiting_ == 0 && found_.waiting() == 0) break;
      if (std::min(next, replay_.next()) > stop) break;
      if (replay_.next() < next) {
        replay_.RunUntil(replay_.next());
      } else {
        replay_.RunUntil(next);
        NoteDeeds();
        if (events_.empty()) break;
        last_event = next;
        RETURN_IF_ERROR(Happen(next));
        replay_.RunUntil(next);  // it is heard of at once
      }
      if (replay_.spins()) {
        return absl::InternalError(absl::StrCat("the scheduler does not come to rest after ",
                                                absl::FormatDuration(replay_.now() - input_.start),
                                                " of simulated time"));
      }
      if (replay_.now() < told + kTellEvery) continue;
      told = replay_.now();
      tell({.jobs_ended = ended_, .at = told - input_.start});
    }
    result_.length = replay_.now() - input_.start;
    result_.found = found_.gangs();
    tell({.jobs_ended = ended_, .at = result_.length});
    return absl::OkStatus();
  }

  [[nodiscard]] SimulationResult Take() && { return std::move(result_); }

 private:
  // Carries out all events of this moment. An eviction may have voided an end meanwhile.
  absl::Status Happen(absl::Time now) {
    while (!events_.empty() && events_.top().at <= now) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == EventKind::kPodEnds) {
        const std::pair<std::string, std::string> names =
            absl::StrSplit(event.pod, absl::MaxSplits('/', 1));
        replay_.Succeed(names.first, names.second);
        gpus_.Leave(event.pod);
        continue;
      }
      const Job& job = jobs_[event.job];
      if (event.kind == EventKind::kEnd) {
        // Pods that were evicted at this very moment are known by now.
        if (job.life == event.life && job.state == JobState::kRuns) End(event.job);
      } else if (event.kind == EventKind::kRemake) {
        if (job.life == event.life) RETURN_IF_ERROR(MakeAgain(event.job));
      } else {
        RETURN_IF_ERROR(Create(event.job));
      }
    }
    NotePoint();
    return absl::OkStatus();
  }

  absl::Status Create(int64_t index) {
    const absl::Status loaded =
        replay_.Load(ObjectsOf(input_.jobs[index], index, jobs_[index].life, form_));
    jobs_[index].state = JobState::kWaits;
    ++waiting_;
    wanted_ += input_.jobs[index].all_gpus();
    return loaded;
  }

  absl::Status MakeAgain(int64_t index) {
    DeletePods(index);
    ++jobs_[index].life;
    return Create(index);
  }

  void DeletePods(int64_t index) {
    Job& job = jobs_[index];
    for (int64_t rank = 0; rank < input_.jobs[index].pods; ++rank) {
      replay_.Delete(absl::StrCat("/api/v1/namespaces/", kTraceNamespace, "/pods/",
                                  PodNameOf(index, job.life, rank)));
    }
    for (const auto& [pod, node] : job.nodes) gpus_.Take(node, -input_.jobs[index].gpus);
    job.nodes.clear();
  }

  void End(int64_t index) {
    DeletePods(index);
    if (HasGroup(input_.jobs[index], form_)) {
      replay_.Delete(absl::StrCat("/apis/scheduling.maniple.dev/v1alpha1/namespaces/",
                                  kTraceNamespace, "/podgroups/", GroupNameOf(index)));
    }
    jobs_[index].state = JobState::kEnded;
    result_.jobs[index].ended = replay_.now() - input_.start;
    ++ended_;
  }

  void NoteDeeds() {
    const std::vector<PodDeed> deeds = replay_.TakeDeeds();
    for (const PodDeed& deed : deeds) {
      std::optional<PodOfJob> pod = PodOfJobNamed(deed.pod);
      if (named_alike_.contains(deed.pod)) pod.reset();
      if (!pod.has_value()) NoteOther(deed);
      if (!pod.has_value() || jobs_[pod->index].life != pod->life) continue;
      if (deed.node.empty()) {
        NoteLeft(pod->index, deed);
      } else {
        NoteBound(pod->index, deed);
      }
    }
    if (!deeds.empty()) NotePoint();
  }

  // Notes a deed to a pod that was in the cluster before.
  void NoteOther(const PodDeed& deed) {
    if (deed.node.empty()) return gpus_.Leave(deed.pod);
    gpus_.Arrive(deed.pod, deed.node);
    found_.NoteBound(deed.pod, deed.at - input_.start);
    const auto runs = run_times_.find(deed.pod);
    if (runs == run_times_.end()) return;
    events_.push({.at = deed.at + runs->second, .kind = EventKind::kPodEnds, .pod = deed.pod});
  }

  void NoteBound(int64_t index, const PodDeed& deed) {
    Job& job = jobs_[index];
    if (!job.nodes.emplace(deed.pod, deed.node).second) return;
    gpus_.Take(deed.node, input_.jobs[index].gpus);
    if (static_cast<int64_t>(job.nodes.size()) < input_.jobs[index].pods ||
        job.state != JobState::kWaits) {
      return;
    }
    job.state = JobState::kRuns;
    job.began = deed.at;
    --waiting_;
    wanted_ -= input_.jobs[index].all_gpus();
    JobOutcome& outcome = result_.jobs[index];
    if (!outcome.has_started()) outcome.started = deed.at - input_.start;
    events_.push({.at = deed.at + input_.jobs[index].runs,
                  .kind = EventKind::kEnd,
                  .job = index,
                  .life = job.life});
  }

  void NoteLeft(int64_t index, const PodDeed& deed) {
    Job& job = jobs_[index];
    const auto it = job.nodes.find(deed.pod);
    if (it != job.nodes.end()) {
      gpus_.Take(it->second, -input_.jobs[index].gpus);
      job.nodes.erase(it);
    }
    if (job.state != JobState::kWaits && job.state != JobState::kRuns) return;
    if (job.state == JobState::kRuns) {
      ++result_.jobs[index].evictions;
      result_.jobs[index].lost += deed.at - job.began;
    } else {
      --waiting_;
      wanted_ -= input_.jobs[index].all_gpus();
    }
    job.state = JobState::kLeaves;
    events_.push(
        {.at = deed.at + kMadeAgain, .kind = EventKind::kRemake, .job = index, .life = job.life});
  }

  void NotePoint() {
    const LoadPoint point{.at = replay_.now() - input_.start,
                          .gpus_used = gpus_.used(),
                          .gpus_split = gpus_.split(),
                          .jobs_waiting = waiting_,
                          .gpus_wanted = wanted_};
    if (!result_.load.empty() && result_.load.back().at == point.at) {
      result_.load.back() = point;
    } else {
      result_.load.push_back(point);
    }
  }

  const SimulationInput& input_;
  const JobForm form_;
  Replay replay_;
  GpuUse gpus_;
  const RunTimes run_times_;  // of pods of the cluster
  FoundGangs found_;
  std::set<std::string> named_alike_;  // pods of the cluster that are named like a job's
  std::vector<Job> jobs_;              // as in the input
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  absl::Time last_submission_ = input_.start;
  int64_t ended_ = 0, waiting_ = 0;  // jobs
  int64_t wanted_ = 0;               // GPUs
  SimulationResult result_;
};

}  // namespace

absl::StatusOr<SimulationResult> Simulate(const SimulationInput& input, LoopOptions options,
                                          const std::function<void(const Progress&)>& tell) {
  // Kinds of other projects that the cluster lacks would be looked for again and again,
  // for months of simulated time.
  ForeignKinds& kinds = options.state.producers.kinds;
  kinds = ShownKinds(kinds, input.cluster);
  Simulation simulation(input, std::move(options));
  RETURN_IF_ERROR(simulation.Begin());
  RETURN_IF_ERROR(simulation.Run(tell));
  return std::move(simulation).Take();
}

}  // namespace maniple
