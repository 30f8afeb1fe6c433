// In which order writes go, and how fast. Fears: a lane starves; a ticket is lost or served twice;
// more writes than the ceiling allows; a time to come back at which still nothing may be sent.
#include "api/client/ticket_lanes.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/client/write_pace.h"

namespace maniple::client_write_order_test {
namespace {

// One line of all lanes; the lane whose turn was longest ago is next.
class NaiveLanes final {
 public:
  void Add(const std::string& lane, TicketLanes::Ticket ticket, bool first) {
    std::deque<TicketLanes::Ticket>& line = lines_[lane];
    if (line.empty()) turn_[lane] = clock_++;
    line.insert(first ? line.begin() : line.end(), ticket);
  }
  [[nodiscard]] bool empty() const { return turn_.empty(); }
  TicketLanes::Ticket Take() {
    auto next = turn_.begin();
    for (auto it = turn_.begin(); it != turn_.end(); ++it) {
      if (it->second < next->second) next = it;
    }
    std::deque<TicketLanes::Ticket>& line = lines_[next->first];
    const TicketLanes::Ticket ticket = line.front();
    line.pop_front();
    next->second = clock_++;
    if (line.empty()) turn_.erase(next);
    return ticket;
  }

 private:
  std::map<std::string, std::deque<TicketLanes::Ticket>> lines_;
  std::map<std::string, uint64_t> turn_;
  uint64_t clock_ = 0;
};

TEST(WriteOrder, LanesTakeTurnsAsInANaiveLine) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    TicketLanes lanes;
    NaiveLanes naive;
    for (TicketLanes::Ticket ticket = 1; ticket < 200; ++ticket) {
      if (random.OneIn(2)) {
        const std::string lane = absl::StrCat(random.Below(5));
        const bool first = random.OneIn(4);
        if (first) lanes.push_front(lane, ticket);
        if (!first) lanes.push_back(lane, ticket);
        naive.Add(lane, ticket, first);
      } else if (!naive.empty()) {
        ASSERT_FALSE(lanes.empty());
        ASSERT_EQ(lanes.front(), naive.Take()) << "seed " << seed;
        lanes.pop_front();
      }
      ASSERT_EQ(lanes.empty(), naive.empty());
    }
  }
}

TEST(WriteOrder, NoWindowHasMoreWritesThanTheCeilingAndItsStock) {
  for (const int ceiling : {1, 3, 50, 1'000'000}) {
    Random random(static_cast<uint64_t>(ceiling));
    WritePace pace(ceiling);
    absl::Time now = absl::UnixEpoch();
    std::vector<absl::Time> sent;
    for (int i = 0; i < 400; ++i) {
      now += absl::Seconds(random.Unit() * 2 / ceiling);
      if (pace.Take(now)) sent.push_back(now);
    }
    for (size_t i = 0; i < sent.size(); ++i) {
      const double most = ceiling + absl::ToDoubleSeconds(sent[i] - sent[0]) * ceiling;
      EXPECT_LE(static_cast<double>(i + 1), most + 1e-6) << ceiling;
    }
  }
}

TEST(WriteOrder, AtTheTimeThatIsNamedOneMayBeSent) {
  for (const int ceiling : {1, 2, 3, 7, 1000, 999'983, 1'000'000}) {
    WritePace pace(ceiling);
    absl::Time now = absl::UnixEpoch() + absl::Hours(500'000);
    for (int i = 0; i < ceiling + 50; ++i) {
      if (pace.Take(now)) continue;
      const absl::Time next = pace.NextAt();
      ASSERT_GT(next, now) << ceiling;
      now = next;
      ASSERT_TRUE(pace.Take(now)) << ceiling << ", write " << i;
    }
  }
}

TEST(WriteOrder, WithoutACeilingEverythingGoes) {
  WritePace pace(0);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(pace.Take(absl::UnixEpoch()));
}

}  // namespace
}  // namespace maniple::client_write_order_test
