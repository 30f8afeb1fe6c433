#include "api/devcluster/shell/http_message.h"

#include "absl/strings/str_cat.h"

namespace maniple::devcluster {
namespace {

absl::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Request Entity Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

void AppendHead(std::string& out, const ApiReply& reply) {
  absl::StrAppend(&out, "HTTP/1.1 ", reply.status, " ", ReasonPhrase(reply.status),
                  "\r\nContent-Type: ", reply.content_type, "\r\n");
  bool may_be_cached = false;
  for (const auto& [name, value] : reply.headers) {
    may_be_cached = may_be_cached || name == "Cache-Control";
    absl::StrAppend(&out, name, ": ", value, "\r\n");
  }
  if (!may_be_cached) absl::StrAppend(&out, "Cache-Control: no-cache, private\r\n");
}

}  // namespace

void AppendReply(std::string& out, const ApiReply& reply, KeepAlive keep_alive, BodyForm form) {
  AppendHead(out, reply);
  if (keep_alive == KeepAlive::kNo) absl::StrAppend(&out, "Connection: close\r\n");
  if (reply.status == 304) {  // has no body by definition, and no length either
    absl::StrAppend(&out, "\r\n");
    return;
  }
  absl::StrAppend(&out, "Content-Length: ", reply.body.size(), "\r\n\r\n");
  if (form == BodyForm::kWhole) out.append(reply.body);
}

void AppendStreamHead(std::string& out, const ApiReply& reply) {
  AppendHead(out, reply);
  absl::StrAppend(&out, "Transfer-Encoding: chunked\r\n\r\n");
}

void AppendChunk(std::string& out, absl::string_view bytes) {
  absl::StrAppend(&out, absl::Hex(bytes.size()), "\r\n", bytes, "\r\n");
}

void AppendLastChunk(std::string& out) { absl::StrAppend(&out, "0\r\n\r\n"); }

ApiReply StatusReply(int code, absl::string_view reason, absl::string_view message) {
  ApiReply reply;
  reply.status = code;
  reply.body = Json::Object({{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", Json::Object()},
                             {"status", "Failure"},
                             {"message", Json(message)},
                             {"reason", Json(reason)},
                             {"code", Json(code)}})
                   .Dump();
  return reply;
}

}  // namespace maniple::devcluster
