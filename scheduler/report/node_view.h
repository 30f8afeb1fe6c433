// A node as operators see it: what it has, who uses it, for whom it is kept. Plain values, part of
// a ClusterView (view.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/model/model.h"

namespace maniple {

struct NodeResourceView {
  std::string resource;
  Amount allocatable, free;
  bool gpu = false;                // a whole GPU or a slice of one
  bool one_per_container = false;  // as IsOnePerContainer
};

// The use of one GPU resource of a node by one gang.
struct NodeUseView {
  std::string gang;  // "namespace/name"
  std::string resource;
  int64_t amount = 0;
  int64_t leaving = 0;  // the part of it whose pods are being deleted
  friend bool operator==(const NodeUseView&, const NodeUseView&) = default;
};

struct NodeRow {
  std::string name;
  std::vector<std::string> path;  // through the levels of the default Topology; "" = no label
  std::string nvlink;             // the label value of its NVLink domain; "" = no label
  std::string gpu_model;          // as DeviceText; "" = no label says
  bool schedulable = true;
  std::string closed;  // why no pod that asks for GPUs starts on it now; "" = one may
  std::vector<Taint> taints;
  std::vector<NodeResourceView> resources;
  int64_t pods = 0;
  std::vector<std::string> gangs;  // "namespace/name" with members here; sorted
  std::vector<NodeUseView> uses;   // by gang and resource
  // Room kept for gangs, while others leave it or until a planned start; by gang and resource.
  // Room that others still have there counts in both.
  std::vector<NodeUseView> held;
};

// "key=value:NoSchedule"
[[nodiscard]] std::string TaintText(const Taint& taint);

}  // namespace maniple
