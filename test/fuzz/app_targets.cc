#include "test/fuzz/app_targets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/check.h"
#include "api/codec/yaml.h"
#include "api/http/http.h"
#include "scheduler/app/access/admin_question.h"
#include "scheduler/app/config/config.h"
#include "scheduler/app/http/http_endpoint.h"

namespace maniple {
namespace {

constexpr absl::string_view kFile = "scheduler.yaml";

// What a configuration says, as far as it is short to tell; the problems' lines without numbers.
std::vector<std::string> Told(const absl::StatusOr<SchedulerConfig>& config) {
  std::vector<std::string> out;
  if (config.ok()) {
    out = config->scheduler_names;
    out.push_back(config->default_queue);
    out.push_back(absl::StrCat(config->max_in_flight, " ", config->holds_per_cohort, " ",
                               absl::FormatDuration(config->reservation_after), " ",
                               absl::FormatDuration(config->leader_election.lease_duration)));
    for (const ScoreWeight& score : config->score_weights) {
      out.push_back(absl::StrCat(score.plugin, " ", score.weight));
    }
    return out;
  }
  for (const absl::string_view line : absl::StrSplit(config.status().message(), '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(": ", 1));
    out.emplace_back(parts.back());
  }
  return out;
}

// One request is written, one reply or several are read to their end.
std::string Exchange(uint16_t port, absl::string_view bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(socket >= 0);
  // Closed without a wait for stragglers: a fuzzer connects more often in a minute than there are
  // ports.
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  CHECK(setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // refused before the end
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  shutdown(socket, SHUT_WR);
  std::string out;
  char block[4096];
  pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
  while (poll(&ready, 1, 20'000) > 0) {
    const ssize_t got = recv(socket, block, sizeof block, 0);
    if (got <= 0) {
      close(socket);
      return out;
    }
    out.append(block, static_cast<size_t>(got));
  }
  close(socket);
  return "the connection is not ended";
}

// "" for whole replies, each with a length.
std::string WrongReplies(absl::string_view replies) {
  while (!replies.empty()) {
    int status = 0;
    if (!absl::ConsumePrefix(&replies, "HTTP/1.") || replies.size() < 5 ||
        !absl::SimpleAtoi(replies.substr(2, 3), &status)) {
      return absl::StrCat("no status line: ", replies.substr(0, 100));
    }
    static constexpr int kOurs[] = {200, 400, 405, 431, 503};
    if (std::ranges::count(kOurs, status) == 0) return absl::StrCat("status ", status);
    const size_t end = replies.find("\r\n\r\n");
    if (end == absl::string_view::npos) return "a head without an end";
    const std::string head(replies.substr(0, end));
    replies.remove_prefix(end + 4);
    size_t length = 0;
    if (const size_t at = head.find("Content-Length: "); at != std::string::npos) {
      length = std::stoul(head.substr(at + 16));
    }
    if (length > replies.size() && !replies.empty()) return "a body cut off";
    replies.remove_prefix(std::min(length, replies.size()));
  }
  return "";
}

const HttpEndpoint& Endpoint() {
  static const HttpEndpoint& endpoint = [] {
    auto started = HttpEndpoint::Listen({.address = "127.0.0.1:0"});
    CHECK(started.ok()) << started.status();
    HttpEndpoint* listening = started->release();  // as long as the process
    listening->Serve([](const HttpQuestion& question) {
      return std::optional(TextPage(200, absl::StrCat("asked ", question.target.size())));
    });
    return std::ref(*listening);
  }();
  return endpoint;
}

}  // namespace

std::string FuzzConfig(absl::string_view bytes) {
  const absl::StatusOr<SchedulerConfig> config = ParseSchedulerConfig(bytes, kFile);
  if (!config.ok()) {
    for (const absl::string_view line : absl::StrSplit(config.status().message(), '\n')) {
      if (!absl::StartsWith(line, kFile)) return absl::StrCat("does not name the file: ", line);
    }
  } else if (config->max_in_flight < 1 ||
             config->leader_election.retry_period <= absl::ZeroDuration()) {
    return "a value out of its bounds";
  }
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(bytes);
  if (!documents.ok()) return config.ok() ? "a configuration of no YAML" : "";
  if (documents->size() != 1) return "";
  const std::string text = DumpYaml(documents->front().value);
  return Told(ParseSchedulerConfig(text, kFile)) == Told(config)
             ? ""
             : absl::StrCat("says something else as\n", text);
}

std::string FuzzAdminTarget(absl::string_view bytes) {
  const AdminQuestion read = ParseAdminTarget(bytes);
  if (absl::StrContains(read.path, '?')) return "a query in the path";
  const std::string written =
      absl::StrCat(read.path, "?namespace=", UrlEncoded(read.namespace_name),
                   "&other=1&name=", UrlEncoded(read.name));
  const AdminQuestion back = ParseAdminTarget(written);
  if (back.path != read.path || back.namespace_name != read.namespace_name ||
      back.name != read.name) {
    return absl::StrCat("read back otherwise from ", written);
  }
  if (PercentDecoded(UrlEncoded(bytes)) != bytes) return "escaped and not the same again";
  return "";
}

std::string FuzzHttpEndpoint(absl::string_view bytes) {
  const uint16_t port = Endpoint().port();
  if (std::string wrong = WrongReplies(Exchange(port, bytes)); !wrong.empty()) return wrong;
  const std::string next = Exchange(port, "GET /a HTTP/1.0\r\n\r\n");
  return absl::StrContains(next, "asked 2") ? "" : absl::StrCat("the next is told: ", next);
}

}  // namespace maniple
