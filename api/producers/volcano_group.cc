// PodGroup of scheduling.volcano.sh/v1beta1.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {
namespace {

constexpr absl::string_view kTaskLabel = "volcano.sh/task-spec";
constexpr absl::string_view kPartitionLabel = "volcano.sh/partition-id";

// How close members have to be: hard is a level, soft is one that is only preferred.
struct NetworkTopology {
  bool hard = true;
  std::string level;
};

// Of the pods of one task, or of their partitions.
struct SubGroupPolicy {
  NetworkTopology topology;
  int64_t size = 1;
  int64_t least = 0;  // sub-groups that have to be there
  std::string task;
  bool by_partition = false;
  bool is_known = true;  // it tells pods apart by nothing but task and partition
};

void ReadTasks(const Cursor& tasks, ForeignSpec& spec) {
  for (const Cursor& task : tasks.Members()) {
    spec.parts.push_back(
        {.name = std::string(task.CheckedKey()), .members = ReadCount(task, spec)});
  }
  const auto by_name = [](const ForeignPart& a, const ForeignPart& b) { return a.name < b.name; };
  std::sort(spec.parts.begin(), spec.parts.end(), by_name);
}

// A tier by name is a level of ours; one by number is a level, too, counted from the narrowest.
NetworkTopology ReadNetworkTopology(const Cursor& topology, ForeignSpec& spec) {
  NetworkTopology out;
  for (const Cursor& field : topology.Members()) {
    if (field.key() == "mode") out.hard = field.View() != "soft";
    if (field.key() == "highestTierName") out.level = field.Text();
    if (field.key() == "highestTierAllowed") {
      out.level = absl::StrCat(kTierWord, ReadCount(field, spec));
    }
  }
  return out;
}

void ReadSelector(const Cursor& selector, SubGroupPolicy& policy) {
  for (const Cursor& field : selector.Members()) {
    policy.is_known &= field.key() == "matchLabels";
    if (field.key() != "matchLabels") continue;
    for (const Cursor& label : field.Members()) {
      policy.is_known &= label.key() == kTaskLabel;
      if (label.key() == kTaskLabel) policy.task = label.Text();
    }
  }
}

SubGroupPolicy ReadSubGroupPolicy(const Cursor& item, ForeignSpec& spec) {
  SubGroupPolicy policy;
  for (const Cursor& field : item.Members()) {
    if (field.key() == "networkTopology") policy.topology = ReadNetworkTopology(field, spec);
    if (field.key() == "subGroupSize") policy.size = ReadCount(field, spec);
    if (field.key() == "minSubGroups") policy.least = ReadCount(field, spec);
    if (field.key() == "labelSelector") ReadSelector(field, policy);
    if (field.key() != "matchLabelKeys") continue;
    for (const Cursor& key : field.Items()) {
      policy.by_partition |= key.View() == kPartitionLabel;
      policy.is_known &= key.View() == kPartitionLabel || key.View() == kTaskLabel;
    }
  }
  policy.is_known &= !policy.task.empty();
  return policy;
}

ForeignPart& PartOfTask(const std::string& task, ForeignSpec& spec) {
  const auto found = std::find_if(spec.parts.begin(), spec.parts.end(),
                                  [&task](const ForeignPart& part) { return part.name == task; });
  return found != spec.parts.end() ? *found : spec.parts.emplace_back(ForeignPart{.name = task});
}

// Partitions of a task are so many pods that follow each other, which a slice is.
void Apply(const SubGroupPolicy& policy, absl::string_view path, ForeignSpec& spec) {
  const NetworkTopology& wanted = policy.topology;
  if (!policy.is_known) {
    if (!wanted.hard || wanted.level.empty()) return;
    return NoteProblem(spec, absl::StrCat(path, ": pods can be told apart only by the labels ",
                                          kTaskLabel, " and ", kPartitionLabel));
  }
  ForeignPart& part = PartOfTask(policy.task, spec);
  part.members = std::max(part.members, CheckedCount(policy.size * policy.least, path, spec));
  if (wanted.level.empty()) return;
  if (!wanted.hard) {
    part.topology.preferred = wanted.level;
  } else if (!policy.by_partition) {
    part.topology.required = wanted.level;
  } else if (policy.size > 0) {
    part.topology.slice_size = static_cast<int32_t>(policy.size);
    part.topology.slice_level = wanted.level;
  }
}

}  // namespace

ForeignSpec ReadVolcanoGroup(const Cursor& root) {
  ForeignSpec spec;
  spec.minimum = 0;
  std::vector<std::pair<std::string, SubGroupPolicy>> policies;  // by path
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      ReadGroupField(field, spec);
      if (field.key() == "minTaskMember") ReadTasks(field, spec);
      if (field.key() == "networkTopology") {
        NetworkTopology wanted = ReadNetworkTopology(field, spec);
        (wanted.hard ? spec.topology.required : spec.topology.preferred) = std::move(wanted.level);
      }
      if (field.key() != "subGroupPolicy") continue;
      for (const Cursor& item : field.Items()) {
        policies.emplace_back(item.Path(), ReadSubGroupPolicy(item, spec));
      }
    }
  });
  // As Volcano has it: tasks that ask for more than the whole are not looked at.
  if (MembersOf(spec) > spec.minimum.value_or(0)) spec.parts.clear();
  if (spec.minimum == 0) return spec;
  for (const auto& [path, policy] : policies) Apply(policy, path, spec);
  const int64_t sum = CheckedCount(MembersOf(spec), "spec.subGroupPolicy: the sum of all", spec);
  spec.minimum = std::max(*spec.minimum, sum);
  return spec;
}

}  // namespace maniple
