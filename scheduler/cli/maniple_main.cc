// maniple, also installed as kubectl-maniple: what a scheduler knows, told to people and programs.
#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/files.h"
#include "api/base/log.h"
#include "api/codec/yaml.h"
#include "api/validation/manifest.h"
#include "scheduler/app/config/config.h"
#include "scheduler/app/config/profile.h"
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

void AddValidate(CLI::App& app, std::vector<std::string>& files, int& result) {
  CLI::App* validate =
      app.add_subcommand("validate", "Check configuration files and manifests, offline");
  validate->footer("Example:\n  maniple validate scheduler.yaml queues.yaml");
  validate->add_option("FILE", files, "YAML or JSON files")->required();
  validate->callback([&] { result = Validate(files); });
}

void AddImport(CLI::App& app, const CommonFlags& common, ImportRequest& imported, int& result) {
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
    imported.output = common.output;
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
  AdminClientOptions client;
  std::string output;
  const CommonFlags common{client, output};
  AddReaching(app, client, output);
  int result = 0;

  ViewRequest view;
  AddViewCommands(app, common, view, result);
  std::vector<std::string> files;
  AddValidate(app, files, result);
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
