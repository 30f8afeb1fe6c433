#include "api/devcluster/types/protobuf_body.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/base/status_macros.h"
#include "api/devcluster/types/builtin_schema.h"

namespace maniple::devcluster {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr absl::string_view kMagic("k8s\0", 4);
constexpr int kMostDepth = 64;

// One field as it stands on the wire: a number, or a run of bytes.
struct WireField {
  int number = 0;
  bool is_bytes = false;
  uint64_t varint = 0;  // also the bits of fixed32 and fixed64
  absl::string_view bytes;
};

// Walks the fields of one message without copying.
class WireReader final {
 public:
  explicit WireReader(absl::string_view bytes)
      : bytes_(bytes),
        stream_(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size())) {}

  // False at the end and at a broken field; tell them apart with broken().
  bool Next(WireField& field) {
    const uint32_t tag = stream_.ReadTag();
    if (tag == 0) {
      broken_ = broken_ || stream_.CurrentPosition() != static_cast<int>(bytes_.size());
      return false;
    }
    field = WireField();
    field.number = WireFormatLite::GetTagFieldNumber(tag);
    broken_ = field.number == 0 || !ReadValue(WireFormatLite::GetTagWireType(tag), field);
    return !broken_;
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  bool ReadValue(WireFormatLite::WireType type, WireField& field) {
    switch (type) {
      case WireFormatLite::WIRETYPE_VARINT:
        return stream_.ReadVarint64(&field.varint);
      case WireFormatLite::WIRETYPE_FIXED64:
        return stream_.ReadLittleEndian64(&field.varint);
      case WireFormatLite::WIRETYPE_FIXED32: {
        uint32_t bits = 0;
        const bool read = stream_.ReadLittleEndian32(&bits);
        field.varint = bits;
        return read;
      }
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        uint32_t length = 0;
        if (!stream_.ReadVarint32(&length)) return false;
        const size_t start = stream_.CurrentPosition();
        if (length > bytes_.size() - start) return false;
        field.is_bytes = true;
        field.bytes = bytes_.substr(start, length);
        return stream_.Skip(static_cast<int>(length));
      }
      case WireFormatLite::WIRETYPE_START_GROUP:
      case WireFormatLite::WIRETYPE_END_GROUP:
        return false;  // Kubernetes has no groups
    }
    return false;
  }

  const absl::string_view bytes_;
  CodedInputStream stream_;
  bool broken_ = false;
};

absl::Status Broken(absl::string_view path) {
  return absl::InvalidArgumentError(
      absl::StrCat("broken protobuf in ", path.empty() ? "the object" : path));
}

// A message with a few scalar fields: seconds and nanos of Time, type and values of IntOrString.
absl::StatusOr<std::vector<WireField>> FlatFields(absl::string_view bytes,
                                                  const std::string& path) {
  WireReader reader(bytes);
  std::vector<WireField> out;
  for (WireField field; reader.Next(field);) out.push_back(field);
  if (reader.broken()) return Broken(path);
  return out;
}

absl::StatusOr<Json> DecodeTime(absl::string_view bytes, FieldType type, const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<WireField> fields, FlatFields(bytes, path));
  if (fields.empty()) return Json();
  int64_t seconds = 0;
  int64_t nanos = 0;
  for (const WireField& field : fields) {
    if (field.number == 1) seconds = static_cast<int64_t>(field.varint);
    if (field.number == 2) nanos = static_cast<int32_t>(field.varint);
  }
  const absl::Time time = absl::FromUnixSeconds(seconds) + absl::Nanoseconds(nanos);
  return Json(
      absl::FormatTime(type == FieldType::kTime ? "%Y-%m-%d%ET%H:%M:%SZ" : "%Y-%m-%d%ET%H:%M:%E6SZ",
                       time, absl::UTCTimeZone()));
}

// Text that JSON can hold.
absl::StatusOr<Json> Text(absl::string_view bytes, const std::string& path) {
  if (!google::protobuf::internal::IsStructurallyValidUTF8(bytes.data(),
                                                           static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not UTF-8"));
  }
  return Json(bytes);
}

absl::StatusOr<Json> DecodeIntOrString(absl::string_view bytes, const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<WireField> fields, FlatFields(bytes, path));
  bool is_string = false;
  int64_t number = 0;
  absl::string_view text;
  for (const WireField& field : fields) {
    if (field.number == 1) is_string = field.varint == 1;
    if (field.number == 2) number = static_cast<int32_t>(field.varint);
    if (field.number == 3) text = field.bytes;
  }
  return is_string ? Text(text, path) : Json(number);
}

// The bytes of field 1: what Quantity, FieldsV1 and RawExtension are.
absl::StatusOr<absl::string_view> OnlyBytes(absl::string_view bytes, const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<WireField> fields, FlatFields(bytes, path));
  absl::string_view out;
  for (const WireField& field : fields) {
    if (field.number == 1) out = field.bytes;
  }
  return out;
}

class Decoder final {
 public:
  absl::StatusOr<Json> Message(const SchemaMessage& message, absl::string_view bytes,
                               const std::string& path, int depth) {
    Json object = Json::Object();
    RETURN_IF_ERROR(Into(object, {message, bytes, path, depth}));
    return object;
  }

 private:
  struct Source {
    const SchemaMessage& message;
    absl::string_view bytes;
    const std::string& path;
    int depth;
  };

  absl::Status Into(Json& object, const Source& source) {
    if (source.depth > kMostDepth) {
      return absl::InvalidArgumentError(absl::StrCat(source.path, ": nested too deeply"));
    }
    WireReader reader(source.bytes);
    for (WireField wire; reader.Next(wire);) {
      const SchemaField* field = source.message.FindByNumber(wire.number);
      if (field == nullptr) continue;
      const std::string path =
          source.path.empty() ? field->name : absl::StrCat(source.path, ".", field->name);
      if (!AgreesWithWire(*field, wire)) return Broken(path);
      if (field->name.empty()) {
        RETURN_IF_ERROR(Into(object, {*field->message, wire.bytes, source.path, source.depth + 1}));
        continue;
      }
      RETURN_IF_ERROR(AddField(object, *field, wire, {source.message, {}, path, source.depth}));
    }
    return reader.broken() ? Broken(source.path) : absl::OkStatus();
  }

  static bool AgreesWithWire(const SchemaField& field, const WireField& wire) {
    if (field.shape == FieldShape::kMap) return wire.is_bytes;
    const bool number = field.type == FieldType::kInt || field.type == FieldType::kBool ||
                        field.type == FieldType::kDouble;
    return wire.is_bytes != number;
  }

  absl::Status AddField(Json& object, const SchemaField& field, const WireField& wire,
                        const Source& at) {
    switch (field.shape) {
      case FieldShape::kSingle: {
        ASSIGN_OR_RETURN(Json value, Value(field, wire, at));
        if (field.pointer || field.required || !IsEmpty(value)) {
          object.Set(field.name, std::move(value));
        }
        return absl::OkStatus();
      }
      case FieldShape::kList: {
        ASSIGN_OR_RETURN(Json value, Value(field, wire, at));
        Json& list = object.Mutable(field.name);
        if (list.is_null()) list = Json::Array();
        list.Append(std::move(value));
        return absl::OkStatus();
      }
      case FieldShape::kMap: {
        std::string key;
        WireField value;
        value.is_bytes = true;
        ASSIGN_OR_RETURN(const std::vector<WireField> entry, FlatFields(wire.bytes, at.path));
        for (const WireField& half : entry) {
          if (half.number == 1) {
            ASSIGN_OR_RETURN(const Json text, Text(half.bytes, at.path));
            key = text.AsString();
          }
          if (half.number == 2) value = half;
        }
        SchemaField single = field;
        single.shape = FieldShape::kSingle;
        if (!AgreesWithWire(single, value)) return Broken(at.path);
        ASSIGN_OR_RETURN(Json decoded, Value(field, value, at));
        Json& map = object.Mutable(field.name);
        if (map.is_null()) map = Json::Object();
        map.Set(key, std::move(decoded));
        return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Json> Value(const SchemaField& field, const WireField& wire, const Source& at) {
    switch (field.type) {
      case FieldType::kString:
        return Text(wire.bytes, at.path);
      case FieldType::kInt:
        return Json(static_cast<int64_t>(wire.varint));
      case FieldType::kBool:
        return Json(wire.varint != 0);
      case FieldType::kDouble: {
        double value = 0;
        std::memcpy(&value, &wire.varint, sizeof value);
        if (!std::isfinite(value)) return Broken(at.path);
        return Json(value);
      }
      case FieldType::kBytes:
        return Json(absl::Base64Escape(wire.bytes));
      case FieldType::kTime:
      case FieldType::kMicroTime:
        return DecodeTime(wire.bytes, field.type, at.path);
      case FieldType::kIntOrString:
        return DecodeIntOrString(wire.bytes, at.path);
      case FieldType::kDuration: {
        ASSIGN_OR_RETURN(const std::vector<WireField> fields, FlatFields(wire.bytes, at.path));
        const int64_t nanos = fields.empty() ? 0 : static_cast<int64_t>(fields.back().varint);
        return Json(absl::FormatDuration(absl::Nanoseconds(nanos)));
      }
      case FieldType::kQuantity: {
        ASSIGN_OR_RETURN(const absl::string_view text, OnlyBytes(wire.bytes, at.path));
        return text.empty() ? Json("0") : Text(text, at.path);
      }
      case FieldType::kFieldsV1:
      case FieldType::kRawExtension: {
        ASSIGN_OR_RETURN(const absl::string_view text, OnlyBytes(wire.bytes, at.path));
        if (text.empty()) return Json();
        absl::StatusOr<Json> inner = Json::Parse(text);
        return inner.ok() ? std::move(inner)
                          : absl::StatusOr<Json>(Annotate(inner.status(), at.path));
      }
      case FieldType::kStringList: {
        ASSIGN_OR_RETURN(const std::vector<WireField> fields, FlatFields(wire.bytes, at.path));
        Json list = Json::Array();
        for (const WireField& item : fields) {
          ASSIGN_OR_RETURN(Json text, Text(item.bytes, at.path));
          list.Append(std::move(text));
        }
        return list;
      }
      case FieldType::kMessage:
        return Message(*field.message, wire.bytes, at.path, at.depth + 1);
    }
    return Broken(at.path);
  }

  // Go writes every field that is no pointer, so an empty one was most likely never set.
  static bool IsEmpty(const Json& value) {
    switch (value.type()) {
      case Json::Type::kNull:
        return true;
      case Json::Type::kBool:
        return !value.AsBool();
      case Json::Type::kInt:
        return value.AsInt() == 0;
      case Json::Type::kDouble:
        return value.AsDouble() == 0;
      case Json::Type::kString:
        return value.AsString().empty();
      case Json::Type::kArray:
      case Json::Type::kObject:
        return value.size() == 0;
    }
    return false;
  }
};

}  // namespace

absl::StatusOr<Json> DecodeProtobufBody(absl::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return absl::InvalidArgumentError("the body does not start with the envelope k8s\\0");
  }
  ASSIGN_OR_RETURN(const std::vector<WireField> envelope,
                   FlatFields(bytes.substr(kMagic.size()), "the envelope"));
  std::string api_version;
  std::string kind;
  absl::string_view raw;
  for (const WireField& field : envelope) {
    if (field.number == 2) raw = field.bytes;
    if (field.number != 1) continue;
    ASSIGN_OR_RETURN(const std::vector<WireField> type, FlatFields(field.bytes, "the type"));
    for (const WireField& half : type) {
      ASSIGN_OR_RETURN(const Json text, Text(half.bytes, "the type"));
      if (half.number == 1) api_version = text.AsString();
      if (half.number == 2) kind = text.AsString();
    }
  }
  const SchemaMessage* message = FindBuiltinSchema(api_version, kind);
  if (message == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("no protobuf form is known of ", api_version, " ", kind));
  }
  Json object = Json::Object({{"apiVersion", Json(api_version)}, {"kind", Json(kind)}});
  ASSIGN_OR_RETURN(const Json fields, Decoder().Message(*message, raw, "", 0));
  for (const auto& [name, value] : fields.members()) object.Set(name, value);
  return object;
}

}  // namespace maniple::devcluster
