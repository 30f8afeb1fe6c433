#include "test/fuzz/producers_targets.h"

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"
#include "api/producers/gang_directory.h"
#include "api/producers/kinds.h"
#include "api/producers/reader.h"

namespace maniple {
namespace {

constexpr char kSpace[] = "ns";

Decoder& SomeDecoder() {
  static const auto* const reader =
      new std::unique_ptr<const ForeignReader>(MakeForeignReader(BuiltinForeignKinds()));
  static auto* const decoder = new Decoder(reader->get());
  return *decoder;
}

bool IsLabel(absl::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  for (const char c : text) {
    const bool plain = absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
                       absl::ascii_islower(static_cast<unsigned char>(c));
    if (!plain && c != '-') return false;
  }
  return text.front() != '-' && text.back() != '-';
}

// Its pods name the object by every mark there is for a group, and have it as their controller.
Pod MemberOf(const ForeignObject& object, const ForeignKind& kind) {
  const std::string& name = object.meta.name;
  Pod pod;
  pod.meta.name = "pod";
  pod.meta.namespace_name = kSpace;
  pod.meta.uid = "uid-of-pod";
  pod.meta.labels.Set("scheduling.x-k8s.io/pod-group", name);
  pod.meta.annotations.Set("scheduling.k8s.io/group-name", name);
  pod.meta.annotations.Set("pod-group-name", name);
  pod.meta.labels.Set("grove.io/podgang", name);
  pod.meta.controller = OwnerReference{kind.kind, name, object.meta.uid, object.api_version};
  return pod;
}

std::string WrongWith(const ForeignGang& gang) {
  if (!IsLabel(gang.group_name)) return absl::StrCat("no name of a PodGroup: ", gang.group_name);
  for (const char c : gang.problem) {
    if (static_cast<unsigned char>(c) < 0x20) return "a control character in a problem";
  }
  if (!gang.starts.empty() && gang.starts.size() != gang.spec.sub_groups.size()) {
    return "parts without a start";
  }
  if (gang.spec.min_member < 1) return "a quorum of nobody";
  int64_t sum = 0;
  for (size_t i = 0; i < gang.spec.sub_groups.size(); ++i) {
    const SubGroup& part = gang.spec.sub_groups[i];
    // Whoever comes may have to stand somewhere, or to start with others, even where nobody has to
    // come.
    const bool in_units = i < gang.unit_sizes.size() && gang.unit_sizes[i] > 1;
    const bool asks = part.min_member > 0 || part.topology != TopologyRequest() || in_units;
    if (!asks || part.min_member < 0) return "a part of nobody";
    sum += part.min_member;
  }
  return sum <= gang.spec.min_member ? "" : "the parts are more than the whole";
}

// One object, and one pod, in a world of its own kind only: so that no other mark decides.
std::string WrongWithGangOf(const ForeignObject& object) {
  const uint8_t index = ForeignIndex(static_cast<ResourceKind>(object.kind));
  const ForeignKind& kind = BuiltinForeignKinds()[index];
  GangDirectory directory({.kinds = BuiltinForeignKinds(), .queues = {}, .default_queue = ""});
  DirectoryChange change;
  directory.SetServed({.kind = static_cast<ResourceKind>(object.kind),
                       .state = ServedState::kServed,
                       .version = kind.versions.front()},
                      change);
  directory.Upsert(object, change);
  const std::string place = directory.Put(PodId(0), MemberOf(object, kind), change).group_name;
  for (const GroupName& name : change.gangs) {
    const ForeignGang* gang = directory.Find(name);
    if (gang == nullptr) continue;
    if (std::string wrong = WrongWith(*gang); !wrong.empty()) return wrong;
  }
  DirectoryChange after;
  directory.Remove({static_cast<ResourceKind>(object.kind), kSpace, object.meta.name}, "", after);
  const bool left = directory.Find({kSpace, place}) != nullptr &&
                    directory.Find({kSpace, place})->spec.source.uid == object.meta.uid;
  return left && !object.meta.uid.empty() ? "a gang without the object that declares it" : "";
}

}  // namespace

std::string FuzzForeign(absl::string_view bytes) {
  for (size_t i = 0; i < BuiltinForeignKinds().size(); ++i) {
    const ResourceKind kind = ForeignResource(static_cast<uint8_t>(i));
    absl::StatusOr<WatchMessage> message = SomeDecoder().WatchLine(kind, bytes);
    const absl::StatusOr<WatchMessage> again = SomeDecoder().WatchLine(kind, bytes);
    if (message.ok() != again.ok()) return "two answers to one line";
    auto* change = message.ok() ? std::get_if<WatchChange>(&*message) : nullptr;
    if (change == nullptr) continue;
    auto* object = std::get_if<Object>(&change->object.what);
    if (object == nullptr) continue;
    auto* foreign = std::get_if<ForeignObject>(object);
    if (foreign == nullptr) return "an object of another project that is one of ours";
    const DecodedObject& second = std::get<WatchChange>(*again).object;
    const auto* twin = std::get_if<ForeignObject>(std::get_if<Object>(&second.what));
    if (twin == nullptr || twin->spec != foreign->spec) return "two readings of one line";
    if ((twin->hyper_node == nullptr) != (foreign->hyper_node == nullptr)) {
      return "a HyperNode at one reading only";
    }
    if (foreign->hyper_node != nullptr) {
      if (*twin->hyper_node != *foreign->hyper_node) return "two readings of one HyperNode";
      continue;
    }
    foreign->meta.namespace_name = kSpace;
    if (std::string wrong = WrongWithGangOf(*foreign); !wrong.empty()) {
      return absl::StrCat(BuiltinForeignKinds()[i].resource, ": ", wrong);
    }
  }
  return "";
}

}  // namespace maniple
