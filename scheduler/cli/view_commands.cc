#include "scheduler/cli/view_commands.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/base/status_macros.h"
#include "api/codec/json.h"
#include "api/codec/kubernetes_time.h"
#include "api/http/http.h"
#include "api/model/maniple_types.h"
#include "api/model/object.h"
#include "scheduler/app/answers/diagnosis.h"
#include "scheduler/app/answers/printing.h"
#include "scheduler/app/config/config_duration.h"
#include "scheduler/app/config/version.h"
#include "scheduler/cli/capacity.h"
#include "scheduler/cli/listing.h"
#include "scheduler/cli/node_map.h"
#include "scheduler/cli/selected_names.h"
#include "scheduler/cli/typed_gang.h"
#include "scheduler/cli/usage_table.h"

namespace maniple {
namespace {

constexpr absl::Duration kLookAgain = absl::Seconds(2);

// The flags of the program and of the command, once both are read.
struct Asked {
  const CommonFlags& common;
  const ViewRequest& view;
};

// One kind of list in the words of each output.
struct ListTexts {
  std::function<std::string(const Json&)> table, wide;
  std::string resource;  // for names, with its group
  std::function<Json(const Json&)> choose = [](const Json& list) { return list; };
};

// As kubectl prints it, and finds it beside other projects' kinds of the same name.
std::string OfManiple(absl::string_view resource) {
  return absl::StrCat(resource, ".", kManipleGroup);
}

// As a person or a program wants it.
template <typename Text>
std::string Worded(const Asked& asked, const Json& answer, const Text& text) {
  const std::string& output = asked.common.output;
  const std::string document = DocumentOf(answer, output);
  if (document.empty()) return text(answer);
  return absl::StrCat(asked.view.watch && output == "yaml" ? "---\n" : "", document);
}

template <typename Text>
void Print(const Asked& asked, const Json& answer, const Text& text) {
  std::cout << Worded(asked, answer, text);
}

// Asks, and prints; again and again where it is watched, also while a scheduler makes way for the
// next. Texts tell ages: what is printed anew differs in more than these.
template <typename Ask, typename Text>
int ShowAnswer(const Asked& asked, const Ask& ask, const Text& text) {
  std::string shown, shown_as;
  bool answered = true;
  while (true) {
    const absl::StatusOr<Json> answer = ask();
    if (answer.ok()) {
      std::string news = answer->Dump(), worded = Worded(asked, *answer, text);
      if (news != shown && worded != shown_as) std::cout << worded << std::flush;
      shown = std::move(news);
      shown_as = std::move(worded);
    } else {
      const bool may_return = absl::IsUnavailable(answer.status()) && !shown.empty();
      if (!may_return || answered) Complain(answer.status().message());
      if (!may_return) return 1;
    }
    answered = answer.ok();
    if (!asked.view.watch) return 0;
    if (!std::cout) return 1;
    absl::SleepFor(kLookAgain);
  }
}

template <typename Text>
int Show(const Asked& asked, const std::string& target, const Text& text) {
  SchedulerClient client(asked.common.client);
  return ShowAnswer(
      asked, [&] { return client.Ask(target); }, text);
}

// Only whom the labels name.
absl::StatusOr<Json> AskForSelected(const Asked& asked, SchedulerClient& client,
                                    const std::string& target, ResourceKind kind) {
  ASSIGN_OR_RETURN(const Json list, client.Ask(target));
  if (asked.view.labels.empty()) return list;
  const absl::StatusOr<ClientConfig> reach = ClientConfigOf(asked.common.client);
  if (!reach.ok()) {
    return Annotate(reach.status(), "-l is a question to the API server, and none can be reached");
  }
  absl::StatusOr<SelectedNames> names =
      SelectedNames::Ask(*reach, kind, asked.view.namespace_name, asked.view.labels);
  if (!names.ok()) return Annotate(names.status(), absl::StrCat("-l ", asked.view.labels));
  return names->Of(list);
}

int ShowList(const Asked& asked, const std::string& target, ResourceKind kind,
             const ListTexts& texts) {
  SchedulerClient client(asked.common.client);
  const auto ask = [&]() -> absl::StatusOr<Json> {
    ASSIGN_OR_RETURN(const Json list, AskForSelected(asked, client, target, kind));
    return texts.choose(list);
  };
  if (asked.common.output == "name") {
    return ShowAnswer(asked, ask, [&](const Json& list) { return Names(list, texts.resource); });
  }
  return ShowAnswer(asked, ask, asked.common.output == "wide" ? texts.wide : texts.table);
}

std::string TargetOf(absl::string_view page, const std::string& ns, const std::string& name) {
  return absl::StrCat(page, "?namespace=", UrlEncoded(ns), "&name=", UrlEncoded(name));
}

int Explain(const Asked& asked) {
  const ViewRequest& view = asked.view;
  const std::string ns = NamespaceFor(asked.common.client, view.namespace_name);
  SchedulerClient client(asked.common.client);
  const auto of = [&client](const std::string& in, const std::string& typed) {
    return client.Ask(TargetOf("/explain", in, typed));
  };
  return ShowAnswer(
      asked, [&] { return LookFor(ns, view.name, of); },
      [](const Json& gang) { return Explanation(gang, absl::Now()); });
}

int Gangs(const Asked& asked) {
  const auto starts = [](const Json& gangs) { return StartTable(gangs, absl::Now()); };
  const auto table = [](const Json& gangs) { return GangTable(gangs, absl::Now()); };
  const auto wide = [](const Json& gangs) { return WideGangTable(gangs, absl::Now()); };
  ListTexts texts{.table = table, .wide = wide, .resource = OfManiple("podgroup")};
  if (asked.view.by_start) {
    texts.choose = ThoseWhoWait;
    texts.table = texts.wide = starts;
  }
  return ShowList(asked, absl::StrCat("/gangs?namespace=", UrlEncoded(asked.view.namespace_name)),
                  ResourceKind::kPodGroup, texts);
}

// The log knows gangs by their names, also those that are gone. Whoever names a pod, or what
// declares the gang, means the gang that the scheduler knows by it now.
absl::StatusOr<Json> AskForLog(SchedulerClient& client, const std::string& ns,
                               const std::string& name) {
  ASSIGN_OR_RETURN(Json log, client.Ask(TargetOf("/log", ns, name)));
  if (name.empty() || log["items"].size() > 0) return log;
  const absl::StatusOr<Json> gang = client.Ask(TargetOf("/explain", ns, name));
  if (absl::IsNotFound(gang.status())) {
    const std::optional<NamespacedName> other = NamespaceTyped(name);
    if (!other.has_value()) return log;
    const absl::StatusOr<Json> there = AskForLog(client, other->namespace_name, other->name);
    return there.ok() ? there : log;
  }
  RETURN_IF_ERROR(gang.status());
  const std::string& meant = (*gang)["name"].AsString();
  if (meant == name) return log;
  return client.Ask(TargetOf("/log", ns, meant));
}

int ShowLog(const Asked& asked) {
  const ViewRequest& view = asked.view;
  const std::string ns = view.name.empty() ? view.namespace_name
                                           : NamespaceFor(asked.common.client, view.namespace_name);
  SchedulerClient client(asked.common.client);
  const auto ask = [&] { return AskForLog(client, ns, view.name); };
  if (view.watch || view.name.empty()) return ShowAnswer(asked, ask, DecisionTable);
  const absl::StatusOr<Json> log = ask();
  if (!log.ok()) return Complain(log.status().message());
  if ((*log)["items"].size() > 0) {
    Print(asked, *log, DecisionTable);
    return 0;
  }
  return Complain(absl::StrCat("nothing was decided of a gang \"", view.name, "\" in namespace \"",
                               ns, "\" since this scheduler began"));
}

// "2026-01-31T12:00:00Z", or "24h" ago.
absl::StatusOr<absl::Time> ParsePast(const std::string& text) {
  const absl::StatusOr<absl::Time> time = ParseKubernetesTime(text);
  if (time.ok()) return *time;
  const absl::StatusOr<absl::Duration> ago = ParseConfigDuration(text);
  if (ago.ok()) return absl::Now() - *ago;
  return absl::InvalidArgumentError(absl::StrCat(
      "--since \"", text, "\": a time such as 2026-01-31T12:00:00Z or 24h was expected"));
}

int Usage(const Asked& asked) {
  const ViewRequest& view = asked.view;
  std::string target = absl::StrCat("/usage?namespace=", UrlEncoded(view.namespace_name));
  if (!view.since.empty()) {
    const absl::StatusOr<absl::Time> since = ParsePast(view.since);
    if (!since.ok()) return Complain(since.status().message());
    if (*since > absl::Now()) return Complain(absl::StrCat("--since ", view.since, " lies ahead"));
    absl::StrAppend(&target, "&since=", UrlEncoded(FormatKubernetesTime(*since)));
  }
  SchedulerClient client(asked.common.client);
  const auto ask = [&]() -> absl::StatusOr<Json> {
    ASSIGN_OR_RETURN(const Json list, client.Ask(target));
    return UsageBy(list, view.by);
  };
  return ShowAnswer(asked, ask, [&view](const Json& usage) { return UsageTable(usage, view.by); });
}

int Capacity(const Asked& asked) {
  SchedulerClient client(asked.common.client);
  const auto ask = [&]() -> absl::StatusOr<Json> {
    ASSIGN_OR_RETURN(const Json nodes, client.Ask("/nodes"));
    return CapacityOf(nodes);
  };
  return ShowAnswer(asked, ask, CapacityTable);
}

std::string VersionText(const Json& both) {
  std::string text = absl::StrCat("maniple ", both.At("client.version").AsString(), "\n");
  if (const Json& scheduler = both["scheduler"]; !scheduler.is_null()) {
    absl::StrAppend(&text, "maniple-scheduler ", scheduler["version"].AsString(), " for ",
                    scheduler["apiVersion"].AsString(), "\n");
  }
  return text;
}

// Of both sides, that of the scheduler only if it answers.
int Version(const Asked& asked) {
  const absl::StatusOr<Json> scheduler = AskScheduler(asked.common.client, "/version");
  Json both = Json::Object({{"client", Json::Object({{"version", MANIPLE_VERSION}})}});
  if (scheduler.ok()) both.Set("scheduler", *scheduler);
  Print(asked, both, VersionText);
  return scheduler.ok() ? 0 : Complain(scheduler.status().message());
}

// Adds one command after another.
class ViewCommands final {
 public:
  ViewCommands(CLI::App& app, const CommonFlags& common, ViewRequest& request, int& result)
      : app_(app), common_(common), request_(request), result_(result) {}

  void AddExplain() {
    CLI::App& explain = Add("explain", "Why a gang waits, or where it runs",
                            "explain llama-pretrain -n research -o json", Explain);
    explain
        .add_option("NAME", request_.name,
                    "PodGroup, pod, or the object that declares the gang, such as pytorchjob/train")
        ->required();
    explain.add_option("-n,--namespace", request_.namespace_name,
                       "Its namespace (default: that of the context)");
  }

  void AddGangs() {
    CLI::App& gangs = Add("gangs", "All gangs: phase, placement, reason",
                          "gangs --start -n research -l team=vision -w", Gangs);
    AddNamespaces(gangs);
    gangs.add_flag("--start", request_.by_start,
                   "Only waiting gangs, by priority and waiting time, with planned starts");
    AddLabels(gangs, "PodGroups, or pods without one, with these labels");
    AddWatch(gangs);
  }

  void AddLog() {
    CLI::App& log = Add("log", "Recent decisions, on one gang or on all",
                        "log llama-pretrain -n research", ShowLog);
    CLI::Option* gang =
        log.add_option("GANG", request_.name,
                       "As explain takes it: PodGroup, pod, or what declares it (default: all)");
    log.add_option("-n,--namespace", request_.namespace_name,
                   "Its namespace (default: that of the context; without a gang: all)");
    log.add_flag("-A,--all-namespaces")->description("All gangs of all namespaces")->excludes(gang);
    AddWatch(log);
  }

  void AddUsage() {
    CLI::App& usage =
        Add("usage", "GPU-hours: the total, and one in which use counts half after a week",
            "usage --by queue,namespace --since 24h", Usage);
    AddNamespaces(usage);
    usage
        .add_option("--since", request_.since,
                    "Start of the period; at most a week ago, and within this lead")
        ->type_name("TIME|AGO");
    usage.add_option("--by", request_.by, "queue, namespace and flavor, or some of them")
        ->delimiter(',')
        ->type_name("KEY,...")
        ->check(CLI::IsMember(std::set<std::string>(std::begin(kUsageKeys), std::end(kUsageKeys))));
    AddWatch(usage);
  }

  void AddDiag() {
    AddWatch(Add("diag", "The health of the scheduler itself; problems first", "diag",
                 [](const Asked& asked) { return Show(asked, "/diag", DiagnosisText); }));
  }

  void AddNodes() {
    CLI::App& nodes =
        Add("nodes", "Nodes: free room and the gangs on them", "nodes --map -l pool=h100",
            [](const Asked& asked) {
              ListTexts texts{.table = NodeTable, .wide = WideNodeTable, .resource = "node"};
              if (asked.view.as_map) texts.table = texts.wide = NodeMap;
              return ShowList(asked, "/nodes", ResourceKind::kNode, texts);
            });
    nodes.add_flag("--map", request_.as_map,
                   "GPUs by topology domain: which gang holds how many of each node");
    AddLabels(nodes, "Nodes with these labels");
    AddWatch(nodes);
  }

  void AddQueues() {
    CLI::App& queues =
        Add("queues", "Queues: waiting and running gangs, and usage", "queues --why",
            [](const Asked& asked) {
              const auto text = asked.view.with_reasons ? QueueReasons : QueueTable;
              return ShowList(asked, "/queues", ResourceKind::kQueue,
                              {.table = text, .wide = text, .resource = OfManiple("queue")});
            });
    queues.add_flag("--why", request_.with_reasons, "Use of each Queue's own quota, and borrowing");
    AddLabels(queues, "Queues with these labels");
    AddWatch(queues);
  }

  void AddCohorts() {
    CLI::App& cohorts =
        Add("cohorts", "Cohorts as a tree: their Queues, and what is used in each", "cohorts",
            [](const Asked& asked) {
              return ShowList(
                  asked, "/cohorts", ResourceKind::kCohort,
                  {.table = CohortTable, .wide = CohortTable, .resource = OfManiple("cohort")});
            });
    AddLabels(cohorts, "Cohorts with these labels");
    AddWatch(cohorts);
  }

  void AddCapacity() {
    AddWatch(Add("capacity", "Pods of each size that fit now, anywhere and in one domain",
                 "capacity -o json", Capacity));
  }

  void AddVersion() {
    Add("version", "Versions of this program and the scheduler", "version -o json", Version);
  }

 private:
  CLI::App& Add(const char* verb, const char* what, const char* example,
                const std::function<int(const Asked&)>& run) {
    CLI::App* command = app_.add_subcommand(verb, what);
    command->footer(absl::StrCat("Example:\n  maniple ", example));
    command->callback([=, common = common_, &request = request_, &result = result_] {
      constexpr absl::string_view kLists[] = {"gangs", "nodes", "queues", "cohorts"};
      const bool lists = std::ranges::find(kLists, verb) != std::end(kLists);
      if (!lists && RefusesOutput(common, verb, {"table", "wide", "json", "yaml"}, result)) return;
      if (request.namespace_name.empty()) request.namespace_name = common.namespace_name;
      result = run({common, request});
    });
    return *command;
  }
  void AddNamespaces(CLI::App& command) {
    command.add_option("-n,--namespace", request_.namespace_name,
                       "Only this namespace (default: all)");
    command.add_flag("-A,--all-namespaces")->description("All namespaces, as without -n");
  }
  void AddLabels(CLI::App& command, const char* whom) {
    command.add_option("-l,--selector", request_.labels, whom)->type_name("SELECTOR");
  }
  void AddWatch(CLI::App& command) {
    command.add_flag("-w,--watch", request_.watch, "Print it again whenever it changes");
  }

  CLI::App& app_;
  const CommonFlags common_;
  ViewRequest& request_;
  int& result_;
};

}  // namespace

void AddViewCommands(CLI::App& app, const CommonFlags& common, ViewRequest& request, int& result) {
  ViewCommands commands(app, common, request, result);
  commands.AddExplain();
  commands.AddGangs();
  commands.AddLog();
  commands.AddUsage();
  commands.AddDiag();
  commands.AddNodes();
  commands.AddQueues();
  commands.AddCohorts();
  commands.AddCapacity();
  commands.AddVersion();
}

}  // namespace maniple
