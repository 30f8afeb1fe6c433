#include "scheduler/app/cluster_commands.h"

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

void AddHands(CLI::App& app, const CommonFlags& common, HandsRequest& hands, int& result) {
  const auto add = [&](const char* verb, const char* what, int (*run)(const HandsRequest&)) {
    CLI::App* command = app.add_subcommand(verb, what);
    command->footer(absl::StrCat("Example:\n  maniple ", verb, " llama-pretrain -n research"));
    command->add_option("GANG", hands.gang, "Its PodGroup")->required();
    command->add_option("-n,--namespace", hands.namespace_name, "Its namespace (default: default)");
    command->callback([=, &hands, &result] {
      hands.client = common.client;
      result = run(hands);
    });
    return command;
  };
  add("hold", "Let nothing of a gang start; what runs of it goes on", RunHold);
  add("release", "Take a hold back", RunRelease);
  add("requeue", "Delete the pods of a gang that run, so that it waits in line again", RunRequeue)
      ->add_flag("--force", hands.force, "Also pods that no controller makes again");
}

void AddWhatIf(CLI::App& app, const CommonFlags& common, WhatIfRequest& asked, int& result) {
  CLI::App* command =
      app.add_subcommand("whatif", "Would a job start, and when: asked of a replay of the cluster");
  command->footer(
      "Example:\n  maniple whatif -f job.yaml --add-nodes 2:like=gpu-7 --quota research=+16");
  command->add_option("GANG", asked.gangs, "Gangs that wait already");
  command->add_option("-f,--filename", asked.files, "Pods, PodGroups and Jobs; - is standard input")
      ->type_name("FILE");
  command->add_option("-n,--namespace", asked.namespace_name,
                      "Of gangs and objects that name none (default: default)");
  command->add_option("--at", asked.at, "Asked then: a time, or 2h from now")->type_name("TIME");
  command->add_option("--horizon", asked.horizon, "How far ahead to look (default 24h)")
      ->type_name("DURATION");
  command->add_option("--add-nodes", asked.nodes, "With so many nodes more, copies of that one")
      ->type_name("N:like=NODE");
  command->add_option("--quota", asked.quota, "With so much more nominal quota; -N is less")
      ->type_name("QUEUE[/RESOURCE]=+N");
  command->add_option("--snapshot", asked.snapshot, "Ask of this file in place of the cluster")
      ->type_name("FILE");
  command->add_option("--config", asked.config, "The scheduler's configuration")->type_name("FILE");
  command->callback([=, &asked, &result] {
    asked.client = common.client;
    asked.output = common.output;
    result = RunWhatIf(asked);
  });
}

void AddSnapshot(CLI::App& app, const CommonFlags& common, SnapshotRequest& taken, int& result) {
  CLI::App* command =
      app.add_subcommand("snapshot", "The cluster's state as one file, for maniple whatif");
  command->footer("Example:\n  maniple snapshot cluster.snapshot");
  command->add_option("FILE", taken.file, "To be written; - is standard output")->required();
  command->add_option("--config", taken.config, "Of the scheduler: which producers' kinds to read")
      ->type_name("FILE");
  command->callback([=, &taken, &result] {
    taken.client = common.client;
    result = RunSnapshot(taken);
  });
}

}  // namespace

void AddClusterCommands(CLI::App& app, const CommonFlags& common, ClusterRequests& requests,
                        int& result) {
  AddHands(app, common, requests.hands, result);
  AddWhatIf(app, common, requests.what_if, result);
  AddSnapshot(app, common, requests.snapshot, result);
}

}  // namespace maniple
