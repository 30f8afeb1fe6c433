// The status of one object: looked at at most once per interval, and written only when it differs.
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
    not_before_ = next;  // a look costs, too
    if (written_ == status) return std::nullopt;
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
