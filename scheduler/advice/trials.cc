#include "scheduler/advice/trials.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/string_view.h"

namespace maniple {
namespace {

// Gangs that the Queue's policy, or priority where there is no Queue, could reach at all.
bool InReach(const RunningGang& gang, const Hypothesis& hypothesis, int32_t priority) {
  if (!gang.queue.valid()) return gang.priority < priority;
  const QuotaTree* tree = hypothesis.tree.get();
  return tree != nullptr && tree->Root(gang.queue) == tree->Root(hypothesis.ask.queue);
}

// The hypothesis as Decide takes it; borrows it.
class AsAsked final {
 public:
  AsAsked(const Hypothesis& hypothesis, const GangRequest& request, const HelpQuestion& about)
      : ask_(hypothesis.ask),
        input_{.snapshot = *hypothesis.snapshot,
               .request = request,
               .now = about.now,
               .seed = about.seed,
               .freed = hypothesis.freed} {
    ask_.tree = hypothesis.tree.get();
    if (ask_.tree != nullptr && hypothesis.quota_counts) input_.quota = &ask_;
  }
  AsAsked(const AsAsked&) = delete;
  AsAsked& operator=(const AsAsked&) = delete;

  [[nodiscard]] const DecideInput& input() const { return input_; }

 private:
  QuotaAsk ask_;
  DecideInput input_;
};

}  // namespace

Trials::Trials(const HelpQuestion& question, int64_t steps) : question_(question), work_(steps) {
  for (const RunningGang& gang : question.running) running_.push_back(&gang);
  std::ranges::sort(running_, {}, [](const RunningGang* gang) {
    return std::pair<absl::string_view, GangId>(gang->name, gang->gang);
  });
}

GangRequest Trials::RequestOf(const Hypothesis& hypothesis) {
  GangRequest request = hypothesis.request;
  request.work = &work_;
  return request;
}

std::optional<Plan> Trials::Start(const Hypothesis& hypothesis) {
  if (spent()) return std::nullopt;
  const GangRequest request = RequestOf(hypothesis);
  const AsAsked question(hypothesis, request, question_);
  PlanSearch found = SearchPlan(question.input(), *question_.profile);
  if (found.gave_up) gave_up_ = true;
  return std::move(found.plan);
}

std::optional<PreemptionPlan> Trials::Evicts(const Hypothesis& hypothesis, int32_t priority) {
  if (spent()) return std::nullopt;
  const GangRequest request = RequestOf(hypothesis);
  const AsAsked question(hypothesis, request, question_);
  std::vector<RunningGang> running;
  std::vector<size_t> places;  // among those that run
  for (size_t i = 0; i < running_.size(); ++i) {
    const bool stands = !running_[i]->members.empty();
    if (!stands || !InReach(*running_[i], hypothesis, priority)) continue;
    running.push_back(*running_[i]);
    places.push_back(i);
  }
  if (running.empty()) return std::nullopt;
  auto answer = PlanPreemption({.decide = question.input(),
                                .profile = *question_.profile,
                                .priority = priority,
                                .queued = question_.queued,
                                .policy = question_.policy,
                                .fair_sharing = question_.fair_sharing,
                                .strategies = question_.strategies,
                                .ignore_pdb = question_.ignore_pdb,
                                .running = running,
                                .allowed = question_.allowed});
  auto* plan = std::get_if<PreemptionPlan>(&answer);
  if (plan == nullptr) return std::nullopt;
  // The plan's indices count the gangs in reach; the caller's count all that run.
  for (Victim& victim : plan->victims) victim.running = places[victim.running];
  return std::move(*plan);
}

int64_t LeastThatDoes(int64_t too_few, int64_t enough, absl::FunctionRef<bool(int64_t)> does) {
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (does(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace maniple
