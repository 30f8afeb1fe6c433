// A request to the API server and its reply, without the connection that carries them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/base/id.h"

namespace maniple::devcluster {

struct ApiRequest {
  std::string method;  // "GET"
  std::string target;  // path and query, percent-encoded
  std::string content_type;
  std::string accept;
  std::string body;
  std::string if_none_match;
  std::string user = "admin";
};

using WatchId = Id<struct WatchTag>;

struct ApiReply {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  WatchId watch;  // valid: the body is a stream, read it with TakeWatchOutput
};

}  // namespace maniple::devcluster
