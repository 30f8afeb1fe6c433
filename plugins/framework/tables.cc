#include "plugins/framework/tables.h"

namespace maniple {

std::optional<TaintKeyId> Tables::TaintKey(absl::string_view key) const {
  for (uint32_t i = 0; i < taint_keys.size(); ++i) {
    if (taint_keys[i] == key) return TaintKeyId(i);
  }
  return std::nullopt;
}

}  // namespace maniple
