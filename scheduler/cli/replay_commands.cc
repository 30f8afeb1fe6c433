#include "scheduler/cli/replay_commands.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "api/base/files.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "api/codec/kubernetes_time.h"
#include "api/codec/yaml.h"
#include "scheduler/app/config/config.h"
#include "scheduler/app/config/config_duration.h"
#include "scheduler/app/config/loop_settings.h"
#include "scheduler/cli/cluster_reader.h"
#include "scheduler/cli/command_line.h"
#include "scheduler/cli/manifest_files.h"
#include "scheduler/cli/run_files.h"
#include "scheduler/cli/typed_gang.h"
#include "scheduler/replay/redacted_snapshot.h"

namespace maniple {
namespace {

constexpr int kWouldWait = 3;

absl::StatusOr<SchedulerConfig> ConfigOf(const std::string& file) {
  return file.empty() ? absl::StatusOr<SchedulerConfig>(SchedulerConfig())
                      : LoadSchedulerConfig(file);
}

absl::StatusOr<ClusterSnapshot> ReadLive(const AdminClientOptions& client,
                                         const SchedulerConfig& config) {
  ASSIGN_OR_RETURN(const ClientConfig reach, ClientConfigOf(client));
  ASSIGN_OR_RETURN(ReadClusterResult read, ReadCluster(reach, config.producers.kinds, absl::Now()));
  for (const std::string& note : read.notes) std::cerr << "note: " << OneLine(note) << "\n";
  return std::move(read.cluster);
}

absl::StatusOr<ClusterSnapshot> ReadFile(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(file));
  absl::StatusOr<ClusterSnapshot> snapshot = UnpackSnapshot(bytes);
  return snapshot.ok() ? snapshot : Annotate(snapshot.status(), file);
}

absl::StatusOr<std::vector<Json>> ReadManifests(const WhatIfRequest& request,
                                                const std::string& space) {
  std::vector<Json> objects;
  for (const std::string& file : request.files) {
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file == "-" ? "/dev/stdin" : file));
    absl::StatusOr<std::vector<Json>> parsed = ParseManifests(text);
    if (!parsed.ok()) return Annotate(parsed.status(), file);
    std::move(parsed->begin(), parsed->end(), std::back_inserter(objects));
  }
  PutInto(space, objects);
  return objects;
}

// "2026-01-01T12:00:00Z", or "2h" from then.
absl::StatusOr<absl::Time> ParseMoment(absl::string_view text, absl::Time from) {
  const absl::StatusOr<absl::Time> time = ParseKubernetesTime(text);
  if (time.ok()) return *time;
  const absl::StatusOr<absl::Duration> later = ParseConfigDuration(text);
  if (later.ok()) return from + *later;
  return absl::InvalidArgumentError(
      absl::StrCat("--at \"", text, "\": a time such as 2026-01-31T12:00:00Z or 2h was expected"));
}

absl::StatusOr<WhatIfQuestion> QuestionOf(const WhatIfRequest& request,
                                          const SchedulerConfig& config) {
  WhatIfQuestion question;
  const std::string space = NamespaceFor(request.client, request.namespace_name);
  ASSIGN_OR_RETURN(question.job, ReadManifests(request, space));
  for (const std::string& text : request.nodes) {
    ASSIGN_OR_RETURN(question.nodes.emplace_back(), ParseAddedNodes(text));
  }
  for (const std::string& text : request.quota) {
    ASSIGN_OR_RETURN(question.quota.emplace_back(), ParseAddedQuota(text));
  }
  if (!request.horizon.empty()) {
    const absl::StatusOr<absl::Duration> horizon = ParseConfigDuration(request.horizon);
    if (!horizon.ok()) return Annotate(horizon.status(), "--horizon");
    question.horizon = *horizon;
  }
  if (question.job.empty() && request.gangs.empty()) {
    return absl::InvalidArgumentError("what if what? Name a gang that waits, or a file with -f");
  }
  ASSIGN_OR_RETURN(question.cluster, request.snapshot.empty() ? ReadLive(request.client, config)
                                                              : ReadFile(request.snapshot));
  for (const std::string& typed : request.gangs) {
    std::ranges::copy(GangsNamed(typed, space, question.cluster.objects),
                      std::back_inserter(question.gangs));
  }
  if (!request.at.empty()) {
    ASSIGN_OR_RETURN(question.at, ParseMoment(request.at, question.cluster.at));
  }
  return question;
}

absl::string_view NameOf(StartKind kind) {
  switch (kind) {
    case StartKind::kHasCompleted:
      return "HasCompleted";
    case StartKind::kRuns:
      return "Runs";
    case StartKind::kNow:
      return "Now";
    case StartKind::kAfterEvicting:
      return "AfterEvicting";
    case StartKind::kLater:
      return "Later";
    case StartKind::kNotSoon:
      return "NotSoon";
    case StartKind::kNever:
      break;
  }
  return "Never";
}

Json DivisionsOf(const std::vector<NodeDivision>& divisions) {
  Json list = Json::Array();
  for (const NodeDivision& division : divisions) {
    list.Append(Json::Object({{"node", division.node}, {"config", division.config}}));
  }
  return list;
}

Json JsonOf(const WhatIfAnswer& answer) {
  Json items = Json::Array();
  for (const GangStart& start : answer.gangs) {
    Json item = Json::Object({{"namespace", start.namespace_name},
                              {"name", start.name},
                              {"queue", start.queue},
                              {"start", NameOf(start.kind)}});
    if (start.kind == StartKind::kLater) {
      item.Set("at", FormatKubernetesTime(start.at));
    }
    item.Set("evicts", Json::Strings(start.evicts));
    item.Set("nodes", Json::Strings(start.nodes));
    item.Set("divides", DivisionsOf(start.divides));
    item.Set("reason", start.reason);
    item.Set("message", start.message);
    item.Set("sentence", GangStartText(start));
    items.Append(std::move(item));
  }
  return Json::Object({{"items", std::move(items)}, {"someEndsUnknown", answer.some_ends_unknown}});
}

void Print(const WhatIfAnswer& answer, const std::string& output) {
  if (output == "json") {
    std::cout << JsonOf(answer).DumpPretty() << "\n";
    return;
  }
  if (output == "yaml") {
    std::cout << DumpYaml(JsonOf(answer));
    return;
  }
  for (const GangStart& start : answer.gangs) {
    std::cout << start.namespace_name << "/" << start.name << " " << OneLine(GangStartText(start))
              << "\n";
  }
  const bool waits = std::ranges::any_of(answer.gangs, [](const GangStart& start) {
    return start.kind == StartKind::kNotSoon || start.kind == StartKind::kLater;
  });
  if (waits && answer.some_ends_unknown) {
    std::cout << "Some of what runs does not say when it ends; whoever waits may start sooner.\n";
  }
}

}  // namespace

absl::StatusOr<AddedNodes> ParseAddedNodes(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(":like=", 1));
  AddedNodes added{.like = std::string(parts.second)};
  if (!absl::SimpleAtoi(parts.first, &added.count) || added.count < 1 || added.count > 10'000 ||
      added.like.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--add-nodes \"", text, "\": N:like=NODE was expected, N from 1 to 10000"));
  }
  return added;
}

absl::StatusOr<AddedQuota> ParseAddedQuota(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  const std::pair<absl::string_view, absl::string_view> names =
      absl::StrSplit(parts.first, absl::MaxSplits('/', 1));
  const std::pair<absl::string_view, absl::string_view> of =
      absl::StrSplit(names.second, absl::MaxSplits('@', 1));
  AddedQuota more{.queue = std::string(names.first),
                  .resource = std::string(of.first),
                  .flavor = std::string(of.second)};
  constexpr int64_t kMost = 1'000'000'000;
  if (!absl::SimpleAtoi(absl::StripPrefix(parts.second, "+"), &more.amount) ||
      more.amount < -kMost || more.amount > kMost || more.queue.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--quota \"", text,
                     "\": QUEUE=+N, QUEUE/RESOURCE=+N or QUEUE/RESOURCE@FLAVOR=+N was expected, a "
                     "whole number"));
  }
  return more;
}

int RunWhatIf(const WhatIfRequest& request) {
  const absl::StatusOr<SchedulerConfig> config = ConfigOf(request.config);
  if (!config.ok()) return Complain(config.status().message());
  const absl::StatusOr<WhatIfQuestion> question = QuestionOf(request, *config);
  if (!question.ok()) return Complain(question.status().message());
  const absl::StatusOr<WhatIfAnswer> answer = AnswerWhatIf(*question, LoopOptionsFor(*config));
  if (!answer.ok()) return Complain(answer.status().message());
  if (answer->gangs.empty()) {
    return Complain(absl::StrCat("no pod in these files is for the scheduler ",
                                 absl::StrJoin(config->scheduler_names, " or "),
                                 ": look at spec.schedulerName, and at suspend and parallelism "
                                 "of Jobs"));
  }
  Print(*answer, request.output);
  const bool all = std::ranges::all_of(answer->gangs, [](const GangStart& start) {
    return start.kind != StartKind::kNotSoon && start.kind != StartKind::kNever;
  });
  return all ? 0 : kWouldWait;
}

int RunSnapshot(const SnapshotRequest& request) {
  const absl::StatusOr<SchedulerConfig> config = ConfigOf(request.config);
  if (!config.ok()) return Complain(config.status().message());
  absl::StatusOr<ClusterSnapshot> snapshot = ReadLive(request.client, *config);
  if (!snapshot.ok()) return Complain(snapshot.status().message());
  if (request.redact) {
    const Redaction redaction(snapshot->objects, LabelsReadOfGpus(config->gpu.rules));
    snapshot = RedactedSnapshot(*snapshot, redaction, [&] { return LoopOptionsFor(*config); });
    if (!snapshot.ok()) return Complain(snapshot.status().message());
  }
  const std::string bytes = PackSnapshot(*snapshot);
  const absl::Status written = WriteRunFile(request.file, bytes, FileAccess::kOwner);
  if (!written.ok()) return Complain(written.message());
  if (request.file == "-") return 0;
  std::cerr << snapshot->objects.size() << " objects, " << bytes.size() << " bytes\n";
  return 0;
}

}  // namespace maniple
