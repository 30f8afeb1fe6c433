#include "api/devcluster/store/metadata.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "api/base/random.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/store/object_facts.h"
#include "api/devcluster/types/names.h"

namespace maniple::devcluster {
namespace {

constexpr size_t kMaxGeneratedBase = 58;
// What only the server sets.
constexpr std::array<absl::string_view, 5> kServerFields = {
    "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion", "generation"};

void ValidateOwners(const Json& metadata, std::vector<StatusCause>& causes) {
  int controllers = 0;
  for (const Json& owner : metadata["ownerReferences"].items()) {
    for (const absl::string_view member : {"apiVersion", "kind", "name", "uid"}) {
      if (!owner[member].AsString().empty()) continue;
      causes.push_back(
          InvalidValue(absl::StrCat("metadata.ownerReferences.", member), "",
                       member == "apiVersion" ? "version must not be empty" : "must not be empty"));
    }
    if (owner["controller"].AsBool()) ++controllers;
  }
  if (controllers > 1) {
    causes.push_back(InvalidValue("metadata.ownerReferences", metadata["ownerReferences"],
                                  "Only one reference can have Controller set to true"));
  }
}

// A random (version 4) uuid.
std::string NewUid(Random& random) {
  const uint64_t high = (random.Next() & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (random.Next() >> 2) | (uint64_t{1} << 63);
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32, (high >> 16) & 0xffff,
                         high & 0xffff, low >> 48, low & 0xffff'ffff'ffff);
}

// With the five letters that generateName appends.
std::string GeneratedName(Random& random, absl::string_view prefix) {
  // Without vowels and look-alikes, so that no words appear.
  constexpr absl::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string name(prefix.substr(0, kMaxGeneratedBase));
  for (int i = 0; i < 5; ++i) name += kLetters[random.Below(kLetters.size())];
  return name;
}

}  // namespace

void DropEmptyMetadata(Json& object) {
  Json& metadata = object.Mutable("metadata");
  for (const absl::string_view field :
       {"labels", "annotations", "finalizers", "ownerReferences", "managedFields"}) {
    const Json* value = metadata.Find(field);
    if (value != nullptr && value->size() == 0) metadata.Erase(field);
  }
}

void StartMetadata(const Cluster& cluster, const ResourceType& type, Json& object) {
  Json& metadata = object.Mutable("metadata");
  for (const absl::string_view field : kServerFields) metadata.Erase(field);
  if (!type.namespaced()) metadata.Erase("namespace");
  metadata.Set("uid", NewUid(cluster.random));
  metadata.Set("creationTimestamp", FormatKubernetesTime(cluster.now));
  if (type.traits.counts_generation) metadata.Set("generation", 1);
  if (metadata["name"].AsString().empty() && !metadata["generateName"].AsString().empty()) {
    metadata.Set("name", GeneratedName(cluster.random, metadata["generateName"].AsString()));
  }
}

void KeepMetadata(const Json& old_object, Json& object) {
  const Json& old_metadata = old_object["metadata"];
  Json& metadata = object.Mutable("metadata");
  for (const absl::string_view field :
       {"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds",
        "resourceVersion", "name", "namespace"}) {
    if (const Json* value = old_metadata.Find(field); value != nullptr) {
      metadata.Set(field, *value);
    } else {
      metadata.Erase(field);
    }
  }
  if (!metadata.Has("managedFields") && old_metadata.Has("managedFields")) {
    metadata.Set("managedFields", old_metadata["managedFields"]);
  }
}

void ValidateNewMetadata(const ResourceType& type, const Json& object,
                         std::vector<StatusCause>& causes) {
  const Json& metadata = object["metadata"];
  const std::string& name = metadata["name"].AsString();
  if (const std::string& base = metadata["generateName"].AsString(); !base.empty()) {
    // The prefix may end in '-': what follows it is a letter.
    AppendInvalid(causes, "metadata.generateName", base,
                  ObjectNameProblems(type, absl::StrCat(base, "x")));
  }
  if (name.empty()) {
    causes.push_back(RequiredValue("metadata.name", "name or generateName is required"));
  } else {
    AppendInvalid(causes, "metadata.name", name, ObjectNameProblems(type, name));
  }
  AppendMetadataProblems(type, metadata, causes);
  ValidateOwners(metadata, causes);
}

void ValidateMetadataChange(const ResourceType& type, const Json& old_object, const Json& object,
                            std::vector<StatusCause>& causes) {
  const Json& metadata = object["metadata"];
  if (IsLeaving(old_object)) {
    const std::vector<Json>& old_finalizers = old_object["metadata"]["finalizers"].items();
    std::vector<std::string> added;
    for (const Json& finalizer : metadata["finalizers"].items()) {
      if (std::find(old_finalizers.begin(), old_finalizers.end(), finalizer) ==
          old_finalizers.end()) {
        added.push_back(absl::StrCat("\"", finalizer.AsString(), "\""));
      }
    }
    if (!added.empty()) {
      causes.push_back(ForbiddenValue(
          "metadata.finalizers",
          absl::StrCat("no new finalizers can be added if the object is being deleted, found new "
                       "finalizers []string{",
                       absl::StrJoin(added, ", "), "}")));
    }
  }
  // Kubernetes looks at the metadata twice, once for all kinds and once for its kind.
  const std::vector<StatusCause> once = causes;
  causes.insert(causes.end(), once.begin(), once.end());
  if (metadata["labels"] == old_object["metadata"]["labels"] &&
      metadata["annotations"] == old_object["metadata"]["annotations"] &&
      metadata["finalizers"] == old_object["metadata"]["finalizers"] &&
      metadata["ownerReferences"] == old_object["metadata"]["ownerReferences"]) {
    return;
  }
  AppendMetadataProblems(type, metadata, causes);
  ValidateOwners(metadata, causes);
}

}  // namespace maniple::devcluster
