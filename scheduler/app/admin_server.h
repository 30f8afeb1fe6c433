// The gRPC admin surface. Owns gRPC's threads; every answer is made from one fresh, immutable
// ClusterView.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/report/view.h"

namespace maniple {

class AdminServer final {
 public:
  // A view made after the call, or null when the scheduler did not answer in time. Any thread.
  using ViewSource = std::function<ClusterViewPtr()>;

  // `address`: HOST:PORT or unix:PATH; the folder of a socket is made, with access for the user
  // alone.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(const std::string& address,
                                                            ViewSource source);
  ~AdminServer();

 private:
  class Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
