// Nodes for one waiting gang, asked of an autoscaler by a ProvisioningRequest: all of them or none.
//
// A machine without clock or network: it says what is to be sent next, and hears the reply.
// Owned by the record of its gang; scheduling thread. It finds its objects again by name,
// so the next leader goes on with them.
//
//   NodeRequest request(ask, options, now);
//   if (std::optional<HttpRequest> next = request.Next(now)) …send it…
//   request.Hear(result, now);
//   request.waits();  // the gang's pods say so, and the autoscaler does not look at each of them
//
// Life: a pod of each kind is read and described by a PodTemplate, then the whole is asked for and
// looked at from time to time. A refusal or a missing answer ends it: from then on the pods say
// Unschedulable, as they would without it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/base/random.h"
#include "api/client/requests.h"
#include "api/client/write_command.h"
#include "queue/gang.h"

namespace maniple {

struct NodeRequestOptions {
  std::string class_name;  // "": no nodes are ever asked for
  std::vector<std::pair<std::string, std::string>> parameters;
};

// The nodes that a gang asks for. Equal asks have the same name.
struct NodeAsk {
  struct PodSet {
    PodReference pod;  // all pods of the set are like it
    ShapeId shape;
    int32_t count = 0;
  };
  std::string namespace_name, name;
  OwnerReference owner;  // the PodGroup
  std::vector<PodSet> pod_sets;
};

// The waiting members that complete the quorum, in the order of the gang. None: the gang has
// members with a node already, no PodGroup, or more kinds of pods than a request may have.
[[nodiscard]] std::optional<NodeAsk> NodeAskOf(const Gang& gang);

class NodeRequest final {
 public:
  NodeRequest(NodeAsk ask, const NodeRequestOptions& options, absl::Time now);

  // None: nothing is to be sent before again_at() unless a reply comes.
  [[nodiscard]] std::optional<HttpRequest> Next(absl::Time now);
  void Hear(const WriteResult& result, absl::Time now, Random& random);
  // Requests that take back all objects that it knows it has made; the rest goes with the PodGroup.
  // REQUIRES: !under_way().
  [[nodiscard]] std::vector<HttpRequest> TakeBack() const;

  [[nodiscard]] const NodeAsk& ask() const { return ask_; }
  [[nodiscard]] bool under_way() const { return under_way_; }
  [[nodiscard]] absl::Time again_at() const { return again_at_; }
  // True while it is being made or not answered yet, or its nodes are to come.
  [[nodiscard]] bool waits() const { return stage_ != Stage::kOver; }
  // "ProvisioningRequest train-1a2b3c4d asks for its nodes"
  [[nodiscard]] std::string Text() const;

 private:
  enum class Stage : uint8_t { kReading, kDescribing, kAsking, kLooking, kOver };

  [[nodiscard]] std::string TemplateName(size_t set) const;
  [[nodiscard]] HttpRequest Request() const;
  void Advance(const WriteResult& result, absl::Time now);
  void Look(const std::string& answer, absl::Time now);
  void End(std::string why);

  NodeAsk ask_;
  const NodeRequestOptions* options_;
  Stage stage_ = Stage::kReading;
  size_t set_ = 0;                                              // that is read or described
  std::string template_;                                        // the template of that set
  std::string uid_;                                             // of the request; "" = not known
  std::vector<std::pair<std::string, std::string>> templates_;  // made: name, uid
  bool under_way_ = false;
  absl::Time again_at_ = absl::InfinitePast();
  absl::Time since_;  // since when it is asked for, or has its nodes
  bool accepted_ = false, provisioned_ = false;
  Backoff backoff_{{.first = absl::Seconds(1), .most = absl::Minutes(1)}};
  std::string why_;  // why it is over
};

}  // namespace maniple
