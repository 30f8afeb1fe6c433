#include "api/client/writer.h"

#include <algorithm>
#include <variant>

#include "absl/strings/match.h"
#include "api/base/check.h"

namespace maniple {
namespace {

constexpr WritePriority kInOrder[] = {WritePriority::kFinish, WritePriority::kBind,
                                      WritePriority::kUndo,   WritePriority::kReason,
                                      WritePriority::kStatus, WritePriority::kEvent};

size_t IndexOf(WritePriority priority) { return static_cast<size_t>(priority); }

void Join(WriteLine& line) {
  ++line.added;
  ++line.waiting;
}

bool IsBackground(WritePriority priority) {
  switch (priority) {
    case WritePriority::kFinish:
    case WritePriority::kBind:
    case WritePriority::kUndo:
      return false;
    case WritePriority::kReason:
    case WritePriority::kStatus:
    case WritePriority::kEvent:
      return true;
  }
  return true;
}

bool IsRetriable(int http_status) {
  return http_status == 0 || http_status == 429 || http_status >= 500;
}

WriteResult NotSent(uint64_t id, WriteOutcome outcome) {
  WriteResult result;
  result.id = id;
  result.outcome = outcome;
  return result;
}

}  // namespace

Writer::Writer(WriterOptions options, uint64_t seed)
    : options_(options), random_(seed), ids_(options.owner), pace_(options.most_per_second) {
  CHECK_GT(options_.max_in_flight, 0);
}

WriterOutput Writer::SetLeadUntil(absl::Time lead_until, absl::Time now) {
  WriterOutput out;
  lead_until_ = lead_until;
  Pump(now, out);
  return out;
}

WriterOutput Writer::Submit(WriteCommand command, absl::Time now) {
  WriterOutput out;
  const std::string key = command.coalesce_key;
  if (!key.empty()) {
    if (const auto it = waiting_of_key_.find(key); it != waiting_of_key_.end()) {
      Supersede(it->second, std::move(command), out);
      Pump(now, out);
      return out;
    }
  }
  if (command.priority == WritePriority::kEvent &&
      LineOf(WritePriority::kEvent).waiting >= options_.most_events) {
    DropOldestEvent(out);
  }
  Enqueue({std::move(command), 0, Backoff(options_.backoff)});
  Pump(now, out);
  return out;
}

WriterOutput Writer::OnTime(absl::Time now) {
  WriterOutput out;
  Pump(now, out);
  return out;
}

absl::Time Writer::NextDeadline() const {
  if (waiting_.empty()) return absl::InfiniteFuture();
  const absl::Time next = std::min(lead_until_, paced_until_);
  return later_.empty() ? next : std::min(next, later_.begin()->first);
}

WriterOutput Writer::On(const HttpInput& input, absl::Time now) {
  WriterOutput out;
  const auto it = open_.find(input.request);
  if (it == open_.end()) return out;
  if (const auto* head = std::get_if<HttpHead>(&input.what)) {
    it->second.head = *head;
  } else if (const auto* chunk = std::get_if<HttpChunk>(&input.what)) {
    std::string& body = it->second.body;
    body.append(chunk->bytes, 0,
                options_.longest_reply - std::min(body.size(), options_.longest_reply));
  } else {
    Open open = std::move(it->second);
    open_.erase(it);
    --open_of_[IndexOf(open.waiting.command.priority)];
    OnEnd(std::move(open), std::get<HttpEnd>(input.what), now, out);
    Pump(now, out);
  }
  return out;
}

WriteLine& Writer::LineOf(WritePriority priority) { return lines_[IndexOf(priority)]; }

void Writer::Enqueue(Waiting waiting) {
  const Ticket ticket = next_ticket_++;
  const WriteCommand& command = waiting.command;
  const size_t priority = IndexOf(command.priority);
  const std::string lane = command.lane;
  Join(LineOf(command.priority));
  bool ready = true;
  if (!command.coalesce_key.empty()) {
    waiting_of_key_[command.coalesce_key] = ticket;
    const auto in_flight = successor_of_key_.find(command.coalesce_key);
    if (in_flight != successor_of_key_.end()) {
      in_flight->second = ticket;
      ready = false;
    }
  }
  waiting_.emplace(ticket, std::move(waiting));
  if (ready) ready_[priority].push_back(lane, ticket);
}

// The newer command takes over the older one's place in the queue and its wait after a failure.
// If the newer one is more urgent and the older one has not failed yet, it goes into its own queue.
void Writer::Supersede(Ticket ticket, WriteCommand command, WriterOutput& out) {
  const auto older = waiting_.find(ticket);
  out.results.push_back(NotSent(older->second.command.id, WriteOutcome::kSuperseded));
  if (command.priority < older->second.command.priority && older->second.attempts == 0) {
    --LineOf(older->second.command.priority).waiting;
    waiting_.erase(older);
    Enqueue({std::move(command), 0, Backoff(options_.backoff)});
    return;
  }
  command.priority = older->second.command.priority;
  command.lane = older->second.command.lane;
  older->second.command = std::move(command);
}

void Writer::DropOldestEvent(WriterOutput& out) {
  Ticket oldest = 0;
  if (HasReady(WritePriority::kEvent)) {
    oldest = ready_[IndexOf(WritePriority::kEvent)].front();
  } else {
    for (const auto& [retry_at, ticket] : later_) {
      const auto it = waiting_.find(ticket);
      if (it == waiting_.end() || it->second.command.priority != WritePriority::kEvent) continue;
      oldest = ticket;
      break;
    }
  }
  const auto it = waiting_.find(oldest);
  if (it == waiting_.end()) return;
  const WriteCommand& command = it->second.command;
  ++counters_.dropped_events;
  --LineOf(WritePriority::kEvent).waiting;
  waiting_of_key_.erase(command.coalesce_key);
  out.results.push_back(NotSent(command.id, WriteOutcome::kDropped));
  waiting_.erase(it);
}

void Writer::Pump(absl::Time now, WriterOutput& out) {
  if (now >= lead_until_) {
    ++fences_;
    FenceAll(out);
    return;
  }
  while (!later_.empty() && later_.begin()->first <= now) {
    const Ticket ticket = later_.begin()->second;
    later_.erase(later_.begin());
    const auto it = waiting_.find(ticket);
    if (it == waiting_.end()) continue;
    const WriteCommand& command = it->second.command;
    ready_[IndexOf(command.priority)].push_front(command.lane, ticket);
  }
  paced_until_ = absl::InfiniteFuture();
  for (const WritePriority priority : kInOrder) {
    while (HasReady(priority) && MaySend(priority)) {
      if (!pace_.Take(now)) {
        paced_until_ = pace_.NextAt();
        return;
      }
      SendNext(priority, out);
    }
  }
}

void Writer::FenceAll(WriterOutput& out) {
  if (waiting_.empty()) return;
  std::vector<std::pair<Ticket, uint64_t>> commands;
  commands.reserve(waiting_.size());
  for (const auto& [ticket, waiting] : waiting_) commands.emplace_back(ticket, waiting.command.id);
  std::sort(commands.begin(), commands.end());
  for (const auto& [ticket, id] : commands)
    out.results.push_back(NotSent(id, WriteOutcome::kFenced));
  waiting_.clear();
  waiting_of_key_.clear();
  later_.clear();
  for (WriteLine& line : lines_) line.waiting = 0;
  for (TicketLanes& queue : ready_) queue.clear();
  for (auto& [key, successor] : successor_of_key_) successor = 0;
}

bool Writer::HasReady(WritePriority priority) {
  TicketLanes& queue = ready_[IndexOf(priority)];
  while (!queue.empty() && !waiting_.contains(queue.front())) queue.pop_front();
  return !queue.empty();
}

bool Writer::MaySend(WritePriority priority) const {
  if (in_flight() >= options_.max_in_flight) return false;
  if (!IsBackground(priority)) return true;
  int background = 0;
  for (const WritePriority other : kInOrder) {
    if (IsBackground(other)) background += open_of_[IndexOf(other)];
  }
  const bool binding = in_flight() > background;
  // A part is always kept for binds that may come next.
  const int share = std::max(1, options_.max_in_flight / 4);
  return background < (binding ? share : std::max(1, options_.max_in_flight - share));
}

void Writer::SendNext(WritePriority priority, WriterOutput& out) {
  TicketLanes& queue = ready_[IndexOf(priority)];
  const auto it = waiting_.find(queue.front());
  queue.pop_front();
  Waiting waiting = std::move(it->second);
  waiting_.erase(it);
  const std::string& key = waiting.command.coalesce_key;
  if (!key.empty()) {
    waiting_of_key_.erase(key);
    successor_of_key_[key] = 0;
  }
  --LineOf(priority).waiting;
  ++waiting.attempts;
  ++counters_.sent[IndexOf(priority)];
  ++open_of_[IndexOf(priority)];
  const RequestId id = ids_.Next();
  // A command that is tried again here must keep its request; the others give theirs away.
  if (waiting.command.retry == WriteRetry::kInside) {
    out.http.start.push_back({id, waiting.command.request});
  } else {
    out.http.start.push_back({id, std::move(waiting.command.request)});
  }
  HttpRequest& request = out.http.start.back().request;
  request.send_by = lead_until_;
  request.fresh_connection = request.fresh_connection || waiting.attempts > 1;
  open_.emplace(id, Open{std::move(waiting), HttpHead(), std::string(), fences_});
}

void Writer::OnEnd(Open open, const HttpEnd& end, absl::Time now, WriterOutput& out) {
  WriteResult result;
  result.id = open.waiting.command.id;
  // A page for people in between (a login, a maintenance) knows nothing of the write.
  const bool is_page = open.head.status / 100 == 2 &&
                       absl::StartsWithIgnoreCase(open.head.content_type, "text/html");
  if (is_page) open.head.status = 0;
  result.http_status = open.head.status;
  if (open.head.status == 0) {
    result.outcome = WriteOutcome::kUnknown;
    result.status.message = is_page           ? "a page answered, and no API server"
                            : end.status.ok() ? "the server closed without an answer"
                                              : std::string(end.status.message());
  } else if (open.head.status / 100 == 2) {
    result.body = std::move(open.body);
  } else {
    result.status = DecodeStatus(open.head.status, open.body);
    if (!result.status.retry_after.has_value()) result.status.retry_after = open.head.retry_after;
  }
  if (open.head.status == 429) ++counters_.throttled;
  if (WorthRetrying(open)) {
    const absl::Time retry_at = now + Wait(open.waiting.backoff, result.status);
    TryAgain(std::move(open.waiting), retry_at, out);
    return;
  }
  ReleaseKey(open.waiting.command.coalesce_key);
  out.results.push_back(std::move(result));
}

// Once a newer command of the key waits, the failed one is answered as superseded; the newer one
// inherits its wait.
void Writer::TryAgain(Waiting waiting, absl::Time retry_at, WriterOutput& out) {
  const std::string key = waiting.command.coalesce_key;
  successor_of_key_.erase(key);
  if (const auto it = waiting_of_key_.find(key); it != waiting_of_key_.end()) {
    out.results.push_back(NotSent(waiting.command.id, WriteOutcome::kSuperseded));
    waiting_.at(it->second).backoff = waiting.backoff;
    later_.emplace(retry_at, it->second);
    return;
  }
  const Ticket ticket = next_ticket_++;
  WriteLine& line = LineOf(waiting.command.priority);
  Join(line);
  ++line.retried;
  if (!key.empty()) waiting_of_key_.emplace(key, ticket);
  waiting_.emplace(ticket, std::move(waiting));
  later_.emplace(retry_at, ticket);
}

absl::Duration Writer::Wait(Backoff& backoff, const ApiStatus& status) {
  return std::max(backoff.Next(random_),
                  std::min(status.retry_after.value_or(absl::ZeroDuration()), absl::Seconds(60)));
}

bool Writer::WorthRetrying(const Open& open) const {
  const Waiting& waiting = open.waiting;
  return waiting.command.retry == WriteRetry::kInside && IsRetriable(open.head.status) &&
         waiting.attempts < options_.most_attempts && open.fences == fences_;
}

void Writer::ReleaseKey(const std::string& key) {
  if (key.empty()) return;
  const auto it = successor_of_key_.find(key);
  if (it == successor_of_key_.end()) return;
  const Ticket successor = it->second;
  successor_of_key_.erase(it);
  const auto waiting = waiting_.find(successor);
  if (waiting == waiting_.end()) return;
  const WriteCommand& command = waiting->second.command;
  ready_[IndexOf(command.priority)].push_back(command.lane, successor);
}

}  // namespace maniple
