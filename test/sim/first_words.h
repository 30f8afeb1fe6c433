// Whether waiting gangs hear their reason before running gangs hear of their start: a promise
// on the order of a scheduler's decisions and writes.
//
// Knows a process by its life only. Violations go to the Truth. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/http/http.h"
#include "test/sim/truth.h"

namespace maniple::sim {

class FirstWords final {
 public:
  explicit FirstWords(Truth& truth) : truth_(truth) {}

  void OnDecision(uint64_t life, absl::string_view line);
  // Checks FirstWordsFirst: the status of a running gang is not sent while a waiting one, which was
  // never told why, has been decided already. Of requests that are not in order only what they tell
  // counts.
  void OnSent(uint64_t life, const HttpRequest& request, bool in_order, absl::Time now);

 private:
  Truth& truth_;
  std::set<std::pair<uint64_t, std::string>> spoken_;  // (the life, the gang)
  std::map<uint64_t, std::set<std::string>> unsaid_;
};

}  // namespace maniple::sim
