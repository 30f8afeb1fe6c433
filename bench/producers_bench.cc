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
#include "test/support/heap_in_use.h"
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

// Turns and writes until both have come to rest; how many writes that were.
int64_t Settle(SchedulingLoop& loop, ScriptedApi& api) {
  int64_t writes = 0;
  bool more = true;
  while (more) {
    TurnOutput out = loop.Turn(kNow);
    writes += static_cast<int64_t>(out.writes.size());
    api.Carry(std::move(out.writes));
    std::vector<ObjectEvent> events = api.TakeEvents();
    std::vector<WriteResult> results = api.TakeResults();
    more = out.more || !events.empty() || !results.empty();
    for (ObjectEvent& event : events) loop.Accept(std::move(event));
    for (WriteResult& result : results) loop.Accept(std::move(result));
  }
  return writes;
}

// A leader that knows all kinds of producers, of which the API serves none.
std::unique_ptr<SchedulingLoop> Leader() {
  LoopOptions options;
  options.profile = BuiltinProfile();
  options.state.producers.kinds = BuiltinForeignKinds();
  auto loop = std::make_unique<SchedulingLoop>(std::move(options));
  loop->SetRole(SchedulingLoop::Role::kLeader);
  return loop;
}

// All of that the API shows, and that there is no more of any kind.
void List(SchedulingLoop& loop, ScriptedApi& api) {
  for (ObjectEvent& event : api.List()) loop.Accept(std::move(event));
  for (size_t kind = 0; kind < BuiltinForeignKinds().size(); ++kind) {
    loop.Accept(KindSynced{ForeignResource(static_cast<uint8_t>(kind))});
  }
}

class World final {
 public:
  World() : reader_(MakeForeignReader(BuiltinForeignKinds())), decoder_(reader_.get()) {
    loop_ = Leader();
    for (ObjectEvent& event : SyntheticNodes(kNodes)) loop_->Accept(std::move(event));
    api_.Serve(GroupKind());
    List(*loop_, api_);
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
    loop_->Hear(fold.Take());
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

  int64_t Settle() { return maniple::Settle(*loop_, api_); }

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

enum class DeclaredBy : uint8_t { kPodGroup, kJob };

// 100,000 pods that run, twenty to a gang.
class Members final {
 public:
  explicit Members(DeclaredBy by) : by_(by), loop_(Leader()) {
    const ResourceKind jobs =
        ForeignResource(KindIndexOf(BuiltinForeignKinds(), "batch/v1", "Job").value());
    const std::unique_ptr<const ForeignReader> reader = MakeForeignReader(BuiltinForeignKinds());
    Decoder decoder(reader.get());
    for (ObjectEvent& event : SyntheticNodes(kGroups)) loop_->Accept(std::move(event));
    api_.Serve(jobs);
    List(*loop_, api_);
    for (int gang = 0; gang < kGroups; ++gang) {
      if (by == DeclaredBy::kPodGroup) {
        api_.Put(PodGroup(MakePodGroup(NameOf(gang)).MinMember(kMembers)));
      } else {
        const std::string json =
            absl::StrCat(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")",
                         NameOf(gang), R"(","namespace":"default","uid":"job-)", gang,
                         R"("},"spec":{"completionMode":"Indexed","completions":)", kMembers,
                         R"(,"parallelism":)", kMembers, "}}");
        api_.Put(std::get<Object>(decoder.Single(jobs, json)->what));
      }
      for (int pod = 0; pod < kMembers; ++pod) loop_->Accept(Event(gang, pod, 0));
    }
    const int writes_per_gang = by == DeclaredBy::kJob ? 2 : 1;  // its PodGroup, and the status
    CHECK_GE(Settle(*loop_, api_), writes_per_gang * kGroups) << "each is a gang";
  }
  // One event for each of so many pods; how many pods that are.
  int HearOfSome(int version) {
    constexpr int kGangs = 50;
    for (int gang = 0; gang < kGangs; ++gang) {
      for (int pod = 0; pod < kMembers; ++pod) loop_->Accept(Event(gang, pod, version));
    }
    (void)loop_->Turn(kNow);
    return kGangs * kMembers;
  }
  // Of the loop alone, which is gone afterwards.
  int64_t TakeBytes() {
    const int64_t before = HeapInUse();
    loop_.reset();
    return before - HeapInUse();
  }

 private:
  static constexpr int kMembers = 20;
  static std::string NameOf(int gang) { return absl::StrCat("train-", gang); }
  [[nodiscard]] ObjectEvent Event(int gang, int index, int version) const {
    MakePod made(absl::StrCat("train-", gang, "-", index));
    made.Cpu(1000).On(absl::StrFormat("node-%05d", gang));
    Pod pod = made;
    pod.phase = PodPhase::kRunning;
    pod.meta.annotations.Set("example.com/version", absl::StrCat(version));
    if (by_ == DeclaredBy::kPodGroup) {
      pod.meta.labels.Set(kPodGroupLabel, NameOf(gang));
    } else {
      pod.meta.controller =
          OwnerReference{"Job", NameOf(gang), absl::StrCat("job-", gang), "batch/v1"};
    }
    return ObjectUpserted{std::move(pod)};
  }

  const DeclaredBy by_;
  ScriptedApi api_;
  std::unique_ptr<SchedulingLoop> loop_;
};

void BM_PodEvent(benchmark::State& state, DeclaredBy by) {
  Members members(by);
  int version = 0;
  int64_t events = 0;
  for (auto _ : state) events += members.HearOfSome(++version);
  state.counters["per event"] = benchmark::Counter(
      static_cast<double>(events), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(BM_PodEvent, of_our_PodGroups, DeclaredBy::kPodGroup)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PodEvent, of_Jobs, DeclaredBy::kJob)->Unit(benchmark::kMillisecond);

void BM_MemoryOfOwners(benchmark::State& state) {
  constexpr double kMiB = 1 << 20;
  for (auto _ : state) {
    const int64_t ours = Members(DeclaredBy::kPodGroup).TakeBytes();
    const int64_t owned = Members(DeclaredBy::kJob).TakeBytes();
    state.counters["of our PodGroups, MiB"] = static_cast<double>(ours) / kMiB;
    state.counters["of Jobs, MiB"] = static_cast<double>(owned) / kMiB;
  }
}
BENCHMARK(BM_MemoryOfOwners)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace maniple
