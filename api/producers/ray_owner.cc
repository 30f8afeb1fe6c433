// RayCluster of ray.io/v1.
#include <algorithm>

#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {
namespace {

struct WorkerGroup {
  std::string path, name;
  int64_t replicas = 0;
  int64_t least = 0;
  int64_t most = kMostMembers;
  int64_t hosts = 1;
  bool suspended = false;
};

WorkerGroup ReadWorkers(const Cursor& item, ForeignSpec& spec) {
  WorkerGroup group;
  group.path = item.Path();
  for (const Cursor& field : item.Members()) {
    if (field.key() == "groupName") group.name = field.Text();
    if (field.key() == "replicas") group.replicas = ReadCount(field, spec);
    if (field.key() == "minReplicas") group.least = ReadCount(field, spec);
    if (field.key() == "maxReplicas") group.most = ReadCount(field, spec);
    if (field.key() == "numOfHosts") group.hosts = ReadCount(field, spec);
    if (field.key() == "suspend") group.suspended = field.Bool();
  }
  return group;
}

void ReadPriority(const Cursor& meta, ForeignSpec& spec) {
  ForMember(meta, "labels", [&](const Cursor& labels) {
    ForMember(labels, "ray.io/priority-class-name",
              [&](const Cursor& name) { spec.priority_class_name = name.Text(); });
  });
}

}  // namespace

ForeignSpec ReadRayCluster(const Cursor& root) {
  ForeignSpec spec;
  bool grows_itself = false;
  std::vector<WorkerGroup> groups;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      if (field.key() == "enableInTreeAutoscaling") grows_itself = field.Bool();
      if (field.key() != "workerGroupSpecs") continue;
      for (const Cursor& item : field.Items()) groups.push_back(ReadWorkers(item, spec));
    }
  });
  ForMember(root, "metadata", [&](const Cursor& meta) { ReadPriority(meta, spec); });
  spec.parts.push_back({.name = "headgroup", .members = 1});
  for (const WorkerGroup& group : groups) {
    const int64_t wanted = std::min(std::max(group.replicas, group.least), group.most);
    // Workers above the least are made once Ray asks for them.
    const int64_t replicas = group.suspended ? 0 : grows_itself ? group.least : wanted;
    const int64_t members = CheckedCount(replicas * group.hosts, group.path, spec);
    spec.parts.push_back(
        {.name = group.name, .members = members, .unit = std::max<int64_t>(1, group.hosts)});
  }
  (void)CheckedCount(MembersOf(spec), "spec.workerGroupSpecs: the sum of all pods", spec);
  return spec;
}

}  // namespace maniple
