// A directory that is told of objects and pods as text, and answers in one line.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/id.h"
#include "api/codec/decode_parts.h"
#include "api/codec/tape.h"
#include "api/codec/yaml.h"
#include "api/producers/gang_directory.h"
#include "api/producers/kinds.h"
#include "api/producers/reader.h"

namespace maniple {

// What was read, and what was refused at a cursor ("" = nothing).
template <typename T>
struct ReadResult {
  T value;
  std::string refused;
};

// YAML, which JSON is, to the tape that readers walk over.
template <typename F>
auto ReadYaml(absl::string_view text, F read) {
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  EXPECT_TRUE(documents.ok()) << documents.status() << " in " << text;
  const std::string json = documents.value().front().value.Dump();
  TapeReader reader;
  Tape tape;
  EXPECT_TRUE(reader.Read(json, tape).ok()) << json;
  Problem problem;
  auto value = read(Cursor(tape.root(), problem));
  return ReadResult<decltype(value)>{std::move(value), problem.text()};
}

inline uint8_t KindIndex(absl::string_view api_version, absl::string_view kind) {
  const std::optional<uint8_t> index = KindIndexOf(BuiltinForeignKinds(), api_version, kind);
  EXPECT_TRUE(index.has_value()) << api_version << " " << kind;
  return index.value_or(0);
}

// "{apiVersion: batch/v1, kind: Job, metadata: {name: a}}": in namespace "ns", with uid "uid-a",
// unless it says otherwise.
inline ReadResult<ForeignObject> ReadForeign(absl::string_view text) {
  std::string api_version, kind;
  ReadYaml(text, [&](const Cursor& root) {
    for (const Cursor& field : root.Members()) {
      if (field.key() == "apiVersion") api_version = field.Text();
      if (field.key() == "kind") kind = field.Text();
    }
    return 0;
  });
  const auto reader = MakeForeignReader(BuiltinForeignKinds());
  const ResourceKind resource = ForeignResource(KindIndex(api_version, kind));
  ReadResult<ForeignObject> out =
      ReadYaml(text, [&](const Cursor& root) { return reader->Read(resource, root); });
  ObjectMeta& meta = out.value.meta;
  if (meta.namespace_name.empty()) meta.namespace_name = "ns";
  if (meta.uid.empty()) meta.uid = absl::StrCat("uid-", meta.name);
  return out;
}

// "Job/a" → a controller reference with uid "uid-a"; "Job/a@u" → with uid "u".
inline OwnerReference OwnerNamed(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> halves = absl::StrSplit(text, '/');
  const std::pair<absl::string_view, absl::string_view> name =
      absl::StrSplit(halves.second, absl::MaxSplits('@', 1));
  std::string api_version = "apps/v1";
  for (const ForeignKind& kind : BuiltinForeignKinds()) {
    if (kind.kind == halves.first) api_version = absl::StrCat(kind.group, "/", kind.versions[0]);
  }
  return {std::string(halves.first), std::string(name.first),
          name.second.empty() ? absl::StrCat("uid-", name.first) : std::string(name.second),
          api_version};
}

// "{labels: {…}, annotations: {…}}" with a controller as OwnerNamed has it ("" = none).
inline Pod PodWith(absl::string_view name, absl::string_view metadata, absl::string_view owner) {
  Pod pod = ReadYaml(absl::StrCat("{metadata: ", metadata.empty() ? "{}" : metadata, "}"),
                     [](const Cursor& root) { return ReadPod(root); })
                .value;
  pod.meta.name = std::string(name);
  pod.meta.namespace_name = "ns";
  if (!owner.empty()) pod.meta.controller = OwnerNamed(owner);
  return pod;
}

inline std::string Shown(const TopologyRequest& topology) {
  std::string out;
  if (!topology.required.empty()) absl::StrAppend(&out, " in ", topology.required);
  if (!topology.preferred.empty()) absl::StrAppend(&out, " near ", topology.preferred);
  if (topology.slice_size == 0) return out;
  return absl::StrCat(out, " by ", topology.slice_size, " in ", topology.slice_level);
}

inline std::string Shown(const ForeignGang& gang) {
  std::string out = absl::StrCat(gang.spec.source.kind, "/", gang.spec.source.name);
  if (!gang.spec.source.part.empty()) absl::StrAppend(&out, "#", gang.spec.source.part);
  if (!gang.problem.empty()) return absl::StrCat(out, " INVALID ", gang.problem);
  absl::StrAppend(&out, " min ", gang.spec.min_member, Shown(gang.spec.topology));
  static constexpr absl::string_view kStarts[] = {"", " once there", " after its lead"};
  for (size_t i = 0; i < gang.spec.sub_groups.size(); ++i) {
    const SubGroup& part = gang.spec.sub_groups[i];
    const auto start = static_cast<size_t>(gang.starts.empty() ? PartStart{} : gang.starts[i]);
    absl::StrAppend(&out, ", ", part.name, " ", part.min_member, Shown(part.topology),
                    kStarts[start]);
  }
  if (!gang.spec.queue.empty()) absl::StrAppend(&out, ", queue ", gang.spec.queue);
  if (!gang.spec.priority_class_name.empty()) {
    absl::StrAppend(&out, ", class ", gang.spec.priority_class_name);
  }
  return out;
}

class DirectoryWorld {
 public:
  explicit DirectoryWorld(ProducerOptions options = {.kinds = BuiltinForeignKinds(),
                                                     .queues = {},
                                                     .default_queue = ""})
      : directory_(std::move(options)) {}

  void Serve(absl::string_view api_version, absl::string_view kind,
             ServedState state = ServedState::kServed) {
    directory_.SetServed({ForeignResource(KindIndex(api_version, kind)), state, ""}, change_);
  }
  void ServeAll() {
    for (size_t i = 0; i < BuiltinForeignKinds().size(); ++i) {
      directory_.SetServed({ForeignResource(i), ServedState::kServed, ""}, change_);
    }
  }
  // With a controller as OwnerNamed has it.
  void Give(absl::string_view text, absl::string_view owner = "") {
    ReadResult<ForeignObject> read = ReadForeign(text);
    if (!owner.empty()) read.value.meta.controller = OwnerNamed(owner);
    const ObjectMeta& meta = read.value.meta;
    const ObjectKey key{static_cast<ResourceKind>(read.value.kind), meta.namespace_name, meta.name};
    if (read.refused.empty()) {
      directory_.Upsert(read.value, change_);
    } else {
      directory_.Refuse({key, meta.uid, read.refused}, change_);
    }
  }
  // That many seconds after 1970.
  void GiveMadeAt(int64_t created, absl::string_view text) {
    ReadResult<ForeignObject> read = ReadForeign(text);
    read.value.meta.created = absl::FromUnixSeconds(created);
    directory_.Upsert(read.value, change_);
  }
  void Take(absl::string_view api_version, absl::string_view kind, absl::string_view name) {
    directory_.Remove({ForeignResource(KindIndex(api_version, kind)), "ns", std::string(name)}, "",
                      change_);
  }
  PodId Put(absl::string_view name, absl::string_view metadata, absl::string_view owner = "") {
    const PodId id = ids_.Intern(name);
    (void)directory_.Put(id, PodWith(name, metadata, owner), change_);
    return id;
  }
  void Forget(absl::string_view name) { directory_.Forget(ids_.Intern(name), change_); }

  [[nodiscard]] PodPlace PlaceOf(absl::string_view pod) {
    return directory_.PlaceOf(ids_.Intern(pod));
  }
  // "single", "waits", or "Job/a min 3, worker 2: worker" (after the colon the pod's own part).
  [[nodiscard]] std::string Where(absl::string_view pod) {
    const PodPlace place = PlaceOf(pod);
    if (place.group_name.empty()) {
      return absl::StrCat("single", place.queue.empty() ? "" : ", queue ", place.queue);
    }
    const ForeignGang* gang = directory_.Find({"ns", place.group_name});
    if (gang == nullptr) return "waits";
    return absl::StrCat(Shown(*gang), place.sub_group.empty() ? "" : ": ", place.sub_group);
  }
  [[nodiscard]] const ForeignGang* GangOf(absl::string_view pod) {
    return directory_.Find({"ns", PlaceOf(pod).group_name});
  }

  GangDirectory directory_;
  DirectoryChange change_;
  Interner<PodId> ids_;
};

}  // namespace maniple
