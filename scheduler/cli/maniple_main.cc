// maniple, also installed as kubectl-maniple: what a scheduler knows, told to people and programs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/files.h"
#include "api/base/log.h"
#include "api/codec/yaml.h"
#include "api/validation/manifest.h"
#include "scheduler/app/config/config.h"
#include "scheduler/app/config/version.h"
#include "scheduler/cli/admin_client.h"
#include "scheduler/cli/cluster_commands.h"
#include "scheduler/cli/command_line.h"
#include "scheduler/cli/completion.h"
#include "scheduler/cli/import_command.h"
#include "scheduler/cli/view_commands.h"

namespace maniple {
namespace {

constexpr int kUsage = 2;

// Also where other documents stand beside it, which the scheduler refuses.
bool IsConfiguration(const std::string& text) {
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  return documents.ok() && std::ranges::any_of(*documents, [](const YamlDocument& document) {
           return document.value["kind"].AsString() == "SchedulerConfiguration";
         });
}

// What the files are held to, and what they hold.
struct ToValidate {
  std::vector<ManifestFile> manifests;
  std::vector<std::string> scheduler_names;  // of the configurations among them
};

// Problems of one file, each a line that names file, line and path; empty when it is sound.
std::vector<std::string> ProblemsOf(const std::string& file, ToValidate& read) {
  absl::StatusOr<std::string> text = ReadWholeFile(file);
  if (!text.ok()) return {std::string(text.status().message())};
  if (!IsConfiguration(*text)) {
    read.manifests.push_back({.name = file, .text = *std::move(text)});
    return {};
  }
  const absl::StatusOr<SchedulerConfig> config = ParseSchedulerConfig(*text, file);
  if (!config.ok()) return absl::StrSplit(config.status().message(), '\n');
  read.scheduler_names.insert(read.scheduler_names.end(), config->scheduler_names.begin(),
                              config->scheduler_names.end());
  return {};
}

int Validate(const std::vector<std::string>& paths) {
  ToValidate read;
  std::vector<std::string> files, problems;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::vector<std::string>> found =
        ManifestFilesAt(path == "-" ? "/dev/stdin" : path);
    if (found.ok()) {
      files.insert(files.end(), found->begin(), found->end());
    } else {
      problems.emplace_back(found.status().message());
    }
  }
  for (const std::string& file : files) {
    for (std::string& problem : ProblemsOf(file, read)) problems.push_back(std::move(problem));
  }
  if (read.scheduler_names.empty()) read.scheduler_names = SchedulerConfig().scheduler_names;
  for (const ManifestFinding& finding : ValidateManifests(read.manifests, read.scheduler_names)) {
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

void AddReaching(CLI::App& command, AdminClientOptions& client, std::string& output) {
  command.add_option("--admin", client.admin, "The scheduler's admin surface")
      ->type_name("HOST:PORT|unix:PATH");
  command
      .add_option("--certificate-authority", client.certificate_authority,
                  "Authority of the scheduler's certificate, for --admin HOST:PORT")
      ->type_name("FILE");
  command
      .add_option("--client-certificate", client.client_certificate,
                  "The certificate to present there")
      ->type_name("FILE");
  command.add_option("--client-key", client.client_key, "Its key")->type_name("FILE");
  command
      .add_option("--kubeconfig", client.kubeconfig, "Reach it through this cluster's API server")
      ->type_name("FILE");
  command.add_option("--context", client.context, "Context of the kubeconfig")->type_name("NAME");
  command.add_option("--service-namespace", client.service_namespace,
                     "Namespace of the scheduler's Service");
  command
      .add_option("--service", client.service,
                  "The Service and its port; maniple-scheduler:http for a scheduler without TLS")
      ->type_name("[https:]NAME:PORT");
  command.add_option("-o,--output", output, "table, wide, json, yaml or name")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml", "name"}));
}

void AddValidate(CLI::App& app, const CommonFlags& common, std::vector<std::string>& files,
                 int& result) {
  CLI::App* validate =
      app.add_subcommand("validate", "Check configuration files and manifests, offline");
  validate->footer("Example:\n  maniple validate scheduler.yaml queues.yaml");
  validate->add_option("FILE", files, "YAML or JSON files, or folders of them; - is standard input")
      ->required();
  validate->callback([&] {
    if (!RefusesOutput(common, "validate", {}, result)) result = Validate(files);
  });
}

void AddImport(CLI::App& app, const CommonFlags& common, ImportRequest& imported, int& result) {
  CLI::App* command =
      app.add_subcommand("import", "Another scheduler's queues as manifests of ours, offline");
  command->footer(
      "Example:\n  kubectl get queues.scheduling.volcano.sh,nodes -o yaml | maniple import volcano "
      "- > queues.yaml");
  command->add_option("SCHEDULER", imported.from, "kueue, volcano, kai or yunikorn")
      ->required()
      ->check(CLI::IsMember({"kueue", "volcano", "kai", "yunikorn"}));
  command->add_option("FILE", imported.files, "YAML or JSON files; - is standard input")
      ->required();
  command->callback([&] {
    imported.output = common.output;
    if (RefusesOutput(common, "import", {"yaml", "json"}, result)) return;
    result = RunImport(imported);
  });
}

// In the order that CLI11 takes them. Unlike kubectl it makes the = of "-n=research" part of the
// value.
std::vector<std::string> WordsOf(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string& word : words) {
    if (word.size() > 2 && word[0] == '-' && word[1] != '-' && word[2] == '=') word.erase(2, 1);
  }
  std::ranges::reverse(words);
  return words;
}

// Runs the command that the words name; else what to exit with instead.
std::optional<int> Parse(CLI::App& app, std::vector<std::string> words) {
  try {
    app.parse(std::move(words));
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
  AdminClientOptions client;
  std::string output, space;
  const CommonFlags common{client, output, space};
  AddReaching(app, client, output);
  AddNamespaceFlags(app, space);
  int result = 0;

  ViewRequest view;
  AddViewCommands(app, common, view, result);
  std::vector<std::string> files;
  AddValidate(app, common, files, result);
  ImportRequest imported;
  AddImport(app, common, imported, result);
  ClusterRequests cluster;
  AddClusterCommands(app, common, cluster, result);

  std::string shell;
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  completion->footer("Example:\n  source <(maniple completion bash)");
  completion->add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&] {
    if (!RefusesOutput(common, "completion", {}, result)) std::cout << CompletionScript(app, shell);
  });

  if (const std::optional<int> stop = Parse(app, WordsOf(argc, argv))) result = *stop;
  if (!std::cout.flush()) return Complain("standard output cannot be written");
  return result;
}

}  // namespace
}  // namespace maniple

int main(int argc, char** argv) {
  maniple::OpenStandardStreams();
  return maniple::Main(argc, argv);
}
