#include "test/sim/job_recipes.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace maniple::sim {
namespace {

using After = JobPart::After;

constexpr char kIndex[] = "batch.kubernetes.io/job-completion-index";
constexpr char kXk8s[] = "scheduling.x-k8s.io/v1alpha1";
constexpr char kVolcano[] = "scheduling.volcano.sh/v1beta1";
constexpr int kElastic = kFirstThatScales;
constexpr char kReplicaIndex[] = "training.kubeflow.org/replica-index";

enum class Restart : uint8_t { kNever, kAlways };

Json Template(Restart restart) {
  const Json container = Json::Object({{"name", "main"}, {"image", "registry.example/train:1"}});
  const Json labels = Json::Object({{"app", "replica"}});
  return Json::Object(
      {{"metadata", Json::Object({{"labels", labels}})},
       {"spec", Json::Object({{"schedulerName", "maniple"},
                              {"restartPolicy", restart == Restart::kNever ? "Never" : "Always"},
                              {"containers", Json::Array({container})}})}});
}

Json IndexedSpec(int pods) {
  return Json::Object({{"completionMode", "Indexed"},
                       {"parallelism", pods},
                       {"completions", pods},
                       {"template", Template(Restart::kNever)}});
}

JobObject BatchJob(const std::string& name, int pods, const std::string& owner) {
  return {.api_version = "batch/v1",
          .kind = "Job",
          .plural = "jobs",
          .name = name,
          .spec = IndexedSpec(pods),
          .owner = owner};
}

JobObject Xk8sGroup(const std::string& name, int members, const std::string& owner) {
  return {.api_version = kXk8s,
          .kind = "PodGroup",
          .plural = "podgroups",
          .name = name,
          .spec = Json::Object({{"minMember", members}}),
          .owner = owner};
}

Json Replicas(int replicas) { return Json::Object({{"replicas", replicas}}); }

// Of a JobSet.
Json ReplicatedJob(const std::string& name, int replicas, int pods) {
  return Json::Object({{"name", name},
                       {"replicas", replicas},
                       {"template", Json::Object({{"spec", IndexedSpec(pods)}})}});
}

// training-operator v1.
JobRecipe Kubeflow(const std::string& name, int size) {
  const std::string owner = absl::StrCat("PyTorchJob/", name);
  const std::vector<std::pair<std::string, std::string>> labels = {
      {"scheduling.x-k8s.io/pod-group", name}, {"training.kubeflow.org/job-name", name}};
  JobPart workers{.prefix = absl::StrCat(name, "-worker"),
                  .pods = size,
                  .unit = name,
                  .owner = owner,
                  .labels = labels,
                  .index_label = kReplicaIndex};
  workers.labels.emplace_back("training.kubeflow.org/replica-type", "worker");
  JobPart master = workers;
  master.prefix = absl::StrCat(name, "-master");
  master.pods = 1;
  master.labels.back().second = "master";
  const Json specs = Json::Object({{"Master", Replicas(1)}, {"Worker", Replicas(size)}});
  return {.objects = {{.api_version = "kubeflow.org/v1",
                       .kind = "PyTorchJob",
                       .plural = "pytorchjobs",
                       .name = name,
                       .spec = Json::Object({{"pytorchReplicaSpecs", specs}})},
                      Xk8sGroup(name, size + 1, owner)},
          .parts = {workers, master},
          .least = {{name, size + 1}}};
}

// Volcano's own controller, and others that wait for the phase of its group.
JobRecipe Volcano(const std::string& name, int size) {
  JobPart workers{
      .prefix = absl::StrCat(name, "-worker"),
      .pods = size,
      .unit = name,
      .annotations = {{"scheduling.k8s.io/group-name", name}, {"volcano.sh/task-spec", "worker"}},
      .after = After::kPhaseIsOpen};
  JobPart master = workers;
  master.prefix = absl::StrCat(name, "-master");
  master.pods = 1;
  master.annotations.back().second = "master";
  const Json tasks = Json::Object({{"master", 1}, {"worker", size}});
  return {.objects = {{.api_version = kVolcano,
                       .kind = "PodGroup",
                       .plural = "podgroups",
                       .name = name,
                       .spec = Json::Object({{"minMember", size + 1}, {"minTaskMember", tasks}})}},
          .parts = {workers, master},
          .least = {{name, size + 1}}};
}

JobRecipe Indexed(const std::string& name, int size) {
  const int pods = size + 1;  // one alone is no gang
  return {.objects = {BatchJob(name, pods, "")},
          .parts = {{.prefix = name,
                     .pods = pods,
                     .unit = name,
                     .owner = absl::StrCat("Job/", name),
                     .labels = {{"batch.kubernetes.io/job-name", name}},
                     .index_label = kIndex}},
          .least = {{name, pods}}};
}

// It may have one pod, which is no gang.
JobRecipe Elastic(const std::string& name, int size) {
  JobRecipe recipe{.objects = {BatchJob(name, size, "")},
                   .parts = {{.prefix = name,
                              .pods = size,
                              .gpus = 2,
                              .unit = name,
                              .owner = absl::StrCat("Job/", name),
                              .labels = {{"batch.kubernetes.io/job-name", name}},
                              .index_label = kIndex}},
                   .least = {{name, size}}};
  return recipe;
}

JobPart PodsOfJobSet(const std::string& name, const std::string& part, int job, int pods) {
  const std::string owner = absl::StrCat(name, "-", part, "-", job);
  return {.prefix = owner,
          .pods = pods,
          .unit = absl::StrCat(name, ".", part),
          .owner = absl::StrCat("Job/", owner),
          .labels = {{"jobset.sigs.k8s.io/jobset-name", name},
                     {"jobset.sigs.k8s.io/replicatedjob-name", part},
                     {"jobset.sigs.k8s.io/job-index", absl::StrCat(job)},
                     {"jobset.sigs.k8s.io/restart-attempt", "0"}},
          .index_label = kIndex};
}

// The second replicated Job is made once the first is ready.
JobRecipe JobSetInStages(const std::string& name, int size) {
  Json then = ReplicatedJob("then", 1, size);
  then.Set("dependsOn", Json::Array({Json::Object({{"name", "first"}, {"status", "Ready"}})}));
  const std::string owner = absl::StrCat("JobSet/", name);
  JobObject second = BatchJob(absl::StrCat(name, "-then-0"), size, owner);
  second.with_part = 1;
  JobPart later = PodsOfJobSet(name, "then", 0, size);
  later.after = After::kOthersRun;
  return {.objects = {{.api_version = "jobset.x-k8s.io/v1alpha2",
                       .kind = "JobSet",
                       .plural = "jobsets",
                       .name = name,
                       .spec = Json::Object(
                           {{"replicatedJobs",
                             Json::Array({ReplicatedJob("first", 1, size + 1), then})}})},
                      BatchJob(absl::StrCat(name, "-first-0"), size + 1, owner),
                      second},
          .parts = {PodsOfJobSet(name, "first", 0, size + 1), later},
          .least = {{absl::StrCat(name, ".first"), size + 1}, {absl::StrCat(name, ".then"), size}}};
}

// Pods of other indices are refused until the first one of their Job has a node.
JobRecipe ExclusiveJobSet(const std::string& name, int size) {
  const std::string owner = absl::StrCat("JobSet/", name);
  JobPart leader = PodsOfJobSet(name, "w", 0, 1);
  leader.unit = absl::StrCat(name, ".leaders");
  leader.annotations = {{"alpha.jobset.sigs.k8s.io/exclusive-topology", "example.com/rack"}};
  JobPart followers = leader;
  followers.first = 1;
  followers.pods = size;
  followers.unit = absl::StrCat(name, ".followers");
  followers.after = After::kOthersStand;
  return {.objects = {{.api_version = "jobset.x-k8s.io/v1alpha2",
                       .kind = "JobSet",
                       .plural = "jobsets",
                       .name = name,
                       .spec = Json::Object(
                           {{"replicatedJobs", Json::Array({ReplicatedJob("w", 1, size + 1)})}}),
                       .annotations = Json::Object(
                           {{"alpha.jobset.sigs.k8s.io/exclusive-topology", "example.com/rack"}})},
                      BatchJob(absl::StrCat(name, "-w-0"), size + 1, owner)},
          .parts = {leader, followers},
          .least = {{absl::StrCat(name, ".leaders"), 1}, {absl::StrCat(name, ".followers"), size}}};
}

enum class Startup : uint8_t { kTogether, kLeaderFirst };

// One replica.
JobRecipe LeaderWorkerSet(const std::string& name, int size, Startup startup) {
  const bool leader_first = startup == Startup::kLeaderFirst;
  const std::string inner = absl::StrCat(name, "-0");
  JobPart leader{.prefix = name,
                 .unit = leader_first ? absl::StrCat(name, ".leader") : name,
                 .owner = absl::StrCat("StatefulSet/", name),
                 .labels = {{"leaderworkerset.sigs.k8s.io/name", name},
                            {"leaderworkerset.sigs.k8s.io/group-index", "0"},
                            {"leaderworkerset.sigs.k8s.io/template-revision-hash", "r1"}},
                 .annotations = {{"leaderworkerset.sigs.k8s.io/size", absl::StrCat(size + 1)}},
                 .index_label = "leaderworkerset.sigs.k8s.io/worker-index"};
  JobPart workers = leader;
  workers.prefix = inner;
  workers.first = 1;
  workers.pods = size;
  workers.unit = leader_first ? absl::StrCat(name, ".workers") : name;
  workers.owner = absl::StrCat("StatefulSet/", inner);
  workers.after = leader_first ? After::kOthersRun : After::kNothing;
  const auto replica_set = [](const std::string& of, const std::string& owner) {
    return JobObject{
        .api_version = "apps/v1",
        .kind = "StatefulSet",
        .plural = "statefulsets",
        .name = of,
        .spec = Json::Object(
            {{"replicas", 1},
             {"serviceName", of},
             {"selector", Json::Object({{"matchLabels", Json::Object({{"app", "replica"}})}})},
             {"template", Template(Restart::kAlways)}}),
        .owner = owner};
  };
  JobObject inner_set = replica_set(inner, absl::StrCat("Pod/", inner));
  inner_set.with_part = 1;
  JobRecipe recipe{
      .objects = {{.api_version = "leaderworkerset.x-k8s.io/v1",
                   .kind = "LeaderWorkerSet",
                   .plural = "leaderworkersets",
                   .name = name,
                   .spec = Json::Object(
                       {{"replicas", 1},
                        {"startupPolicy", leader_first ? "LeaderReady" : "LeaderCreated"},
                        {"leaderWorkerTemplate", Json::Object({{"size", size + 1}})}})},
                  replica_set(name, absl::StrCat("LeaderWorkerSet/", name)),
                  inner_set},
      .parts = {leader, workers},
      .least = {},
      .restarts_whole = true};
  if (leader_first) {
    recipe.least = {{leader.unit, 1}, {workers.unit, size}};
  } else {
    recipe.least = {{name, size + 1}};
  }
  return recipe;
}

// mpi-operator with WaitForWorkersReady; its group counts the launcher from the beginning.
JobRecipe Mpi(const std::string& name, int size) {
  const std::string owner = absl::StrCat("MPIJob/", name);
  JobPart workers{.prefix = absl::StrCat(name, "-worker"),
                  .pods = size,
                  .unit = absl::StrCat(name, ".workers"),
                  .owner = owner,
                  .labels = {{"scheduling.x-k8s.io/pod-group", name},
                             {"training.kubeflow.org/job-name", name},
                             {"training.kubeflow.org/job-role", "worker"}},
                  .index_label = kReplicaIndex};
  JobPart launcher = workers;
  launcher.prefix = absl::StrCat(name, "-launcher");
  launcher.pods = 1;
  launcher.unit = absl::StrCat(name, ".launcher");
  launcher.owner = absl::StrCat("Job/", name, "-launcher");
  launcher.labels.back().second = "launcher";
  launcher.after = After::kOthersRun;
  JobObject launcher_job = BatchJob(absl::StrCat(name, "-launcher"), 1, owner);
  launcher_job.spec = Json::Object({{"template", Template(Restart::kNever)}});
  launcher_job.with_part = 1;
  const Json specs = Json::Object({{"Launcher", Replicas(1)}, {"Worker", Replicas(size)}});
  return {.objects = {{.api_version = "kubeflow.org/v2beta1",
                       .kind = "MPIJob",
                       .plural = "mpijobs",
                       .name = name,
                       .spec = Json::Object({{"launcherCreationPolicy", "WaitForWorkersReady"},
                                             {"mpiReplicaSpecs", specs}})},
                      Xk8sGroup(name, size + 1, owner),
                      launcher_job},
          .parts = {workers, launcher},
          .least = {{workers.unit, size}, {launcher.unit, 1}}};
}

JobObject RayCluster(const std::string& name, Json workers) {
  Json spec = Json::Object(
      {{"headGroupSpec", Json::Object()}, {"workerGroupSpecs", Json::Array({std::move(workers)})}});
  return {.api_version = "ray.io/v1",
          .kind = "RayCluster",
          .plural = "rayclusters",
          .name = name,
          .spec = std::move(spec)};
}

JobPart RayPods(const std::string& name, const std::string& group, int pods) {
  return {
      .prefix = absl::StrCat(name, "-", group),
      .pods = pods,
      .unit = name,
      .owner = absl::StrCat("RayCluster/", name),
      .labels = {{"ray.io/cluster", name}, {"ray.io/is-ray-node", "yes"}, {"ray.io/group", group}}};
}

// With the autoscaler of Ray, which adds a worker when the cluster runs.
JobRecipe Ray(const std::string& name, int size) {
  const JobPart workers = RayPods(name, "small", size);
  JobPart more = workers;
  more.first = size;
  more.pods = 1;
  more.unit = absl::StrCat(name, ".more");
  more.helps = name;
  more.after = After::kOthersRun;
  JobObject cluster = RayCluster(name, Json::Object({{"groupName", "small"},
                                                     {"replicas", size},
                                                     {"minReplicas", size},
                                                     {"maxReplicas", size + 2}}));
  cluster.spec.Set("enableInTreeAutoscaling", true);
  return {.objects = {std::move(cluster)},
          .parts = {RayPods(name, "headgroup", 1), workers, more},
          .least = {{name, size + 1}, {more.unit, 1}}};
}

// Without it: a user asks for so many workers.
JobRecipe RayByHand(const std::string& name, int size) {
  JobPart workers = RayPods(name, "large", size);
  workers.gpus = 5;
  return {.objects = {RayCluster(name, Json::Object({{"groupName", "large"}, {"replicas", size}}))},
          .parts = {RayPods(name, "headgroup", 1), workers},
          .least = {{name, size + 1}}};
}

Json Definition(const std::string& group, const std::string& version, const std::string& kind,
                const std::string& plural) {
  const Json schema =
      Json::Object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
  const Json served = Json::Object({{"name", version},
                                    {"served", true},
                                    {"storage", true},
                                    {"subresources", Json::Object({{"status", Json::Object()}})},
                                    {"schema", Json::Object({{"openAPIV3Schema", schema}})}});
  return Json::Object(
      {{"apiVersion", "apiextensions.k8s.io/v1"},
       {"kind", "CustomResourceDefinition"},
       {"metadata", Json::Object({{"name", absl::StrCat(plural, ".", group)}})},
       {"spec", Json::Object({{"group", group},
                              {"scope", "Namespaced"},
                              {"names", Json::Object({{"kind", kind},
                                                      {"listKind", absl::StrCat(kind, "List")},
                                                      {"plural", plural},
                                                      {"singular", absl::AsciiStrToLower(kind)}})},
                              {"versions", Json::Array({served})}})}});
}

}  // namespace

bool IsOfProducer(absl::string_view key) {
  return absl::ConsumePrefix(&key, kJobsNamespace) && absl::StartsWith(key, "/");
}

bool CanBeScaled(int kind) { return kind >= kFirstThatScales; }

JobRecipe RecipeFor(int kind, const std::string& name, int size) {
  switch (kind) {
    case 0:
      return Kubeflow(name, size);
    case 1:
      return Volcano(name, size);
    case 2:
      return Indexed(name, size);
    case 3:
      return JobSetInStages(name, size);
    case 4:
      return ExclusiveJobSet(name, size);
    case 5:
      return LeaderWorkerSet(name, size, Startup::kTogether);
    case 6:
      return LeaderWorkerSet(name, size, Startup::kLeaderFirst);
    case 7:
      return Mpi(name, size);
    case 8:
      return Ray(name, size);
    case kElastic:
      return Elastic(name, size);
    default:
      return RayByHand(name, size);
  }
}

std::vector<Json> JobDefinitions() {
  return {Definition("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs"),
          Definition("kubeflow.org", "v2beta1", "MPIJob", "mpijobs"),
          Definition("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"),
          Definition("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"),
          Definition("ray.io", "v1", "RayCluster", "rayclusters")};
}

}  // namespace maniple::sim
