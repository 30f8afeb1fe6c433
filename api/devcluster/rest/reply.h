// Replies as bytes: objects, lists and errors in the form that the client asked for.
//
// Pure functions.
#pragma once

#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/rest/api_exchange.h"
#include "api/devcluster/rest/list.h"
#include "api/devcluster/rest/request.h"
#include "api/devcluster/types/api_error.h"

namespace maniple::devcluster {

[[nodiscard]] ApiReply ErrorReply(const ApiError& error);
// Any JSON value, also as YAML when the client wants that.
[[nodiscard]] ApiReply JsonReply(int status, const Json& value, ReplyForm form = ReplyForm::kJson);
// An object as stored, shown as the request's type.
[[nodiscard]] ApiReply ObjectReply(const ResourceRequest& request, int status,
                                   const ObjectPtr& stored, absl::Time now);
[[nodiscard]] ApiReply ListReply(const ResourceRequest& request, const ListPage& page,
                                 absl::Time now);

}  // namespace maniple::devcluster
