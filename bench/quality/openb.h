// The openb trace (Alibaba's GPU-sharing cluster, Weng et al., ATC'23): nodes, and lists of pods.
//
// Plain values; files as published, plain or gzip.
//
//   ASSIGN_OR_RETURN(OpenbCluster cluster, ReadCluster(folder + "/openb_node_list_gpu_node.csv"));
//   ASSIGN_OR_RETURN(OpenbList list, ReadList(folder + "/openb_pod_list_default.csv.gz", cluster));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

inline constexpr int32_t kWholeGpu = 1000;  // milli
inline constexpr int32_t kMostDevices = 8;
inline constexpr uint64_t kAnyModel = ~uint64_t{0};

struct OpenbNode {
  int64_t cpu = 0;     // milli
  int64_t memory = 0;  // MiB
  int32_t gpus = 0;
  uint32_t model = 0;  // index into OpenbCluster::models
};

struct OpenbCluster {
  std::vector<OpenbNode> nodes;
  std::vector<std::string> models;
  [[nodiscard]] int64_t gpu_milli() const;
};

// What pods of equal demands share.
struct OpenbShape {
  int64_t cpu = 0, memory = 0;
  int32_t gpus = 0;
  int32_t milli = 0;            // per GPU; below 1000 only with one GPU
  uint64_t models = kAnyModel;  // a bit per model that it may run on
  [[nodiscard]] bool shares() const { return gpus == 1 && milli < kWholeGpu; }
  [[nodiscard]] int64_t gpu_milli() const { return int64_t{gpus} * milli; }
  friend auto operator<=>(const OpenbShape&, const OpenbShape&) = default;
};

struct OpenbList {
  std::vector<OpenbShape> shapes;  // sorted, distinct
  std::vector<uint32_t> pods;      // indices of shapes, in the order of the file
};

[[nodiscard]] absl::StatusOr<OpenbCluster> ReadCluster(const std::string& path);
// A model that the cluster does not have matches nothing.
[[nodiscard]] absl::StatusOr<OpenbList> ReadList(const std::string& path,
                                                 const OpenbCluster& cluster);

// A published mean over the seeds: allocation in percent after so many percent have arrived.
struct PublishedPoint {
  int32_t arrived = 0;
  double allocated = 0;
};
// Of the rows of `policy` for `list`; an error when there are none.
[[nodiscard]] absl::StatusOr<std::vector<PublishedPoint>> ReadPublished(const std::string& path,
                                                                        absl::string_view list,
                                                                        absl::string_view policy);

}  // namespace maniple
