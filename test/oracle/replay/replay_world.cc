#include "test/oracle/replay/replay_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "api/producers/kinds.h"
#include "plugins/builtin.h"
#include "scheduler/replay/shown_kinds.h"
#include "test/support/worlds.h"

namespace maniple {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
constexpr int kWorlds = 150;
constexpr const char* kSlices[] = {"nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb",
                                   "nvidia.com/mig-3g.40gb"};
constexpr char kMigLabels[] =
    R"(,"nvidia.com/mig.capable":"true","nvidia.com/mig.strategy":"mixed",
        "nvidia.com/mig.config":"all-disabled","nvidia.com/mig.config.state":"success",
        "nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3","nvidia.com/gpu.memory":"81559",
        "nvidia.com/gpu.count":")";
constexpr char kXk8sGroup[] = "scheduling.x-k8s.io";
constexpr char kXk8sVersion[] = "scheduling.x-k8s.io/v1alpha1";

Json Parsed(const std::string& text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status() << text;
  return json.ok() ? *std::move(json) : Json();
}

std::vector<Json> ManifestOf(const std::string& version, const std::string& kind,
                             const std::string& name, const std::string& spec) {
  const std::string space = kind == "PodGroup" ? R"("namespace":"default",)" : "";
  return {
      Parsed(absl::StrCat(R"({"apiVersion":")", version, R"(","kind":")", kind, R"(","metadata":{)",
                          space, R"("name":")", name, R"("},"spec":)", spec, "}"))};
}

std::vector<Json> MakeClass(const std::string& name, int value) {
  return {Parsed(absl::StrCat(
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")", name,
      R"("},"value":)", value, "}"))};
}

}  // namespace

LoopOptions DefaultLoopOptions() {
  LoopOptions options;
  options.profile = BuiltinProfile();
  std::ranges::copy_if(BuiltinForeignKinds(), std::back_inserter(options.state.producers.kinds),
                       [](const ForeignKind& kind) { return kind.group == kXk8sGroup; });
  return options;
}

bool Divides(const LoopOptions& options) { return options.mig.reconfigure == MigReconfigure::kOn; }

LoopOptions LoopOptionsOf(int seed) {
  LoopOptions options = DefaultLoopOptions();
  if (seed % 4 != 3) return options;
  options.mig.reconfigure = MigReconfigure::kOn;
  options.mig.after = absl::Seconds(20);
  options.mig.hold_off = absl::Minutes(3);
  return options;
}

std::string WithoutDigest(const std::string& gang) {
  constexpr size_t kDigest = 9;  // with the "-" before it
  const size_t dash = gang.rfind('-');
  return dash != std::string::npos && gang.size() - dash == kDigest ? gang.substr(0, dash) : gang;
}

int FirstWorld() { return static_cast<int>(Setting("MANIPLE_WHAT_IF_FIRST", 0)); }
int EndOfWorlds() {
  return FirstWorld() + static_cast<int>(Worlds("MANIPLE_WHAT_IF_WORLDS", kWorlds));
}

ReplayWorld::ReplayWorld(uint64_t seed, LoopOptions options, RunTimesTold told)
    : random_(seed), divides_(Divides(options)), told_(told), live_(std::move(options), kStart) {
  Add(DefinitionsFor(DefaultLoopOptions().state.producers.kinds,
                     ManifestOf(kXk8sVersion, "PodGroup", "any", "{}")));
  Add(MakeClass("high", 100));
  Add(MakeClass("low", 0));
  Add(ManifestOf("scheduling.maniple.dev/v1alpha1", "Topology", "default",
                 R"({"levels":[{"name":"rack","nodeLabel":"rack"}]})"));
  const int nodes = 2 + static_cast<int>(random_.Below(6));
  for (int i = 0; i < nodes; ++i) Add(MakeNode(i));
  queues_ = static_cast<int>(random_.Below(3));
  for (int i = 0; i < queues_; ++i) Add(MakeQueue(i));
  const int gangs = 1 + static_cast<int>(random_.Below(8));
  for (int i = 0; i < gangs; ++i) {
    Add(MakeGang(absl::StrCat("g", i)));
    live_.RunUntil(live_.now() + absl::Seconds(1 + random_.Below(20)));
  }
  live_.RunUntil(live_.now() + absl::Seconds(5));
}

std::vector<Json> ReplayWorld::MakeGang(const std::string& name) {
  const int pods = 1 + static_cast<int>(random_.Below(4));
  const int quorum = random_.OneIn(4) ? 1 + static_cast<int>(random_.Below(pods)) : pods;
  const std::string queue_name = queues_ == 0 ? "" : absl::StrCat("q", random_.Below(queues_));
  const std::string queue = queues_ == 0 ? "" : absl::StrCat(R"("queue":")", queue_name, R"(",)");
  const std::string queue_label =
      queues_ == 0 ? "" : absl::StrCat(R"(,")", kQueueLabel, R"(":")", queue_name, R"(")");
  const bool tells = random_.OneIn(2) && told_ == RunTimesTold::kSome;
  const std::string runtime =
      tells ? absl::StrCat(R"("expectedRuntimeSeconds":)", 60 * (1 + random_.Below(100)), ",") : "";
  const std::string rack = random_.OneIn(4) ? R"("topology":{"required":"rack"},)" : "";
  const bool is_foreign = random_.OneIn(3);
  const std::string minimum = absl::StrCat(R"("minMember":)", quorum, "}");
  std::vector<Json> objects =
      is_foreign ? ManifestOf(kXk8sVersion, "PodGroup", name, absl::StrCat("{", minimum))
                 : ManifestOf("scheduling.maniple.dev/v1alpha1", "PodGroup", name,
                              absl::StrCat("{", queue, runtime, rack, minimum));
  const std::string marks =
      !is_foreign ? absl::StrCat(R"("scheduling.maniple.dev/pod-group":")", name, R"(")")
                  : absl::StrCat(R"("scheduling.x-k8s.io/pod-group":")", name, R"(")", queue_label);
  const bool wants_slices = divides_ && random_.OneIn(2);
  const char* resource =
      wants_slices ? kSlices[random_.Below(std::size(kSlices))] : "nvidia.com/gpu";
  const int gpus = 1 << random_.Below(4);
  const char* priority = random_.OneIn(3) ? "high" : "low";
  for (int i = 0; i < pods; ++i) {
    objects.push_back(Parsed(
        absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, "-", i,
                     R"(","namespace":"default","labels":{)", marks,
                     R"(}},"spec":{"schedulerName":"maniple","priorityClassName":")", priority,
                     R"(","containers":[{"name":"c","image":"i","resources":{"limits":{")",
                     resource, R"(":")", gpus, R"("}}}]}})")));
  }
  return objects;
}

void ReplayWorld::Add(const std::vector<Json>& objects) {
  const absl::Status status = live_.Load(objects);
  ASSERT_TRUE(status.ok()) << status;
}

std::vector<Json> ReplayWorld::MakeNode(int i) {
  const size_t rack = random_.Below(2);
  const int gpus = random_.OneIn(4) ? 4 : 8;
  const bool divisible = divides_ && random_.OneIn(2);
  const std::string mig = divisible ? absl::StrCat(kMigLabels, gpus, R"(")") : "";
  return {Parsed(absl::StrCat(
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n)", i,
      R"(","labels":{"kubernetes.io/hostname":"n)", i, R"(","rack":"r)", rack, R"(")", mig,
      R"(}},"spec":{},"status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"110",)",
      R"("nvidia.com/gpu":")", gpus, R"("},"conditions":[{"type":"Ready","status":"True"}]}})"))};
}

std::vector<Json> ReplayWorld::MakeQueue(int i) {
  const char* within = random_.OneIn(2) ? "LowerPriority" : "Never";
  const char* reclaim = random_.OneIn(2) ? "Any" : "Never";
  return ManifestOf(
      "scheduling.maniple.dev/v1alpha1", "Queue", absl::StrCat("q", i),
      absl::StrCat(R"({"cohort":"all","preemption":{"withinQueue":")", within,
                   R"(","reclaimWithinCohort":")", reclaim,
                   R"("},"quotas":[{"resources":[{"name":"nvidia.com/gpu","nominal":)",
                   4 + random_.Below(24), "}]}]}"));
}

}  // namespace maniple
