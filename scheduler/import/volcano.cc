// Queues of the capacity plugin: capability is a limit, deserved is nominal, guarantee is never
// lent.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/codec/quantity.h"
#include "scheduler/import/queue_tree.h"

namespace maniple {
namespace {

constexpr absl::string_view kTop = "root";

using Amounts = std::map<std::string, Amount>;

Amounts AmountsOf(ForeignObject& queue, absl::string_view path, Imported& out) {
  Amounts amounts;
  for (const auto& [resource, value] : queue.Take(path).members()) {
    const std::string text = value.is_string() ? value.AsString() : value.Dump();
    const absl::StatusOr<Amount> amount = ParseAmount(resource, text);
    if (amount.ok()) {
      amounts[resource] = *amount;
    } else {
      queue.Error(absl::StrCat("spec.", path, ".", resource), amount.status().message(),
                  out.findings);
    }
  }
  return amounts;
}

Json OwnSpecOf(ForeignObject& queue, Imported& out) {
  Json spec = Json::Object();
  const std::string& order = queue.Take("dequeueStrategy").AsString();
  if (order == "fifo") spec.Set("ordering", "StrictFIFO");
  if (order == "traverse") spec.Set("ordering", "BestEffortFIFO");
  // The state in the status counts; the field of the spec is the older one.
  std::string state = queue.whole().At("status.state").AsString();
  if (const Json& wanted = queue.Take("state"); state.empty()) state = wanted.AsString();
  if (state == "Closed" || state == "Closing") spec.Set("stopPolicy", "Hold");
  spec.Set("preemption",
           Json::Object({{"withinQueue", "LowerPriority"}, {"reclaimWithinCohort", "Any"}}));
  if (const Json& reclaimable = queue.Take("reclaimable");
      reclaimable.is_bool() && !reclaimable.AsBool()) {
    queue.Note("spec.reclaimable",
               "not carried over: others get back here what is theirs; to keep it, make it nominal",
               out.findings);
  }
  return spec;
}

TreeQueue VolcanoTreeQueue(ForeignObject& queue, Imported& out) {
  TreeQueue tree{.from = &queue, .parent = queue.Take("parent").AsString()};
  const Amounts capability = AmountsOf(queue, "capability", out);
  const Amounts deserved = AmountsOf(queue, "deserved", out);
  for (const auto& [resource, amount] : capability) tree.lines[resource].limit = amount;
  for (const auto& [resource, amount] : deserved) tree.lines[resource].nominal = amount;
  for (const auto& [resource, amount] : AmountsOf(queue, "guarantee.resource", out)) {
    TreeQueue::Line& line = tree.lines[resource];
    line.nominal = std::max(line.nominal, amount);
    line.reserved = amount;
  }
  tree.own_spec = OwnSpecOf(queue, out);
  tree.weight = queue.Take("weight");
  queue.HasNoCounterpart("priority", "Queues are served by their shares", out.findings);
  queue.HasNoCounterpart("affinity", "name the nodes in a ResourceFlavor, and quota for that only",
                         out.findings);
  queue.HasNoCounterpart("type", "Queues are of one type", out.findings);
  queue.HasNoCounterpart("extendClusters", "one scheduler serves one cluster", out.findings);
  return tree;
}

}  // namespace

void ImportVolcano(ForeignObjects& objects, Imported& out) {
  std::map<std::string, TreeQueue> queues;
  for (ForeignObject& object : objects) {
    if (object.kind() != "Queue") continue;
    TreeQueue queue = VolcanoTreeQueue(object, out);
    if (object.name() != kTop) {
      queues.emplace(object.name(), std::move(queue));
      continue;
    }
    for (const absl::string_view amounts : {"capability", "deserved", "guarantee"}) {
      object.HasNoCounterpart(amounts, "the Cohort above all has what the nodes have",
                              out.findings);
    }
  }
  ImportTree(std::move(queues), std::string(kTop), CapacityOf(objects), out);
}

}  // namespace maniple
