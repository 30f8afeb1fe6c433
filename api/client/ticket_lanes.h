// Tickets in line, in one lane for each payer: lanes take turns, and each goes in order of arrival.
//
// Owned by the Writer. A lane that is empty is forgotten.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace maniple {

class TicketLanes final {
 public:
  using Ticket = uint64_t;

  [[nodiscard]] bool empty() const { return turns_.empty(); }
  // REQUIRES: not empty.
  [[nodiscard]] Ticket front() const { return lanes_.at(turns_.front()).front(); }

  void push_back(const std::string& lane, Ticket ticket) { LaneOf(lane).push_back(ticket); }
  // The ticket goes before all others of its lane.
  void push_front(const std::string& lane, Ticket ticket) { LaneOf(lane).push_front(ticket); }
  // The next lane has its turn. REQUIRES: not empty.
  void pop_front() {
    const auto lane = lanes_.find(turns_.front());
    turns_.pop_front();
    lane->second.pop_front();
    if (lane->second.empty()) {
      lanes_.erase(lane);
    } else {
      turns_.push_back(lane->first);
    }
  }
  void clear() {
    lanes_.clear();
    turns_.clear();
  }

 private:
  std::deque<Ticket>& LaneOf(const std::string& lane) {
    const auto [it, fresh] = lanes_.try_emplace(lane);
    if (fresh) turns_.push_back(lane);
    return it->second;
  }

  std::map<std::string, std::deque<Ticket>> lanes_;
  std::deque<std::string> turns_;  // every lane, once
};

}  // namespace maniple
