#include "scheduler/app/config/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "api/client/kubeconfig.h"
#include "scheduler/app/config/address.h"
#include "scheduler/app/config/version.h"

namespace maniple {
namespace {

constexpr char kFooter[] =
    "Example:\n"
    "  maniple-scheduler --kubeconfig ~/.kube/config --http 127.0.0.1:8080\n"
    "  curl http://127.0.0.1:8080/readyz\n"
    "Without --kubeconfig and --server it asks the cluster of $KUBECONFIG, else of\n"
    "~/.kube/config, else the one in whose pod it runs.";

ParsedFlags Refused(absl::string_view what) {
  return {.options = std::nullopt,
          .output = absl::StrCat("maniple-scheduler: ", what, "\n"),
          .exit_code = 2};
}

absl::Status CheckListenAddress(absl::string_view flag, const std::string& address) {
  if (address.empty()) return absl::OkStatus();
  return Annotate(ParseListenAddress(address).status(), flag);
}

absl::Status CheckHttp(const SchedulerOptions& options) {
  RETURN_IF_ERROR(CheckListenAddress("--http", options.http));
  if (options.http_insecure && options.tls.given()) {
    return absl::InvalidArgumentError("--http-insecure and TLS exclude each other");
  }
  if (options.http.empty() || options.http_insecure || options.tls.given() ||
      IsLoopback(*ParseListenAddress(options.http))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--http ", options.http,
      " is reached from other machines: give --tls-cert-file and --tls-private-key-file, or "
      "--tls-self-signed, or --http-insecure to show everything to everyone who connects"));
}

absl::Status CheckTlsFlags(const TlsFiles& tls) {
  if (tls.certificate.empty() != tls.key.empty()) {
    return absl::InvalidArgumentError(
        "--tls-cert-file and --tls-private-key-file are given together");
  }
  if (!tls.client_authority.empty() && tls.certificate.empty()) {
    return absl::InvalidArgumentError(
        "--client-ca-file needs --tls-cert-file and --tls-private-key-file");
  }
  if (tls.self_signed && !tls.certificate.empty()) {
    return absl::InvalidArgumentError("--tls-self-signed and --tls-cert-file exclude each other");
  }
  return tls.certificate.empty() ? absl::OkStatus() : CheckTlsFiles(tls);
}

absl::Status CheckAdmin(const SchedulerOptions& options) {
  if (options.admin.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(Annotate(CheckAdminAddress(options.admin), "--admin"));
  if (SocketPathOf(options.admin).empty() && options.tls.client_authority.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--admin ", options.admin,
        " would be open to everyone who connects: give --tls-cert-file, --tls-private-key-file and "
        "--client-ca-file, or use unix:PATH"));
  }
  return absl::OkStatus();
}

// What stands in the way of running with these; OK when nothing does.
absl::Status CheckFlags(const SchedulerOptions& options) {
  if (!options.kubeconfig.empty() && !options.server.empty()) {
    return absl::InvalidArgumentError("--kubeconfig and --server exclude each other");
  }
  if (!options.server.empty()) {
    RETURN_IF_ERROR(LoadClientConfig({.server = options.server}).status());
  }
  RETURN_IF_ERROR(CheckTlsFlags(options.tls));
  RETURN_IF_ERROR(CheckAdmin(options));
  RETURN_IF_ERROR(CheckHttp(options));
  return CheckListenAddress("--health", options.health);
}

// Where no flag says otherwise.
void TakeFrom(const HttpConfig& http, const CLI::App& flags, SchedulerOptions& options) {
  if (options.http.empty()) options.http = http.address;
  if (options.health.empty()) options.health = http.health_address;
  if (flags.count("--http-insecure") == 0) options.http_insecure = http.insecure;
  TlsFiles& tls = options.tls;
  // Half a certificate is not filled up from the file: it is refused.
  if (tls.given() || !tls.key.empty()) {
    if (!tls.self_signed && tls.client_authority.empty()) {
      tls.client_authority = http.tls.client_authority;
    }
    return;
  }
  const std::string authority = std::move(tls.client_authority);
  tls = http.tls;
  if (!authority.empty()) tls.client_authority = authority;
}

}  // namespace

ParsedFlags ParseSchedulerFlags(int argc, const char* const* argv) {
  SchedulerOptions options;
  std::string config_file, log_format = "text";
  std::vector<std::string> names;
  std::optional<bool> leader_elect;
  CLI::App app("Gang scheduler for GPU clusters: watches, decides, binds all or nothing.",
               "maniple-scheduler");
  app.footer(kFooter);
  app.add_option("--kubeconfig", options.kubeconfig, "Kubeconfig file")->type_name("FILE");
  app.add_option("--server", options.server, "URL of the API server, without credentials")
      ->type_name("URL");
  app.add_option("--config", config_file, "SchedulerConfiguration file")->type_name("FILE");
  app.add_option("--http", options.http, "Serve the page, metrics, health and read-only JSON here")
      ->type_name("HOST:PORT");
  app.add_option("--health", options.health,
                 "Serve metrics and health here too: readers of --http cannot slow it")
      ->type_name("HOST:PORT");
  app.add_option("--admin", options.admin,
                 "Serve the gRPC admin surface here (default: a local socket)")
      ->type_name("HOST:PORT|unix:PATH");
  app.add_option("--tls-cert-file", options.tls.certificate,
                 "Certificate of the listeners, PEM; read again when it changes")
      ->type_name("FILE");
  app.add_option("--tls-private-key-file", options.tls.key, "Its key")->type_name("FILE");
  app.add_flag("--tls-self-signed", options.tls.self_signed,
               "Make a certificate at start, for clients that check none, as the API server's "
               "service proxy and kubelets");
  app.add_flag("--http-insecure", options.http_insecure,
               "Serve --http beyond this machine without TLS, to everyone who connects");
  app.add_option("--client-ca-file", options.tls.client_authority,
                 "Authority of the clients that --admin HOST:PORT lets in")
      ->type_name("FILE");
  app.add_option("--scheduler-name", names, "Schedule pods with this schedulerName (repeatable)")
      ->type_name("NAME");
  app.add_option("--leader-elect", leader_elect, "Take the Lease before acting (default true)")
      ->type_name("true|false");
  app.add_option("--log-format", log_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--decision-log", options.decision_log,
                 "Append each decision to a file as a line of JSON; - is standard output")
      ->type_name("FILE");
  app.add_option("-v", options.log.verbosity, "Verbosity, 0 to 5")->check(CLI::Range(0, 5));
  app.set_version_flag("--version", absl::StrCat("maniple-scheduler ", MANIPLE_VERSION));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int code = app.exit(error, out, err);
    // --help and --version are no errors; everything else is one line.
    if (code == 0) return {.options = std::nullopt, .output = out.str(), .exit_code = 0};
    return Refused(absl::StrCat(error.what(), " (--help shows the flags)"));
  }
  if (!config_file.empty()) {
    absl::StatusOr<SchedulerConfig> config = LoadSchedulerConfig(config_file);
    if (!config.ok()) return Refused(config.status().message());
    options.config = *std::move(config);
  }
  TakeFrom(options.config.http, app, options);
  if (const absl::Status status = CheckFlags(options); !status.ok()) {
    return Refused(status.message());
  }
  if (std::find(names.begin(), names.end(), "") != names.end()) {
    return Refused("--scheduler-name \"\": pods cannot ask for an empty name");
  }
  if (!names.empty()) options.config.scheduler_names = std::move(names);
  if (leader_elect.has_value()) options.config.leader_election.enabled = *leader_elect;
  if (options.admin.empty()) options.admin = DefaultAdminAddress();
  options.log.format = log_format == "json" ? LogFormat::kJson : LogFormat::kText;
  return {.options = std::move(options), .output = "", .exit_code = 0};
}

}  // namespace maniple
