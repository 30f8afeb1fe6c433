#include "scheduler/app/http/http_gate.h"

#include "api/base/check.h"

namespace maniple {
namespace {

constexpr size_t kSmallPage = 16 * 1024;

bool IsCounted(const std::shared_ptr<const std::string>& body) {
  return body != nullptr && body->size() > kSmallPage;
}

}  // namespace

HttpGate::Entry HttpGate::Enter(const std::string& address) {
  const auto found = inside_.find(address);
  if (found != inside_.end() && found->second >= bounds_.per_address) return Entry::kAddressFull;
  if (connections_ >= bounds_.connections) return Entry::kFull;
  ++inside_[address];
  ++connections_;
  return Entry::kOpen;
}

void HttpGate::Displace(const std::string& address) {
  ++inside_[address];
  ++connections_;
  ++displaced_;
}

void HttpGate::Leave(const std::string& address) {
  const auto found = inside_.find(address);
  CHECK(found != inside_.end());
  if (--found->second == 0) inside_.erase(found);
  --connections_;
}

bool HttpGate::EnterStream(const std::string& address) {
  const auto found = following_.find(address);
  const int here = found == following_.end() ? 0 : found->second;
  if (streams_ >= bounds_.streams || here >= bounds_.streams_per_address) return false;
  ++following_[address];
  ++streams_;
  return true;
}

void HttpGate::LeaveStream(const std::string& address) {
  const auto found = following_.find(address);
  CHECK(found != following_.end());
  if (--found->second == 0) following_.erase(found);
  --streams_;
}

bool HttpGate::Take(const std::shared_ptr<const std::string>& body) {
  if (!IsCounted(body)) return true;
  const auto [it, fresh] = under_way_.try_emplace(body.get(), Page{.bytes = body->size()});
  // A page that is larger than the bound is served to whoever is alone.
  if (fresh && bytes_ > 0 && bytes_ + body->size() > bounds_.bytes_in_flight) {
    under_way_.erase(it);
    ++pages_refused_;
    return false;
  }
  if (fresh) bytes_ += body->size();
  ++it->second.readers;
  return true;
}

void HttpGate::Return(const std::shared_ptr<const std::string>& body) {
  if (!IsCounted(body)) return;
  const auto found = under_way_.find(body.get());
  CHECK(found != under_way_.end());
  if (--found->second.readers > 0) return;
  bytes_ -= found->second.bytes;
  under_way_.erase(found);
}

HttpCounters HttpGate::counters() const {
  return {.connections = connections_,
          .connections_refused = refused_,
          .connections_displaced = displaced_,
          .pages_refused = pages_refused_,
          .accept_pauses = pauses_};
}

}  // namespace maniple
