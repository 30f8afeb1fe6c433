#include "api/producers/owner_rules.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "api/producers/fields.h"

namespace maniple {
namespace {

// Where a path ends: the value, or null if the last step is missing below a "*"; and what the "*"
// stood for.
using Ending = absl::FunctionRef<void(const Cursor* value, absl::string_view part)>;

void Follow(const Cursor& at, absl::Span<const absl::string_view> path, absl::string_view part,
            Ending ending) {
  if (path.empty()) return ending(&at, part);
  bool found = false;
  for (const Cursor& member : at.Members()) {
    const bool each = path.front() == "*";
    if (!each && member.key() != path.front()) continue;
    found = true;
    Follow(member, path.subspan(1), each ? member.CheckedKey() : part, ending);
  }
  if (!found && !part.empty()) ending(nullptr, part);
}

void FollowPath(const Cursor& root, absl::string_view path, Ending ending) {
  const std::vector<absl::string_view> steps = absl::StrSplit(path, '.');
  Follow(root, steps, "", ending);
}

std::string FirstText(const Cursor& root, const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    FollowPath(root, path, [&](const Cursor* value, absl::string_view) {
      if (value != nullptr && text.empty()) text = value->Text();
    });
    if (!text.empty()) break;
  }
  return text;
}

const std::map<std::pair<std::string, std::string>, OwnerRule>& BuiltinRules() {
  static const auto* const kRules = new std::map<std::pair<std::string, std::string>, OwnerRule>{
      {{"kubeflow.org", "PyTorchJob"}, KubeflowRule("pytorchReplicaSpecs")},
      {{"kubeflow.org", "TFJob"}, KubeflowRule("tfReplicaSpecs")},
      {{"kubeflow.org", "XGBoostJob"}, KubeflowRule("xgbReplicaSpecs")},
      {{"kubeflow.org", "PaddleJob"}, KubeflowRule("paddleReplicaSpecs")},
      {{"kubeflow.org", "JAXJob"}, KubeflowRule("jaxReplicaSpecs")},
  };
  return *kRules;
}

}  // namespace

OwnerRule KubeflowRule(absl::string_view replicas) {
  OwnerRule rule;
  rule.minimums = {"spec.runPolicy.schedulingPolicy.minAvailable",
                   "spec.elasticPolicy.minReplicas"};
  rule.replicas = {absl::StrCat("spec.", replicas, ".*.replicas")};
  rule.queues = {"spec.runPolicy.schedulingPolicy.queue"};
  rule.priority_classes = {"spec.runPolicy.schedulingPolicy.priorityClass"};
  for (const absl::string_view type : {"Master", "Chief", "Launcher", "Worker"}) {
    rule.priority_classes.push_back(
        absl::StrCat("spec.", replicas, ".", type, ".template.spec.priorityClassName"));
  }
  return rule;
}

const OwnerRule& RuleOf(const ForeignKind& kind) {
  static const auto* const kNone = new OwnerRule();
  if (kind.rule.has_value()) return *kind.rule;
  const auto found = BuiltinRules().find({kind.group, kind.kind});
  return found != BuiltinRules().end() ? found->second : *kNone;
}

ForeignSpec ReadByRule(const OwnerRule& rule, const Cursor& root) {
  ForeignSpec spec;
  for (const std::string& path : rule.minimums) {
    FollowPath(root, path, [&](const Cursor* value, absl::string_view) {
      if (value != nullptr && !spec.minimum.has_value()) spec.minimum = ReadCount(*value, spec);
    });
  }
  for (const std::string& path : rule.replicas) {
    FollowPath(root, path, [&](const Cursor* value, absl::string_view part) {
      const int64_t members = value != nullptr ? ReadCount(*value, spec) : 1;
      spec.parts.push_back({.name = absl::AsciiStrToLower(part), .members = members});
    });
  }
  const auto by_name = [](const ForeignPart& a, const ForeignPart& b) { return a.name < b.name; };
  std::sort(spec.parts.begin(), spec.parts.end(), by_name);
  const int64_t sum = CheckedCount(MembersOf(spec), "the sum of all replicas", spec);
  // Nobody waits for more than can be there, as after a job was scaled down.
  if (!spec.parts.empty() && spec.minimum.has_value()) spec.minimum = std::min(*spec.minimum, sum);
  // Nobody says how many there can be; an annotation may ask for any number.
  if (spec.parts.empty()) spec.most = kMostMembers;
  // A gang whose parts have no names has none.
  if (!spec.parts.empty() && spec.parts.front().name.empty()) {
    if (!spec.minimum.has_value()) spec.minimum = MembersOf(spec);
    spec.most = MembersOf(spec);
    spec.parts.clear();
  }
  spec.is_gang = spec.minimum.has_value() || !spec.parts.empty();
  spec.queue = FirstText(root, rule.queues);
  spec.priority_class_name = FirstText(root, rule.priority_classes);
  return spec;
}

}  // namespace maniple
