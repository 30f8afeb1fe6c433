#include "test/sim/beliefs.h"

#include "absl/strings/str_cat.h"

namespace maniple::sim {

void TellBeliefs(const Process& process, std::vector<std::string>& log) {
  const ClusterViewPtr view = process.loop().View(process.Now());
  for (const GangView& gang : view->gangs) {
    std::string line = absl::StrCat("#", process.life(), " believes ", gang.namespace_name, "/",
                                    gang.name, " of \"", gang.queue, "\" ", gang.phase, " ",
                                    gang.reason, ": ", gang.message, "; ", gang.preemption, ";");
    for (const GangMemberView& pod : gang.pods) {
      absl::StrAppend(&line, " ", pod.pod, "=", pod.state, "@", pod.node);
    }
    log.push_back(std::move(line));
  }
  for (const QueueView& queue : view->queues) {
    std::string line = absl::StrCat("#", process.life(), " believes queue ", queue.name, ":");
    for (const QuotaUsageView& usage : queue.usage) {
      absl::StrAppend(&line, " ", usage.used.units(), " of ", usage.nominal.units(), " ",
                      usage.resource, " of flavor \"", usage.flavor, "\" used,");
    }
    log.push_back(absl::StrCat(line, " ", queue.problem));
  }
  for (const NodeRow& node : view->nodes) {
    std::string line = absl::StrCat("#", process.life(), " believes node ", node.name, ": ");
    for (const NodeResourceView& resource : node.resources) {
      if (!resource.gpu) continue;
      absl::StrAppend(&line, resource.free.units(), " of ", resource.allocatable.units(), " ",
                      resource.resource, " free,");
    }
    for (const NodeUseView& use : node.uses) {
      absl::StrAppend(&line, " ", use.amount, " by ", use.gang);
    }
    for (const NodeUseView& use : node.held) {
      absl::StrAppend(&line, " ", use.amount, " held for ", use.gang);
    }
    log.push_back(std::move(line));
  }
}

}  // namespace maniple::sim
