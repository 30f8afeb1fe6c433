// The commands that go to the API server, under the user's own rights, or to nobody at all, and
// their flags.
#pragma once

#include <CLI/CLI.hpp>

#include "scheduler/cli/command_line.h"
#include "scheduler/cli/hands.h"
#include "scheduler/cli/replay_commands.h"
#include "scheduler/cli/simulate_command.h"

namespace maniple {

// What their flags are read into; outlives the reading.
struct ClusterRequests {
  HandsRequest hands;
  WhatIfRequest what_if;
  SnapshotRequest snapshot;
  SimulateRequest simulate;
};

// hold, release, requeue, whatif, snapshot and simulate. `result` is set when one of them has run.
void AddClusterCommands(CLI::App& app, const CommonFlags& common, ClusterRequests& requests,
                        int& result);

}  // namespace maniple
