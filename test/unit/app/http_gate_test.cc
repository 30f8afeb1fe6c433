// Who may come in at an HTTP listener, against plain counts. Fears: a place or bytes are lost, or
// given back twice; one address takes the places of others; a refused page stays counted.
#include "scheduler/app/http/http_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::app_http_gate_test {
namespace {

using Page = std::shared_ptr<const std::string>;

constexpr HttpGate::Bounds kBounds = {.connections = 6,
                                      .per_address = 3,
                                      .streams = 4,
                                      .streams_per_address = 2,
                                      .bytes_in_flight = 100'000};

// How often each address is in.
class Counts final {
 public:
  [[nodiscard]] int All() const { return static_cast<int>(inside_.size()); }
  [[nodiscard]] int Of(const std::string& address) const {
    return static_cast<int>(std::count(inside_.begin(), inside_.end(), address));
  }
  void Add(const std::string& address) { inside_.push_back(address); }
  [[nodiscard]] bool empty() const { return inside_.empty(); }
  std::string TakeAny(Random& random) {
    const size_t at = random.Below(inside_.size());
    std::string address = inside_[at];
    inside_.erase(inside_.begin() + static_cast<std::ptrdiff_t>(at));
    return address;
  }

 private:
  std::vector<std::string> inside_;
};

TEST(HttpGate, ConnectionsAreCountedAsInPlainCounts) {
  Random random(1);
  HttpGate gate(kBounds);
  Counts inside;
  for (int i = 0; i < 5000; ++i) {
    const std::string address = absl::StrCat(random.Below(4));
    if (random.OneIn(2) && !inside.empty()) {
      gate.Leave(inside.TakeAny(random));
      continue;
    }
    const HttpGate::Entry wanted = inside.Of(address) >= 3 ? HttpGate::Entry::kAddressFull
                                   : inside.All() >= 6     ? HttpGate::Entry::kFull
                                                           : HttpGate::Entry::kOpen;
    ASSERT_EQ(gate.Enter(address), wanted);
    if (wanted == HttpGate::Entry::kFull) {
      gate.Displace(address);
      gate.Leave(inside.TakeAny(random));
    }
    if (wanted != HttpGate::Entry::kAddressFull) inside.Add(address);
    ASSERT_EQ(gate.counters().connections, inside.All());
  }
}

TEST(HttpGate, StreamsAreCountedAsInPlainCounts) {
  Random random(2);
  HttpGate gate(kBounds);
  Counts streams;
  for (int i = 0; i < 5000; ++i) {
    const std::string address = absl::StrCat(random.Below(4));
    if (random.OneIn(2) && !streams.empty()) {
      gate.LeaveStream(streams.TakeAny(random));
      continue;
    }
    const bool room = streams.All() < 4 && streams.Of(address) < 2;
    ASSERT_EQ(gate.EnterStream(address), room);
    if (room) streams.Add(address);
  }
}

TEST(HttpGate, LargePagesUnderWayFitOrThereIsOne) {
  Random random(3);
  HttpGate gate(kBounds);
  std::vector<Page> pages;
  for (const size_t size : {0u, 100u, 16'384u, 16'385u, 40'000u, 60'000u, 100'000u, 200'000u}) {
    pages.push_back(std::make_shared<const std::string>(size, 'x'));
  }
  std::vector<Page> under_way;
  std::map<Page, int> large;
  for (int i = 0; i < 5000; ++i) {
    if (random.OneIn(2) && !under_way.empty()) {
      const size_t at = random.Below(under_way.size());
      const Page page = under_way[at];
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
      gate.Return(page);
      if (page->size() > 16'384 && --large[page] == 0) large.erase(page);
      continue;
    }
    const Page page = pages[random.Below(pages.size())];
    size_t bytes = 0;
    for (const auto& [other, readers] : large) bytes += other->size();
    const bool free = page->size() <= 16'384 || large.contains(page);
    const bool fits = free || large.empty() || bytes + page->size() <= kBounds.bytes_in_flight;
    ASSERT_EQ(gate.Take(page), fits) << page->size() << " beside " << bytes;
    if (!fits) continue;
    under_way.push_back(page);
    if (page->size() > 16'384) ++large[page];
  }
}

TEST(HttpGate, NoPageIsNoBytes) {
  HttpGate gate(kBounds);
  EXPECT_TRUE(gate.Take(nullptr));
  gate.Return(nullptr);
}

}  // namespace
}  // namespace maniple::app_http_gate_test
