#include "test/scenario/scenario.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/status_macros.h"
#include "api/codec/yaml.h"
#include "scheduler/app/config/config.h"
#include "test/scenario/shorthand.h"
#include "test/scenario/stage.h"

namespace maniple::scenario {
namespace {

constexpr absl::Duration kSettle = absl::Seconds(3);
constexpr char kPods[] = "/api/v1/namespaces/default/pods/";
constexpr char kClusterWide[] = "/apis/scheduling.maniple.dev/v1alpha1/";
constexpr char kGroupsPath[] =
    "/apis/scheduling.maniple.dev/v1alpha1/namespaces/default/podgroups/";

// One or many: most steps take either.
std::vector<Json> Each(const Json& argument) {
  return argument.is_array() ? argument.items() : std::vector<Json>{argument};
}

// The state of one gang, to be held against a sentence.
struct Seen {
  int64_t bound = 0, all = 0;
  std::set<std::string> nodes;
  std::string phase, reason, message;
};

Seen Look(Stage& stage, const std::string& gang) {
  Seen seen;
  const std::vector<Json> pods = stage.PodsOf(gang);
  for (const Json& pod : pods) {
    if (pod["status"]["phase"].AsString() == "Failed" || pod["metadata"].Has("deletionTimestamp"))
      continue;
    ++seen.all;
    const std::string& node = pod["spec"]["nodeName"].AsString();
    if (node.empty()) continue;
    ++seen.bound;
    seen.nodes.insert(node);
  }
  if (const absl::StatusOr<Json> group = stage.PodGroup(gang); group.ok()) {
    seen.phase = group->At("status.phase").AsString();
    seen.reason = group->At("status.reason").AsString();
    seen.message = group->At("status.message").AsString();
  } else if (!pods.empty()) {
    for (const Json& condition : pods.front().At("status.conditions").items()) {
      if (condition["type"].AsString() != "PodScheduled") continue;
      seen.reason = condition["reason"].AsString();
      seen.message = condition["message"].AsString();
    }
  }
  return seen;
}

std::string Told(const Seen& seen) {
  return absl::StrCat(seen.bound, " of ", seen.all, " bound on ", absl::StrJoin(seen.nodes, " "),
                      ", ", seen.phase, " (", seen.reason, "): ", seen.message);
}

// "bound", "bound on n1 n2", "2 bound", "phase Completed", "untold", "waits", "waits NoFit", "waits
// NoFit: regular expression", "says regular expression".
bool Holds(absl::string_view expected, const Seen& seen) {
  if (absl::ConsumePrefix(&expected, "bound on ")) {
    const std::vector<std::string> nodes = absl::StrSplit(expected, ' ');
    return seen.all > 0 && seen.bound == seen.all &&
           seen.nodes == std::set<std::string>(nodes.begin(), nodes.end());
  }
  if (expected == "bound") return seen.all > 0 && seen.bound == seen.all;
  if (absl::ConsumePrefix(&expected, "phase ")) return seen.phase == expected;
  if (expected == "untold") return seen.phase.empty();
  if (absl::ConsumePrefix(&expected, "says ")) {
    return std::regex_search(seen.message, std::regex(std::string(expected), std::regex::icase));
  }
  if (absl::ConsumePrefix(&expected, "waits")) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(expected, absl::MaxSplits(": ", 1));
    const absl::string_view reason = absl::StripAsciiWhitespace(parts.first);
    return seen.bound == 0 && seen.all > 0 && (reason.empty() || seen.reason == reason) &&
           std::regex_search(seen.message,
                             std::regex(std::string(parts.second), std::regex::icase));
  }
  int64_t count = 0;
  const std::pair<absl::string_view, absl::string_view> words =
      absl::StrSplit(expected, absl::MaxSplits(' ', 1));
  return words.second == "bound" && absl::SimpleAtoi(words.first, &count) && seen.bound == count;
}

bool QueueHolds(absl::string_view expected, const Json& status) {
  if (absl::ConsumePrefix(&expected, "uses ")) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(expected, absl::MaxSplits(", borrows ", 1));
    const std::vector<absl::string_view> words = absl::StrSplit(parts.first, ' ');
    const absl::string_view flavor = words.size() == 4 ? words[3] : "";
    for (const Json& row : status["usage"].items()) {
      if (words.size() < 2 || row["name"].AsString() != words[1]) continue;
      if (row["flavor"].AsString() != flavor) continue;
      const std::string borrowed = row.Has("borrowed") ? row["borrowed"].AsString() : "0";
      return row["used"].AsString() == words[0] &&
             (parts.second.empty() || borrowed == parts.second);
    }
    return false;
  }
  for (const Json& condition : status["conditions"].items()) {
    if (condition["type"].AsString() != "Active") continue;
    const std::string& is = condition["status"].AsString();
    if (expected == "active") return is == "True";
    return absl::ConsumePrefix(&expected, "inactive: ") && is == "False" &&
           std::regex_search(condition["message"].AsString(),
                             std::regex(std::string(expected), std::regex::icase));
  }
  return false;
}

absl::StatusOr<MigReconfigure> MigModeNamed(absl::string_view word) {
  if (word.empty() || word == "off") return MigReconfigure::kOff;
  if (word == "dryRun") return MigReconfigure::kDryRun;
  if (word == "on") return MigReconfigure::kOn;
  return absl::InvalidArgumentError(absl::StrCat("mig is off, dryRun or on, not ", word));
}

// `config` is what follows the head of a configuration file.
absl::StatusOr<SchedulerConfig> ConfigOf(const Json& scenario) {
  Json head = scenario.Has("config") ? scenario["config"] : Json::Object({});
  head.Set("apiVersion", "config.maniple.dev/v1alpha1");
  head.Set("kind", "SchedulerConfiguration");
  ASSIGN_OR_RETURN(SchedulerConfig config, ParseSchedulerConfig(head.Dump(), "config"));
  ASSIGN_OR_RETURN(config.gpu.mig.reconfigure, MigModeNamed(scenario["mig"].AsString()));
  // Lists of kinds that no scenario is about would shift every latency that the network draws.
  if (!head.Has("producers")) config.producers.kinds.clear();
  return config;
}

class Player final {
 public:
  explicit Player(const SchedulerConfig& config) : stage_(config) {}

  ScenarioResult Play(const Scenario& scenario) {
    AddNodes(scenario.cluster);
    stage_.StartScheduler();
    for (step_ = 0; step_ < scenario.steps.size() && result_.failures.empty(); ++step_) {
      const Json& step = scenario.steps[step_];
      if (step.is_string()) {
        Act(step.AsString(), Json());
      } else if (step.members().size() == 1) {
        Act(step.members()[0].first, step.members()[0].second);
      } else {
        Fail("a step is one word or one `word: argument`");
      }
      CheckInvariants();
    }
    result_.log = stage_.TakeLog();
    if (result_.failures.empty()) Must(stage_.CheckNothingLeaks());
    CheckInvariants();
    result_.turns = stage_.audited_turns();
    return std::move(result_);
  }

 private:
  using Hand = void (Player::*)(const Json&);

  void Act(const std::string& word, const Json& argument) {
    static const std::map<std::string, Hand> hands = {
        {"submit", &Player::Submit},
        {"settle", &Player::Settle},
        {"advance", &Player::Advance},
        {"expect", &Player::Expect},
        {"finish", &Player::Finish},
        {"fail", &Player::FailPod},
        {"delete", &Player::Delete},
        {"delete_pod", &Player::DeletePod},
        {"cordon", &Player::Cordon},
        {"uncordon", &Player::Uncordon},
        {"add", &Player::Add},
        {"remove", &Player::Remove},
        {"ungate", &Player::Ungate},
        {"edit", &Player::Edit},
        {"refused_edit", &Player::RefusedEdit},
        {"relabel", &Player::Relabel},
        {"create", &Player::Create},
        {"delete_object", &Player::DeleteObject},
        {"kill", &Player::Kill},
        {"start", &Player::Start},
        {"bind", &Player::Bind},
        {"queues", &Player::Queues},
        {"cohorts", &Player::Cohorts},
        {"flavors", &Player::Flavors},
        {"expect_queues", &Player::ExpectQueues},
        {"refused", &Player::Refused},
        {"rack", &Player::Rack},
        {"label", &Player::Label},
        {"expect_labels", &Player::ExpectLabels},
        {"nodes", &Player::Nodes},
        {"levels", &Player::Levels},
        {"finish_pod", &Player::FinishPod},
        {"delete_group", &Player::DeleteGroup},
    };
    const auto it = hands.find(word);
    if (it == hands.end()) return Fail(absl::StrCat("no such step: ", word));
    (this->*it->second)(argument);
  }

  void Fail(absl::string_view what) {
    result_.failures.push_back(absl::StrCat("step ", step_ + 1, ": ", what));
  }
  // What is wrong after one turn is often wrong after the next ones too.
  void CheckInvariants() {
    constexpr size_t kMostTold = 5;
    const std::vector<std::string> violations = stage_.TakeViolations();
    for (size_t i = 0; i < std::min(violations.size(), kMostTold); ++i) Fail(violations[i]);
    if (violations.size() > kMostTold) {
      Fail(absl::StrCat("and ", violations.size() - kMostTold, " more violations"));
    }
  }
  void Must(const absl::Status& status) {
    if (!status.ok()) Fail(status.message());
  }
  void Patch(const std::string& target, Json body) {
    Must(stage_.Call("PATCH", target, body).status());
  }

  void AddNodes(absl::string_view shorthand) {
    const absl::StatusOr<std::vector<Json>> nodes = NodesFrom(shorthand);
    if (!nodes.ok()) return Fail(nodes.status().message());
    for (const Json& node : *nodes) Must(stage_.Create(node));
  }
  void Submit(const Json& argument) {
    for (const Json& gang : Each(argument)) {
      const absl::StatusOr<std::vector<Json>> objects = GangFrom(gang);
      if (!objects.ok()) return Fail(objects.status().message());
      for (const Json& object : *objects) Must(stage_.Create(object));
    }
  }
  void Settle(const Json&) {
    stage_.Advance(kSettle);
    Must(stage_.CheckAtRest());
  }
  void Advance(const Json& argument) {
    absl::Duration by;
    if (!absl::ParseDuration(argument.AsString(), &by))
      return Fail("advance needs a duration such as 10s");
    stage_.Advance(by);
    Must(stage_.CheckAtRest());
  }
  void Expect(const Json& argument) {
    for (const Json::Member& member : argument.members()) {
      const Seen seen = Look(stage_, member.first);
      if (!Holds(member.second.AsString(), seen)) {
        Fail(absl::StrCat(member.first, " should be \"", member.second.AsString(), "\", is ",
                          Told(seen)));
      }
    }
  }
  void Finish(const Json& argument) {
    for (const Json& gang : Each(argument)) {
      for (const Json& pod : stage_.PodsOf(gang.AsString())) FinishPod(pod["metadata"]["name"]);
    }
  }
  void FinishPod(const Json& argument) {
    for (const Json& pod : Each(argument)) {
      Patch(absl::StrCat(kPods, pod.AsString(), "/status"),
            Json::Object({{"status", Json::Object({{"phase", "Succeeded"}})}}));
    }
  }
  void FailPod(const Json& argument) {
    const Json reason = argument.is_object() ? argument["reason"] : Json("Error");
    const Json pod = argument.is_object() ? argument["pod"] : argument;
    Patch(absl::StrCat(kPods, pod.AsString(), "/status"),
          Json::Object({{"status", Json::Object({{"phase", "Failed"}, {"reason", reason}})}}));
  }
  void Delete(const Json& argument) {
    for (const Json& gang : Each(argument)) {
      for (const Json& pod : stage_.PodsOf(gang.AsString())) DeletePod(pod["metadata"]["name"]);
      DeleteGroup(gang);
    }
  }
  void DeleteGroup(const Json& gang) {
    Must(stage_.Call("DELETE", absl::StrCat(kGroupsPath, gang.AsString()), Json()).status());
  }
  void DeletePod(const Json& argument) {
    for (const Json& pod : Each(argument)) {
      Must(stage_.Call("DELETE", absl::StrCat(kPods, pod.AsString()), Json()).status());
    }
  }
  void SetSchedulable(const Json& argument, const Json& unschedulable) {
    for (const Json& node : Each(argument)) {
      Patch(absl::StrCat("/api/v1/nodes/", node.AsString()),
            Json::Object({{"spec", Json::Object({{"unschedulable", unschedulable}})}}));
    }
  }
  void Cordon(const Json& argument) { SetSchedulable(argument, true); }
  void Uncordon(const Json& argument) { SetSchedulable(argument, nullptr); }
  void Add(const Json& argument) { AddNodes(argument.AsString()); }
  void Remove(const Json& argument) {
    for (const Json& node : Each(argument)) {
      Must(stage_.Call("DELETE", absl::StrCat("/api/v1/nodes/", node.AsString()), Json()).status());
    }
  }
  void Ungate(const Json& argument) {
    Patch(absl::StrCat(kPods, argument.AsString()),
          Json::Object({{"spec", Json::Object({{"schedulingGates", Json::Array()}})}}));
  }
  // {gang: a, minMember: 2, …}: fields of the PodGroup's spec.
  void Edit(const Json& argument) {
    Json spec = argument;
    spec.Erase("gang");
    Patch(absl::StrCat(kGroupsPath, argument["gang"].AsString()), Json::Object({{"spec", spec}}));
  }
  // {gang, fields of its PodGroup's spec, why}: the server must not take it.
  void RefusedEdit(const Json& argument) {
    Json spec = argument;
    spec.Erase("gang");
    spec.Erase("why");
    const absl::StatusOr<Json> reply =
        stage_.Call("PATCH", absl::StrCat(kGroupsPath, argument["gang"].AsString()),
                    Json::Object({{"spec", spec}}));
    if (reply.ok()) return Fail("the edit was taken");
    if (!absl::StrContains(reply.status().message(), argument["why"].AsString())) {
      Fail(absl::StrCat("refused, but: ", reply.status().message()));
    }
  }
  // {pod or namespace, labels}: beside those that it has.
  void Relabel(const Json& argument) {
    Patch(argument.Has("pod")
              ? absl::StrCat(kPods, argument["pod"].AsString())
              : absl::StrCat("/api/v1/namespaces/", argument["namespace"].AsString()),
          Json::Object({{"metadata", Json::Object({{"labels", argument["labels"]}})}}));
  }
  void Create(const Json& argument) {
    for (const Json& object : Each(argument)) Must(stage_.Create(object));
  }
  void DeleteObject(const Json& argument) {
    for (const Json& object : Each(argument)) Must(stage_.Delete(object));
  }
  // {name: shorthand, …}: created or replaced; deleted where there is no shorthand.
  void PutEach(
      const Json& argument, const char* collection,
      absl::FunctionRef<absl::StatusOr<Json>(const std::string&, const std::string&)> from) {
    for (const Json::Member& member : argument.members()) {
      if (member.second.is_null()) {
        Must(
            stage_.Call("DELETE", absl::StrCat(kClusterWide, collection, "/", member.first), Json())
                .status());
        continue;
      }
      const absl::StatusOr<Json> object = from(member.first, member.second.AsString());
      Must(object.ok() ? stage_.Put(*object) : object.status());
    }
  }
  void Queues(const Json& argument) {
    PutEach(argument, "queues", [](const std::string& name, const std::string& shorthand) {
      return QuotaFrom(QuotaKind::kQueue, name, shorthand);
    });
  }
  void Cohorts(const Json& argument) {
    PutEach(argument, "cohorts", [](const std::string& name, const std::string& shorthand) {
      return QuotaFrom(QuotaKind::kCohort, name, shorthand);
    });
  }
  void Flavors(const Json& argument) {
    PutEach(argument, "resourceflavors", [](const std::string& name, const std::string& shorthand) {
      return FlavorFrom(name, shorthand);
    });
  }
  // {name: {queue or cohort: shorthand, why}}: the server must not take it.
  void Refused(const Json& argument) {
    for (const Json::Member& member : argument.members()) {
      const bool queue = member.second.Has("queue");
      const Json& shorthand = member.second[queue ? "queue" : "cohort"];
      const absl::StatusOr<Json> object = QuotaFrom(queue ? QuotaKind::kQueue : QuotaKind::kCohort,
                                                    member.first, shorthand.AsString());
      if (!object.ok()) return Must(object.status());
      const absl::Status status = stage_.Put(*object);
      const std::regex why(member.second["why"].AsString(), std::regex::icase);
      if (status.ok() || !std::regex_search(std::string(status.message()), why)) {
        Fail(absl::StrCat(member.first, " should be refused: ", status.ToString()));
      }
    }
  }
  // "active", "inactive: regular expression", "uses 4 cpu", "uses 4 cpu of h100, borrows 2"; by
  // ';'.
  void ExpectQueues(const Json& argument) {
    for (const Json::Member& member : argument.members()) {
      const absl::StatusOr<Json> queue =
          stage_.Call("GET", absl::StrCat(kClusterWide, "queues/", member.first), Json());
      if (!queue.ok()) return Must(queue.status());
      const std::string& all = member.second.AsString();
      for (const absl::string_view part : absl::StrSplit(all, ';')) {
        const absl::string_view expected = absl::StripAsciiWhitespace(part);
        if (!QueueHolds(expected, (*queue)["status"])) {
          Fail(absl::StrCat("queue ", member.first, " should be \"", std::string(expected),
                            "\", is ", (*queue)["status"].Dump()));
        }
      }
    }
  }
  void Rack(const Json& argument) {  // {node: rack}
    for (const Json::Member& member : argument.members()) {
      Patch(absl::StrCat("/api/v1/nodes/", member.first),
            Json::Object(
                {{"metadata", Json::Object({{"labels", RackLabels(member.second.AsString())}})}}));
    }
  }
  void Label(const Json& argument) {  // {node: {label: value}}
    for (const Json::Member& member : argument.members()) {
      Patch(absl::StrCat("/api/v1/nodes/", member.first),
            Json::Object({{"metadata", Json::Object({{"labels", member.second}})}}));
    }
  }
  void ExpectLabels(const Json& argument) {  // {node: {label: value}}
    for (const Json::Member& member : argument.members()) {
      const absl::StatusOr<Json> node =
          stage_.Call("GET", absl::StrCat("/api/v1/nodes/", member.first), Json());
      if (!node.ok()) return Must(node.status());
      for (const Json::Member& label : member.second.members()) {
        const std::string& is = (*node)["metadata"]["labels"][label.first].AsString();
        if (is == label.second.AsString()) continue;
        Fail(absl::StrCat("node ", member.first, ": label ", label.first, " should be ",
                          label.second.AsString(), ", is ", is));
      }
    }
  }
  void Nodes(const Json& argument) {  // {node: "gpu=4 @label=value"}
    for (const Json::Member& member : argument.members()) {
      const absl::StatusOr<NodeChange> change = NodeChangeFrom(member.second.AsString());
      if (!change.ok()) return Must(change.status());
      const std::string node = absl::StrCat("/api/v1/nodes/", member.first);
      Patch(node, Json::Object({{"metadata", Json::Object({{"labels", change->labels}})}}));
      Patch(node + "/status",
            Json::Object({{"status", Json::Object({{"capacity", change->amounts},
                                                   {"allocatable", change->amounts}})}}));
    }
  }
  void Levels(const Json& argument) {  // [block, rack]; none: the Topology is deleted
    if (!argument.is_null()) return Must(stage_.Put(TopologyFrom(argument.items())));
    Must(stage_.Call("DELETE", absl::StrCat(kClusterWide, "topologies/default"), Json()).status());
  }
  void Kill(const Json&) { stage_.KillScheduler(); }
  void Start(const Json&) { stage_.StartScheduler(); }
  void Bind(const Json& argument) {  // as another scheduler would
    const Json target =
        Json::Object({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", argument["node"]}});
    Must(stage_
             .Call("POST", absl::StrCat(kPods, argument["pod"].AsString(), "/binding"),
                   Json::Object({{"apiVersion", "v1"},
                                 {"kind", "Binding"},
                                 {"metadata", Json::Object({{"name", argument["pod"]}})},
                                 {"target", target}}))
             .status());
  }

  Stage stage_;
  size_t step_ = 0;
  ScenarioResult result_;
};

}  // namespace

absl::StatusOr<std::vector<Scenario>> LoadScenarios(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(file, ": cannot be opened"));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  if (!documents.ok()) return Annotate(documents.status(), file);
  std::vector<Scenario> scenarios;
  for (const YamlDocument& document : *documents) {
    for (const Json::Member& member : document.value.members()) {
      if (member.first != "name" && member.first != "cluster" && member.first != "steps" &&
          member.first != "mig" && member.first != "config") {
        return absl::InvalidArgumentError(absl::StrCat(file, ":", document.LineOf(member.first),
                                                       ": ", member.first, ": unknown field"));
      }
    }
    absl::StatusOr<SchedulerConfig> config = ConfigOf(document.value);
    if (!config.ok()) return Annotate(config.status(), file);
    scenarios.push_back({.name = document.value["name"].AsString(),
                         .file = file,
                         .cluster = document.value["cluster"].AsString(),
                         .steps = document.value["steps"].items(),
                         .config = *std::move(config)});
  }
  return scenarios;
}

ScenarioResult RunScenario(const Scenario& scenario) {
  return Player(scenario.config).Play(scenario);
}

}  // namespace maniple::scenario
