#include "scheduler/app/access/access.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"

namespace maniple {
namespace {

const std::string& Salt() {
  static const std::string salt = [] {
    std::array<unsigned char, 32> bytes;
    CHECK(::RAND_bytes(bytes.data(), bytes.size()) == 1);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }();
  return salt;
}

std::string WishKey(const AccessWish& wish) {
  return absl::StrCat(static_cast<int>(wish.what), "/", wish.namespace_name);
}

}  // namespace

std::optional<AccessWish> WishFor(const AdminQuestion& question) {
  if (question.path == "/gangs" || question.path == "/explain" || question.path == "/stream" ||
      question.path == "/tables" || question.path == "/log" || question.path == "/usage") {
    return AccessWish{Readable::kGangs, question.namespace_name};
  }
  if (question.path == "/queues" || question.path == "/cohorts")
    return AccessWish{Readable::kQueues, ""};
  if (question.path == "/nodes") return AccessWish{Readable::kNodes, ""};
  if (question.path == "/metrics" || question.path == "/diag")
    return AccessWish{Readable::kMetrics, ""};
  return std::nullopt;
}

std::string InWords(const AccessWish& wish) {
  switch (wish.what) {
    case Readable::kGangs:
      return wish.namespace_name.empty()
                 ? "get podgroups.scheduling.maniple.dev in all namespaces (name one with -n)"
                 : absl::StrCat("get podgroups.scheduling.maniple.dev in namespace \"",
                                wish.namespace_name, "\"");
    case Readable::kQueues:
      return "get queues.scheduling.maniple.dev";
    case Readable::kNodes:
      return "get nodes";
    case Readable::kMetrics:
      return "get the path /metrics";
  }
  return "";
}

std::string TokenKey(const Secret& token) {
  const std::string salted = absl::StrCat(Salt(), token.Reveal());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  CHECK(::EVP_Digest(salted.data(), salted.size(), digest.data(), &size, ::EVP_sha256(), nullptr) ==
        1);
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

std::string AccessKey(const Secret& token, const AccessWish& wish) {
  return absl::StrCat(TokenKey(token), WishKey(wish));
}

}  // namespace maniple
