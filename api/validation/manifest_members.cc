// Findings on members: do the pods that a manifest makes reach the quorum of their gang?
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/model/maniple_types.h"
#include "api/validation/manifest_object.h"
#include "api/validation/priority_class.h"

namespace maniple {
namespace {

// The pods that an object stands for: itself, or what its template makes.
struct MemberTemplate {
  const Json* pod = nullptr;  // with metadata and spec
  std::string path;           // of the pod inside the object
  int64_t count = 1;
};

int64_t CountOr(const Json& spec, absl::string_view field, int64_t otherwise) {
  const Json* count = spec.Find(field);
  if (count == nullptr || !count->is_int()) return otherwise;
  return std::clamp<int64_t>(count->AsInt(), 0, std::numeric_limits<int32_t>::max());
}

// A Job runs at most parallelism pods at once, and no more than completions.
int64_t PodsOfJob(const Json& spec) {
  const int64_t parallelism = CountOr(spec, "parallelism", 1);
  return std::min(parallelism, CountOr(spec, "completions", parallelism));
}

std::optional<MemberTemplate> TemplateOf(const ManifestObject& object) {
  const Json& spec = (*object.value)["spec"];
  if (object.kind == "Pod") return MemberTemplate{object.value, "", 1};
  if (object.kind == "Job")
    return MemberTemplate{&spec["template"], "spec.template", PodsOfJob(spec)};
  if (object.kind == "CronJob") {
    return MemberTemplate{&spec.At("jobTemplate.spec.template"), "spec.jobTemplate.spec.template",
                          PodsOfJob(spec.At("jobTemplate.spec"))};
  }
  if (object.kind == "Deployment" || object.kind == "StatefulSet" || object.kind == "ReplicaSet") {
    return MemberTemplate{&spec["template"], "spec.template", CountOr(spec, "replicas", 1)};
  }
  if (object.kind == "DaemonSet") return MemberTemplate{&spec["template"], "spec.template", 1};
  return std::nullopt;
}

struct Gang {
  const ManifestObject* group = nullptr;
  int64_t members = 0;
  std::map<std::string, int64_t> by_sub_group;
};

class MemberCheck {
 public:
  MemberCheck(const std::vector<ManifestObject>& objects,
              const std::vector<std::string>& scheduler_names, ManifestFindings& findings)
      : objects_(objects), scheduler_names_(scheduler_names), findings_(findings) {
    for (const ManifestObject& object : objects) {
      if (object.group != kManipleGroup || object.kind != "PodGroup") continue;
      gangs_.try_emplace({object.namespace_name, object.name}, Gang{.group = &object});
    }
  }

  void Run() {
    for (const ManifestObject& object : objects_) {
      if (object.kind == "PriorityClass") CheckPriorityClass(object);
      if (object.group == kManipleGroup) continue;
      const std::optional<MemberTemplate> member = TemplateOf(object);
      if (member.has_value()) CheckMember(object, *member);
    }
    for (const auto& [key, gang] : gangs_) CheckQuorum(gang);
  }

 private:
  static std::string Under(const MemberTemplate& member, absl::string_view path) {
    return member.path.empty() ? std::string(path) : absl::StrCat(member.path, ".", path);
  }

  void CheckMember(const ManifestObject& object, const MemberTemplate& member) {
    const Json& labels = member.pod->At("metadata.labels");
    const std::string& group = labels[kPodGroupLabel].AsString();
    const std::string path = Under(member, absl::StrCat("metadata.labels.", kPodGroupLabel));
    if (group.empty()) return;
    const std::string& scheduler = member.pod->At("spec.schedulerName").AsString();
    if (std::ranges::find(scheduler_names_, scheduler) == scheduler_names_.end()) {
      findings_.Note(
          object, Under(member, "spec.schedulerName"),
          absl::StrCat("a member of PodGroup ", group, " without schedulerName ",
                       absl::StrJoin(scheduler_names_, " or "), " is left to another scheduler"));
    }
    const auto at = gangs_.find({object.namespace_name, group});
    if (at == gangs_.end()) {
      if (!gangs_.empty()) {
        findings_.Note(object, path,
                       absl::StrCat("PodGroup ", object.namespace_name, "/", group,
                                    " is not among these files; until it exists the pods wait"));
      }
      return;
    }
    at->second.members += member.count;
    CheckSubGroup(object, member, at->second);
  }

  void CheckSubGroup(const ManifestObject& object, const MemberTemplate& member, Gang& gang) {
    const std::string& sub_group = member.pod->At("metadata.labels")[kSubGroupLabel].AsString();
    if (sub_group.empty()) return;
    gang.by_sub_group[sub_group] += member.count;
    for (const Json& known : gang.group->value->At("spec.subGroups").items()) {
      if (known["name"].AsString() == sub_group) return;
    }
    findings_.Error(object, Under(member, absl::StrCat("metadata.labels.", kSubGroupLabel)),
                    absl::StrCat(gang.group->Title(), " has no sub-group ", sub_group));
  }

  // A gang whose files hold some members, but fewer than its quorum, waits for ever unless others
  // come.
  void CheckQuorum(const Gang& gang) {
    if (gang.members == 0) return;
    const int64_t quorum = CountOr((*gang.group->value)["spec"], "minMember", 1);
    if (gang.members < quorum) {
      findings_.Note(*gang.group, "spec.minMember",
                     absl::StrCat(gang.members, " of ", quorum, " members are among these files"));
    }
    size_t index = 0;
    for (const Json& sub_group : gang.group->value->At("spec.subGroups").items()) {
      const std::string path = absl::StrCat("spec.subGroups[", index++, "].minMember");
      const std::string& name = sub_group["name"].AsString();
      const auto at = gang.by_sub_group.find(name);
      const int64_t members = at == gang.by_sub_group.end() ? 0 : at->second;
      const int64_t wanted = CountOr(sub_group, "minMember", 1);
      if (members >= wanted) continue;
      findings_.Note(*gang.group, path,
                     absl::StrCat(members, " of ", wanted, " members of sub-group ", name,
                                  " are among these files"));
    }
  }

  void CheckPriorityClass(const ManifestObject& object) {
    const Json& value = (*object.value)["value"];
    if (!value.is_int()) {
      findings_.Error(object, "value", "Required value: a whole number is needed");
    } else if (HasNameOfSystem(object.name)) {
      if (IsSystemPriorityClass(object.name, value.AsInt())) return;
      findings_.Error(object, "metadata.name",
                      "Forbidden: names that begin with system- are for the classes of Kubernetes");
    } else if (value.AsInt() > kHighestUserPriority || value.AsInt() < -2'147'483'648) {
      findings_.Error(object, "value",
                      absl::StrCat("Invalid value: ", value.AsInt(),
                                   ": must be between -2147483648 and ", kHighestUserPriority));
    }
  }

  const std::vector<ManifestObject>& objects_;
  const std::vector<std::string>& scheduler_names_;
  ManifestFindings& findings_;
  std::map<std::pair<std::string, std::string>, Gang> gangs_;  // by namespace and name
};

}  // namespace

void CheckMembers(const std::vector<ManifestObject>& objects,
                  const std::vector<std::string>& scheduler_names, ManifestFindings& findings) {
  MemberCheck(objects, scheduler_names, findings).Run();
}

}  // namespace maniple
