#include "api/devcluster/shell/kubeconfig_text.h"

#include "absl/strings/escaping.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"

namespace maniple::devcluster {

std::string KubeconfigText(const KubeconfigFacts& facts) {
  static constexpr const char* kName = "maniple-devcluster";
  Json cluster = Json::Object({{"server", Json(facts.server)}});
  if (!facts.authority_certificate.empty()) {
    cluster.Set("certificate-authority-data",
                Json(absl::Base64Escape(facts.authority_certificate)));
  }
  Json user = Json::Object();
  if (!facts.token.empty()) user.Set("token", Json(facts.token.Reveal()));
  return DumpYaml(Json::Object(
      {{"apiVersion", "v1"},
       {"kind", "Config"},
       {"current-context", kName},
       {"clusters", Json::Array({Json::Object({{"name", kName}, {"cluster", cluster}})})},
       {"users", Json::Array({Json::Object({{"name", kName}, {"user", user}})})},
       {"contexts", Json::Array({Json::Object(
                        {{"name", kName},
                         {"context", Json::Object({{"cluster", kName}, {"user", kName}})}})})}}));
}

}  // namespace maniple::devcluster
