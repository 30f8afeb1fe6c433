// The results of the seeds of a campaign, told in the order of the seeds: the same
// for any number of threads.
//
// Seeds are taken in order; a result waits here until those of all earlier seeds are told. Any
// thread.
//
//   CampaignResults<Result> results({.first = 1, .count = 200}, [&](const Result& r) { … });
//   while (std::optional<uint64_t> seed = results.Take()) results.Put(*seed, Run(*seed));
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "api/base/mutex.h"

namespace maniple::sim {

struct Seeds {
  uint64_t first = 1;
  uint64_t count = 0;
};

template <typename Result>
class CampaignResults final {
 public:
  using Tell = std::function<void(const Result&)>;
  CampaignResults(Seeds seeds, Tell tell)
      : next_(seeds.first),
        told_(seeds.first),
        end_(seeds.first + seeds.count),
        tell_(std::move(tell)) {}

  // The next seed to run; nullopt when there is none left.
  std::optional<uint64_t> Take() {
    const MutexLock lock(mutex_);
    return next_ < end_ ? std::optional<uint64_t>(next_++) : std::nullopt;
  }
  // Later seeds no longer count, even those that are under way.
  // REQUIRES: `seed` was taken and has not been put.
  void EndWith(uint64_t seed) {
    const MutexLock lock(mutex_);
    end_ = std::min(end_, seed + 1);
  }
  // REQUIRES: `seed` was taken. Tells all results whose turn has come.
  void Put(uint64_t seed, Result result) {
    const MutexLock lock(mutex_);
    waiting_.emplace(seed, std::move(result));
    for (auto it = waiting_.begin(); it != waiting_.end() && it->first == told_ && told_ < end_;
         it = waiting_.erase(it), ++told_) {
      tell_(it->second);
    }
  }

 private:
  Mutex mutex_;
  uint64_t next_ ABSL_GUARDED_BY(mutex_);
  uint64_t told_ ABSL_GUARDED_BY(mutex_);  // the first seed that is not told yet
  uint64_t end_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Result> waiting_ ABSL_GUARDED_BY(mutex_);
  const Tell tell_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maniple::sim
