// The schedulers' requests and replies, as they pass on the wire, and the promises on their conduct
// that the server's objects alone do not show.
//
// Knows a process by its life only. Violations go to the Truth. One thread.
//
//   Conduct conduct(truth);
//   conduct.OnSent(life, request, decided, now);   // each write that leaves a process
//   conduct.OnReply(life, request, body, now);   // each answer that reaches one
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/http/http.h"
#include "test/sim/evictions.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// "" when the request is no bind.
[[nodiscard]] std::string BoundPod(const HttpRequest& request);
// "" when the request does not ask for another MIG configuration of a node.
[[nodiscard]] std::string DividedNode(const HttpRequest& request);

class Conduct final {
 public:
  explicit Conduct(Truth& truth) : truth_(truth) {}

  // Checks EveryWriteHasAPrecondition and NoUndoWithoutCause.
  // `decided`: the beginning of the turn that asked for it.
  void OnSent(uint64_t life, const HttpRequest& request, absl::Time decided, absl::Time now);
  void OnReply(uint64_t life, const HttpRequest& request, absl::string_view body, absl::Time now);
  // The time at which this life decided on this very bind. REQUIRES: it has sent it.
  [[nodiscard]] absl::Time Decided(uint64_t life, const HttpRequest& bind) const;

 private:
  struct Attempt {
    absl::Time began;          // the first bind was sent
    std::set<uint64_t> lives;  // … and those that have bound, or written its status, since
    bool refused = false;      // the server refuses one of its members for good
    bool stood_apart = false;  // in more than one domain, where one is required
  };
  void CheckItLacksSomebody(uint64_t life, const std::string& pod, absl::Time now);
  void CheckUndo(uint64_t life, const std::string& pod, absl::Time now);

  Truth& truth_;
  std::map<std::string, Attempt> attempts_;  // by "namespace/name" of the gang
  std::map<std::pair<uint64_t, std::string>, absl::Time> decided_;
};

}  // namespace maniple::sim
