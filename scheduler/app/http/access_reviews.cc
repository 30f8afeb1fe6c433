#include "scheduler/app/http/access_reviews.h"

#include <vector>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

constexpr int kMostReviews = 8;
constexpr absl::Duration kLongestPoll = absl::Seconds(10);
constexpr absl::Duration kComplainEvery = absl::Minutes(1);

}  // namespace

absl::StatusOr<std::unique_ptr<AccessReviews>> AccessReviews::Start(ClientConfig config,
                                                                    std::function<void()> news) {
  ASSIGN_OR_RETURN(std::unique_ptr<CurlTransport> transport,
                   CurlTransport::Create(
                       std::move(config), RealClock(),
                       {.most_writes = kMostReviews, .user_agent = "maniple-scheduler/reviews"}));
  std::unique_ptr<AccessReviews> reviews(new AccessReviews(std::move(transport), std::move(news)));
  reviews->thread_ = std::thread([self = reviews.get()] { self->Run(); });
  return reviews;
}

AccessReviews::~AccessReviews() {
  stop_ = true;
  transport_->Wakeup();
  if (thread_.joinable()) thread_.join();
}

std::optional<AccessVerdict> AccessReviews::Look(const Secret& token, const AccessWish& wish) {
  std::optional<AccessVerdict> verdict =
      door_.Look({.token = token, .wish = wish}, RealClock().Now());
  if (!verdict.has_value()) transport_->Wakeup();
  return verdict;
}

void AccessReviews::Run() {
  const Clock& clock = RealClock();
  AccessDesk desk(*transport_);
  absl::Time complained = absl::InfinitePast();
  while (!stop_) {
    for (const AccessDesk::Question& question : door_.Take()) desk.Ask(question, clock.Now());
    std::vector<AccessDesk::Answer> answers = desk.TakeAnswers();  // what it remembers
    if (answers.empty()) {
      for (const HttpInput& input : transport_->Poll(kLongestPoll)) desk.On(input, clock.Now());
      answers = desk.TakeAnswers();
    }
    if (answers.empty()) continue;
    for (const AccessDesk::Answer& answer : answers) {
      if (answer.verdict.access != Access::kUnknown || clock.Now() - complained < kComplainEvery) {
        continue;
      }
      complained = clock.Now();
      LOG(WARNING) << answer.verdict.message;
    }
    door_.Post(std::move(answers), clock.Now());
    door_.PostForbidden(desk.forbidden());
    news_();
  }
}

}  // namespace maniple
