// The objects of one collection as the server shows them, by a watch that no fault reaches.
//
//   Mirror claims(server, "/api/v1/persistentvolumeclaims");
//   claims.Observe(now);
//   claims.objects().at("default/data")
#pragma once

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/rest/api_server.h"

namespace maniple::sim {

class Mirror final {
 public:
  Mirror(devcluster::ApiServer& server, absl::string_view collection);

  void Observe(absl::Time now);
  // By "namespace/name", or "/name".
  [[nodiscard]] const std::map<std::string, Json>& objects() const { return objects_; }
  // Null: there is none.
  [[nodiscard]] const Json& At(const std::string& key) const;

 private:
  // False: the server has ended it.
  [[nodiscard]] bool Read();

  devcluster::ApiServer& server_;
  const std::string target_;
  devcluster::WatchId watch_;
  std::map<std::string, Json> objects_;
};

}  // namespace maniple::sim
