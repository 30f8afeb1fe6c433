// The strong ids that rooms share. All are given out by scheduler/state and mean nothing outside
// one process.
#pragma once

#include "api/base/id.h"

namespace maniple {

using ResourceId =
    Id<struct ResourceTag>;           // "nvidia.com/gpu"; pods, cpu and memory are the first three
using ShapeId = Id<struct ShapeTag>;  // one distinct PodConstraints
using NodeId = Id<struct NodeTag>;    // a row in the columns; reused after the node is gone
using NodeClassId = Id<struct NodeClassTag>;  // nodes with equal static facts
using ImageId = Id<struct ImageTag>;          // the name of a container image that some shape runs
using PodId = Id<struct PodTag>;              // one pod uid; never reused
using GangId = Id<struct GangTag>;            // one gang key; never reused
using TaintKeyId = Id<struct TaintKeyTag>;    // the key of a taint seen on some node
using LabelValueId = Id<struct LabelValueTag>;
using HostPortId = Id<struct HostPortTag>;
using VolumeUseId = Id<struct VolumeUseTag>;        // one distinct VolumeUse
using VolumeDriverId = Id<struct VolumeDriverTag>;  // a CSI driver
using HoldId = Id<struct HoldTag>;  // room kept on a node for a pod that is yet to come

}  // namespace maniple
