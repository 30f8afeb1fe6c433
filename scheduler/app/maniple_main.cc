// maniple, also installed as kubectl-maniple: what a scheduler knows, told to people and programs.
#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "api/base/files.h"
#include "api/base/log.h"
#include "api/codec/yaml.h"
#include "api/http/http.h"
#include "api/validation/manifest.h"
#include "scheduler/app/admin_client.h"
#include "scheduler/app/capacity.h"
#include "scheduler/app/cluster_commands.h"
#include "scheduler/app/completion.h"
#include "scheduler/app/config.h"
#include "scheduler/app/diagnosis.h"
#include "scheduler/app/import_command.h"
#include "scheduler/app/listing.h"
#include "scheduler/app/node_map.h"
#include "scheduler/app/printing.h"
#include "scheduler/app/profile.h"
#include "scheduler/app/usage_table.h"
#include "scheduler/app/version.h"

namespace maniple {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

struct Request {
  AdminClientOptions client;
  std::string output;  // "" or table, wide, json, yaml or name
  std::string namespace_name;
  std::string name;
  bool watch = false;  // a list: printed again whenever it changes
  bool everywhere = false, by_start = false, as_map = false, with_reasons = false;
  std::vector<std::string> by = {"queue"};  // of kUsageKeys
};

constexpr absl::Duration kLookAgain = absl::Seconds(2);

int Complain(absl::string_view what) {
  std::cerr << "maniple: " << OneLine(what) << "\n";
  return kFailed;
}

// One kind of list in the words of each output.
struct ListTexts {
  std::function<std::string(const Json&)> table, wide;
  std::string resource;  // for names: "podgroup"
};

// As a person or a program wants it.
template <typename Text>
std::string Worded(const Request& request, const Json& answer, const Text& text) {
  if (request.output == "json") return absl::StrCat(answer.DumpPretty(), "\n");
  if (request.output == "yaml") return DumpYaml(answer);
  return text(answer);
}

template <typename Text>
void Print(const Request& request, const Json& answer, const Text& text) {
  std::cout << Worded(request, answer, text);
}

// Asks, and prints; again and again where a list is watched.
template <typename Text>
int Show(const Request& request, const std::string& target, const Text& text) {
  std::string shown;
  while (true) {
    const absl::StatusOr<Json> answer = AskScheduler(request.client, target);
    if (!answer.ok()) return Complain(answer.status().message());
    const std::string news = Worded(request, *answer, text);
    if (news != shown) std::cout << news << std::flush;
    if (!request.watch) return 0;
    if (!std::cout) return kFailed;
    shown = news;
    absl::SleepFor(kLookAgain);
  }
}

int ShowList(const Request& request, const std::string& target, const ListTexts& texts) {
  if (request.output == "name") {
    return Show(request, target, [&](const Json& list) { return Names(list, texts.resource); });
  }
  return Show(request, target, request.output == "wide" ? texts.wide : texts.table);
}

int Explain(const Request& request) {
  const std::string ns = request.namespace_name.empty() ? "default" : request.namespace_name;
  return Show(
      request,
      absl::StrCat("/explain?namespace=", UrlEncoded(ns), "&name=", UrlEncoded(request.name)),
      [](const Json& gang) { return Explanation(gang, absl::Now()); });
}

int Gangs(const Request& request) {
  const auto starts = [](const Json& gangs) { return StartTable(gangs, absl::Now()); };
  const auto table = [](const Json& gangs) { return GangTable(gangs, absl::Now()); };
  const auto wide = [](const Json& gangs) { return WideGangTable(gangs, absl::Now()); };
  ListTexts texts{.table = table, .wide = wide, .resource = "podgroup"};
  if (request.by_start) texts.table = texts.wide = starts;
  return ShowList(request, absl::StrCat("/gangs?namespace=", UrlEncoded(request.namespace_name)),
                  texts);
}

bool IsConfiguration(const std::string& text) {
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  return documents.ok() && documents->size() == 1 &&
         documents->front().value["kind"].AsString() == "SchedulerConfiguration";
}

// Problems of one file, each a line that names file, line and path; empty when it is sound.
std::vector<std::string> ProblemsOf(const std::string& file, std::vector<ManifestFile>& manifests) {
  absl::StatusOr<std::string> text = ReadWholeFile(file);
  if (!text.ok()) return {std::string(text.status().message())};
  if (!IsConfiguration(*text)) {
    manifests.push_back({.name = file, .text = *std::move(text)});
    return {};
  }
  const absl::StatusOr<SchedulerConfig> config = ParseSchedulerConfig(*text, file);
  if (!config.ok()) return absl::StrSplit(config.status().message(), '\n');
  const absl::StatusOr<Profile> profile = ProfileFor(*config);
  if (!profile.ok()) return {absl::StrCat(file, ": ", profile.status().message())};
  return {};
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
int Version(const Request& request) {
  const absl::StatusOr<Json> scheduler = AskScheduler(request.client, "/version");
  Json both = Json::Object({{"client", Json::Object({{"version", MANIPLE_VERSION}})}});
  if (scheduler.ok()) both.Set("scheduler", *scheduler);
  Print(request, both, VersionText);
  return scheduler.ok() ? 0 : Complain(scheduler.status().message());
}

int Validate(const std::vector<std::string>& files) {
  std::vector<ManifestFile> manifests;
  std::vector<std::string> problems;
  for (const std::string& file : files) {
    for (std::string& problem : ProblemsOf(file, manifests)) problems.push_back(std::move(problem));
  }
  for (const ManifestFinding& finding : ValidateManifests(manifests)) {
    const std::string text =
        absl::StrCat(finding.file, ":", finding.line, ": ",
                     finding.path.empty() ? "" : finding.path + ": ", finding.message);
    if (finding.severity == ManifestFinding::Severity::kError) {
      problems.push_back(text);
    } else {
      std::cout << "note: " << OneLine(text) << "\n";
    }
  }
  for (const std::string& problem : problems) std::cerr << OneLine(problem) << "\n";
  if (!problems.empty())
    return Complain(absl::StrCat(problems.size(), problems.size() == 1 ? " problem" : " problems"));
  std::cout << files.size() << (files.size() == 1 ? " file is valid\n" : " files are valid\n");
  return 0;
}

void AddReaching(CLI::App& command, Request& request) {
  command.add_option("--admin", request.client.admin, "The scheduler's admin surface")
      ->type_name("HOST:PORT|unix:PATH");
  command
      .add_option("--certificate-authority", request.client.certificate_authority,
                  "Of the scheduler's certificate, for --admin HOST:PORT")
      ->type_name("FILE");
  command.add_option("--client-certificate", request.client.client_certificate, "To show there")
      ->type_name("FILE");
  command.add_option("--client-key", request.client.client_key, "Its key")->type_name("FILE");
  command
      .add_option("--kubeconfig", request.client.kubeconfig,
                  "Reach it through this cluster's API server")
      ->type_name("FILE");
  command.add_option("--context", request.client.context, "Context of the kubeconfig")
      ->type_name("NAME");
  command.add_option("--service-namespace", request.client.service_namespace,
                     "Where the scheduler's Service is");
  command
      .add_option("--service", request.client.service,
                  "The Service and its port; of a scheduler without TLS maniple-scheduler:http")
      ->type_name("[https:]NAME:PORT");
  command.add_option("-o,--output", request.output, "table, wide, json, yaml or name")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml", "name"}));
}

void AddWatch(CLI::App& command, Request& request) {
  command.add_flag("-w,--watch", request.watch, "Print it again whenever it changes");
}

void AddExplain(CLI::App& app, Request& request, int& result) {
  CLI::App* explain = app.add_subcommand("explain", "Why a gang waits, or where it runs");
  explain->footer("Example:\n  maniple explain llama-pretrain -n research -o json");
  explain
      ->add_option("NAME", request.name,
                   "PodGroup, pod, or what declares the gang, as pytorchjob/train")
      ->required();
  explain->add_option("-n,--namespace", request.namespace_name, "Its namespace (default: default)");
  explain->callback([&] { result = Explain(request); });
}

void AddGangs(CLI::App& app, Request& request, int& result) {
  CLI::App* gangs = app.add_subcommand("gangs", "All gangs: phase, placement, reason");
  gangs->footer("Example:\n  maniple gangs --start -n research -w");
  CLI::Option* one = gangs->add_option("-n,--namespace", request.namespace_name,
                                       "Only this namespace (default: all)");
  gangs->add_flag("-A,--all-namespaces", request.everywhere, "Of every namespace, as without -n")
      ->excludes(one);
  gangs->add_flag("--start", request.by_start,
                  "Those that wait, in order of service, with planned starts");
  AddWatch(*gangs, request);
  gangs->callback([&] { result = Gangs(request); });
}

int ShowLog(const Request& request) {
  const bool of_one = !request.name.empty() && request.namespace_name.empty();
  const std::string ns = of_one ? "default" : request.namespace_name;
  const std::string target =
      absl::StrCat("/log?namespace=", UrlEncoded(ns), "&name=", UrlEncoded(request.name));
  if (request.watch || request.name.empty()) return Show(request, target, DecisionTable);
  const absl::StatusOr<Json> log = AskScheduler(request.client, target);
  if (!log.ok()) return Complain(log.status().message());
  if ((*log)["items"].size() > 0) {
    Print(request, *log, DecisionTable);
    return 0;
  }
  return Complain(absl::StrCat("nothing was decided of a gang \"", request.name,
                               "\" in namespace \"", ns, "\" since this scheduler began"));
}

void AddLog(CLI::App& app, Request& request, int& result) {
  CLI::App* log = app.add_subcommand("log", "What was decided of late, of one gang or of all");
  log->footer("Example:\n  maniple log llama-pretrain -n research");
  log->add_option("GANG", request.name, "Its PodGroup, or its pod (default: all gangs)");
  log->add_option("-n,--namespace", request.namespace_name,
                  "Its namespace (default: default; without a gang: all)");
  AddWatch(*log, request);
  log->callback([&] { result = ShowLog(request); });
}

int Usage(const Request& request) {
  const absl::StatusOr<Json> answer = AskScheduler(
      request.client, absl::StrCat("/usage?namespace=", UrlEncoded(request.namespace_name)));
  if (!answer.ok()) return Complain(answer.status().message());
  Print(request, UsageBy(*answer, request.by),
        [&request](const Json& usage) { return UsageTable(usage, request.by); });
  return 0;
}

void AddUsage(CLI::App& app, Request& request, int& result) {
  CLI::App* usage =
      app.add_subcommand("usage", "GPU-hours: in all, and with what is a week old counting half");
  usage->footer("Example:\n  maniple usage --by queue,namespace");
  CLI::Option* one = usage->add_option("-n,--namespace", request.namespace_name,
                                       "Only this namespace (default: all)");
  usage->add_flag("-A,--all-namespaces", request.everywhere, "Of every namespace, as without -n")
      ->excludes(one);
  usage->add_option("--by", request.by, "queue, namespace and flavor, or some of them")
      ->delimiter(',')
      ->type_name("KEY,...")
      ->check(CLI::IsMember(std::set<std::string>(std::begin(kUsageKeys), std::end(kUsageKeys))));
  usage->callback([&] { result = Usage(request); });
}

void AddDiag(CLI::App& app, Request& request, int& result) {
  CLI::App* diag = app.add_subcommand("diag", "How the scheduler itself fares; troubles first");
  diag->footer("Example:\n  maniple diag");
  AddWatch(*diag, request);
  diag->callback([&] { result = Show(request, "/diag", DiagnosisText); });
}

void AddNodes(CLI::App& app, Request& request, int& result) {
  CLI::App* nodes = app.add_subcommand("nodes", "Nodes: free room and the gangs on them");
  nodes->footer("Example:\n  maniple nodes --map");
  nodes->add_flag("--map", request.as_map,
                  "GPUs by topology domain: which gang holds how many of each node");
  AddWatch(*nodes, request);
  nodes->callback([&] {
    const auto text = request.as_map ? NodeMap : NodeTable;
    result = ShowList(request, "/nodes", {.table = text, .wide = text, .resource = "node"});
  });
}

void AddCohorts(CLI::App& app, Request& request, int& result) {
  CLI::App* cohorts =
      app.add_subcommand("cohorts", "Cohorts as a tree: their Queues, and what is used in each");
  cohorts->footer("Example:\n  maniple cohorts");
  AddWatch(*cohorts, request);
  cohorts->callback([&] {
    result = ShowList(request, "/cohorts",
                      {.table = CohortTable, .wide = CohortTable, .resource = "cohort"});
  });
}

int Capacity(const Request& request) {
  const absl::StatusOr<Json> nodes = AskScheduler(request.client, "/nodes");
  if (!nodes.ok()) return Complain(nodes.status().message());
  Print(request, CapacityOf(*nodes), CapacityTable);
  return 0;
}

void AddCapacity(CLI::App& app, Request& request, int& result) {
  CLI::App* capacity = app.add_subcommand(
      "capacity", "What fits now: pods of each size at once, anywhere and in one domain");
  capacity->footer("Example:\n  maniple capacity -o json");
  capacity->callback([&] { result = Capacity(request); });
}

void AddQueues(CLI::App& app, Request& request, int& result) {
  CLI::App* queues = app.add_subcommand("queues", "Queues: what waits, what runs, what is used");
  queues->footer("Example:\n  maniple queues --why");
  queues->add_flag("--why", request.with_reasons,
                   "What each uses of its own, and who borrows from whom");
  AddWatch(*queues, request);
  queues->callback([&] {
    const auto text = request.with_reasons ? QueueReasons : QueueTable;
    result = ShowList(request, "/queues", {.table = text, .wide = text, .resource = "queue"});
  });
}

void AddValidate(CLI::App& app, std::vector<std::string>& files, int& result) {
  CLI::App* validate =
      app.add_subcommand("validate", "Check configuration files and manifests, offline");
  validate->footer("Example:\n  maniple validate scheduler.yaml queues.yaml");
  validate->add_option("FILE", files, "YAML or JSON files")->required();
  validate->callback([&] { result = Validate(files); });
}

void AddImport(CLI::App& app, const Request& request, ImportRequest& imported, int& result) {
  CLI::App* command =
      app.add_subcommand("import", "Another scheduler's queues as manifests of ours, offline");
  command->footer(
      "Example:\n  kubectl get queues.scheduling.volcano.sh,nodes -o yaml | maniple import volcano "
      "- > queues.yaml");
  command->add_option("SCHEDULER", imported.from, "kueue, volcano or kai")
      ->required()
      ->check(CLI::IsMember({"kueue", "volcano", "kai"}));
  command->add_option("FILE", imported.files, "YAML or JSON files; - is standard input")
      ->required();
  command->callback([&] {
    imported.output = request.output;
    result = RunImport(imported);
  });
}

// Runs the command that the words name; else what to exit with instead.
std::optional<int> Parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    // Of a word that is no command, or no flag of one, CLI11 says only what is missing beside it.
    const std::vector<std::string> unknown = app.remaining(true);
    const std::string what = unknown.empty() ? error.what()
                             : app.get_subcommands().empty()
                                 ? absl::StrCat("\"", unknown.front(), "\" is no command")
                                 : absl::StrCat("\"", unknown.front(), "\" was not expected");
    Complain(absl::StrCat(what, " (try maniple --help)"));
    return kUsage;
  }
  return std::nullopt;
}

int Main(int argc, char** argv) {
  CLI::App app("Ask a Maniple scheduler: why does a gang wait, what runs where.", "maniple");
  app.set_version_flag("--version", absl::StrCat("maniple ", MANIPLE_VERSION));
  app.require_subcommand(1);
  app.fallthrough();
  app.footer("Example:\n  maniple explain my-training-job -n research");
  Request request;
  AddReaching(app, request);
  int result = 0;

  AddExplain(app, request, result);
  AddGangs(app, request, result);
  AddLog(app, request, result);
  AddUsage(app, request, result);
  AddDiag(app, request, result);
  AddNodes(app, request, result);
  AddQueues(app, request, result);
  AddCohorts(app, request, result);
  AddCapacity(app, request, result);
  std::vector<std::string> files;
  AddValidate(app, files, result);
  ImportRequest imported;
  AddImport(app, request, imported, result);
  ClusterRequests cluster;
  AddClusterCommands(app, {request.client, request.output}, cluster, result);

  CLI::App* version = app.add_subcommand("version", "Versions of this program and the scheduler");
  version->footer("Example:\n  maniple version -o json");
  version->callback([&] { result = Version(request); });

  std::string shell;
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  completion->footer("Example:\n  source <(maniple completion bash)");
  completion->add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&] { std::cout << CompletionScript(app, shell); });

  if (const std::optional<int> stop = Parse(app, argc, argv)) result = *stop;
  if (!std::cout.flush()) return Complain("standard output cannot be written");
  return result;
}

}  // namespace
}  // namespace maniple

int main(int argc, char** argv) {
  maniple::OpenStandardStreams();
  return maniple::Main(argc, argv);
}
