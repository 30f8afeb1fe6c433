#include "scheduler/cli/cluster_commands.h"

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

void AddHands(CLI::App& app, const CommonFlags& common, HandsRequest& hands, int& result) {
  const auto add = [&](const char* verb, const char* what, int (*run)(const HandsRequest&)) {
    CLI::App* command = app.add_subcommand(verb, what);
    command->footer(absl::StrCat("Example:\n  maniple ", verb, " llama-pretrain -n research"));
    command->add_option("GANG", hands.gang, "Its PodGroup, or kind/name of its job")->required();
    command->add_option("-n,--namespace", hands.namespace_name,
                        "Its namespace (default: that of the context)");
    command->callback([=, &hands, &result] {
      if (RefusesOutput(common, verb, {"table", "json", "yaml", "name"}, result)) return;
      hands.client = common.client;
      hands.output = common.output;
      if (hands.namespace_name.empty()) hands.namespace_name = common.namespace_name;
      result = run(hands);
    });
    return command;
  };
  add("hold", "Keep a gang from starting; its running pods go on", RunHold);
  add("release", "Let a held gang start again", RunRelease);
  add("requeue", "Delete the running pods of a gang, so that it waits in line again", RunRequeue)
      ->add_flag("--force", hands.force, "Also delete pods that no controller makes again");
}

void AddWhatIf(CLI::App& app, const CommonFlags& common, WhatIfRequest& asked, int& result) {
  CLI::App* command = app.add_subcommand(
      "whatif", "Tell whether a job would start, and when, from a replay of the cluster");
  command->footer(
      "Example:\n  maniple whatif -f job.yaml --add-nodes 2:like=gpu-7 --quota research=+16\n"
      "Exit status: 0 all would start, 3 some would not within the horizon, 1 there is no answer");
  command->add_option("GANG", asked.gangs,
                      "Gangs that already wait: NAME, NAMESPACE/NAME, or as pytorchjob/NAME");
  command->add_option("-f,--filename", asked.files, "Pods, PodGroups and Jobs; - is standard input")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option(
      "-n,--namespace", asked.namespace_name,
      "Namespace of gangs and objects that name none (default: that of the context)");
  command->add_option("--at", asked.at, "The time of the question: a time, or 2h from now")
      ->type_name("TIME");
  command->add_option("--horizon", asked.horizon, "How far ahead to look (default 24h)")
      ->type_name("DURATION");
  command->add_option("--add-nodes", asked.nodes, "Add so many copies of that node")
      ->type_name("N:like=NODE")
      ->allow_extra_args(false);
  command->add_option("--quota", asked.quota, "Add so much nominal quota; -N takes away")
      ->type_name("QUEUE[/RESOURCE[@FLAVOR]]=+N")
      ->allow_extra_args(false);
  command->add_option("--snapshot", asked.snapshot, "Use this file in place of the cluster")
      ->type_name("FILE");
  command->add_option("--config", asked.config, "The scheduler's configuration")->type_name("FILE");
  command->callback([=, &asked, &result] {
    if (RefusesOutput(common, "whatif", {"table", "json", "yaml"}, result)) return;
    asked.client = common.client;
    asked.output = common.output;
    if (asked.namespace_name.empty()) asked.namespace_name = common.namespace_name;
    result = RunWhatIf(asked);
  });
}

void AddSnapshot(CLI::App& app, const CommonFlags& common, SnapshotRequest& taken, int& result) {
  CLI::App* command =
      app.add_subcommand("snapshot", "The cluster's state as one file, for maniple whatif");
  command->footer("Example:\n  maniple snapshot --redact cluster.snapshot");
  command->add_option("FILE", taken.file, "The file to write; - is standard output")->required();
  command->add_flag("--redact", taken.redact,
                    "For others: every name is replaced, and commands and images are left out");
  command
      ->add_option("--config", taken.config,
                   "The scheduler's configuration, which tells the producers' kinds to read")
      ->type_name("FILE");
  command->callback([=, &taken, &result] {
    if (RefusesOutput(common, "snapshot", {}, result)) return;
    if (!common.namespace_name.empty()) {
      throw CLI::ValidationError("-n", "a snapshot is of the whole cluster");
    }
    taken.client = common.client;
    result = RunSnapshot(taken);
  });
}

void AddSimulate(CLI::App& app, const CommonFlags& common, SimulateRequest& asked, int& result) {
  CLI::App* command = app.add_subcommand(
      "simulate", "Play a trace of jobs on a cluster, in seconds; configurations side by side");
  command->footer(
      "Example:\n  maniple simulate philly.csv.gz --nodes 310:gpus=8 --quota demand --plot "
      "load.svg");
  command
      ->add_option(
          "TRACE", asked.trace,
          "CSV of jobs, openb, Philly, Standard Workload Format, sacct -P; also gzipped; - "
          "is standard input; or a snapshot alone, to learn when its waiting gangs start")
      ->required();
  command->add_option("--nodes", asked.nodes, "Add so many nodes of a kind")
      ->type_name("N[:gpus=8,cpu=128,memory=2Ti,model=NAME]")
      ->allow_extra_args(false);
  command
      ->add_option("--cluster", asked.cluster,
                   "Nodes, Queues, Topologies …: manifests, a snapshot, or a node list of openb")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--config", asked.configs, "A configuration of the scheduler; one or several")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--quota", asked.quota,
          "Quota of Queues that the cluster lacks: none, or all GPUs in equal parts or by demand")
      ->check(CLI::IsMember({"none", "equal", "demand"}));
  command->add_option("--first", asked.first, "Play only the first so many jobs")
      ->check(CLI::PositiveNumber);
  command->add_option("--speed", asked.speed, "Jobs come so many times as fast (default 1)")
      ->check(CLI::Range(1e-3, 1e6));
  command->add_flag("--run-times-known", asked.tells_run_times,
                    "Jobs tell their run times, so that gaps can be filled");
  command->add_option("--csv", asked.csv, "Write each job's times")->type_name("FILE");
  command->add_option("--plot", asked.plot, "Draw the load as SVG")->type_name("FILE");
  command->callback([=, &asked, &result] {
    if (RefusesOutput(common, "simulate", {"table", "json", "yaml"}, result)) return;
    asked.output = common.output;
    result = RunSimulate(asked);
  });
}

}  // namespace

void AddClusterCommands(CLI::App& app, const CommonFlags& common, ClusterRequests& requests,
                        int& result) {
  AddHands(app, common, requests.hands, result);
  AddWhatIf(app, common, requests.what_if, result);
  AddSnapshot(app, common, requests.snapshot, result);
  AddSimulate(app, common, requests.simulate, result);
}

}  // namespace maniple
