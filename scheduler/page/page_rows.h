// The contents of the page as rows: a view of the cluster in JSON objects, each with a key.
//
// Pure. README.md describes the rows and their fields. Facts that a reader may not see are left
// out. So gangs of other namespaces have no row, and their uses of a node have no name.
#pragma once

#include <string>
#include <vector>

#include "scheduler/report/view.h"

namespace maniple {

// The facts that a reader may see.
struct PageReader {
  std::string namespace_name;  // the namespace of the gangs; empty: all
  bool sees_queues = true;     // and Cohorts
  bool sees_nodes = true;
  friend auto operator<=>(const PageReader&, const PageReader&) = default;
};
[[nodiscard]] inline bool SeesGang(const PageReader& reader, const GangView& gang) {
  return reader.namespace_name.empty() || reader.namespace_name == gang.namespace_name;
}

struct PageRow {
  std::string key;   // "node/gpu-01"
  std::string json;  // one object, with the key in it
  friend bool operator==(const PageRow&, const PageRow&) = default;
};

// What the process that answers says of itself.
struct PageProcess {
  std::string version;
  std::vector<std::string> problems = {};  // with the API server; for readers who see nodes
};

// By key.
[[nodiscard]] std::vector<PageRow> PageRowsOf(const ClusterView& view, const PageReader& reader,
                                              const PageProcess& process);

}  // namespace maniple
