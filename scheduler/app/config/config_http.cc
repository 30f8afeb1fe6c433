#include "scheduler/app/config/config_http.h"

#include "scheduler/app/config/address.h"

namespace maniple {
namespace {

void ReadAddress(Section& section, absl::string_view key, Problems& problems, std::string& out) {
  section.Read(key, [&](const Json& v, const std::string& path) {
    if (!v.is_string()) return section.Wrong(path, "HOST:PORT", v);
    const absl::Status status = ParseListenAddress(v.AsString()).status();
    if (!status.ok()) return problems.Add(path, std::string(status.message()));
    out = v.AsString();
  });
}

}  // namespace

void ReadHttpConfig(const Json& map, const std::string& path, Problems& problems, HttpConfig& out) {
  Section http(map, path, problems);
  ReadAddress(http, "address", problems, out.address);
  ReadAddress(http, "healthAddress", problems, out.health_address);
  http.Bool("insecure", out.insecure);
  http.Map("tls", [&](Section& tls) {
    tls.String("certFile", out.tls.certificate);
    tls.String("privateKeyFile", out.tls.key);
    tls.String("clientCAFile", out.tls.client_authority);
    tls.Bool("selfSigned", out.tls.self_signed);
  });
  http.Close();
}

}  // namespace maniple
