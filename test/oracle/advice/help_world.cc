#include "test/oracle/advice/help_world.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugins/builtin.h"
#include "test/support/builders.h"
#include "test/support/scripted_api.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

std::string OneOf(Random& random, const std::vector<std::string>& of) {
  return of[random.Below(of.size())];
}

void PutNodes(const HelpWorld& world, ScriptedApi& api) {
  for (const HelpWorld::NodeLine& line : world.nodes) {
    MakeNode node(line.name);
    node.Gpu(line.gpu).Cpu(line.cpu).Label("kubernetes.io/hostname", line.name).Label("block", "b");
    node.Label("rack", line.rack);
    if (!line.product.empty()) node.Product(line.product);
    if (line.cordoned) node.Cordoned();
    if (!line.taint.empty()) node.WithTaint(line.taint);
    api.Put(static_cast<Node>(node));
  }
  Topology topology;
  topology.meta.name = "default";
  topology.levels = {{.name = "block", .node_label = "block"},
                     {.name = "rack", .node_label = "rack"}};
  api.Put(topology);
}

std::vector<FlavorQuota> Gpus(int64_t nominal) {
  return {{.flavor = "", .resources = {{.resource = kGpuResource, .nominal = Amount(nominal)}}}};
}

void PutQueues(const HelpWorld& world, ScriptedApi& api) {
  for (const HelpWorld::QueueLine& line : world.queues) {
    Queue queue;
    queue.meta.name = line.name;
    queue.cohort = line.in_cohort ? "all" : "";
    queue.quotas = Gpus(line.nominal);
    if (line.preempts_lower) queue.within_queue = WithinQueuePreemption::kLowerPriority;
    api.Put(queue);
  }
  Cohort cohort;
  cohort.meta.name = "all";
  cohort.quotas = Gpus(world.cohort_nominal);
  api.Put(cohort);
}

void PutGroup(const std::string& name, const std::string& queue, int min_member,
              const std::string& required, ScriptedApi& api) {
  PodGroup group = MakePodGroup(name).MinMember(min_member);
  group.spec.queue = queue;
  group.spec.topology.required = required;
  group.meta.created = kNow - absl::Hours(1);
  api.Put(group);
}

void PutGangs(const HelpWorld& world, ScriptedApi& api) {
  for (const HelpWorld::RunningLine& line : world.running) {
    PutGroup(line.name, line.queue, static_cast<int>(line.nodes.size()), "", api);
    for (size_t i = 0; i < line.nodes.size(); ++i) {
      Pod pod = MakePod(absl::StrCat(line.name, "-", i))
                    .Group(line.name)
                    .Gpu(line.gpu)
                    .Priority(line.priority)
                    .On(line.nodes[i])
                    .Phase(PodPhase::kRunning);
      pod.meta.created = kNow - absl::Hours(1);
      api.Put(pod);
    }
  }
  PutGroup("w", world.queue, world.min_member, world.required, api);
  for (int i = 0; i < world.pods; ++i) {
    Pod pod = MakePod(absl::StrCat("w-", i))
                  .Group("w")
                  .Gpu(world.gpu)
                  .Cpu(world.cpu * 1000)
                  .Priority(world.priority);
    pod.meta.created = kNow;
    api.Put(pod);
  }
}

// A leader that has heard of all this and has written nothing yet.
std::shared_ptr<SchedulingLoop> LoopIn(const HelpWorld& world, std::vector<std::string>& log) {
  ScriptedApi api;
  PutNodes(world, api);
  PutQueues(world, api);
  PutGangs(world, api);
  LoopOptions options;
  options.profile = BuiltinProfile();
  auto loop = std::make_shared<SchedulingLoop>(std::move(options));
  loop->SetRole(SchedulingLoop::Role::kLeader);
  for (ObjectEvent& event : api.List()) loop->Accept(std::move(event));
  while (loop->Turn(kNow).more) {
  }
  for (std::string& line : loop->TakeDecisionLog()) log.push_back(std::move(line));
  return loop;
}

}  // namespace

HelpWorld RandomHelpWorld(Random& random) {
  HelpWorld world;
  const std::vector<std::string> products = {"", "NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"};
  const bool labelled = random.OneIn(3);
  const size_t count = 1 + random.Below(5);
  std::vector<int64_t> free;
  for (size_t i = 0; i < count; ++i) {
    HelpWorld::NodeLine node{.name = absl::StrCat("n", i),
                             .gpu = int64_t{1} << random.Below(4),
                             .rack = absl::StrCat("r", random.Below(3)),
                             .product = labelled ? OneOf(random, products) : "",
                             .cordoned = random.OneIn(6),
                             .taint = random.OneIn(8) ? "maintenance" : ""};
    free.push_back(node.gpu);
    world.nodes.push_back(std::move(node));
  }
  const bool preempts = random.OneIn(2);
  for (const char* name : {"q0", "q1"}) {
    world.queues.push_back({.name = name,
                            .nominal = static_cast<int64_t>(random.Below(13)),
                            .in_cohort = !random.OneIn(3),
                            .preempts_lower = preempts});
  }
  world.cohort_nominal = static_cast<int64_t>(random.Below(5));
  world.queue = random.OneIn(3) ? "" : "q0";
  for (size_t g = random.Below(4); g > 0; --g) {
    HelpWorld::RunningLine gang{.name = absl::StrCat("g", g),
                                .queue = OneOf(random, {"", "q0", "q1"}),
                                .priority = static_cast<int32_t>(5 + random.Below(4)),
                                .gpu = static_cast<int64_t>(1 + random.Below(3))};
    for (size_t p = 1 + random.Below(3); p > 0; --p) {
      const size_t node = random.Below(count);
      if (free[node] < gang.gpu) continue;
      free[node] -= gang.gpu;
      gang.nodes.push_back(world.nodes[node].name);
    }
    if (!gang.nodes.empty()) world.running.push_back(std::move(gang));
  }
  world.pods = static_cast<int>(1 + random.Below(5));
  world.min_member = static_cast<int>(1 + random.Below(static_cast<uint64_t>(world.pods)));
  world.gpu = static_cast<int64_t>(1 + random.Below(4));
  if (random.OneIn(8)) {
    world.gpu = 0;
    world.cpu = static_cast<int64_t>(20 + random.Below(40));
  }
  if (random.OneIn(2)) world.required = OneOf(random, {"rack", "rack", "block"});
  return world;
}

Outcome WhatBecomesOf(const HelpWorld& world) {
  std::vector<std::string> log;
  static_cast<void>(LoopIn(world, log));
  for (const std::string& line : log) {
    if (absl::StartsWith(line, "place default/w quorum")) return Outcome::kStarts;
    if (absl::StartsWith(line, "preempt default/w")) return Outcome::kEvicts;
  }
  return Outcome::kWaits;
}

AskedHelp AskForHelp(const HelpWorld& world) {
  std::vector<std::string> log;
  AskedHelp asked{.loop = LoopIn(world, log), .question = nullptr};
  asked.question = asked.loop->HelpFor({.namespace_name = "default", .name = "w"}, kNow);
  return asked;
}

std::string TextOf(const HelpWorld& world) {
  std::string out =
      absl::StrCat("w: ", world.pods, " pods, quorum ", world.min_member, ", gpu ", world.gpu,
                   ", cpu ", world.cpu, ", queue ", world.queue, ", required ", world.required,
                   ", priority ", world.priority, "\n");
  for (const HelpWorld::NodeLine& node : world.nodes) {
    absl::StrAppend(&out, "node ", node.name, " gpu ", node.gpu, " rack ", node.rack, " ",
                    node.product, node.cordoned ? " cordoned" : "", " ", node.taint, "\n");
  }
  for (const HelpWorld::QueueLine& queue : world.queues) {
    absl::StrAppend(&out, "queue ", queue.name, " ", queue.nominal,
                    queue.in_cohort ? " in cohort" : "", queue.preempts_lower ? " preempts" : "",
                    "\n");
  }
  absl::StrAppend(&out, "cohort ", world.cohort_nominal, "\n");
  for (const HelpWorld::RunningLine& gang : world.running) {
    absl::StrAppend(&out, "gang ", gang.name, " queue ", gang.queue, " priority ", gang.priority,
                    " gpu ", gang.gpu, " on ", absl::StrJoin(gang.nodes, " "), "\n");
  }
  return out;
}

}  // namespace maniple
