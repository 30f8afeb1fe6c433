// Who may come in at an HTTP listener, and how many bytes may wait for readers: numbers only.
//
// Owned by the thread of one listener; counters may be read by any thread.
//
//   if (gate.Enter(address) == HttpGate::Entry::kOpen) …; gate.Leave(address);
//   if (gate.Take(page.body)) …write…; gate.Return(page.body);
//
// Invariants:
//   1. At most `per_address` connections of an address are inside, whatever others do.
//   2. At most `streams_per_address` of them follow a stream, so that there is a place to ask from.
//   3. Large pages under way have at most `bytes_in_flight` bytes in all, or there is only one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "scheduler/app/metrics/http_counters.h"

namespace maniple {

class HttpGate final {
 public:
  struct Bounds {
    int connections = 64;
    int per_address = 8;
    int streams = 16;
    int streams_per_address = 6;
    size_t bytes_in_flight = 64u << 20;
  };
  enum class Entry { kOpen, kFull, kAddressFull };

  explicit HttpGate(const Bounds& bounds) : bounds_(bounds) {}

  // kOpen counts the connection in. kFull: it may still come in by Displace.
  [[nodiscard]] Entry Enter(const std::string& address);
  // Counts it in although all places are taken: another one is being closed for it.
  void Displace(const std::string& address);
  void Leave(const std::string& address);

  // Of a connection that is inside. False: there are as many already.
  [[nodiscard]] bool EnterStream(const std::string& address);
  void LeaveStream(const std::string& address);

  // A large page's bytes are counted once, however many read it; small ones are bounded by the
  // number of connections. False: too many bytes are under way.
  [[nodiscard]] bool Take(const std::shared_ptr<const std::string>& body);
  void Return(const std::shared_ptr<const std::string>& body);

  void CountRefusal() { ++refused_; }
  void CountPause() { ++pauses_; }
  [[nodiscard]] HttpCounters counters() const;

 private:
  struct Page {
    size_t bytes = 0;
    int readers = 0;
  };

  const Bounds bounds_;
  absl::flat_hash_map<std::string, int> inside_;     // connections by address
  absl::flat_hash_map<std::string, int> following_;  // streams by address
  int streams_ = 0;                                  // of following_
  absl::flat_hash_map<const std::string*, Page> under_way_;
  size_t bytes_ = 0;  // of under_way_
  std::atomic<int64_t> connections_{0}, refused_{0}, displaced_{0}, pages_refused_{0}, pauses_{0};
};

}  // namespace maniple
