#include "api/client/kubeconfig.h"

#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "api/client/kubeconfig_file.h"

namespace maniple {
namespace {

// The files of one configuration in order of precedence; a deque keeps references to them valid.
using Files = std::deque<KubeconfigFile>;

KubeconfigMap RootOf(const KubeconfigFile& file) { return {file, file.root(), ""}; }

absl::StatusOr<std::string> ServerUrl(absl::string_view url) {
  url = absl::StripAsciiWhitespace(url);
  const bool known = absl::StartsWith(url, "http://") || absl::StartsWith(url, "https://");
  const size_t begin = known ? url.find("://") + 3 : 0;
  const absl::string_view host = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  // User and password would stand in every log line that names the server.
  if (absl::StrContains(host, '@')) {
    return absl::InvalidArgumentError(
        "a URL with credentials; give them in a kubeconfig, under users[].user");
  }
  // A URL that cannot be read is not repeated either: it may contain anything.
  if (!known || host.empty() || HasControlCharacter(url) ||
      url.find_first_of(" ?#\\") != absl::string_view::npos) {
    return absl::InvalidArgumentError("is no http or https URL, as https://HOST:PORT/PATH");
  }
  while (absl::EndsWith(url, "/")) url.remove_suffix(1);
  return std::string(url);
}

// The named entry of clusters, users or contexts: the first file that has it wins.
absl::StatusOr<KubeconfigMap> Entry(const Files& files, absl::string_view list,
                                    absl::string_view body, absl::string_view name) {
  for (const KubeconfigFile& file : files) {
    ASSIGN_OR_RETURN(const std::vector<KubeconfigMap> entries, RootOf(file).Maps(list));
    for (const KubeconfigMap& entry : entries) {
      ASSIGN_OR_RETURN(const std::string entry_name, entry.Text("name"));
      if (entry_name == name) return entry.Map(body);
    }
  }
  return absl::NotFoundError(absl::StrCat(files.front().path(), ": no ", body, " is named \"", name,
                                          "\" (looked for in ", list, ")"));
}

absl::Status ReadProxy(const KubeconfigMap& cluster, ClientConfig& config) {
  ASSIGN_OR_RETURN(config.proxy_url, cluster.Text("proxy-url"));
  if (config.proxy_url.empty()) return absl::OkStatus();
  for (const absl::string_view scheme : {"http://", "https://", "socks5://"}) {
    if (absl::StartsWith(config.proxy_url, scheme)) return absl::OkStatus();
  }
  return cluster.Wrong("proxy-url", "must begin with http://, https:// or socks5://");
}

absl::Status ReadCluster(const KubeconfigMap& cluster, ClientConfig& config) {
  ASSIGN_OR_RETURN(const std::string server, cluster.Text("server"));
  if (server.empty() && config.server.empty()) return cluster.Wrong("server", "is missing");
  if (config.server.empty()) {
    absl::StatusOr<std::string> url = ServerUrl(server);
    if (!url.ok()) return cluster.Wrong("server", url.status().message());
    config.server = *std::move(url);
  }
  ASSIGN_OR_RETURN(config.tls_server_name, cluster.Text("tls-server-name"));
  ASSIGN_OR_RETURN(config.ca_pem, cluster.Data("certificate-authority-data"));
  if (config.ca_pem.empty()) {
    ASSIGN_OR_RETURN(config.ca_file, cluster.FilePath("certificate-authority"));
  }
  ASSIGN_OR_RETURN(const bool insecure, cluster.Flag("insecure-skip-tls-verify"));
  if (insecure && (!config.ca_pem.empty() || !config.ca_file.empty())) {
    return cluster.Wrong("insecure-skip-tls-verify", "cannot stand beside a certificate authority");
  }
  if (insecure) config.verification = ServerVerification::kNone;
  return ReadProxy(cluster, config);
}

// The spec.cluster in the input of a plugin.
std::string ClusterInfo(const KubeconfigMap& cluster, const ClientConfig& config) {
  Json info = Json::Object({{"server", config.server}});
  for (const char* key : {"tls-server-name", "insecure-skip-tls-verify", "proxy-url"}) {
    if (cluster.Has(key)) info.Set(key, cluster.value()[key]);
  }
  if (!config.ca_pem.empty()) {
    info.Set("certificate-authority-data", absl::Base64Escape(config.ca_pem));
  }
  for (const Json& extension : cluster.value()["extensions"].items()) {
    if (extension["name"].AsString() == "client.authentication.k8s.io/exec") {
      info.Set("config", extension["extension"]);
    }
  }
  return info.Dump();
}

absl::Status ReadExec(const KubeconfigMap& user, const KubeconfigMap& cluster,
                      ClientConfig& config) {
  if (!user.Has("exec")) return absl::OkStatus();
  ASSIGN_OR_RETURN(const KubeconfigMap exec, user.Map("exec"));
  ExecPluginConfig& plugin = config.credentials.exec;
  ASSIGN_OR_RETURN(plugin.api_version, exec.Text("apiVersion"));
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    return exec.Wrong("apiVersion", "must be client.authentication.k8s.io/v1 or v1beta1");
  }
  ASSIGN_OR_RETURN(plugin.command, exec.Text("command"));
  if (plugin.command.empty()) return exec.Wrong("command", "is missing");
  // A bare name is looked up in PATH, anything else is a path.
  if (absl::StrContains(plugin.command, '/')) plugin.command = exec.file().Resolve(plugin.command);
  ASSIGN_OR_RETURN(plugin.args, exec.Texts("args"));
  ASSIGN_OR_RETURN(const std::vector<KubeconfigMap> variables, exec.Maps("env"));
  for (const KubeconfigMap& variable : variables) {
    ASSIGN_OR_RETURN(std::string name, variable.Text("name"));
    ASSIGN_OR_RETURN(std::string value, variable.Text("value"));
    plugin.env.emplace_back(std::move(name), std::move(value));
  }
  ASSIGN_OR_RETURN(const std::string interactive, exec.Text("interactiveMode"));
  if (interactive == "Always") {
    return exec.Wrong("interactiveMode", "is Always, and nobody is there to answer the plugin");
  }
  ASSIGN_OR_RETURN(const bool provide, exec.Flag("provideClusterInfo"));
  if (provide) plugin.cluster_info = ClusterInfo(cluster, config);
  return absl::OkStatus();
}

absl::Status ReadImpersonation(const KubeconfigMap& user, Impersonation& out) {
  ASSIGN_OR_RETURN(out.user, user.Text("as"));
  ASSIGN_OR_RETURN(out.uid, user.Text("as-uid"));
  ASSIGN_OR_RETURN(out.groups, user.Texts("as-groups"));
  for (const std::string& group : out.groups) {
    if (HasControlCharacter(group)) return user.Wrong("as-groups", "holds a control character");
  }
  ASSIGN_OR_RETURN(const KubeconfigMap extra, user.Map("as-user-extra"));
  for (const auto& [key, values] : extra.value().members()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> texts, extra.Texts(key));
    for (const std::string& text : texts) {
      if (HasControlCharacter(text)) return extra.Wrong(key, "holds a control character");
      out.extra.emplace_back(key, text);
    }
  }
  if (out.user.empty() && !(out.uid.empty() && out.groups.empty() && out.extra.empty())) {
    return user.Wrong("as", "is missing: uid, groups and extra alone cannot be impersonated");
  }
  return absl::OkStatus();
}

absl::Status ReadClientCertificate(const KubeconfigMap& user, ClientConfig& config) {
  ASSIGN_OR_RETURN(config.certificate_pem, user.Data("client-certificate-data"));
  if (config.certificate_pem.empty()) {
    ASSIGN_OR_RETURN(config.certificate_file, user.FilePath("client-certificate"));
  }
  ASSIGN_OR_RETURN(std::string key, user.Data("client-key-data"));
  config.key_pem = Secret(std::move(key));
  if (config.key_pem.empty()) {
    // A user who put the key itself there must not read it in a log.
    ASSIGN_OR_RETURN(config.key_file, user.FilePath("client-key", NameInErrors::kLeftOut));
  }
  const bool certificate = !config.certificate_pem.empty() || !config.certificate_file.empty();
  const bool with_key = !config.key_pem.empty() || !config.key_file.empty();
  if (certificate && !with_key) return user.Wrong("client-key", "is missing");
  if (with_key && !certificate) return user.Wrong("client-certificate", "is missing");
  return absl::OkStatus();
}

absl::Status ReadUser(const KubeconfigMap& user, const KubeconfigMap& cluster,
                      ClientConfig& config) {
  RETURN_IF_ERROR(ReadClientCertificate(user, config));
  CredentialConfig& credentials = config.credentials;
  ASSIGN_OR_RETURN(credentials.token, user.SecretText("token"));
  ASSIGN_OR_RETURN(const std::string token_file, user.Text("tokenFile"));
  credentials.token_file = user.file().Resolve(token_file);
  credentials.token_file_name = absl::StrCat("that ", user.file().path(), " names");
  ASSIGN_OR_RETURN(credentials.username, user.Text("username"));
  ASSIGN_OR_RETURN(credentials.password, user.SecretText("password"));
  RETURN_IF_ERROR(ReadExec(user, cluster, config));
  RETURN_IF_ERROR(ReadImpersonation(user, config.impersonation));
  if (user.Has("auth-provider")) {
    return user.Wrong("auth-provider", "is not supported; use an exec plugin");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ContextName(const Files& files, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  for (const KubeconfigFile& file : files) {
    ASSIGN_OR_RETURN(std::string name, RootOf(file).Text("current-context"));
    if (!name.empty()) return name;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(files.front().path(), ": no current-context, and no context was asked for"));
}

absl::StatusOr<ClientConfig> FromFiles(const Files& files, const ClientConfigSource& source) {
  ClientConfig config;
  if (!source.server.empty()) {
    absl::StatusOr<std::string> url = ServerUrl(source.server);
    if (!url.ok()) return Annotate(url.status(), "--server");
    config.server = *std::move(url);
  }
  ASSIGN_OR_RETURN(const std::string name, ContextName(files, source.context));
  ASSIGN_OR_RETURN(const KubeconfigMap context, Entry(files, "contexts", "context", name));
  ASSIGN_OR_RETURN(const std::string cluster_name, context.Text("cluster"));
  ASSIGN_OR_RETURN(const KubeconfigMap cluster, Entry(files, "clusters", "cluster", cluster_name));
  RETURN_IF_ERROR(ReadCluster(cluster, config));
  ASSIGN_OR_RETURN(const std::string namespace_name, context.Text("namespace"));
  if (!namespace_name.empty()) config.namespace_name = namespace_name;
  ASSIGN_OR_RETURN(const std::string user_name, context.Text("user"));
  if (user_name.empty()) return config;
  ASSIGN_OR_RETURN(const KubeconfigMap user, Entry(files, "users", "user", user_name));
  ClientConfig with_user = config;
  RETURN_IF_ERROR(ReadUser(user, cluster, with_user));
  if (absl::StartsWith(config.server, "https://")) return with_user;
  VLOG(1) << "the server is reached over plain http: the credentials of user " << user_name
          << " are not used";
  return config;
}

absl::StatusOr<ClientConfig> FromList(const ClientConfigSource& source) {
  Files files;
  for (const absl::string_view path :
       absl::StrSplit(source.environment.kubeconfig, ':', absl::SkipEmpty())) {
    absl::StatusOr<KubeconfigFile> file = KubeconfigFile::Read(std::string(path));
    if (absl::IsNotFound(file.status())) continue;
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  if (files.empty()) {
    return absl::NotFoundError(
        absl::StrCat("KUBECONFIG=", source.environment.kubeconfig, ": none of these files exists"));
  }
  return FromFiles(files, source);
}

absl::StatusOr<ClientConfig> FromFile(const std::string& path, const ClientConfigSource& source) {
  ASSIGN_OR_RETURN(KubeconfigFile file, KubeconfigFile::Read(path));
  Files files;
  files.push_back(std::move(file));
  return FromFiles(files, source);
}

absl::StatusOr<ClientConfig> InCluster(const ClientEnvironment& environment) {
  ClientConfig config;
  const bool is_ipv6 = absl::StrContains(environment.service_host, ':');
  config.server =
      absl::StrCat("https://", is_ipv6 ? "[" : "", environment.service_host, is_ipv6 ? "]" : "",
                   ":", environment.service_port.empty() ? "443" : environment.service_port);
  config.ca_file = absl::StrCat(environment.service_account, "/ca.crt");
  config.credentials.token_file = absl::StrCat(environment.service_account, "/token");
  for (const std::string& file : {config.ca_file, config.credentials.token_file}) {
    if (::access(file.c_str(), R_OK) != 0) {
      return absl::NotFoundError(
          absl::StrCat("in a pod, but ", file, " cannot be read: is a service account mounted?"));
    }
  }
  std::ifstream file(absl::StrCat(environment.service_account, "/namespace"));
  std::string name;
  if (file >> name) config.namespace_name = name;
  return config;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

ClientEnvironment ProcessEnvironment() {
  ClientEnvironment out;
  out.kubeconfig = Variable("KUBECONFIG");
  out.home = Variable("HOME");
  out.service_host = Variable("KUBERNETES_SERVICE_HOST");
  out.service_port = Variable("KUBERNETES_SERVICE_PORT");
  return out;
}

absl::StatusOr<ClientConfig> LoadClientConfig(const ClientConfigSource& source) {
  if (!source.kubeconfig.empty()) return FromFile(source.kubeconfig, source);
  if (!source.server.empty()) {
    absl::StatusOr<std::string> url = ServerUrl(source.server);
    if (!url.ok()) return Annotate(url.status(), "--server");
    ClientConfig config;
    config.server = *std::move(url);
    return config;
  }
  const ClientEnvironment& environment = source.environment;
  if (!environment.kubeconfig.empty()) return FromList(source);
  const std::string home_file = absl::StrCat(environment.home, "/.kube/config");
  if (!environment.home.empty() && ::access(home_file.c_str(), F_OK) == 0) {
    return FromFile(home_file, source);
  }
  if (!environment.service_host.empty()) return InCluster(environment);
  return absl::NotFoundError(
      "no API server is known: give --kubeconfig, set KUBECONFIG, or run in a pod with a service "
      "account");
}

}  // namespace maniple
