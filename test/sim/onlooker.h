// Watches the schedulers' requests and their effect on the server. It knows which process leads for
// certain, which binds promises apply to, and which requests a process must not send.
//
// Knows the schedulers by the traffic on the wire and by whether they lead. Violations go to the
// Truth. One thread.
//
//   Onlooker onlooker(world);
//   onlooker.OnSent(process, request);            // each write that leaves a process
//   onlooker.OnWrite(sender, request);            // just before the server handles it
//   onlooker.OnWritten(sender, request, status);  // and after
#pragma once

#include <cstdint>
#include <map>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "test/sim/conduct.h"
#include "test/sim/first_words.h"
#include "test/sim/process.h"
#include "test/sim/world_parts.h"

namespace maniple::sim {

class Onlooker final {
 public:
  explicit Onlooker(WorldParts& world)
      : world_(world), conduct_(world.truth), first_words_(world.truth) {}

  // Status reports of a first start are held to their order.
  void OnLine(uint64_t life, absl::string_view line) { first_words_.OnDecision(life, line); }
  // `in_order`: nothing holds the process up, whose requests go out late otherwise.
  void CheckFirstWords(uint64_t life, const HttpRequest& request, bool in_order);
  void OnSent(const Process& process, const HttpRequest& request);
  // It is sent, or leaves its machine late.
  void CheckFence(uint64_t life, const HttpRequest& request);
  void OnReply(uint64_t life, const HttpRequest& request, absl::string_view body);
  void OnWrite(const Sender& sender, const HttpRequest& request);
  void OnWritten(const Sender& sender, const HttpRequest& request, int status);

  [[nodiscard]] uint64_t divisions() const { return divisions_; }  // of nodes by MIG

 private:
  [[nodiscard]] bool IsOfLeader(const Sender& sender) const;
  [[nodiscard]] bool HoldsLease(uint64_t life) const;
  [[nodiscard]] bool IsContested(const Sender& sender) const;

  WorldParts& world_;
  Conduct conduct_;
  FirstWords first_words_;
  // By life: the latest time until which it may lead, counted from its last renewal.
  std::map<uint64_t, absl::Time> leads_until_;
  uint64_t divisions_ = 0;
};

}  // namespace maniple::sim
