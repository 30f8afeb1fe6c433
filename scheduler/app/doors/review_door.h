// The door for what readers of HTTP may see, HTTP threads → reviewing thread and back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "api/base/mutex.h"
#include "api/client/right.h"
#include "scheduler/app/access/access_desk.h"

namespace maniple {

class ReviewDoor final {
 public:
  // The verdict if there is one that holds; else it is asked for once, and nothing is said yet.
  // Any thread.
  [[nodiscard]] std::optional<AccessVerdict> Look(const AccessDesk::Question& question,
                                                  absl::Time now);

  // The reviewing thread.
  [[nodiscard]] std::vector<AccessDesk::Question> Take();
  void Post(std::vector<AccessDesk::Answer> answers, absl::Time now);
  void PostForbidden(const ForbiddenCounts& forbidden);

  // Any thread.
  [[nodiscard]] ForbiddenCounts forbidden();

 private:
  Mutex mutex_;
  // What is asked for and has no answer yet, and the answers, by AccessKey.
  absl::flat_hash_set<std::string> asked_ ABSL_GUARDED_BY(mutex_);
  std::vector<AccessDesk::Question> questions_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, AccessDesk::Answer> answers_ ABSL_GUARDED_BY(mutex_);
  ForbiddenCounts forbidden_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maniple
