// Pods: the part of their spec and status that the scheduler reads.
#include <algorithm>
#include <limits>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "api/base/sort_unique.h"
#include "api/codec/decode_constraints.h"
#include "api/codec/decode_parts.h"
#include "api/codec/decode_pod_terms.h"
#include "api/codec/decode_requests.h"

namespace maniple {
namespace {

// What nodes call an image that a pod names without tag and digest.
std::string FullImageName(std::string name) {
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  if (!tagged) name.append(":latest");
  return name;
}

// Collects a pod: fields come in any order, so what depends on several is worked out at the end.
class PodReader final {
 public:
  Pod Read(const Cursor& root) {
    for (const Cursor& field : root.Members()) {
      if (field.key() == "metadata") pod_.meta = ReadMeta(field);
      if (field.key() == "spec") ReadSpec(field);
      if (field.key() == "status") ReadStatus(field);
    }
    PodConstraints& constraints = pod_.constraints;
    ask_.bound = !pod_.node_name.empty();
    ResourceAmounts most = MostGpusPerContainer(ask_);
    constraints.requests = EffectiveRequests(std::move(ask_));
    if (!most.empty()) {
      ReadLinkage();
      const auto is_all = [&](const ResourceAmount& of_one) {
        return std::binary_search(constraints.requests.begin(), constraints.requests.end(), of_one);
      };
      most.erase(std::remove_if(most.begin(), most.end(), is_all), most.end());
      constraints.most_per_container = std::move(most);
    }
    std::move(terms_).Into(pod_.meta, constraints);
    SortUnique(constraints.host_ports);
    SortUnique(constraints.unsupported);
    std::sort(constraints.images.begin(), constraints.images.end());
    for (ClaimUse& use : pod_.volumes.claims) {
      if (use.ephemeral) use.claim = absl::StrCat(pod_.meta.name, "-", use.claim);
    }
    KeepFirstOfEach(pod_.volumes.claims);
    SortUnique(pod_.volumes.disks);
    SortUnique(pod_.volumes.attached);
    return std::move(pod_);
  }

 private:
  static void KeepFirstOfEach(std::vector<ClaimUse>& claims) {
    absl::btree_set<ClaimUse> seen;
    std::erase_if(claims, [&](const ClaimUse& use) { return !seen.insert(use).second; });
  }

  // Part of the shape only where there is something to link.
  void ReadLinkage() {
    constexpr char kRequireNvlink[] = "scheduling.maniple.dev/require-nvlink";
    PodConstraints& constraints = pod_.constraints;
    const std::string* asked = pod_.meta.annotations.Find(kRequireNvlink);
    if (asked == nullptr || *asked == "false") return;
    if (*asked == "true") {
      constraints.requires_nvlink = true;
    } else {
      constraints.unsupported.push_back(absl::StrCat("metadata.annotations[", kRequireNvlink, "]"));
    }
  }

  void ReadSpec(const Cursor& spec) {
    // Whether ports without a host port take the node's depends on a field that may come after
    // them.
    for (const Cursor& field : spec.Members()) {
      if (field.key() == "hostNetwork" && field.Bool()) {
        port_default_ = HostPortDefault::kContainerPort;
      }
    }
    for (const Cursor& field : spec.Members()) {
      if (!ReadPlainField(field)) ReadConstraint(field);
    }
  }

  bool ReadPlainField(const Cursor& field) {
    const absl::string_view key = field.key();
    if (key == "schedulerName") {
      pod_.scheduler_name = field.Text();
    } else if (key == "nodeName") {
      pod_.node_name = field.Text();
    } else if (key == "priorityClassName") {
      pod_.priority_class_name = field.Text();
    } else if (key == "priority") {
      pod_.priority = field.Int32();
    } else if (key == "preemptionPolicy") {
      pod_.preempts = field.View() != "Never";
    } else if (key == "activeDeadlineSeconds") {
      pod_.active_deadline = absl::Seconds(field.Int({0, std::numeric_limits<int64_t>::max()}));
    } else if (key == "schedulingGates") {
      ReadGates(field);
    } else if (key == "schedulingGroup") {
      ReadSchedulingGroup(field);
    } else {
      return false;
    }
    return true;
  }

  void ReadConstraint(const Cursor& field) {
    const absl::string_view key = field.key();
    PodConstraints& constraints = pod_.constraints;
    if (key == "containers") {
      ReadContainers(field, ask_.containers);
    } else if (key == "initContainers") {
      ReadContainers(field, ask_.init_containers);
    } else if (key == "nodeSelector") {
      constraints.node_selector = ReadStringMap(field);
    } else if (key == "affinity") {
      ReadAffinity(field, constraints);
      terms_.ReadAffinity(field);
    } else if (key == "tolerations") {
      constraints.tolerations = ReadTolerations(field);
    } else if (key == "overhead") {
      ask_.overhead = RequestTable::Read(field);
    } else if (key == "resources") {
      ask_.pod_level = ReadResources(field);
    } else if (key == "topologySpreadConstraints") {
      terms_.ReadSpread(field);
    } else if (key == "volumes") {
      pod_.volumes = ReadPodVolumes(field);
    } else if (key == "resourceClaims" || key == "workloadRef") {
      if (field.HasAny()) constraints.unsupported.push_back(field.Path());
    } else if (key == "hostUsers") {
      // On the host's network this needs a feature that few nodes have and say they have.
      if (!field.Bool() && port_default_ == HostPortDefault::kContainerPort) {
        constraints.unsupported.push_back(field.Path());
      }
    }
  }

  void ReadGates(const Cursor& gates) {
    pod_.scheduling_gates.clear();
    for (const Cursor& gate : gates.Items()) {
      for (const Cursor& field : gate.Members()) {
        if (field.key() == "name") pod_.scheduling_gates.push_back(field.Text());
      }
    }
  }

  void ReadSchedulingGroup(const Cursor& group) {
    for (const Cursor& field : group.Members()) {
      if (field.key() == "podGroupName") {
        pod_.scheduling_group = field.Text();
      } else {
        pod_.constraints.unsupported.push_back(field.Path());
      }
    }
  }

  void ReadContainers(const Cursor& containers, std::vector<ContainerAsk>& out) {
    const bool init = &out == &ask_.init_containers;
    for (const Cursor& item : containers.Items()) {
      ContainerAsk container;
      std::string image;
      std::vector<HostPort> ports;
      for (const Cursor& field : item.Members()) {
        const absl::string_view key = field.key();
        if (key == "name") container.name = field.View();
        if (key == "image") image = FullImageName(field.Text());
        if (key == "restartPolicy") container.always_restarts = field.View() == "Always";
        if (key == "ports") ReadHostPorts(field, port_default_, ports);
        if (key == "restartPolicyRules") ReadRestartRules(field, pod_.constraints.unsupported);
        if (key == "resources") {
          ResourceAsk ask = ReadResources(field);
          ask.requests.FillFrom(ask.limits);
          container.requests = std::move(ask.requests);
        }
      }
      if (!image.empty()) pod_.constraints.images.push_back(std::move(image));
      // An init container that ends has given its ports back before the others start.
      if (!init || container.always_restarts) {
        std::vector<HostPort>& all = pod_.constraints.host_ports;
        all.insert(all.end(), std::make_move_iterator(ports.begin()),
                   std::make_move_iterator(ports.end()));
      }
      out.push_back(std::move(container));
    }
  }

  void ReadStatus(const Cursor& status) {
    ask_.pod_actual = ReadActual(status);
    for (const Cursor& field : status.Members()) {
      const absl::string_view key = field.key();
      if (key == "phase") {
        pod_.phase = PhaseOf(field.View());
      } else if (key == "reason") {
        pod_.status_reason = field.Text();
      } else if (key == "nominatedNodeName") {
        pod_.nominated_node_name = field.Text();
      } else if (key == "startTime") {
        pod_.started = field.Time();
      } else if (key == "conditions") {
        for (const Cursor& condition : field.Items()) ReadCondition(condition);
      } else if (key == "containerStatuses" || key == "initContainerStatuses") {
        for (const Cursor& container : field.Items()) {
          if (ContainerActual actual = ReadActual(container); actual.actual.has_value()) {
            ask_.actuals.push_back(std::move(actual));
          }
        }
      }
    }
  }

  static PodPhase PhaseOf(absl::string_view phase) {
    if (phase.empty() || phase == "Pending") return PodPhase::kPending;
    if (phase == "Running") return PodPhase::kRunning;
    if (phase == "Succeeded") return PodPhase::kSucceeded;
    if (phase == "Failed") return PodPhase::kFailed;
    return PodPhase::kUnknown;
  }

  void ReadCondition(const Cursor& condition) {
    absl::string_view type;
    PodCondition out;
    for (const Cursor& field : condition.Members()) {
      const absl::string_view key = field.key();
      if (key == "type") type = field.View();
      if (key == "status") out.status = field.Text();
      if (key == "reason") out.reason = field.Text();
      if (key == "message") out.message = field.Text();
    }
    if (type == "Ready") pod_.ready = out.status == "True";
    if (type == "PodScheduled") pod_.scheduled_condition = std::move(out);
    if (type == "PodResizePending") ask_.resize_infeasible = out.reason == "Infeasible";
  }

  // Of a container's status, or of the pod's own.
  static ContainerActual ReadActual(const Cursor& status) {
    ContainerActual out;
    for (const Cursor& field : status.Members()) {
      const absl::string_view key = field.key();
      if (key == "name") out.name = field.View();
      if (key == "allocatedResources") out.allocated = RequestTable::Read(field);
      if (key == "resources") out.actual = ReadResources(field).requests;
    }
    return out;
  }

  Pod pod_;
  PodAsk ask_;
  PodTermsReader terms_;
  HostPortDefault port_default_ = HostPortDefault::kNone;
};

}  // namespace

Pod ReadPod(const Cursor& root) { return PodReader().Read(root); }

}  // namespace maniple
