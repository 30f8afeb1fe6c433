#include "scheduler/app/access/access_desk.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"
#include "api/model/maniple_types.h"

namespace maniple {
namespace {

constexpr char kTokenReviews[] = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr char kAccessReviews[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

constexpr absl::Duration kTokenHolds = absl::Seconds(60);
constexpr absl::Duration kAllowedHolds = absl::Minutes(5);
constexpr absl::Duration kDeniedHolds = absl::Seconds(30);
constexpr absl::Duration kFailureHolds = absl::Seconds(2);
// Less than a reader's patience, so that the reader hears the reason.
constexpr absl::Duration kPatience = absl::Seconds(4);
constexpr size_t kMostTokens = 1000;
constexpr size_t kMostAnswersKept = 4000;
constexpr size_t kMostReplyBytes = 256 * 1024;

Json ReviewOf(const char* group, const char* kind, Json spec) {
  return Json::Object(
      {{"apiVersion", absl::StrCat(group, "/v1")}, {"kind", kind}, {"spec", std::move(spec)}});
}

Json Resource(const char* group, const char* resource, const std::string& namespace_name) {
  Json out = Json::Object({{"verb", "get"}, {"group", group}, {"resource", resource}});
  if (!namespace_name.empty()) out.Set("namespace", namespace_name);
  return out;
}

// The user with the wish.
Json AccessSpec(Json user, const AccessWish& wish) {
  switch (wish.what) {
    case Readable::kGangs:
      user.Set("resourceAttributes", Resource(kManipleGroup, "podgroups", wish.namespace_name));
      break;
    case Readable::kQueues:
      user.Set("resourceAttributes", Resource(kManipleGroup, "queues", ""));
      break;
    case Readable::kNodes:
      user.Set("resourceAttributes", Resource("", "nodes", ""));
      break;
    case Readable::kMetrics:
      user.Set("nonResourceAttributes", Json::Object({{"verb", "get"}, {"path", "/metrics"}}));
      break;
  }
  return user;
}

// TokenReview's user as SubjectAccessReview names it.
Json UserOf(const Json& reviewed) {
  Json out = Json::Object({{"user", reviewed["username"]}});
  for (const char* field : {"uid", "groups", "extra"}) {
    if (reviewed.Has(field)) out.Set(field, reviewed[field]);
  }
  return out;
}

// Forgets what holds no more, and everything when that is not enough.
template <typename Map>
void MakeRoom(Map& map, size_t most, absl::Time now) {
  if (map.size() < most) return;
  absl::erase_if(map, [now](const auto& entry) { return entry.second.until <= now; });
  if (map.size() >= most) map.clear();
}

}  // namespace

void AccessDesk::Ask(const Question& question, absl::Time now) {
  owner_.Check();
  Waiting waiting{.token_key = TokenKey(question.token),
                  .wish = question.wish,
                  .key = AccessKey(question.token, question.wish)};
  const auto known = users_.find(waiting.token_key);
  if (known != users_.end() && known->second.until > now) {
    return Decide(waiting, known->second, now);
  }
  for (auto& [id, review] : under_way_) {
    if (review.of_token && review.waiting.front().token_key == waiting.token_key) {
      review.waiting.push_back(std::move(waiting));
      return;
    }
  }
  Review review;
  review.waiting.push_back(std::move(waiting));
  review.of_token = true;
  Send(kTokenReviews,
       ReviewOf("authentication.k8s.io", "TokenReview",
                Json::Object({{"token", question.token.Reveal()}})),
       std::move(review));
}

void AccessDesk::Send(const std::string& target, const Json& body, Review review) {
  HttpRequest request;
  request.method = HttpMethod::kPost;
  request.target = target;
  request.content_type = "application/json";
  request.body = body.Dump();
  request.timeout = kPatience;
  under_way_.emplace(next_, std::move(review));
  transport_.Start(next_++, std::move(request));
}

void AccessDesk::Decide(const Waiting& waiting, const Known& known, absl::Time now) {
  if (known.user.is_null()) {
    return Give(waiting,
                {Access::kNobody, "this cluster does not know the token, or it has expired"},
                known.until);
  }
  const auto held = decisions_.find(absl::StrCat(known.user.Dump(), InWords(waiting.wish)));
  if (held != decisions_.end() && held->second.until > now) {
    return Give(waiting, held->second.verdict, std::min(held->second.until, known.until));
  }
  Review review;
  review.waiting.push_back(waiting);
  review.user = known;
  Send(
      kAccessReviews,
      ReviewOf("authorization.k8s.io", "SubjectAccessReview", AccessSpec(known.user, waiting.wish)),
      std::move(review));
}

void AccessDesk::On(const HttpInput& input, absl::Time now) {
  owner_.Check();
  const auto found = under_way_.find(input.request);
  if (found == under_way_.end()) return;
  Review& review = found->second;
  if (const auto* head = std::get_if<HttpHead>(&input.what)) review.status = head->status;
  if (const auto* chunk = std::get_if<HttpChunk>(&input.what)) {
    if (review.body.size() + chunk->bytes.size() <= kMostReplyBytes) review.body += chunk->bytes;
  }
  const auto* end = std::get_if<HttpEnd>(&input.what);
  if (end == nullptr) return;
  const Review done = std::move(review);
  under_way_.erase(found);
  if (!end->status.ok()) return Failed(done, end->status.message(), now);
  if (done.status == 403) {
    const absl::string_view target = done.of_token ? kTokenReviews : kAccessReviews;
    ++forbidden_[RightFor({.method = HttpMethod::kPost, .target = std::string(target)})];
  }
  if (done.status != 200 && done.status != 201) {
    return Failed(
        done,
        absl::StrCat("HTTP ", done.status, ": ", DecodeStatus(done.status, done.body).message),
        now);
  }
  const absl::StatusOr<Json> reply = Json::Parse(done.body);
  if (!reply.ok()) return Failed(done, reply.status().message(), now);
  if (done.of_token) {
    TokenReviewed(done, (*reply)["status"], now);
  } else {
    AccessReviewed(done, (*reply)["status"], now);
  }
}

void AccessDesk::TokenReviewed(const Review& review, const Json& status, absl::Time now) {
  const bool known = status["authenticated"].AsBool();
  MakeRoom(users_, kMostTokens, now);
  const Known user{.user = known ? UserOf(status["user"]) : Json(),
                   .until = now + (known ? kTokenHolds : kDeniedHolds)};
  users_.insert_or_assign(review.waiting.front().token_key, user);
  for (const Waiting& waiting : review.waiting) Decide(waiting, user, now);
}

void AccessDesk::AccessReviewed(const Review& review, const Json& status, absl::Time now) {
  const Waiting& waiting = review.waiting.front();
  AccessVerdict verdict{.access = Access::kAllowed};
  if (!status["allowed"].AsBool()) {
    verdict = {Access::kDenied, absl::StrCat("user \"", review.user.user["user"].AsString(),
                                             "\" may not ", InWords(waiting.wish))};
  }
  const absl::Time until =
      now + (verdict.access == Access::kAllowed ? kAllowedHolds : kDeniedHolds);
  MakeRoom(decisions_, kMostAnswersKept, now);
  decisions_.insert_or_assign(absl::StrCat(review.user.user.Dump(), InWords(waiting.wish)),
                              Decision{.verdict = verdict, .until = until});
  Give(waiting, std::move(verdict), std::min(until, review.user.until));
}

void AccessDesk::Failed(const Review& review, absl::string_view why, absl::Time now) {
  const absl::string_view kind = review.of_token ? "tokenreviews" : "subjectaccessreviews";
  for (const Waiting& waiting : review.waiting) {
    Give(waiting,
         {Access::kUnknown,
          absl::StrCat("the API server could not be asked who may read this (create ", kind,
                       "): ", why)},
         now + kFailureHolds);
  }
}

void AccessDesk::Give(const Waiting& waiting, AccessVerdict verdict, absl::Time until) {
  answers_.push_back({.key = waiting.key, .verdict = std::move(verdict), .until = until});
}

std::vector<AccessDesk::Answer> AccessDesk::TakeAnswers() { return std::exchange(answers_, {}); }

}  // namespace maniple
