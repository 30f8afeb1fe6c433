#include "scheduler/import/queue_tree.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/codec/quantity.h"

namespace maniple {
namespace {

using Amounts = std::map<std::string, Amount>;

// Resources that pods of GPU jobs compete for: cpu, memory and extended resources. Others are
// written only where a queue names them.
bool Counts(absl::string_view resource) {
  return resource == "cpu" || resource == "memory" || absl::StrContains(resource, '/');
}

class Tree final {
 public:
  Tree(std::map<std::string, TreeQueue> queues, std::string top, const Amounts& capacity,
       Imported& out)
      : queues_(std::move(queues)), top_(std::move(top)), capacity_(capacity), out_(out) {
    Connect();
  }

  void Write() {
    if (queues_.empty()) return;
    if (capacity_.empty()) {
      Any().Error("",
                  "no nodes are among the files, and queues share what the nodes have: add what "
                  "`kubectl get nodes -o yaml` prints",
                  out_.findings);
      return;
    }
    std::set<std::string> resources;
    for (const auto& [name, amount] : capacity_) {
      if (Counts(name)) resources.insert(name);
    }
    for (const auto& [name, queue] : queues_) {
      for (const auto& [resource, line] : queue.lines) resources.insert(resource);
    }
    WriteTop(resources);
    for (const std::string& child : children_[top_]) WriteQueue(child, resources);
  }

 private:
  // A parent that does not exist, or a ring of parents, puts the queue on top.
  void Connect() {
    for (auto& [name, queue] : queues_) {
      const bool on_top = queue.parent.empty() || queue.parent == top_;
      if (!on_top && !queues_.contains(queue.parent)) {
        PutOnTop(queue, absl::StrCat("queue ", queue.parent, " is not among the files"));
      } else if (!on_top && LeadsBackTo(name)) {
        PutOnTop(queue, absl::StrCat("its parents go in a ring by ", queue.parent));
      }
      if (queue.parent.empty()) queue.parent = top_;
      children_[queue.parent].push_back(name);
    }
  }

  void PutOnTop(TreeQueue& queue, const std::string& why) {
    queue.from->Error(queue.parent_path, absl::StrCat(why, ": put on top"), out_.findings);
    queue.parent.clear();
  }

  // A ring further up is opened at a queue that is in it.
  [[nodiscard]] bool LeadsBackTo(const std::string& name) const {
    std::set<std::string> seen;
    for (auto at = queues_.find(queues_.at(name).parent); at != queues_.end();
         at = queues_.find(at->second.parent)) {
      if (at->first == name) return true;
      if (!seen.insert(at->first).second) return false;
    }
    return false;
  }

  Amount Below(const std::string& name, const std::string& resource) {
    Amount sum;
    for (const std::string& child : children_[name]) sum += Total(child, resource);
    return sum;
  }

  Amount Total(const std::string& name, const std::string& resource) {
    const TreeQueue& queue = queues_.at(name);
    const auto line = queue.lines.find(resource);
    Amount own;
    if (line != queue.lines.end()) {
      // Nobody is promised what its limit keeps from it.
      own = std::min(line->second.nominal, line->second.limit.value_or(line->second.nominal));
    }
    return std::max(own, Below(name, resource));
  }

  // What is promised to the queues below cannot be taken back here.
  void TellLimitBelowPromises(const TreeQueue& queue, const std::string& resource, Amount limit,
                              Amount promised) {
    queue.from->Note("",
                     absl::StrCat("its limit of ", FormatAmount(resource, limit), " ", resource,
                                  " is not carried over: the queues below it are promised ",
                                  FormatAmount(resource, promised)),
                     out_.findings);
  }

  static std::string TextOf(const std::string& resource, Amount amount) {
    return absl::StrCat(FormatAmount(resource, amount), " ", resource);
  }

  void TellQuotaAboveLimit(const TreeQueue& queue, const std::string& resource,
                           const TreeQueue::Line& line) {
    if (!line.limit.has_value() || line.nominal <= *line.limit) return;
    queue.from->Note(
        "",
        absl::StrCat("its quota of ", TextOf(resource, line.nominal),
                     " is more than its limit, and counts as ", TextOf(resource, *line.limit)),
        out_.findings);
  }

  // What only a Queue can say.
  void TellSpecOfCohort(const TreeQueue& queue) {
    for (const absl::string_view key : {"ordering", "stopPolicy"}) {
      if (!queue.own_spec.Has(key)) continue;
      queue.from->Note(
          "",
          absl::StrCat("has queues below it, and so is a Cohort, which has no ", key, ": give ",
                       key, ": ", queue.own_spec[key].AsString(), " to these"),
          out_.findings);
    }
  }

  // A Queue that does not list a resource is held to no Cohort's limit of it either.
  void TellLimitsAbove(const TreeQueue& queue, const std::string& resource) {
    for (auto above = queues_.find(queue.parent); above != queues_.end();
         above = queues_.find(above->second.parent)) {
      const auto line = above->second.lines.find(resource);
      if (line == above->second.lines.end() || !line->second.limit.has_value()) continue;
      queue.from->Note("",
                       absl::StrCat("the limit of queue ", above->first, " of ",
                                    FormatAmount(resource, *line->second.limit), " ", resource,
                                    " does not hold for it: give it an amount of its own"),
                       out_.findings);
    }
  }

  void WriteTop(const std::set<std::string>& resources) {
    Json quotas = Json::Array();
    for (const std::string& resource : resources) {
      const auto has = capacity_.find(resource);
      if (has == capacity_.end()) continue;
      const Amount rest = has->second - Below(top_, resource);
      if (rest > Amount()) {
        quotas.Append(
            Json::Object({{"name", resource}, {"nominal", FormatAmount(resource, rest)}}));
      } else if (rest < Amount()) {
        Any().Note("",
                   absl::StrCat("the queues are promised more ", resource, " than the nodes have: ",
                                FormatAmount(resource, Below(top_, resource)), " of ",
                                FormatAmount(resource, has->second)),
                   out_.findings);
      }
    }
    Put("Cohort", top_, Json::Object(), std::move(quotas));
  }

  void WriteQueue(const std::string& name, const std::set<std::string>& resources) {
    const TreeQueue& queue = queues_.at(name);
    const bool inner = !children_[name].empty();
    Json quotas = Json::Array();
    for (const std::string& resource : resources) {
      if (!inner && queue.unlimited.contains(resource)) {
        TellLimitsAbove(queue, resource);
        continue;
      }
      const auto line = queue.lines.find(resource);
      const Amount total = Total(name, resource);
      Json entry = Json::Object(
          {{"name", resource}, {"nominal", FormatAmount(resource, total - Below(name, resource))}});
      if (line != queue.lines.end()) {
        TellQuotaAboveLimit(queue, resource, line->second);
        if (line->second.limit.has_value()) {
          const Amount more = std::max(Amount(), *line->second.limit - total);
          if (*line->second.limit < total) {
            TellLimitBelowPromises(queue, resource, *line->second.limit, total);
          }
          entry.Set("borrowingLimit", FormatAmount(resource, more));
        }
        if (line->second.reserved.has_value()) {
          const Amount lent = std::max(Amount(), total - *line->second.reserved);
          entry.Set("lendingLimit", FormatAmount(resource, lent));
        }
      }
      quotas.Append(std::move(entry));
    }
    if (inner) TellSpecOfCohort(queue);
    Json spec = inner ? Json::Object() : queue.own_spec;
    spec.Set(inner ? "parent" : "cohort", queue.parent);
    if (!queue.weight.is_null()) {
      spec.Set("fairShare", Json::Object({{"weight", queue.weight}}));
    }
    if (!inner && (name == "default" || name == "default-queue")) {
      queue.from->Note("metadata.name",
                       absl::StrCat("jobs that name no queue name this one, too; the scheduler "
                                    "charges them to it with `producers.queues: {",
                                    name, ": ", name, "}` in its configuration"),
                       out_.findings);
    }
    Put(inner ? "Cohort" : "Queue", name, std::move(spec), std::move(quotas));
    for (const std::string& child : children_[name]) WriteQueue(child, resources);
  }

  void Put(absl::string_view kind, const std::string& name, Json spec, Json resources) {
    if (resources.size() > 0) {
      spec.Set("quotas",
               Json::Array({Json::Object({{"flavor", ""}, {"resources", std::move(resources)}})}));
    }
    out_.objects.push_back(OurObject(kind, name, std::move(spec)));
  }

  ForeignManifest& Any() { return *queues_.begin()->second.from; }

  std::map<std::string, TreeQueue> queues_;
  std::string top_;
  const Amounts& capacity_;
  Imported& out_;
  std::map<std::string, std::vector<std::string>> children_;
};

}  // namespace

void ImportTree(std::map<std::string, TreeQueue> queues, const std::string& top,
                const Amounts& capacity, Imported& out) {
  Tree(std::move(queues), top, capacity, out).Write();
}

Amounts TakeAmounts(ForeignManifest& queue, absl::string_view path, Imported& out) {
  Amounts amounts;
  for (const auto& [theirs, value] : queue.Take(path).members()) {
    const std::string resource = theirs == "vcore" ? "cpu" : theirs;
    const absl::StatusOr<Amount> amount =
        ParseAmount(resource, value.is_string() ? value.AsString() : value.Dump());
    if (amount.ok()) {
      amounts[resource] = *amount;
    } else {
      queue.Error(queue.PathOf(absl::StrCat(path, ".", theirs)), amount.status().message(),
                  out.findings);
    }
  }
  return amounts;
}

Amounts CapacityOf(const ForeignManifests& objects) {
  Amounts out;
  for (const ForeignManifest& object : objects) {
    if (object.kind() != "Node") continue;
    for (const auto& [resource, value] : object.whole().At("status.allocatable").members()) {
      const std::string text = value.is_string() ? value.AsString() : value.Dump();
      const absl::StatusOr<Amount> amount = ParseAmount(resource, text);
      if (amount.ok() && *amount > Amount()) out[resource] += *amount;
    }
  }
  return out;
}

}  // namespace maniple
