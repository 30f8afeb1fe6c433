// The end of a namespace: everything in it is deleted, then the namespace itself goes.
//
// A state machine, part of Controllers. One thread.
#pragma once

#include <set>
#include <string>

#include "absl/time/time.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

class NamespaceLife final {
 public:
  explicit NamespaceLife(const TypeRegistry& types);

  void OnChange(const Change& change);
  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(const Cluster& cluster);

 private:
  void End(const Cluster& cluster, const std::string& space);

  const StorageId namespaces_storage_;
  std::set<std::string> ending_;
  std::set<std::string> noted_;  // of ending_: something in it changed
};

}  // namespace maniple::devcluster
