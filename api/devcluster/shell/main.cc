// maniple-devcluster: the embedded Kubernetes API server with its simulated kubelet, as a process.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/clock.h"
#include "api/base/files.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "api/devcluster/rest/api_server.h"
#include "api/devcluster/shell/http_shell.h"
#include "api/devcluster/shell/kubeconfig_text.h"
#include "api/devcluster/shell/load.h"
#include "api/devcluster/types/served_version.h"
#include "api/http/tls_identity.h"

namespace maniple::devcluster {
namespace {

struct Flags {
  std::string listen = "127.0.0.1:6480";
  std::string port_file;
  std::vector<std::string> load;
  std::string data_dir;
  std::string kubelet_start_delay = "0s";
  std::string delete_delay = "0s";
  bool tls = false;
  bool no_controllers = false;
  bool serve_everybody = false;
  std::string token_file;
  std::string kubeconfig_out;
  std::string log_format = "text";
  int verbosity = 0;
};

constexpr const char* kDescription =
    R"(An in-memory Kubernetes API server with a simulated kubelet, for trying things out, for tests and for simulation.
Keeps nothing unless --data-dir is given. Never for production.)";

constexpr const char* kExample = R"(Example:
  maniple-devcluster --listen 127.0.0.1:6480 --load deploy/crds --kubeconfig-out /tmp/kubeconfig &
  kubectl --kubeconfig /tmp/kubeconfig get nodes)";

void Declare(CLI::App& app, Flags& flags) {
  app.footer(kExample);
  app.set_version_flag("--version", absl::StrCat("maniple-devcluster ", MANIPLE_VERSION,
                                                 " (Kubernetes ", kServedKubernetesVersion, ")"));
  app.add_option("--listen", flags.listen, "where to serve, HOST:PORT; port 0 is any free one")
      ->capture_default_str();
  app.add_option("--port-file", flags.port_file, "write the bound port here once serving");
  app.add_option("--load", flags.load,
                 "manifests to create at start: a YAML or JSON file, or a folder; repeatable")
      ->expected(1)
      ->take_all();
  app.add_option("--data-dir", flags.data_dir,
                 "read the objects of an earlier run from here, and write them back on exit; also "
                 "keeps the TLS identity");
  app.add_option("--kubelet-start-delay", flags.kubelet_start_delay,
                 "how long a bound pod takes to run, as 300ms or 5s")
      ->capture_default_str();
  app.add_option("--delete-delay", flags.delete_delay,
                 "how long a deleted bound pod takes to leave")
      ->capture_default_str();
  app.add_flag("--no-controllers", flags.no_controllers,
               "neither kubelet nor controllers: as a bare kube-apiserver");
  app.add_flag("--tls", flags.tls, "serve HTTPS with a certificate of its own authority");
  app.add_option("--token-file", flags.token_file,
                 "accept only these bearer tokens; lines of TOKEN or TOKEN,USER");
  app.add_flag("--serve-everybody", flags.serve_everybody,
               "without tokens, listen beyond the loopback interface: whoever reaches the port may "
               "do anything");
  app.add_option("--kubeconfig-out", flags.kubeconfig_out,
                 "write a kubeconfig for this server here");
  app.add_option("--log-format", flags.log_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("-v", flags.verbosity, "how much to log, 0 to 5; 2 names every request")
      ->check(CLI::Range(0, 5))
      ->capture_default_str();
}

struct HostPort {
  std::string host;
  uint16_t port = 0;
};

absl::StatusOr<HostPort> ParseListen(absl::string_view text) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) ||
      port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen \"", text, "\": want HOST:PORT, as 127.0.0.1:6480"));
  }
  absl::string_view host = text.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return HostPort{host.empty() ? "0.0.0.0" : std::string(host), static_cast<uint16_t>(port)};
}

bool IsLoopback(absl::string_view host) {
  return host == "localhost" || host == "::1" || absl::StartsWith(host, "127.");
}

bool ServesEverybody(const Flags& flags, const HostPort& listen) {
  return !IsLoopback(listen.host) && flags.token_file.empty();
}

// Whoever reaches the port is an administrator of the cluster, unless tokens are asked for.
absl::Status CheckAudience(const Flags& flags, const HostPort& listen) {
  if (!ServesEverybody(flags, listen) || flags.serve_everybody) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot listen on ", listen.host, ":", listen.port,
                   " for everybody: whoever reaches it could do anything; give --token-file, or "
                   "--serve-everybody if that is meant"));
}

absl::StatusOr<absl::Duration> ParseDelay(absl::string_view flag, const std::string& text) {
  absl::Duration delay;
  if (!absl::ParseDuration(text, &delay) || delay < absl::ZeroDuration() ||
      delay == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " \"", text, "\": want a duration, as 300ms or 5s"));
  }
  return delay;
}

// Errors name the line, never what is in it.
absl::StatusOr<std::map<std::string, std::string>> ReadTokens(const std::string& path) {
  std::map<std::string, std::string> tokens;
  if (path.empty()) return tokens;
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = absl::StrSplit(line, ',');
    if (fields[0].empty()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", line_number, ": no token"));
    }
    tokens[fields[0]] = fields.size() > 1 && !fields[1].empty() ? fields[1] : "admin";
  }
  if (tokens.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no token in it"));
  return tokens;
}

std::string SnapshotPath(const Flags& flags) { return flags.data_dir + "/objects.jsonl"; }

absl::Status LoadSnapshot(const Flags& flags, ApiServer& server, absl::Time now) {
  std::error_code ignored;
  if (flags.data_dir.empty() || !std::filesystem::exists(SnapshotPath(flags), ignored)) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(SnapshotPath(flags)));
  std::vector<Json> objects;
  int line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (line.empty()) continue;
    absl::StatusOr<Json> object = Json::Parse(line);
    if (!object.ok()) {
      return Annotate(object.status(), absl::StrCat(SnapshotPath(flags), ":", line_number));
    }
    objects.push_back(*std::move(object));
  }
  return Annotate(server.Load(objects, now), SnapshotPath(flags));
}

absl::Status SaveSnapshot(const Flags& flags, const ApiServer& server) {
  if (flags.data_dir.empty()) return absl::OkStatus();
  std::string text;
  for (const Json& object : server.Dump()) absl::StrAppend(&text, object.Dump(), "\n");
  return WriteWholeFile(SnapshotPath(flags), text, FileAccess::kOwner);  // Secrets may be in it
}

absl::Status LoadFiles(const Flags& flags, ApiServer& server, const Clock& clock) {
  ASSIGN_OR_RETURN(const std::vector<LoadedObject> objects, LoadManifests(flags.load));
  for (const LoadedObject& loaded : objects) {
    const absl::Status status = server.Load({loaded.object}, clock.Now());
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(loaded.Where(), status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status Serve(const Flags& flags) {
  ASSIGN_OR_RETURN(const HostPort listen, ParseListen(flags.listen));
  RETURN_IF_ERROR(CheckAudience(flags, listen));
  ApiServerOptions options;
  ASSIGN_OR_RETURN(options.kubelet_start_delay,
                   ParseDelay("--kubelet-start-delay", flags.kubelet_start_delay));
  ASSIGN_OR_RETURN(options.delete_delay, ParseDelay("--delete-delay", flags.delete_delay));
  if (flags.no_controllers) options.controllers = ApiServerOptions::Controllers::kNone;
  HttpShellOptions shell_options{.host = listen.host, .port = listen.port};
  ASSIGN_OR_RETURN(shell_options.tokens, ReadTokens(flags.token_file));
  if (!flags.token_file.empty() && !flags.tls) {
    LOG(WARNING) << "kubectl sends tokens over TLS only: give --tls as well";
  }
  const Clock& clock = RealClock();
  if (!flags.data_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(flags.data_dir, error);
    if (error) return absl::UnavailableError(absl::StrCat(flags.data_dir, ": ", error.message()));
  }
  TlsIdentity identity;
  if (flags.tls) {
    ASSIGN_OR_RETURN(identity,
                     flags.data_dir.empty()
                         ? MakeTlsIdentity({listen.host}, clock.Now())
                         : LoadOrMakeTlsIdentity(flags.data_dir, {listen.host}, clock.Now()));
    shell_options.tls = &identity;
  }
  // Uids and generated names differ from run to run, so that a client cannot take one cluster for
  // another.
  options.seed = static_cast<uint64_t>(absl::ToUnixNanos(clock.Now()));

  ApiServer server(options);
  RETURN_IF_ERROR(LoadSnapshot(flags, server, clock.Now()));
  RETURN_IF_ERROR(LoadFiles(flags, server, clock));
  ASSIGN_OR_RETURN(const std::unique_ptr<HttpShell> shell,
                   HttpShell::Listen(shell_options, server, clock));
  shell->StopOnSignals();

  const bool any_address = listen.host == "0.0.0.0" || listen.host == "::";
  const std::string reachable = any_address ? "127.0.0.1" : listen.host;
  const std::string url = absl::StrCat(
      flags.tls ? "https://" : "http://",
      reachable.find(':') == std::string::npos ? reachable : absl::StrCat("[", reachable, "]"), ":",
      shell->port());
  if (!flags.kubeconfig_out.empty()) {
    const KubeconfigFacts facts{
        .server = url,
        .authority_certificate = identity.authority_certificate,
        .token = Secret(shell_options.tokens.empty() ? "" : shell_options.tokens.begin()->first)};
    RETURN_IF_ERROR(
        WriteWholeFile(flags.kubeconfig_out, KubeconfigText(facts), FileAccess::kOwner));
  }
  if (!flags.port_file.empty()) {
    RETURN_IF_ERROR(
        WriteWholeFile(flags.port_file, absl::StrCat(shell->port(), "\n"), FileAccess::kAll));
  }
  if (ServesEverybody(flags, listen)) {
    LOG(WARNING) << "whoever reaches " << listen.host << " may do anything: --serve-everybody";
  }
  LOG(INFO) << "serving on " << url;
  shell->Run();
  LOG(INFO) << "stopping";
  return SaveSnapshot(flags, server);
}

int Main(int argc, char** argv) {
  CLI::App app(kDescription, "maniple-devcluster");
  Flags flags;
  Declare(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version);
    if (std::cout.flush()) return 0;
    std::cerr << "maniple-devcluster: standard output cannot be written\n";
    return 1;
  } catch (const CLI::ParseError& e) {
    std::cerr << "maniple-devcluster: " << e.what() << " (--help shows the flags)\n";
    return 2;
  }
  ConfigureLog({.format = flags.log_format == "json" ? LogFormat::kJson : LogFormat::kText,
                .verbosity = flags.verbosity});
  if (const absl::Status status = Serve(flags); !status.ok()) {
    std::cerr << "maniple-devcluster: " << OneLine(status.message()) << "\n";
    return status.code() == absl::StatusCode::kInvalidArgument ? 2 : 1;
  }
  return 0;
}

}  // namespace
}  // namespace maniple::devcluster

int main(int argc, char** argv) {
  maniple::OpenStandardStreams();
  return maniple::devcluster::Main(argc, argv);
}
