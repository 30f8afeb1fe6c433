#include "scheduler/app/answers/admin_numbers.h"

#include <google/protobuf/descriptor.h>

#include <cstdint>

#include "absl/strings/numbers.h"
#include "api/proto/admin.pb.h"

namespace maniple {
namespace {

namespace pb = admin::v1;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

const Descriptor* AnswerTo(absl::string_view path) {
  if (path == "/explain") return pb::Gang::descriptor();
  if (path == "/gangs") return pb::GangList::descriptor();
  if (path == "/nodes") return pb::NodeList::descriptor();
  if (path == "/queues") return pb::QueueList::descriptor();
  if (path == "/cohorts") return pb::CohortList::descriptor();
  if (path == "/usage") return pb::UsageList::descriptor();
  if (path == "/log") return pb::DecisionList::descriptor();
  return path == "/diag" ? pb::Diagnosis::descriptor() : nullptr;
}

void Convert(const Descriptor& message, Json& value);

void Convert(const FieldDescriptor& field, Json& value) {
  if (field.message_type() != nullptr) return Convert(*field.message_type(), value);
  int64_t number = 0;
  const bool is_integer = field.cpp_type() == FieldDescriptor::CPPTYPE_INT64;
  if (is_integer && value.is_string() && absl::SimpleAtoi(value.AsString(), &number)) {
    value = Json(number);
  }
}

void Convert(const Descriptor& message, Json& value) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    Json* part = value.Find(field.json_name());
    if (part == nullptr) continue;
    if (!part->is_array()) {
      Convert(field, *part);
      continue;
    }
    for (Json& item : part->mutable_items()) Convert(field, item);
  }
}

}  // namespace

Json WithNumbers(absl::string_view path, Json answer) {
  const Descriptor* message = AnswerTo(path);
  if (message != nullptr) Convert(*message, answer);
  return answer;
}

}  // namespace maniple
