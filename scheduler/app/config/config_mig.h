// The section `gpu.mig` of the configuration file: whether idle nodes are divided for the slices
// that wait, and into what.
//
//   gpu:
//     mig:
//       reconfigure: dryRun          # off; dryRun: events only; on: sets nvidia.com/mig.config
//       after: 1m                    # only for gangs that have waited so long
//       holdOff: 10m                 # between two changes of one node
//       overdueAfter: 15m            # a change that takes longer stops all others
//       defaultConfigs: true         # all-disabled, all-<profile> and all-balanced may be used
//       configs:                     # further names that mig-manager knows, with what they give
//         - name: half-and-half
//           model: H100-80GB         # left out: any that has the profiles
//           gpus: [{count: 4, slices: {1g.10gb: 7}}, {slices: {}}]     # no count: the others
//       tables:                      # models that are not known, or not as they are
//         - model: ACME-X1-40GB
//           product: ACME-X1         # part of nvidia.com/gpu.product
//           slices: [{profile: 1g.5gb, size: 1, starts: [0, 1, 2, 3], max: 4}, …]
#pragma once

#include <string>

#include "scheduler/app/config/config_section.h"
#include "scheduler/mig/mig_fleet.h"

namespace maniple {

void ReadMigConfig(const Json& map, const std::string& path, Problems& problems, MigOptions& out);

}  // namespace maniple
