// LIST: which objects a request selects, from which moment, and which page of them.
//
// Functions of the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/devcluster/rest/request.h"
#include "api/devcluster/store/selector.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/types/api_error.h"

namespace maniple::devcluster {

enum class VersionMatch { kUnset, kExact, kNotOlderThan };

// The query of a list, a watch or a deletecollection.
struct ListOptions {
  LabelSelector labels;
  FieldSelector fields;
  std::optional<uint64_t> version;  // absent: the newest; 0: any
  VersionMatch match = VersionMatch::kUnset;
  int64_t limit = 0;  // 0: all
  std::string continue_token;
  bool watch = false;
  bool bookmarks = false;
  bool initial_events = false;
  std::optional<int64_t> timeout_seconds;

  [[nodiscard]] bool Selects(const Json& stored) const;
};

ApiOr<ListOptions> ParseListOptions(const ResourceRequest& request);

struct ListPage {
  std::vector<ObjectPtr> objects;  // as stored
  uint64_t version = 0;
  std::string continue_token;  // empty: the last page
  std::optional<int64_t> remaining;
};

ApiOr<ListPage> ListObjects(const Store& store, const ResourceRequest& request,
                            const ListOptions& options);

}  // namespace maniple::devcluster
