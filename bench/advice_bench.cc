// What "what would help" costs on 5,000 nodes: gathering the question, on the scheduling thread,
// all of it and the longest piece, and answering it, on another thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/advice/help.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/scripted_api.h"

namespace maniple {
namespace {

constexpr int kNodes = 5000;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
const GangKey kGang = {.namespace_name = "default", .name = "gang-0"};

// A cluster that is half full, and one gang of 64 that waits.
class Bench final {
 public:
  explicit Bench(const std::string& required) {
    LoopOptions options;
    options.profile = BuiltinProfile();
    loop_ = std::make_unique<SchedulingLoop>(std::move(options));
    loop_->SetRole(SchedulingLoop::Role::kLeader);
    Topology topology;
    topology.meta.name = "default";
    topology.levels = {{.name = "rack", .node_label = "topology/rack"}};
    Add({ObjectUpserted{topology}});
    Add(SyntheticNodes(kNodes));
    Add(SyntheticLoad(50'000, kNodes));
    std::vector<ObjectEvent> gang = SyntheticGang(0, 64, 8);
    for (ObjectEvent& event : gang) {
      if (auto* upserted = std::get_if<ObjectUpserted>(&event)) {
        if (auto* group = std::get_if<PodGroup>(&upserted->object)) {
          group->spec.topology.required = required;
        }
      }
    }
    Add(std::move(gang));
    for (const ObjectEvent& event : ScriptedApi().List()) loop_->Accept(event);  // all is listed
    while (loop_->Turn(kNow).more) {
    }
  }

  [[nodiscard]] HelpQuestionPtr Question() const { return loop_->HelpFor(kGang, kNow); }

  // The longest that a turn waits for a piece of it.
  [[nodiscard]] absl::Duration LongestPiece() const {
    absl::Duration longest;
    std::optional<HelpQuestionPtr> question;
    while (!question.has_value()) {
      const absl::Time began = absl::Now();
      question = loop_->MoreHelp(kGang, kNow);
      longest = std::max(longest, absl::Now() - began);
    }
    return longest;
  }

 private:
  void Add(std::vector<ObjectEvent> events) {
    for (ObjectEvent& event : events) loop_->Accept(std::move(event));
  }
  std::unique_ptr<SchedulingLoop> loop_;
};

void BM_AskWhatWouldHelp(benchmark::State& run) {
  const Bench bench("");
  for (auto _ : run) {
    const HelpQuestionPtr question = bench.Question();
    if (question == nullptr) run.SkipWithError("it does not wait");
    benchmark::DoNotOptimize(question);
  }
}
BENCHMARK(BM_AskWhatWouldHelp)->Unit(benchmark::kMillisecond);

void BM_AskWhatWouldHelpLongestPiece(benchmark::State& run) {
  const Bench bench("");
  for (auto _ : run) run.SetIterationTime(absl::ToDoubleSeconds(bench.LongestPiece()));
}
BENCHMARK(BM_AskWhatWouldHelpLongestPiece)->UseManualTime()->Unit(benchmark::kMillisecond);

void Answer(benchmark::State& run, const std::string& required) {
  const Bench bench(required);
  const HelpQuestionPtr question = bench.Question();
  if (question == nullptr) return run.SkipWithError("it does not wait");
  Help help;
  for (auto _ : run) {
    help = AnswerHelp(*question);
    benchmark::DoNotOptimize(&help);
  }
  std::string label = help.gave_up ? "cut short: " : "";
  for (const Help::Entry& entry : help.entries) absl::StrAppend(&label, HelpText(entry), "; ");
  run.SetLabel(label);
}
void BM_AnswerWhatWouldHelp(benchmark::State& run) { Answer(run, ""); }
BENCHMARK(BM_AnswerWhatWouldHelp)->Unit(benchmark::kMillisecond);
void BM_AnswerWhatWouldHelpInARack(benchmark::State& run) { Answer(run, "rack"); }
BENCHMARK(BM_AnswerWhatWouldHelpInARack)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maniple
