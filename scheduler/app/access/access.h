// Who asks to read what over HTTP, and what the API server says to it, as data. Any thread.
#pragma once

#include <optional>
#include <string>

#include "api/base/secret.h"
#include "scheduler/app/access/admin_question.h"

namespace maniple {

enum class Readable { kGangs, kQueues, kNodes, kMetrics };

struct AccessWish {
  Readable what = Readable::kGangs;
  std::string namespace_name;  // of gangs; empty: of all namespaces
};

enum class Access {
  kAllowed,
  kDenied,
  kNobody,   // the token is none of this cluster's
  kUnknown,  // the API server could not be asked
};

struct AccessVerdict {
  Access access = Access::kUnknown;
  std::string message;  // a sentence for the reader, unless allowed
};

// What the reader of a page must be allowed; nothing: it is no page that needs it.
[[nodiscard]] std::optional<AccessWish> WishFor(const AdminQuestion& question);

// "get podgroups.scheduling.maniple.dev in namespace \"a\"", for people.
[[nodiscard]] std::string InWords(const AccessWish& wish);

// One key for token and wish, from which nobody learns the token: each process salts it anew.
[[nodiscard]] std::string AccessKey(const Secret& token, const AccessWish& wish);
[[nodiscard]] std::string TokenKey(const Secret& token);

}  // namespace maniple
