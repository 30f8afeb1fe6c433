// The actions of a client machine (watch session, elector, writer): requests
// to start and to give up.
//
// Machines never touch a Transport; their owner performs the actions and routes each HttpInput back
// by its id:
//
//   Perform(writer.OnTime(now).http, transport);
//   for (HttpInput& input : transport.Poll(wait))
//   machine_of[RequestIds::OwnerOf(input.request)]->On(input, now);
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "api/http/http.h"

namespace maniple {

// The request ids of one machine: its number in the high bits, a counter below. So ids are unique
// within a Transport and an answer finds its machine without a table.
class RequestIds final {
 public:
  explicit RequestIds(uint16_t owner) : next_(uint64_t{owner} << kCounterBits) {}

  RequestId Next() { return ++next_; }
  static uint16_t OwnerOf(RequestId id) { return static_cast<uint16_t>(id >> kCounterBits); }

 private:
  static constexpr int kCounterBits = 48;
  uint64_t next_;
};

struct HttpStart {
  RequestId id = 0;
  HttpRequest request;
};

struct HttpActions {
  std::vector<RequestId> cancel;  // performed first
  std::vector<HttpStart> start;
};

inline void Perform(HttpActions actions, Transport& transport) {
  for (const RequestId id : actions.cancel) transport.Cancel(id);
  for (HttpStart& start : actions.start) transport.Start(start.id, std::move(start.request));
}

}  // namespace maniple
