// A reader of two kinds of producers, both by the name of Gang, that reads spec.queue and
// status.phase.
#pragma once

#include "absl/strings/string_view.h"
#include "api/codec/foreign_reader.h"

namespace maniple {

inline ForeignKinds PlainForeignKinds() {
  return {{.group = "one.example", .versions = {"v2", "v1"}, .resource = "gangs", .kind = "Gang"},
          {.group = "other.example", .versions = {"v1"}, .resource = "gangs", .kind = "Gang"}};
}

class PlainForeignReader final : public ForeignReader {
 public:
  [[nodiscard]] absl::string_view KindName(ResourceKind) const override { return "Gang"; }
  [[nodiscard]] ForeignObject Read(ResourceKind, const Cursor& root) const override {
    ForeignObject out{.phase = ""};
    out.meta.name = "the reader's own";
    for (const Cursor& field : root.Members()) {
      if (field.key() != "spec" && field.key() != "status") continue;
      for (const Cursor& part : field.Members()) {
        if (part.key() == "queue") out.spec.queue = part.Text();
        if (part.key() == "phase") out.phase = part.Text();
      }
    }
    return out;
  }
};

}  // namespace maniple
