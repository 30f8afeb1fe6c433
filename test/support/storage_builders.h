// Builders of storage objects for tests, beside builders.h.
//
//   MakeClaim("data").Class("local").Size(10)          // in "default", waits
//   MakeClaim("data").BoundTo("pv-1")                  // … and the binding is complete
//   MakeVolume("pv-1").Class("local").Size(10).OnHost("n1")   // Available
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/model/object.h"

namespace maniple {

class MakeClaim final {
 public:
  explicit MakeClaim(absl::string_view name);
  MakeClaim& In(absl::string_view namespace_name);
  MakeClaim& Class(absl::string_view name);
  MakeClaim& Size(int64_t bytes);
  MakeClaim& Modes(AccessModes modes);
  MakeClaim& Select(absl::string_view key, absl::string_view value);
  MakeClaim& BoundTo(absl::string_view volume);
  MakeClaim& Names(absl::string_view volume);  // without the binding being complete
  MakeClaim& Selected(absl::string_view node);
  MakeClaim& OwnedBy(absl::string_view pod_uid);
  MakeClaim& Lost();
  MakeClaim& Deleting();
  operator PersistentVolumeClaim() const { return claim_; }        // NOLINT: is what it builds
  operator ObjectEvent() const { return ObjectUpserted{claim_}; }  // NOLINT

 private:
  PersistentVolumeClaim claim_;
};

class MakeVolume final {
 public:
  explicit MakeVolume(absl::string_view name);
  MakeVolume& Class(absl::string_view name);
  MakeVolume& Size(int64_t bytes);
  MakeVolume& Modes(AccessModes modes);
  MakeVolume& Label(absl::string_view key, absl::string_view value);
  MakeVolume& OnHost(absl::string_view node) { return Where("kubernetes.io/hostname", {node}); }
  MakeVolume& Where(absl::string_view key, std::vector<absl::string_view> values);
  MakeVolume& Csi(absl::string_view driver, absl::string_view handle);
  MakeVolume& For(absl::string_view claim, absl::string_view uid = "");
  MakeVolume& Unavailable();
  operator PersistentVolume() const { return volume_; }             // NOLINT
  operator ObjectEvent() const { return ObjectUpserted{volume_}; }  // NOLINT

 private:
  PersistentVolume volume_;
};

// Waits for its first consumer; "" = kubernetes.io/no-provisioner.
class MakeClass final {
 public:
  explicit MakeClass(absl::string_view name, absl::string_view provisioner = "");
  MakeClass& Immediate();
  MakeClass& Where(absl::string_view key, std::vector<absl::string_view> values);
  operator StorageClass() const { return storage_; }                 // NOLINT
  operator ObjectEvent() const { return ObjectUpserted{storage_}; }  // NOLINT

 private:
  StorageClass storage_;
};

[[nodiscard]] ObjectEvent AttachLimit(absl::string_view node, absl::string_view driver,
                                      int64_t most);
[[nodiscard]] ObjectEvent Attachment(absl::string_view name, absl::string_view volume,
                                     absl::string_view node);
[[nodiscard]] ObjectEvent TrackingDriver(absl::string_view name);
// What can be made of the class on nodes with the label.
[[nodiscard]] ObjectEvent CapacityOf(absl::string_view storage_class, int64_t bytes,
                                     absl::string_view key, absl::string_view value);

}  // namespace maniple
