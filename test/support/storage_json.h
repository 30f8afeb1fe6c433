// Storage objects as the API server writes them, for tests of the codec.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/codec/decode.h"

namespace maniple {

inline DecodedObject Decoded(ResourceKind kind, absl::string_view body) {
  Decoder decoder;
  absl::StatusOr<DecodedObject> object = decoder.Single(kind, body);
  EXPECT_TRUE(object.ok()) << object.status() << " in " << body;
  return object.ok() ? *std::move(object) : DecodedObject{};
}

// The object with these members beside its metadata.
inline std::string StorageJson(absl::string_view members, absl::string_view metadata = "") {
  return absl::StrCat(R"({"metadata":{"name":"x","namespace":"n")", metadata.empty() ? "" : ",",
                      metadata, "}", members.empty() ? "" : ",", members, "}");
}

}  // namespace maniple
