// Asks the API server who a token belongs to (TokenReview) and what its user may read
// (SubjectAccessReview), and remembers both for a while.
//
// A machine over a Transport of its own; owned by the thread of AccessReviews. A token stays here
// only while its review is under way; what is remembered is known by a hash of it.
//
//   desk.Ask({.token = token, .wish = wish}, now);
//   desk.On(input, now);
//   for (AccessDesk::Answer& answer : desk.TakeAnswers()) …
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/secret.h"
#include "api/base/thread_owner.h"
#include "api/client/right.h"
#include "api/codec/json.h"
#include "api/http/http.h"
#include "scheduler/app/access/access.h"

namespace maniple {

class AccessDesk final {
 public:
  struct Question {
    Secret token;
    AccessWish wish;
  };
  struct Answer {
    std::string key;  // AccessKey of the question
    AccessVerdict verdict;
    absl::Time until;  // how long it holds
  };

  explicit AccessDesk(Transport& transport) : transport_(transport) {}

  // One answer follows for each question.
  void Ask(const Question& question, absl::Time now);
  void On(const HttpInput& input, absl::Time now);
  [[nodiscard]] std::vector<Answer> TakeAnswers();
  [[nodiscard]] const ForbiddenCounts& forbidden() const { return forbidden_; }

 private:
  // What a TokenReview said.
  struct Known {
    Json user;  // as SubjectAccessReview wants it; null: nobody's token
    absl::Time until;
  };
  struct Decision {
    AccessVerdict verdict;
    absl::Time until;
  };
  struct Waiting {
    std::string token_key;
    AccessWish wish;
    std::string key;
  };
  // A review under way: of a token, for all who wait for it, or of one wish.
  struct Review {
    std::vector<Waiting> waiting;
    bool of_token = false;
    Known user;  // of a wish
    int status = 0;
    std::string body;
  };

  void Send(const std::string& target, const Json& body, Review review);
  void Decide(const Waiting& waiting, const Known& known, absl::Time now);
  void TokenReviewed(const Review& review, const Json& status, absl::Time now);
  void AccessReviewed(const Review& review, const Json& status, absl::Time now);
  void Failed(const Review& review, absl::string_view why, absl::Time now);
  void Give(const Waiting& waiting, AccessVerdict verdict, absl::Time until);

  const ThreadOwner owner_;
  Transport& transport_;
  RequestId next_ = 1;
  std::map<RequestId, Review> under_way_;
  ForbiddenCounts forbidden_;
  absl::flat_hash_map<std::string, Known> users_;         // by TokenKey
  absl::flat_hash_map<std::string, Decision> decisions_;  // by user and wish
  std::vector<Answer> answers_;
};

}  // namespace maniple
