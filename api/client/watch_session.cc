#include "api/client/watch_session.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/client/resource_version.h"

namespace maniple {
namespace {

constexpr size_t kErrorBody = 64 << 10;
// A list older than an earlier answer is refused so often. After that the history has been replaced
// (etcd restored).
constexpr int kOldListsRefused = 3;

bool IsJson(absl::string_view content_type) {
  return absl::StartsWithIgnoreCase(content_type, "application/json");
}

KnownObjects::Name NameOf(const ObjectKey& key) { return {key.namespace_name, key.name}; }

WatchSessionOptions WithCollection(WatchSessionOptions options) {
  if (options.collections.empty()) {
    options.collections.emplace_back(ResourceCollectionPath(options.kind));
  }
  return options;
}

// "scheduling.x-k8s.io/v1alpha1" of "/apis/scheduling.x-k8s.io/v1alpha1/podgroups".
absl::string_view ApiVersionIn(absl::string_view collection) {
  absl::ConsumePrefix(&collection, "/apis/");
  return collection.substr(0, collection.rfind('/'));
}

// "v1alpha1" of the same path.
absl::string_view VersionIn(absl::string_view collection) {
  const absl::string_view api_version = ApiVersionIn(collection);
  return api_version.substr(api_version.rfind('/') + 1);
}

}  // namespace

WatchSession::WatchSession(WatchSessionOptions options, uint64_t seed)
    : options_(WithCollection(std::move(options))),
      random_(seed),
      ids_(options_.owner),
      backoff_(options_.backoff),
      look_again_(options_.look_again),
      framer_(options_.longest_line),
      most_objects_(options_.page_size),
      page_size_(options_.page_size),
      head_timeout_(options_.head_timeout) {}

SessionOutput WatchSession::Start() {
  SessionOutput out;
  if (state_ != SessionState::kIdle) return out;
  step_ = Step::kList;
  RestartList();
  Proceed(out);
  return out;
}

SessionOutput WatchSession::Relist() {
  SessionOutput out;
  if (state_ == SessionState::kIdle) return out;
  CancelOpen(out);
  RestartList();
  Proceed(out);
  return out;
}

SessionOutput WatchSession::Stop() {
  SessionOutput out;
  CancelOpen(out);
  known_.BeginSweep();
  static_cast<void>(known_.EndSweep());
  version_.clear();
  served_.reset();
  version_at_ = 0;
  synced_ = false;
  unreadable_ = false;
  failing_since_ = forbidden_since_ = absl::InfiniteFuture();
  NoteFound();
  versions_in_doubt_ = false;
  server_errors_in_a_row_ = unauthorized_in_a_row_ = went_back_in_a_row_ = 0;
  problem_.clear();
  retry_at_ = absl::InfiniteFuture();
  state_ = SessionState::kIdle;
  return out;
}

SessionOutput WatchSession::OnTime(absl::Time now) {
  SessionOutput out;
  if (now >= retry_at_) Proceed(out);
  return out;
}

SessionOutput WatchSession::On(const HttpInput& input, Decoder& decoder, absl::Time now) {
  SessionOutput out;
  if (open_ == 0 || input.request != open_) return out;
  if (const auto* head = std::get_if<HttpHead>(&input.what)) {
    OnHead(*head, now, out);
  } else if (const auto* chunk = std::get_if<HttpChunk>(&input.what)) {
    OnChunk(*chunk, decoder, now, out);
  } else {
    OnEnd(std::get<HttpEnd>(input.what), decoder, now, out);
  }
  return out;
}

void WatchSession::Proceed(SessionOutput& out) {
  retry_at_ = absl::InfiniteFuture();
  head_ = HttpHead();
  body_.clear();
  framer_.Reset();
  progressed_ = false;
  opened_at_ = absl::InfiniteFuture();
  open_ = ids_.Next();
  switch (step_) {
    case Step::kList:
      StartList(out);
      break;
    case Step::kWatch:
      StartWatch(out);
      break;
  }
}

void WatchSession::StartList(SessionOutput& out) {
  // No resourceVersion: every page comes from one snapshot that is as new as the newest write (a
  // quorum read).
  std::string target = absl::StrCat(collection(), "?limit=", page_size_);
  if (!continue_.empty()) absl::StrAppend(&target, "&continue=", UrlEncoded(continue_));
  if (state_ != SessionState::kNotInstalled) state_ = SessionState::kListing;
  HttpRequest request;
  request.head_timeout = head_timeout_;
  request.target = std::move(target);
  request.lane = HttpLane::kList;
  request.timeout = options_.list_timeout;
  out.http.start.push_back({open_, std::move(request)});
}

void WatchSession::StartWatch(SessionOutput& out) {
  const int64_t seconds = absl::ToInt64Seconds(random_.Jittered(options_.least_watch));
  HttpRequest request;
  request.target = absl::StrCat(
      collection(), "?watch=true&allowWatchBookmarks=true&resourceVersion=", UrlEncoded(version_),
      "&timeoutSeconds=", seconds);
  request.lane = HttpLane::kWatch;
  request.timeout = absl::InfiniteDuration();
  request.idle_timeout = options_.idle_timeout;
  request.head_timeout = head_timeout_;
  state_ = SessionState::kWatching;
  out.http.start.push_back({open_, std::move(request)});
}

void WatchSession::RestartList() {
  step_ = Step::kList;
  continue_.clear();
  list_version_.clear();
  server_errors_in_a_row_ = 0;
}

void WatchSession::ReportGone(SessionOutput& out) {
  for (KnownObjects::Forgotten& gone : known_.EndSweep()) {
    out.events.push_back(
        ObjectDeleted{{options_.kind, std::move(gone.namespace_name), std::move(gone.name)},
                      std::move(gone.uid)});
  }
}

void WatchSession::CancelOpen(SessionOutput& out) {
  if (open_ != 0) out.http.cancel.push_back(open_);
  open_ = 0;
  std::string().swap(body_);
  framer_.Reset();
}

void WatchSession::OnHead(const HttpHead& head, absl::Time now, SessionOutput& out) {
  head_ = head;
  head_timeout_ = options_.head_timeout;
  if (head_.status != 200) return;
  unauthorized_in_a_row_ = 0;
  forbidden_since_ = absl::InfiniteFuture();
  NoteFound();
  if (step_ == Step::kWatch) {
    ++counters_.watches;
    opened_at_ = now;
  }
  if (IsJson(head_.content_type)) {
    if (step_ == Step::kWatch) {
      problem_.clear();
      TellServed(ServedState::kServed, out);
    }
    return;
  }
  ++counters_.garbage;
  Fail({.then = Then::kList,
        .problem = absl::StrCat("the answer is of type \"", head_.content_type.substr(0, 100),
                                "\", not JSON: is this an API server?")},
       now, out);
}

void WatchSession::OnChunk(const HttpChunk& chunk, Decoder& decoder, absl::Time now,
                           SessionOutput& out) {
  if (head_.status != 200) {
    body_.append(chunk.bytes, 0, kErrorBody - std::min(body_.size(), kErrorBody));
    return;
  }
  if (step_ == Step::kList) {
    if (body_.size() + chunk.bytes.size() > options_.longest_page) {
      ++counters_.garbage;
      const bool may_shrink = page_size_ > 1;
      const int objects = page_size_;
      page_size_ = std::max(1, page_size_ / 4);
      Fail({.when = may_shrink ? When::kAtOnce : When::kBackoff,
            .problem = absl::StrCat("a page of at most ", objects, " objects is longer than ",
                                    options_.longest_page, " bytes")},
           now, out);
      return;
    }
    body_ += chunk.bytes;
    return;
  }
  const RequestId watch = open_;
  const absl::Status status = framer_.Feed(chunk.bytes, [&](absl::string_view line) {
    return OnLine(line, decoder, now, out) ? LineFramer::Go::kOn : LineFramer::Go::kStop;
  });
  if (status.ok() || open_ != watch) return;
  ++counters_.garbage;
  Fail({.then = Then::kList, .problem = absl::StrCat("watch: ", status.message())}, now, out);
}

void WatchSession::OnEnd(const HttpEnd& end, Decoder& decoder, absl::Time now, SessionOutput& out) {
  open_ = 0;
  if (head_.status != 0 && head_.status != 200) {
    OnErrorReply(now, out);
    return;
  }
  if (head_.status == 200) {
    server_errors_in_a_row_ = 0;
    if (step_ == Step::kWatch) {
      OnWatchEnd(end, now, out);
      return;
    }
  }
  forbidden_since_ = absl::InfiniteFuture();  // silence is no 404, and no 403
  NoteFound();
  if (!end.status.ok()) {
    if (absl::IsDeadlineExceeded(end.status)) {
      ++counters_.idle_timeouts;
      head_timeout_ = std::min(2 * head_timeout_, options_.list_timeout);
    } else {
      ++counters_.transport_failures;
    }
    Fail({.problem = std::string(end.status.message())}, now, out);
    return;
  }
  if (head_.status == 0) {
    ++counters_.transport_failures;
    Fail({.problem = "the server closed without an answer"}, now, out);
    return;
  }
  OnPage(decoder, now, out);
}

void WatchSession::OnPage(Decoder& decoder, absl::Time now, SessionOutput& out) {
  std::vector<DecodedObject> items;
  absl::StatusOr<ListHead> head = decoder.List(
      options_.kind, body_, [&](DecodedObject item) { items.push_back(std::move(item)); });
  const size_t bytes = body_.size();
  std::string().swap(body_);
  if (head.ok() && head->resource_version.empty()) {
    head = absl::InvalidArgumentError("no metadata.resourceVersion to watch from");
  }
  if (!head.ok()) {
    ++counters_.garbage;
    Fail({.then = Then::kList, .problem = absl::StrCat("list: ", head.status().message())}, now,
         out);
    return;
  }
  const bool first_page = continue_.empty();
  if (first_page && !AcceptsListVersion(head->resource_version, now, out)) return;
  if (first_page) {
    list_version_ = head->resource_version;
    TellServed(ServedState::kServed, out);
    known_.BeginSweep();
  }
  ++counters_.pages;
  SizeNextPage(items.size(), bytes);
  for (DecodedObject& item : items) {
    known_.Touch(NameOf(item.key));
    Upsert(std::move(item), out);
  }
  continue_ = std::move(head->continue_token);
  if (continue_.empty()) {
    OnListComplete(now, out);
    return;
  }
  Proceed(out);
}

// Pages grow slowly, for large objects may come in a row.
void WatchSession::SizeNextPage(size_t objects, size_t bytes) {
  if (objects == 0) return;
  const size_t fitting = options_.wanted_page * objects / bytes;
  const size_t most = std::min<size_t>(most_objects_, size_t{2} * page_size_);
  page_size_ = static_cast<int>(std::clamp<size_t>(fitting, 1, most));
}

bool WatchSession::AcceptsListVersion(const std::string& version, absl::Time now,
                                      SessionOutput& out) {
  const bool older = CompareVersions(version, version_) == VersionOrder::kOlder;
  if (older) ++counters_.went_back;
  if (std::exchange(versions_in_doubt_, false)) {
    // Versions may count afresh: those of known objects say nothing about the new ones.
    went_back_in_a_row_ = 0;
    known_.ForgetVersions();
    version_ = version;
    return true;
  }
  if (!older) {
    went_back_in_a_row_ = 0;
    return true;
  }
  if (++went_back_in_a_row_ <= kOldListsRefused) {
    Fail({.then = Then::kList,
          .problem = absl::StrCat("the server's list is at version ", version, ", older than ",
                                  version_, " which was seen already")},
         now, out);
    return false;
  }
  went_back_in_a_row_ = 0;
  known_.ForgetVersions();
  version_ = version;
  return true;
}

void WatchSession::OnListComplete(absl::Time now, SessionOutput& out) {
  ++counters_.lists;
  ReportGone(out);
  version_ = list_version_;
  most_objects_ = options_.page_size;
  page_size_ = std::min(page_size_, most_objects_);
  listed_at_ = now;
  failing_since_ = absl::InfiniteFuture();
  unreadable_ = false;
  problem_.clear();
  if (!synced_) {
    synced_ = true;
    out.events.push_back(KindSynced{options_.kind});
  }
  step_ = Step::kWatch;
  Proceed(out);
}

bool WatchSession::OnLine(absl::string_view line, Decoder& decoder, absl::Time now,
                          SessionOutput& out) {
  absl::StatusOr<WatchMessage> message = decoder.WatchLine(options_.kind, line);
  if (!message.ok()) {
    ++counters_.garbage;
    Fail({.then = Then::kList,
          .problem = absl::StrCat("watch: unreadable line: ", message.status().message())},
         now, out);
    return false;
  }
  if (const auto* failure = std::get_if<WatchFailure>(&*message)) {
    ApiStatus status;
    status.code = failure->code;
    status.reason = failure->reason;
    status.message = failure->message;
    if (status.reason == "Expired" || status.reason == "Gone") status.code = 410;
    OnStatus(status, now, out);
    return false;
  }
  if (auto* change = std::get_if<WatchChange>(&*message)) {
    const std::string version = change->object.resource_version;
    if (change->verb == WatchVerb::kDeleted) {
      Delete(change->object, out);
    } else {
      Upsert(std::move(change->object), out);
    }
    AdvanceTo(version);
  } else if (const auto* bookmark = std::get_if<WatchBookmark>(&*message)) {
    AdvanceTo(bookmark->resource_version);
  } else {
    ++counters_.unknown_lines;
  }
  return true;
}

void WatchSession::AdvanceTo(const std::string& version) {
  if (version.empty() || CompareVersions(version, version_) == VersionOrder::kOlder) return;
  if (version != version_) progressed_ = true;
  version_ = version;
}

void WatchSession::TellServed(ServedState state, SessionOutput& out) {
  if (!IsForeign(options_.kind)) return;
  const bool serves = state == ServedState::kServed;
  const bool same_version = !serves || served_at_ == version_at_;
  if (served_ == state && same_version) return;
  if (!same_version) {
    known_.ForgetVersions();  // the same objects in another version: all of them are news
    served_at_ = version_at_;
  }
  if (serves) look_again_.Reset();
  served_ = state;
  out.events.push_back(KindServed{options_.kind, state,
                                  serves ? std::string(VersionIn(collection())) : std::string()});
}

void WatchSession::Upsert(DecodedObject object, SessionOutput& out) {
  const KnownObjects::Name name = NameOf(object.key);
  const std::optional<KnownObjects::Identity> known = known_.Find(name);
  const bool listing = step_ == Step::kList;
  // Only the version of the whole kind tells old news of a deleted object from news of a new one.
  const absl::string_view seen = known.has_value() ? absl::string_view(known->resource_version)
                                 : listing         ? absl::string_view()
                                                   : absl::string_view(version_);
  const VersionOrder order = CompareVersions(object.resource_version, seen);
  const bool replaced = known.has_value() && known->uid != object.uid;
  if (order == VersionOrder::kOlder || (order == VersionOrder::kSame && !replaced)) {
    if (!listing) ++counters_.stale;
    return;
  }
  if (replaced) {
    out.events.push_back(ObjectDeleted{object.key, known->uid});
  }
  known_.Set(name, object.uid, object.resource_version);
  if (auto* invalid = std::get_if<ObjectInvalid>(&object.what)) {
    ++counters_.invalid;
    out.events.push_back(std::move(*invalid));
    return;
  }
  auto& upserted = std::get<Object>(object.what);
  // Items of lists of built-in kinds do not name their version.
  auto* foreign = std::get_if<ForeignObject>(&upserted);
  if (foreign != nullptr && foreign->api_version.empty()) {
    foreign->api_version = std::string(ApiVersionIn(collection()));
  }
  out.events.push_back(ObjectUpserted{std::move(upserted)});
}

void WatchSession::Delete(const DecodedObject& object, SessionOutput& out) {
  const KnownObjects::Name name = NameOf(object.key);
  const std::optional<KnownObjects::Identity> known = known_.Find(name);
  if (!known.has_value() || known->uid != object.uid) {
    ++counters_.stale;
    return;
  }
  known_.Erase(name);
  out.events.push_back(ObjectDeleted{object.key, object.uid});
}

}  // namespace maniple
