// One JSON object, written field by field as text. Fields that are empty, false or zero are left
// out.
//
//   RowText row;
//   row.Text("name", node.name).Number("pods", 3).Raw("gpus", "[…]");
//   row.Take();  // {"name":"gpu-01","pods":3,"gpus":[…]}
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple {

class RowText final {
 public:
  RowText& Text(absl::string_view name, absl::string_view value) {
    return value.empty() ? *this : Raw(name, JsonQuoted(value));
  }
  RowText& Number(absl::string_view name, int64_t value) {
    return value == 0 ? *this : Raw(name, absl::StrCat(value));
  }
  RowText& Flag(absl::string_view name, bool value) { return value ? Raw(name, "true") : *this; }
  // JSON already; "" = none.
  RowText& Raw(absl::string_view name, absl::string_view json) {
    if (!json.empty()) absl::StrAppend(&text_, text_.empty() ? "" : ",", "\"", name, "\":", json);
    return *this;
  }
  [[nodiscard]] std::string Take() { return absl::StrCat("{", std::exchange(text_, {}), "}"); }

 private:
  std::string text_;
};

// A JSON array of `text_of` applied to each item; "" for none.
template <typename Items, typename TextOf>
std::string RowList(const Items& items, TextOf text_of) {
  std::string out;
  for (const auto& item : items) absl::StrAppend(&out, out.empty() ? "[" : ",", text_of(item));
  if (!out.empty()) out += ']';
  return out;
}

}  // namespace maniple
