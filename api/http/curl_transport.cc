#include "api/http/curl_transport.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/base/status_macros.h"
#include "api/base/thread_owner.h"
#include "api/http/credentials.h"
#include "api/http/curl_easy.h"
#include "api/http/curl_loop.h"
#include "api/http/reply_head.h"
#include "api/http/request_headers.h"

namespace maniple {
namespace {

constexpr int kLanes = 4;
constexpr size_t kSpareHandles = 64;
constexpr size_t LaneIndex(HttpLane lane) { return static_cast<size_t>(lane); }

// With NOSIGNAL libcurl leaves SIGPIPE alone, and OpenSSL writes to sockets without MSG_NOSIGNAL: a
// server that closes in the middle of a request would end the process.
void IgnoreBrokenPipes() {
  struct sigaction current {};
  if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
    current.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &current, nullptr);
  }
}

}  // namespace

// Invariants:
//   1. A transfer is in exactly one place: waiting in its lane, active in `loop_`,
//      or ended and not yet told.
//   2. `told_` names each transfer with untold output once,
//      in the order in which their output began.
class CurlTransport::Impl final {
 public:
  Impl(ClientConfig config, CurlEndpoint endpoint, const Clock& clock, CurlTransportOptions options)
      : config_(std::move(config)),
        endpoint_(std::move(endpoint)),
        clock_(clock),
        options_(std::move(options)),
        credentials_(config_.credentials),
        headers_(config_.impersonation, options_.token_header),
        loop_(options_.most_writes + options_.most_lists + 32) {
    if (!endpoint_.connect_to.empty()) connect_to_ = MakeCurlList({endpoint_.connect_to});
    lanes_[LaneIndex(HttpLane::kWatch)].most = std::numeric_limits<int>::max();
    lanes_[LaneIndex(HttpLane::kList)].most = options_.most_lists;
    lanes_[LaneIndex(HttpLane::kWrite)].most = options_.most_writes;
    lanes_[LaneIndex(HttpLane::kLease)].most = std::numeric_limits<int>::max();
  }

  ~Impl() {
    for (auto& [id, transfer] : transfers_) {
      if (transfer->active()) loop_.Remove(transfer->easy.curl.get());
    }
  }

  // Tries out what can be wrong in the configuration.
  absl::Status Check() {
    ASSIGN_OR_RETURN(EasyHandle handle, TakeHandle());
    spare_.push_back(std::move(handle));
    return absl::OkStatus();
  }

  void Start(RequestId id, HttpRequest request) {
    owner_.Check();
    auto transfer = std::make_unique<Transfer>();
    transfer->id = id;
    transfer->impl = this;
    transfer->request = std::move(request);
    lanes_[LaneIndex(transfer->request.lane)].waiting.push_back(id);
    CHECK(transfers_.emplace(id, std::move(transfer)).second) << "request id in use: " << id;
  }

  void ShowToken(Secret other) { headers_.ShowToken(std::move(other)); }
  void Cancel(RequestId id) {
    owner_.Check();
    const auto it = transfers_.find(id);
    if (it == transfers_.end()) return;
    if (it->second->active()) Deactivate(*it->second);
    transfers_.erase(it);
  }

  std::vector<HttpInput> Poll(absl::Duration timeout) {
    owner_.Check();
    LookAtClock();
    const absl::Time until = now_ + std::max(timeout, absl::ZeroDuration());
    Resume();
    bool woken = false;
    do {
      Launch();
      loop_.FireTimer(now_);
      Finish();
      woken = WaitAndServe(until);
      Finish();
      ExpireIdle();
    } while (told_.empty() && !woken && now_ < until);
    return Tell();
  }

  void Wakeup() { loop_.Wakeup(); }

  [[nodiscard]] const TransportCounters& counters() const { return counters_; }

 private:
  struct Transfer {
    RequestId id = 0;
    Impl* impl = nullptr;
    HttpRequest request;
    size_t body_sent = 0;
    EasyHandle easy;                          // while active
    std::shared_ptr<const CurlList> headers;  // while active
    ReplyHead reply;
    absl::Time sent = absl::InfinitePast();  // to libcurl
    absl::Time last_byte = absl::InfinitePast();
    bool paused = false;
    char error[CURL_ERROR_SIZE] = {};
    // Untold output.
    bool in_told = false;
    std::optional<HttpHead> head;
    std::string bytes;
    std::optional<HttpEnd> end;

    bool has_head = false;

    [[nodiscard]] bool active() const { return easy.curl != nullptr; }
    [[nodiscard]] absl::Duration longest_silence() const {
      return has_head ? request.idle_timeout : std::min(request.idle_timeout, request.head_timeout);
    }
  };
  struct Lane {
    int most = 0;
    int active = 0;
    std::deque<RequestId> waiting;
  };

  absl::StatusOr<EasyHandle> TakeHandle() {
    if (spare_.empty()) {
      return MakeEasyHandle({.config = &config_,
                             .endpoint = &endpoint_,
                             .connect_to = connect_to_.get(),
                             .connect_timeout = options_.connect_timeout,
                             .user_agent = options_.user_agent,
                             .callbacks = {.on_header = &Impl::OnHeader,
                                           .on_body = &Impl::OnBody,
                                           .on_send = &Impl::OnSend,
                                           .on_socket = &Impl::OnNewSocket,
                                           .socket_data = this}});
    }
    EasyHandle handle = std::move(spare_.back());
    spare_.pop_back();
    return handle;
  }

  // Starts what waits and has room in its lane, once there is a credential.
  void Launch() {
    const CredentialState state = credentials_.Refresh(now_);
    loop_.WatchOther(credentials_.pending_fd());
    if (state == CredentialState::kPending) return;
    for (Lane& lane : lanes_) {
      while (!lane.waiting.empty() && lane.active < lane.most) {
        const auto it = transfers_.find(lane.waiting.front());
        lane.waiting.pop_front();
        if (it == transfers_.end()) continue;  // cancelled
        Transfer& transfer = *it->second;
        if (state == CredentialState::kFailed) {
          End(transfer, credentials_.failure());
        } else if (now_ >= transfer.request.send_by) {
          End(transfer, TooLateToSend());
        } else {
          Activate(transfer, lane);
        }
      }
    }
  }

  void Activate(Transfer& transfer, Lane& lane) {
    absl::StatusOr<EasyHandle> handle = TakeHandle();
    if (!handle.ok()) {
      End(transfer, handle.status());
      return;
    }
    transfer.easy = *std::move(handle);
    CURL* easy = transfer.easy.curl.get();
    SetPluginCertificate(transfer.easy, credentials_);
    transfer.headers = headers_.For(transfer.request.content_type, credentials_);
    SetRequest(easy, absl::StrCat(endpoint_.url_base, transfer.request.target), transfer.request,
               transfer.headers->get());
    ::curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, transfer.request.fresh_connection ? 1L : 0L);
    ::curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
    ::curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    ::curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    ::curl_easy_setopt(easy, CURLOPT_READDATA, &transfer);
    ::curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error);
    transfer.sent = transfer.last_byte = now_;
    ++lane.active;
    ++counters_.requests;
    const HttpRequest& request = transfer.request;
    if (std::min(request.idle_timeout, request.head_timeout) < absl::InfiniteDuration() ||
        request.send_by < absl::InfiniteFuture()) {
      timed_.push_back(&transfer);
    }
    loop_.Add(easy, now_);
  }

  // Takes the transfer out of libcurl; its handle is kept for another.
  void Deactivate(Transfer& transfer) {
    CURL* easy = transfer.easy.curl.get();
    loop_.Remove(easy);
    ::curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, nullptr);
    --lanes_[LaneIndex(transfer.request.lane)].active;
    std::erase(timed_, &transfer);
    std::erase(paused_, &transfer);
    if (spare_.size() < kSpareHandles) {
      spare_.push_back(std::move(transfer.easy));
    }
    transfer.easy = EasyHandle();
    transfer.headers.reset();
  }

  // Waits for sockets, at most until `until`, and lets libcurl serve them. True after Wakeup.
  bool WaitAndServe(absl::Time until) {
    const absl::Time next =
        std::min({until, loop_.timer(), NextIdle(), credentials_.NextDeadline()});
    const SocketPoll::Waited waited =
        loop_.Wait(told_.empty() ? next - now_ : absl::ZeroDuration());
    LookAtClock();
    loop_.Serve(waited, now_);
    return waited.woken;
  }

  void Finish() {
    loop_.TakeEnded([this](CURL* easy, CURLcode code) {
      char* data = nullptr;
      ::curl_easy_getinfo(easy, CURLINFO_PRIVATE, &data);
      Transfer& transfer = *reinterpret_cast<Transfer*>(data);
      const absl::Status status = StatusOfCurl(code, transfer.error);
      Deactivate(transfer);
      End(transfer, status);
    });
  }

  void ExpireIdle() {
    Expire([this](const Transfer& transfer) {
      if (transfer.paused || now_ < transfer.last_byte + transfer.longest_silence()) {
        return absl::OkStatus();
      }
      return absl::DeadlineExceededError(
          absl::StrCat("nothing was heard for ", absl::FormatDuration(transfer.longest_silence())));
    });
  }

  // Before libcurl may touch a socket again: the process may have been stopped for any time.
  void LookAtClock() {
    now_ = clock_.Now();
    Expire([this](const Transfer& transfer) {
      return now_ < transfer.request.send_by ? absl::OkStatus() : TooLateToSend();
    });
  }

  static absl::Status TooLateToSend() { return absl::DeadlineExceededError("too late to be sent"); }

  // Ends the timed transfers for which `why` has an error.
  template <typename Why>
  void Expire(const Why& why) {
    std::vector<std::pair<Transfer*, absl::Status>> expired;
    for (Transfer* transfer : timed_) {
      if (absl::Status status = why(*transfer); !status.ok()) {
        expired.emplace_back(transfer, std::move(status));
      }
    }
    for (auto& [transfer, status] : expired) {
      Deactivate(*transfer);
      End(*transfer, std::move(status));
    }
  }

  [[nodiscard]] absl::Time NextIdle() const {
    absl::Time next = absl::InfiniteFuture();
    for (const Transfer* transfer : timed_) {
      next = std::min(next, transfer->request.send_by);
      if (!transfer->paused) {
        next = std::min(next, transfer->last_byte + transfer->longest_silence());
      }
    }
    return next;
  }

  // Everything told before has been taken: sockets that were left alone are read again.
  void Resume() {
    for (Transfer* transfer : std::exchange(paused_, {})) {
      transfer->paused = false;
      transfer->last_byte = now_;
      ::curl_easy_pause(transfer->easy.curl.get(), CURLPAUSE_CONT);
    }
  }

  void End(Transfer& transfer, absl::Status status) {
    if (!transfer.has_head) ++counters_.answers.counts[{transfer.request.method, 0}];
    transfer.end = HttpEnd{std::move(status)};
    HasNews(transfer);
  }

  void CountAnswer(const HttpRequest& request, const HttpHead& head, absl::Time sent) {
    ++counters_.answers.counts[{request.method, head.status}];
    // The head of a watch tells of no work.
    if (request.lane != HttpLane::kWatch) counters_.answers.times[request.method].Note(now_ - sent);
  }

  void HasNews(Transfer& transfer) {
    if (transfer.in_told) return;
    transfer.in_told = true;
    told_.push_back(transfer.id);
  }

  std::vector<HttpInput> Tell() {
    std::vector<HttpInput> out;
    out.reserve(told_.size() * 3);
    for (const RequestId id : std::exchange(told_, {})) {
      const auto it = transfers_.find(id);
      if (it == transfers_.end()) continue;  // cancelled
      Transfer& transfer = *it->second;
      transfer.in_told = false;
      if (transfer.head.has_value()) out.push_back({id, *std::exchange(transfer.head, {})});
      if (!transfer.bytes.empty())
        out.push_back({id, HttpChunk{std::exchange(transfer.bytes, {})}});
      if (!transfer.end.has_value()) continue;
      out.push_back({id, *std::move(transfer.end)});
      transfers_.erase(it);
    }
    return out;
  }

  static size_t OnHeader(char* data, size_t size, size_t count, void* user) {
    Transfer& transfer = *static_cast<Transfer*>(user);
    transfer.last_byte = transfer.impl->now_;
    if (auto head = transfer.reply.OnLine(absl::string_view(data, size * count))) {
      if (head->status == 401) transfer.impl->credentials_.Rejected(transfer.impl->now_);
      transfer.impl->CountAnswer(transfer.request, *head, transfer.sent);
      transfer.head = *std::move(head);
      transfer.has_head = true;
      transfer.impl->HasNews(transfer);
    }
    return size * count;
  }

  static size_t OnSend(char* buffer, size_t size, size_t count, void* user) {
    Transfer& transfer = *static_cast<Transfer*>(user);
    const size_t taken = transfer.request.body.copy(buffer, size * count, transfer.body_sent);
    transfer.body_sent += taken;
    return taken;
  }

  static size_t OnBody(char* data, size_t size, size_t count, void* user) {
    Transfer& transfer = *static_cast<Transfer*>(user);
    Impl& impl = *transfer.impl;
    if (transfer.bytes.size() >= impl.options_.most_undelivered) {
      ++impl.counters_.pauses;
      transfer.paused = true;
      impl.paused_.push_back(&transfer);
      return CURL_WRITEFUNC_PAUSE;
    }
    transfer.last_byte = impl.now_;
    transfer.bytes.append(data, size * count);
    impl.HasNews(transfer);
    return size * count;
  }

  static int OnNewSocket(void* user, curl_socket_t socket, curlsocktype) {
    Impl& impl = *static_cast<Impl*>(user);
    ++impl.counters_.connections;
    const int millis = static_cast<int>(absl::ToInt64Milliseconds(impl.options_.dead_peer_timeout));
    ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &millis, sizeof(millis));
    return CURL_SOCKOPT_OK;
  }

  const ClientConfig config_;
  const CurlEndpoint endpoint_;
  const Clock& clock_;
  const CurlTransportOptions options_;
  const ThreadOwner owner_;
  Credentials credentials_;
  RequestHeaders headers_;
  CurlList connect_to_;
  CurlLoop loop_;  // before its handles, which end first
  absl::Time now_ = absl::InfinitePast();
  absl::flat_hash_map<RequestId, std::unique_ptr<Transfer>> transfers_;
  std::array<Lane, kLanes> lanes_;
  std::vector<Transfer*> timed_;  // active, with a bound on silence or a fence
  std::vector<Transfer*> paused_;
  std::vector<RequestId> told_;
  std::vector<EasyHandle> spare_;
  TransportCounters counters_;
};

absl::StatusOr<std::unique_ptr<CurlTransport>> CurlTransport::Create(ClientConfig config,
                                                                     const Clock& clock,
                                                                     CurlTransportOptions options) {
  if (::curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return absl::InternalError("libcurl cannot be initialised");
  }
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(CurlEndpoint endpoint, EndpointOf(config));
  auto impl =
      std::make_unique<Impl>(std::move(config), std::move(endpoint), clock, std::move(options));
  RETURN_IF_ERROR(impl->Check());
  return std::unique_ptr<CurlTransport>(new CurlTransport(std::move(impl)));
}

CurlTransport::CurlTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CurlTransport::~CurlTransport() = default;

void CurlTransport::Start(RequestId id, HttpRequest request) {
  impl_->Start(id, std::move(request));
}
void CurlTransport::Cancel(RequestId id) { impl_->Cancel(id); }
void CurlTransport::ShowToken(Secret other) { impl_->ShowToken(std::move(other)); }
std::vector<HttpInput> CurlTransport::Poll(absl::Duration timeout) { return impl_->Poll(timeout); }
void CurlTransport::Wakeup() { impl_->Wakeup(); }
const TransportCounters& CurlTransport::counters() const { return impl_->counters(); }

}  // namespace maniple
