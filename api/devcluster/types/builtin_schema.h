// The fields of the built-in Kubernetes types: one table that serves three readers.
//
// protobuf_body.cc decodes by field number, discovery_openapi.cc describes the types to kubectl,
// and strict validation asks which fields of a manifest do not exist. Immutable after first use;
// any thread.
//
//   for (const UnknownField& field : UnknownFields(pod)) …        // "spec.containers[0].imagee"
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

enum class FieldType {
  kString,
  kInt,
  kBool,
  kDouble,
  kBytes,
  kQuantity,
  kTime,
  kMicroTime,
  kDuration,
  kIntOrString,
  kFieldsV1,      // managedFields: an object of any shape
  kRawExtension,  // an embedded object of any kind
  kStringList,    // a list of strings as the value of a map
  kMessage,
};
enum class FieldShape { kSingle, kList, kMap };  // maps have string keys

struct SchemaMessage;

struct SchemaField {
  int number = 0;
  std::string name;  // as in JSON; empty when the fields of `message` are inlined into the parent
  FieldType type = FieldType::kString;
  FieldShape shape = FieldShape::kSingle;
  bool pointer = false;   // presence on the wire is real; other fields are written even when empty
  bool required = false;  // JSON shows it even when empty
  const SchemaMessage* message = nullptr;  // of kMessage
};

struct SchemaMessage {
  std::string name;  // "core/v1.PodSpec"
  std::vector<SchemaField> fields;

  [[nodiscard]] const SchemaField* FindByNumber(int number) const;
  // Looks through inlined messages.
  [[nodiscard]] const SchemaField* FindByName(absl::string_view json_name) const;
};

// The message of a kind, or nullptr when the table has none. `api_version` as in manifests: "v1",
// "batch/v1".
[[nodiscard]] const SchemaMessage* FindBuiltinSchema(absl::string_view api_version,
                                                     absl::string_view kind);

// Every message, in the order of the table.
[[nodiscard]] const std::vector<const SchemaMessage*>& BuiltinSchemas();

// Paths of the fields that the object's kind does not have, in document order, at most 32; empty
// for kinds that the table does not have. As in Kubernetes' strict decoding: `unknown field
// "spec.x"` takes the path as it stands here.
[[nodiscard]] std::vector<std::string> UnknownFields(const Json& object);

}  // namespace maniple::devcluster
