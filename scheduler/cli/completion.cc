#include "scheduler/cli/completion.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace maniple {
namespace {

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// Of an option that takes one of a few words these: "table wide json"; else "".
std::string WordsTakenBy(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{table,wide,json}"
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return "";
  return absl::StrReplaceAll(type.substr(open + 1, close - open - 1), {{",", " "}});
}

// Its flags, and the words that stand for themselves.
std::string WordsOf(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    for (std::string& name : NamesOf(*option)) words.push_back(std::move(name));
    if (option->get_positional()) words.push_back(WordsTakenBy(*option));
  }
  return absl::StrJoin(words, " ");
}

// What may stand behind each flag that takes one of a few words. Verb "*": behind any verb.
std::string BashValues(const CLI::App& command, absl::string_view verb) {
  std::string cases;
  for (const CLI::Option* option : command.get_options()) {
    const std::string values = WordsTakenBy(*option);
    if (values.empty() || option->get_positional()) continue;
    const auto pattern = [verb](std::string* out, const std::string& name) {
      absl::StrAppend(out, verb, "\" ", name, "\"");
    };
    absl::StrAppend(&cases, "    ", absl::StrJoin(NamesOf(*option), "|", pattern),
                    ") COMPREPLY=($(compgen -W \"", values, "\" -- \"$current\")); return ;;\n");
  }
  return cases;
}

// Flags of the program may stand before the verb.
std::string Bash(const CLI::App& app) {
  std::vector<std::string> verbs;
  std::string cases, values = BashValues(app, "*");
  for (const CLI::App* command : CommandsOf(app)) {
    const std::string& verb = verbs.emplace_back(command->get_name());
    absl::StrAppend(&cases, "    ", verb, ") words=\"", WordsOf(*command), " ", WordsOf(app),
                    "\" ;;\n");
    absl::StrAppend(&values, BashValues(*command, verb));
  }
  return absl::StrCat(
      "_maniple() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} word verb= words=\"",
      absl::StrJoin(verbs, " "), " ", WordsOf(app),
      "\"\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case $word in ",
      absl::StrJoin(verbs, "|"),
      ") verb=$word; break ;; esac\n"
      "  done\n"
      "  case \"$verb ${COMP_WORDS[COMP_CWORD-1]}\" in\n",
      values,
      "  esac\n"
      "  case $verb in\n",
      cases,
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\") $(compgen -f -- \"$current\"))\n"
      "}\n"
      "complete -o filenames -F _maniple maniple kubectl-maniple\n");
}

std::string FishQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// One line for each flag that --help shows. `where`: the condition of fish, or "".
std::string FishFlags(const CLI::App& command, absl::string_view where) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    const std::string values = WordsTakenBy(*option);
    const bool named = !NamesOf(*option).empty();
    if (option->get_group().empty() || (!named && values.empty())) continue;
    const std::string offered =
        values.empty() ? "" : absl::StrCat(named ? " -x" : "", " -a ", FishQuoted(values));
    absl::StrAppend(&out, "complete -c maniple", where);
    for (const std::string& name : option->get_lnames()) absl::StrAppend(&out, " -l ", name);
    for (const std::string& name : option->get_snames()) absl::StrAppend(&out, " -s ", name);
    absl::StrAppend(&out, offered, " -d ", FishQuoted(option->get_description()), "\n");
  }
  return out;
}

std::string Fish(const CLI::App& app) {
  std::string out = absl::StrCat("complete -c kubectl-maniple -w maniple\n", FishFlags(app, ""));
  for (const CLI::App* command : CommandsOf(app)) {
    absl::StrAppend(&out, "complete -c maniple -n __fish_use_subcommand -a ", command->get_name(),
                    " -d ", FishQuoted(command->get_description()), "\n",
                    FishFlags(*command, absl::StrCat(" -n '__fish_seen_subcommand_from ",
                                                     command->get_name(), "'")));
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
