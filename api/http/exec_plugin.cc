#include "api/http/exec_plugin.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/codec/kubernetes_time.h"

extern char** environ;

namespace maniple {
namespace {

constexpr size_t kMostPrinted = 1 << 20;
// Between the end of the output and the end of the process.
constexpr absl::Duration kExitPoll = absl::Milliseconds(10);

// "credential plugin NAME: …". Arguments do not belong into a command, but some have tokens there.
absl::Status Failed(const ExecPluginConfig& config, absl::string_view what) {
  const std::string name = config.command.substr(0, config.command.find_first_of(" \t"));
  return absl::UnauthenticatedError(absl::StrCat("credential plugin ", name, ": ", what));
}

std::string ExecInfo(const ExecPluginConfig& config) {
  Json spec = Json::Object({{"interactive", false}});
  if (absl::StatusOr<Json> cluster = Json::Parse(config.cluster_info); cluster.ok()) {
    spec.Set("cluster", *std::move(cluster));
  }
  return Json::Object({{"apiVersion", config.api_version},
                       {"kind", "ExecCredential"},
                       {"spec", std::move(spec)}})
      .Dump();
}

std::vector<std::string> EnvironmentFor(const ExecPluginConfig& config) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!absl::StartsWith(*entry, "KUBERNETES_EXEC_INFO=")) out.emplace_back(*entry);
  }
  // The first of two equal names is what getenv finds.
  for (const auto& [name, value] : config.env) {
    out.insert(out.begin(), absl::StrCat(name, "=", value));
  }
  out.push_back(absl::StrCat("KUBERNETES_EXEC_INFO=", ExecInfo(config)));
  return out;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Our own signal mask and ignored signals are not the plugin's; its group is its own, so that all
// of it can be killed.
void Isolate(posix_spawnattr_t& attributes) {
  sigset_t none;
  sigset_t defaults;
  ::sigemptyset(&none);
  ::sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

absl::StatusOr<pid_t> Spawn(const ExecPluginConfig& config, int output) {
  std::vector<std::string> args = {config.command};
  args.insert(args.end(), config.args.begin(), config.args.end());
  std::vector<std::string> env = EnvironmentFor(config);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  // What it complains of may hold the credential: who wants to read it runs the plugin by hand.
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // Sockets are marked close-on-exec where they are made; this holds for those of libraries, too.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  Isolate(attributes);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, config.command.c_str(), &actions, &attributes,
                                   Pointers(args).data(), Pointers(env).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return Failed(config, std::strerror(error));
  }
  return pid;
}

// Whoever started us may ignore SIGCHLD. Then the system keeps no child's end, and nobody learns
// how a plugin ended.
void HearOfChildren() {
  struct sigaction current {};
  if (::sigaction(SIGCHLD, nullptr, &current) != 0) return;
  if (current.sa_handler != SIG_IGN && (current.sa_flags & SA_NOCLDWAIT) == 0) return;
  current.sa_handler = SIG_DFL;
  current.sa_flags = 0;
  ::sigaction(SIGCHLD, &current, nullptr);
}

}  // namespace

absl::StatusOr<ExecCredential> ParseExecCredential(const ExecPluginConfig& config,
                                                   absl::string_view printed) {
  const auto wrong = [&config](absl::string_view what) { return Failed(config, what); };
  const absl::StatusOr<Json> reply = Json::Parse(printed);
  if (!reply.ok()) return wrong("it did not print JSON");
  if ((*reply)["kind"].AsString() != "ExecCredential") return wrong("it printed no ExecCredential");
  if ((*reply)["apiVersion"].AsString() != config.api_version) {
    return wrong(absl::StrCat("its answer is not of version ", config.api_version));
  }
  const Json& status = (*reply)["status"];
  ExecCredential out;
  out.token = Secret(status["token"].AsString());
  out.certificate_pem = status["clientCertificateData"].AsString();
  out.key_pem = Secret(status["clientKeyData"].AsString());
  if (out.certificate_pem.empty() != out.key_pem.empty()) {
    return wrong("it printed a certificate without key or a key without certificate");
  }
  if (out.token.empty() && out.certificate_pem.empty()) {
    return wrong("it printed neither a token nor a certificate");
  }
  if (std::any_of(status["token"].AsString().begin(), status["token"].AsString().end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    return wrong("its token holds a control character");
  }
  if (const std::string& expires = status["expirationTimestamp"].AsString(); !expires.empty()) {
    const absl::StatusOr<absl::Time> time = ParseKubernetesTime(expires);
    if (!time.ok()) return wrong("its expirationTimestamp is no time");
    out.expires = *time;
  }
  return out;
}

absl::StatusOr<ExecPluginRun> ExecPluginRun::Begin(const ExecPluginConfig& config, absl::Time now) {
  HearOfChildren();
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return absl::UnauthenticatedError(absl::StrCat("pipe: ", std::strerror(errno)));
  }
  const absl::StatusOr<pid_t> pid = Spawn(config, ends[1]);
  ::close(ends[1]);
  if (!pid.ok()) {
    ::close(ends[0]);
    return pid.status();
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return ExecPluginRun(config, *pid, ends[0], now);
}

ExecPluginRun::ExecPluginRun(const ExecPluginConfig& config, pid_t pid, int fd, absl::Time now)
    : config_(config), pid_(pid), fd_(fd), give_up_(now + config.timeout), next_(give_up_) {}

ExecPluginRun::ExecPluginRun(ExecPluginRun&& other) noexcept
    : config_(std::move(other.config_)),
      pid_(std::exchange(other.pid_, -1)),
      fd_(std::exchange(other.fd_, -1)),
      give_up_(other.give_up_),
      next_(other.next_),
      printed_(std::move(other.printed_)) {}

ExecPluginRun::~ExecPluginRun() {
  Kill();
  if (fd_ >= 0) ::close(fd_);
}

void ExecPluginRun::Kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::optional<absl::StatusOr<ExecCredential>> ExecPluginRun::Continue(absl::Time now) {
  const auto failed = [&](absl::string_view what) {
    Kill();
    return Failed(config_, what);
  };
  char buffer[4096];
  ssize_t n = 0;
  while (fd_ >= 0 && (n = ::read(fd_, buffer, sizeof(buffer))) > 0) {
    printed_.append(buffer, static_cast<size_t>(n));
    if (printed_.size() > kMostPrinted) return failed("it printed more than a mebibyte");
  }
  if (fd_ >= 0 && n == 0) {
    ::close(fd_);  // a pipe at its end is readable for ever
    fd_ = -1;
  }
  const bool ended = fd_ < 0;
  int status = 0;
  if (ended && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    pid_ = -1;
    if (WIFSIGNALED(status)) return failed(absl::StrCat("killed by signal ", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) {
      return failed(absl::StrCat("it ended with status ", WEXITSTATUS(status),
                                 "; run it by hand to see what it says"));
    }
    return ParseExecCredential(config_, printed_);
  }
  if (now >= give_up_) {
    return failed(absl::StrCat("no answer within ", absl::FormatDuration(config_.timeout)));
  }
  next_ = ended ? std::min(give_up_, now + kExitPoll) : give_up_;
  return std::nullopt;
}

}  // namespace maniple
