#include "scheduler/cli/completion.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace maniple {
namespace {

std::vector<std::string> FlagsOf(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

std::vector<std::string> Subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string Bash(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    absl::StrAppend(&cases, "    ", command->get_name(), ") words=\"",
                    absl::StrJoin(FlagsOf(*command), " "), " ", absl::StrJoin(FlagsOf(app), " "),
                    "\" ;;\n");
  }
  return absl::StrCat(
      "_maniple() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} words=\"",
      absl::StrJoin(Subcommands(app), " "), " ", absl::StrJoin(FlagsOf(app), " "),
      "\"\n"
      "  case ${COMP_WORDS[1]:-} in\n",
      cases,
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\") $(compgen -f -- \"$current\"))\n"
      "}\n"
      "complete -o filenames -F _maniple maniple kubectl-maniple\n");
}

std::string FishQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string Fish(const CLI::App& app) {
  std::string out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    absl::StrAppend(&out, "complete -c maniple -n __fish_use_subcommand -a ", command->get_name(),
                    " -d ", FishQuoted(command->get_description()), "\n");
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        absl::StrAppend(&out, "complete -c maniple -n '__fish_seen_subcommand_from ",
                        command->get_name(), "' -l ", name, " -d ",
                        FishQuoted(option->get_description()), "\n");
      }
    }
  }
  return out;
}

}  // namespace

std::string CompletionScript(const CLI::App& app, absl::string_view shell) {
  if (shell == "fish") return Fish(app);
  // zsh runs bash completions after its own compatibility layer.
  if (shell == "zsh")
    return absl::StrCat("autoload -U +X bashcompinit && bashcompinit\n", Bash(app));
  return Bash(app);
}

}  // namespace maniple
