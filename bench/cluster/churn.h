// What a tenant could send for days: pods that share nothing with each other, and are soon gone.
//
// Each has an image, a request, a label key, a selector and a Queue of its own; every second one is
// of another scheduler. Pure.
//
//   for (int64_t i = 0; i < pods; ++i) { create ChurnPodBody(i); delete ChurnPodName(i - alive); }
#pragma once

#include <cstdint>
#include <string>

namespace maniple {

[[nodiscard]] std::string ChurnPodName(int64_t index);
[[nodiscard]] std::string ChurnPodBody(int64_t index);

}  // namespace maniple
