// The reviews of readers of HTTP, on a thread and with connections of their own, so that neither
// the listeners nor the scheduling wait for them.
//
// Owned by the HTTP surface. At most eight reviews are under way; others wait in line.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "api/http/client_config.h"
#include "api/http/curl_transport.h"
#include "scheduler/app/access/access.h"
#include "scheduler/app/doors/review_door.h"

namespace maniple {

class AccessReviews final {
 public:
  // `config`: the API server and who asks it. `news` is called when verdicts have come.
  static absl::StatusOr<std::unique_ptr<AccessReviews>> Start(ClientConfig config,
                                                              std::function<void()> news);
  ~AccessReviews();

  // Nothing: it is being asked for. Any thread; never waits.
  [[nodiscard]] std::optional<AccessVerdict> Look(const Secret& token, const AccessWish& wish);
  // Of the reviews themselves. Any thread.
  [[nodiscard]] ForbiddenCounts forbidden() { return door_.forbidden(); }

 private:
  AccessReviews(std::unique_ptr<CurlTransport> transport, std::function<void()> news)
      : transport_(std::move(transport)), news_(std::move(news)) {}
  void Run();

  const std::unique_ptr<CurlTransport> transport_;
  const std::function<void()> news_;
  ReviewDoor door_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace maniple
