// The bytes of HTTP/1.1 replies, and what the shell itself has to say to bad requests.
//
// Functions of data, private to this room: http_connection.h sends what these write.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "api/devcluster/rest/api_server.h"

namespace maniple::devcluster {

enum class KeepAlive { kYes, kNo };
enum class BodyForm { kWhole, kHeadOnly };  // HEAD answers without the body

// Appends the status line, the headers and the body with its length.
void AppendReply(std::string& out, const ApiReply& reply, KeepAlive keep_alive, BodyForm form);

// Appends the head of a reply whose body comes in chunks.
void AppendStreamHead(std::string& out, const ApiReply& reply);
// REQUIRES: bytes is not empty, because an empty chunk ends the stream.
void AppendChunk(std::string& out, absl::string_view bytes);
void AppendLastChunk(std::string& out);

// A Status object as kube-apiserver words it: reason "Unauthorized", code 401.
[[nodiscard]] ApiReply StatusReply(int code, absl::string_view reason, absl::string_view message);

}  // namespace maniple::devcluster
