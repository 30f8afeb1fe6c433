// What producers cost that write an unchanged group object again and again, as Kubeflow's operator
// does every few seconds: 5,000 of them, whose gangs of two run.
//
// The whole way on both threads: the line of the watch, the fold, the state, the turn. Nothing is
// written; a run that writes fails.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/base/check.h"
#include "api/client/cluster_news.h"
#include "api/codec/decode.h"
#include "api/producers/kinds.h"
#include "api/producers/reader.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/builders.h"
#include "test/support/scripted_api.h"

namespace maniple {
namespace {

constexpr int kGroups = 5000, kNodes = 1250;
constexpr char kVersion[] = "scheduling.x-k8s.io/v1alpha1";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

ResourceKind GroupKind() {
  return ForeignResource(KindIndexOf(BuiltinForeignKinds(), kVersion, "PodGroup").value());
}

// As its producer writes it, with everything that such an object has.
std::string LineOf(int group, int version) {
  return absl::StrCat(
      R"({"type":")", version == 0 ? "ADDED" : "MODIFIED", R"(","object":{"apiVersion":")",
      kVersion, R"(","kind":"PodGroup","metadata":{"name":"train-)", group,
      R"(","namespace":"default","uid":"uid-)", group, R"(","resourceVersion":")",
      1000 + version * kGroups + group,
      R"(","creationTimestamp":"2023-11-14T22:00:00Z","ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"train-)",
      group, R"(","uid":"job-)", group,
      R"(","controller":true,"blockOwnerDeletion":true}],"managedFields":[{"manager":"training-operator","operation":"Update","apiVersion":"scheduling.x-k8s.io/v1alpha1","time":"2023-11-14T22:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:minMember":{},"f:minResources":{".":{},"f:cpu":{},"f:nvidia.com/gpu":{}}}}}]},"spec":{"minMember":2,"minResources":{"cpu":"16","nvidia.com/gpu":"2"}},"status":{"phase":"Running","running":2}}})");
}

class World final {
 public:
  World() : reader_(MakeForeignReader(BuiltinForeignKinds())), decoder_(reader_.get()) {
    LoopOptions options;
    options.profile = BuiltinProfile();
    options.state.producers.kinds = BuiltinForeignKinds();
    loop_ = std::make_unique<SchedulingLoop>(std::move(options));
    loop_->SetRole(SchedulingLoop::Role::kLeader, kNow);
    for (ObjectEvent& event : SyntheticNodes(kNodes)) loop_->Accept(std::move(event));
    api_.Serve(GroupKind());
    for (ObjectEvent& event : api_.List()) loop_->Accept(std::move(event));
    for (size_t kind = 0; kind < BuiltinForeignKinds().size(); ++kind) {
      loop_->Accept(KindSynced{ForeignResource(static_cast<uint8_t>(kind))});
    }
    for (int group = 0; group < kGroups; ++group) {
      Hear(group, 0);
      for (int pod = 0; pod < 2; ++pod) {
        MakePod made(absl::StrCat("train-", group, "-", pod));
        made.Gpu(1).On(absl::StrFormat("node-%05d", (group * 2 + pod) / 8));
        Pod member = made;
        member.phase = PodPhase::kRunning;
        member.meta.labels.Set("scheduling.x-k8s.io/pod-group", absl::StrCat("train-", group));
        loop_->Accept(ObjectUpserted{std::move(member)});
      }
    }
    CHECK_GE(Settle(), kGroups) << "each gang has a PodGroup of ours";
  }

  // How many writes come of it.
  int64_t PutAll() {
    NewsFold fold;
    ClusterNews news;
    for (int group = 0; group < kGroups; ++group) {
      news.events.push_back(Decoded(lines_[static_cast<size_t>(group)]));
    }
    fold.Add(std::move(news));
    loop_->Hear(fold.Take(), kNow);
    return Settle();
  }
  void Write(int version) {
    lines_.clear();
    for (int group = 0; group < kGroups; ++group) lines_.push_back(LineOf(group, version));
  }

 private:
  ObjectEvent Decoded(const std::string& line) {
    absl::StatusOr<WatchMessage> message = decoder_.WatchLine(GroupKind(), line);
    auto& object = std::get<WatchChange>(*message).object;
    return ObjectUpserted{std::get<Object>(std::move(object.what))};
  }
  void Hear(int group, int version) { loop_->Accept(Decoded(LineOf(group, version))); }

  int64_t Settle() {
    int64_t writes = 0;
    bool more = true;
    while (more) {
      TurnOutput out = loop_->Turn(kNow);
      writes += static_cast<int64_t>(out.writes.size());
      api_.Carry(std::move(out.writes));
      std::vector<ObjectEvent> events = api_.TakeEvents();
      std::vector<WriteResult> results = api_.TakeResults();
      more = out.more || !events.empty() || !results.empty();
      for (ObjectEvent& event : events) loop_->Accept(std::move(event));
      for (WriteResult& result : results) loop_->Accept(std::move(result));
    }
    return writes;
  }

  std::unique_ptr<const ForeignReader> reader_;
  Decoder decoder_;
  ScriptedApi api_;
  std::unique_ptr<SchedulingLoop> loop_;
  std::vector<std::string> lines_;
};

// One round of 5,000: every 5 s, so the time of an iteration is so many 5,000ths of a core.
void BM_UnchangedGroups(benchmark::State& state) {
  World world;
  int version = 0;
  for (auto _ : state) {
    state.PauseTiming();
    world.Write(++version);
    state.ResumeTiming();
    if (world.PutAll() > 0) state.SkipWithError("it writes");
  }
  state.SetItemsProcessed(state.iterations() * kGroups);
}
BENCHMARK(BM_UnchangedGroups)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maniple
