// Follows one scheduling loop through its turns and asks every named invariant after each of them,
// while it leads and up to a thousand pods.
//
// Whoever drives the loop hands over the same inputs and outputs:
//
//   for (ObjectEvent& event : events) { audit.Hear(event); loop.Accept(std::move(event)); }
//   for (WriteResult& result : results) { audit.Hear(result); loop.Accept(std::move(result)); }
//   TurnOutput out = loop.Turn(now);
//   for (std::string& violation : audit.AfterTurn(loop, out, lines, now)) …
//
// A process that starts anew gets a new audit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/turn_facts.h"

namespace maniple {

class TurnAudit final {
 public:
  void Hear(const ObjectEvent& event);
  void Hear(const WriteResult& result);
  // `lines`: what the turn has added to the decision log.
  [[nodiscard]] std::vector<std::string> AfterTurn(const SchedulingLoop& loop,
                                                   const TurnOutput& out,
                                                   const std::vector<std::string>& lines,
                                                   absl::Time now);
  [[nodiscard]] int64_t turns() const { return turns_; }  // that were audited

 private:
  void NotePod(const Pod& pod);
  void ReadLine(absl::string_view line);
  [[nodiscard]] bool Admits(const std::string& queue, const std::string& namespace_name) const;
  [[nodiscard]] bool WasBoundUnder(const std::string& queue, const GangView& gang) const;
  [[nodiscard]] bool StatusTellsOf(const std::string& queue, const GangView& gang) const;
  void NoteGangs();
  [[nodiscard]] std::string Identity(const std::string& gang) const;
  [[nodiscard]] int32_t PriorityOf(const std::string& gang) const;

  TurnFacts facts_;
  std::map<std::string, int64_t> generations_;    // of Queues, Cohorts and flavors
  std::map<uint64_t, std::string> bind_of_gang_;  // write → the gang whose pod it binds
  int64_t limits_ = 0;
  int64_t turns_ = 0;
};

}  // namespace maniple
