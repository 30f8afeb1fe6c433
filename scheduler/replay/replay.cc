#include "scheduler/replay/replay.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/check.h"
#include "api/base/status_macros.h"
#include "api/codec/yaml.h"
#include "api/producers/reader.h"
#include "api/validation/crds.h"
#include "scheduler/replay/shown_kinds.h"
#include "scheduler/report/decision_entry.h"

namespace maniple {
namespace {

// The most turns at one moment.
constexpr int kMostTurns = 100'000;

ClusterClientOptions ClientFor(const ForeignKinds& kinds) {
  ClusterClientOptions client;
  client.foreign = kinds;
  if (!kinds.empty()) client.reader = MakeForeignReader(kinds);
  return client;
}

devcluster::ApiServerOptions ServerFor(const MigOptions& mig, absl::Time start) {
  return {.mig = {.tables = mig.tables,
                  .configs = mig.configs,
                  .takes = kDivisionTakes,
                  .resumes = true,
                  .asked_at = kMigChangedAt},
          // New objects must not get the uid of an object from the snapshot.
          .seed = static_cast<uint64_t>(absl::ToUnixNanos(start))};
}

// An object with an absent owner would be taken for an orphan.
void KeepOwnersAmong(const std::set<std::string>& uids, Json& object) {
  if (!object["metadata"]["ownerReferences"].is_array()) return;
  std::erase_if(object.Mutable("metadata").Mutable("ownerReferences").mutable_items(),
                [&uids](const Json& owner) { return !uids.contains(owner["uid"].AsString()); });
}

std::vector<Json> OurDefinitions() {
  std::vector<Json> crds;
  for (const EmbeddedCrd& crd : EmbeddedCrds()) {
    const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(crd.yaml);
    CHECK(documents.ok()) << crd.file;
    for (const YamlDocument& document : *documents) crds.push_back(document.value);
  }
  return crds;
}

// "/api/v1/namespaces/N/pods/P/binding" tells the deed done to N/P.
std::optional<PodDeed> DeedOf(const LocalTransport::Write& write) {
  const std::vector<absl::string_view> path = absl::StrSplit(write.target, absl::ByAnyChar("/?"));
  if (path.size() < 7 || path[3] != "namespaces" || path[5] != "pods") return std::nullopt;
  const absl::string_view part = path.size() > 7 ? path[7] : absl::string_view();
  const bool leaves = write.method == HttpMethod::kDelete ||
                      (write.method == HttpMethod::kPost && part == "eviction");
  if (!leaves && write.node.empty()) return std::nullopt;
  return PodDeed{.at = write.at, .pod = absl::StrCat(path[4], "/", path[6]), .node = write.node};
}

void NotePreemptions(const DecisionEntry& entry, std::vector<Preemption>& preemptions) {
  const std::string gang = absl::StrCat(entry.gang.namespace_name, "/", entry.gang.name);
  if (entry.what == "stays") {
    std::erase_if(preemptions, [&gang](const Preemption& one) { return one.victim == gang; });
  }
  if (entry.what != "preempt") return;
  // "default/a, 2 surplus pods of default/b"
  for (const absl::string_view victim : absl::StrSplit(TextOf(entry), ", ")) {
    preemptions.push_back({gang, std::string(victim.substr(victim.rfind(' ') + 1))});
  }
}

}  // namespace

Replay::Replay(LoopOptions options, absl::Time start)
    : now_(start),
      kinds_(options.state.producers.kinds),
      server_(ServerFor(options.mig, start)),
      transport_(server_),
      loop_(std::move(options)),
      client_(ClientFor(kinds_), transport_) {
  const absl::Status loaded = server_.Load(OurDefinitions(), now_);
  CHECK(loaded.ok()) << loaded;
}

bool Replay::Serves(const Json& object) {
  const std::string& version = object["apiVersion"].AsString();
  const auto [known, fresh] = kinds_of_.try_emplace(version);
  if (fresh) {
    const std::string target =
        absl::StrCat(absl::StrContains(version, '/') ? "/apis/" : "/api/", version);
    const devcluster::ApiReply reply =
        server_.Handle({.method = "GET", .target = target, .accept = "application/json"}, now_);
    const absl::StatusOr<Json> list = Json::Parse(reply.body);
    if (reply.status == 200 && list.ok()) {
      for (const Json& resource : (*list)["resources"].items()) {
        known->second.insert(resource["kind"].AsString());
      }
    }
  }
  return known->second.contains(object["kind"].AsString());
}

absl::Status Replay::Define(const std::vector<Json>& definitions) {
  std::vector<Json> fresh;
  for (const Json& definition : definitions) {
    if (defined_.insert(definition["metadata"]["name"].AsString()).second) {
      fresh.push_back(definition);
    }
  }
  if (fresh.empty()) return absl::OkStatus();
  kinds_of_.clear();
  return server_.Load(fresh, now_);
}

absl::Status Replay::Load(const std::vector<Json>& objects) {
  std::vector<Json> definitions, rest, unknown;
  std::set<std::string> uids;
  for (const Json& object : objects) {
    const bool defines = object["kind"].AsString() == "CustomResourceDefinition";
    (defines ? definitions : rest).push_back(object);
    uids.insert(object["metadata"]["uid"].AsString());
  }
  RETURN_IF_ERROR(Define(definitions));
  std::ranges::copy_if(rest, std::back_inserter(unknown),
                       [this](const Json& object) { return !Serves(object); });
  RETURN_IF_ERROR(Define(DefinitionsFor(kinds_, unknown)));
  std::erase_if(rest, [this](const Json& object) { return !Serves(object); });
  for (Json& object : rest) KeepOwnersAmong(uids, object);
  return server_.Load(rest, now_);
}

void Replay::Succeed(const std::string& namespace_name, const std::string& pod) {
  (void)server_.Handle(
      {.method = "PATCH",
       .target = absl::StrCat("/api/v1/namespaces/", namespace_name, "/pods/", pod, "/status"),
       .content_type = "application/merge-patch+json",
       .accept = "application/json",
       .body = R"({"status":{"phase":"Succeeded"}})"},
      now_);
}

void Replay::Delete(const std::string& path) {
  (void)server_.Handle({.method = "DELETE",
                        .target = absl::StrCat(path, "?gracePeriodSeconds=0"),
                        .accept = "application/json"},
                       now_);
}

bool Replay::Turn() {
  const std::vector<HttpInput> inputs = transport_.Take(now_);
  for (const HttpInput& input : inputs) client_.On(input, now_);
  client_.OnTime(now_);
  ClusterNews news = client_.TakeNews();
  const bool moved = !inputs.empty() || !news.events.empty() || !news.results.empty();
  loop_.Hear(std::move(news));
  TurnOutput out = loop_.Turn(now_);
  for (const DecisionEntry& entry : loop_.TakeDecisions()) {
    NotePreemptions(entry, preemptions_);
  }
  const bool more = moved || out.more || !out.writes.empty();
  client_.Write(std::move(out.writes), out.lead, now_);
  next_ = std::min({out.next, client_.NextDeadline(), server_.NextDeadline()});
  return more;
}

void Replay::Work() {
  if (!std::exchange(started_, true)) client_.Start(now_);
  for (int turns = 0; Turn(); ++turns) {
    if (turns < kMostTurns) continue;
    spins_ = true;
    return;
  }
}

void Replay::RunUntil(absl::Time when) {
  Work();
  while (!spins_ && next_ <= when) {
    // Work that was due and could not be done is tried again a little later.
    now_ = std::max(next_, now_ + absl::Microseconds(1));
    server_.OnTime(now_);
    Work();
  }
  now_ = std::max(now_, when);
}

std::vector<PodDeed> Replay::Deeds() const {
  std::vector<PodDeed> deeds;
  for (const LocalTransport::Write& write : transport_.writes()) {
    if (std::optional<PodDeed> deed = DeedOf(write)) deeds.push_back(*std::move(deed));
  }
  return deeds;
}

std::vector<NodeDivision> Replay::Divisions() const {
  std::vector<NodeDivision> divisions;
  for (const LocalTransport::Write& write : transport_.writes()) {
    if (write.mig_config.empty()) continue;
    const size_t name = write.target.rfind('/') + 1;
    divisions.push_back(
        {.at = write.at, .node = write.target.substr(name), .config = write.mig_config});
  }
  return divisions;
}

std::vector<PodDeed> Replay::TakeDeeds() {
  std::vector<PodDeed> deeds = Deeds();
  transport_.ForgetWrites();
  return deeds;
}

}  // namespace maniple
