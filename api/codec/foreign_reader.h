// The seam through which the decoder reads objects of kinds that it does not know itself.
//
// Implemented by api/producers, borrowed by a Decoder for its life; called on the decoder's thread.
// Const, without state: one reader serves several decoders.
#pragma once

#include "absl/strings/string_view.h"
#include "api/codec/cursor.h"
#include "api/model/object.h"

namespace maniple {

class ForeignReader {
 public:
  virtual ~ForeignReader() = default;
  // "PodGroup". REQUIRES: IsForeign(kind), and the kind is in the table.
  [[nodiscard]] virtual absl::string_view KindName(ResourceKind kind) const = 0;
  // Whether fields are read whose names its users choose, such as roles. None is passed over then.
  [[nodiscard]] virtual bool HasNamesOfUsers(ResourceKind) const { return false; }
  // What is wrong is noted at the cursor; unknown fields are skipped.
  [[nodiscard]] virtual ForeignObject Read(ResourceKind kind, const Cursor& root) const = 0;
};

}  // namespace maniple
