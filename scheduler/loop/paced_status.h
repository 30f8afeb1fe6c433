// The status of one object: written only when it differs, and at most once per interval.
//
//   status.Touch();                                  // something it shows may have changed
//   if (status.IsDue(now)) if (auto news = status.Take(Compute(), now + interval)) write(*news);
#pragma once

#include <optional>
#include <utility>

#include "absl/time/time.h"

namespace maniple {

template <typename Status>
class PacedStatus final {
 public:
  void Touch() { changed_ = true; }
  [[nodiscard]] bool IsDue(absl::Time now) const { return changed_ && not_before_ <= now; }
  [[nodiscard]] absl::Time due() const { return changed_ ? not_before_ : absl::InfiniteFuture(); }
  // What was written last; null: not known.
  [[nodiscard]] const Status* written() const {
    return written_.has_value() ? &*written_ : nullptr;
  }

  // None: the server has it already. Else it is taken for written, and the next comes at `next`.
  [[nodiscard]] std::optional<Status> Take(Status status, absl::Time next) {
    changed_ = false;
    if (written_ == status) return std::nullopt;
    not_before_ = next;
    written_ = status;
    return status;
  }
  // The write did not arrive.
  void Lost(absl::Time next) {
    Forget();
    not_before_ = next;
  }
  // Another object, or somebody else may have written.
  void Forget() {
    written_.reset();
    changed_ = true;
  }

 private:
  bool changed_ = true;
  absl::Time not_before_ = absl::InfinitePast();
  std::optional<Status> written_;
};

}  // namespace maniple
