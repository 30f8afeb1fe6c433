#include "test/fuzz/client_targets.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/check.h"
#include "api/base/random.h"
#include "api/client/elector.h"
#include "api/client/kubeconfig.h"
#include "api/client/line_framer.h"
#include "api/codec/decode.h"
#include "api/codec/encode.h"
#include "api/codec/yaml.h"
#include "api/http/exec_plugin.h"
#include "api/http/reply_head.h"
#include "test/fuzz/byte_source.h"

namespace maniple {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// --- Lines
// ----------------------------------------------------------------------------------------
struct Framed {
  std::vector<std::string> lines;
  bool broken = false;
  friend bool operator==(const Framed&, const Framed&) = default;
};

Framed InChunks(absl::string_view text, size_t longest, uint64_t seed) {
  Framed out;
  LineFramer framer(longest);
  Random random(seed);
  while (!text.empty() && !out.broken) {
    const absl::string_view chunk = text.substr(0, seed == 0 ? text.size() : 1 + random.Below(9));
    text.remove_prefix(chunk.size());
    const absl::Status status = framer.Feed(chunk, [&out](absl::string_view line) {
      out.lines.emplace_back(line);
      return LineFramer::Go::kOn;
    });
    out.broken = !status.ok();
    CHECK(framer.partial() <= longest);
  }
  return out;
}

Framed Naively(absl::string_view text, size_t longest) {
  Framed out;
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() > longest) {
      out.broken = true;
      return out;
    }
    const absl::string_view line = absl::StripSuffix(lines[i], "\r");
    if (i + 1 < lines.size() && !line.empty()) out.lines.emplace_back(line);
  }
  return out;
}

// --- Secrets
// --------------------------------------------------------------------------------------
// What the corpora plant in each secret: any other text may be a word of our own errors.
constexpr absl::string_view kPlanted = "planted";

struct Words {
  std::vector<std::string> secrets;
  std::string others;
};

void Gather(const Json& value, bool secret, Words& out) {
  if (value.is_string()) {
    if (!secret) absl::StrAppend(&out.others, value.AsString(), "\n");
    if (secret && absl::StrContains(value.AsString(), kPlanted)) {
      out.secrets.push_back(value.AsString());
    }
  }
  for (const Json& item : value.items()) Gather(item, secret, out);
  for (const auto& [key, member] : value.members()) {
    absl::StrAppend(&out.others, key, "\n");
    const bool hides = key == "token" || key == "password" || key == "client-key-data" ||
                       key == "clientKeyData" || key == "clientCertificateData";
    Gather(member, secret || hides, out);
  }
}

// A secret that also stands elsewhere in the file is none.
std::string ToldSecret(absl::string_view said, const Words& words) {
  for (const std::string& secret : words.secrets) {
    if (absl::StrContains(said, secret) && !absl::StrContains(words.others, secret)) {
      return absl::StrCat("a secret is told: ", said);
    }
  }
  return "";
}

// A file in memory, for what reads files.
class MemoryFile final {
 public:
  MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) { CHECK(descriptor_ >= 0); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  void Write(absl::string_view text) const {
    CHECK(ftruncate(descriptor_, 0) == 0);
    CHECK(pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string path() const { return absl::StrCat("/proc/self/fd/", descriptor_); }

 private:
  const int descriptor_;
};

// --- The Lease
// ------------------------------------------------------------------------------------ What follows
// from the answer to the one open request.
HttpActions Answer(Elector& elector, RequestId request, absl::string_view body) {
  HttpActions out;
  const auto give = [&](HttpInput input) {
    HttpActions actions = elector.On(input, kNow);
    for (HttpStart& start : actions.start) out.start.push_back(std::move(start));
  };
  give({request, HttpHead{.status = 200, .content_type = "application/json", .retry_after = {}}});
  give({request, HttpChunk{std::string(body)}});
  give({request, HttpEnd{}});
  return out;
}

}  // namespace

std::string FuzzLines(absl::string_view bytes) {
  ByteSource source(bytes);
  const size_t longest = source.Byte();
  const uint64_t seed = 1 + source.Byte();
  const absl::string_view text = source.Rest();
  const Framed naive = Naively(text, longest);
  if (!(InChunks(text, longest, 0) == naive)) return "the whole is framed otherwise";
  return InChunks(text, longest, seed) == naive ? "" : "chunks are framed otherwise";
}

std::string FuzzReplyHead(absl::string_view bytes) {
  ReplyHead reader;
  HttpHead expected;
  for (absl::string_view line : absl::StrSplit(bytes, '\n')) {
    const std::optional<HttpHead> head = reader.OnLine(line);
    line = absl::StripTrailingAsciiWhitespace(line);
    if (head.has_value()) {
      if (!line.empty()) return "a head ends before its blank line";
      if (head->status < 200 || head->status > 999) return absl::StrCat("status ", head->status);
      if (head->status != expected.status) return "another status";
      if (head->content_type != expected.content_type) return "another content type";
      if (head->retry_after != expected.retry_after) return "another time to come back";
    }
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    const absl::string_view value = absl::StripAsciiWhitespace(field.second);
    int64_t seconds = 0;
    if (line.empty()) {
      expected = {};
    } else if (absl::StartsWith(line, "HTTP/")) {
      expected = {};
      const std::pair<absl::string_view, absl::string_view> words =
          absl::StrSplit(line, absl::MaxSplits(' ', 1));
      if (!absl::SimpleAtoi(words.second.substr(0, 3), &expected.status)) expected.status = 0;
    } else if (absl::AsciiStrToLower(field.first) == "content-type" &&
               line.find(':') != line.npos) {
      expected.content_type = std::string(value.substr(0, 256));
    } else if (absl::AsciiStrToLower(field.first) == "retry-after" && line.find(':') != line.npos) {
      expected.retry_after.reset();
      if (absl::SimpleAtoi(value, &seconds) && seconds >= 0) {
        expected.retry_after = absl::Seconds(std::min<int64_t>(seconds, 60));
      }
    }
  }
  return "";
}

std::string FuzzLease(absl::string_view bytes) {
  Elector elector({.identity = "me", .owner = 1}, 1);
  HttpActions actions = elector.Start(kNow);
  if (actions.start.size() != 1) return "does not begin by reading the lease";
  actions = Answer(elector, actions.start.front().id, bytes);
  if (elector.state() == ElectorState::kLeading || elector.lead_until() > kNow) {
    return "leads after a look";
  }
  if (actions.start.size() > 1) return "asks twice at a time";
  if (actions.start.empty()) {
    return elector.NextDeadline() == absl::InfiniteFuture() ? "rests for ever" : "";
  }
  const HttpRequest& write = actions.start.front().request;
  const absl::StatusOr<Json> written = Json::Parse(write.body);
  const absl::StatusOr<Json> read = Json::Parse(bytes);
  if (!written.ok() || !read.ok()) return "writes what is no JSON, or over what is none";
  const std::string& version = (*read).At("metadata.resourceVersion").AsString();
  if (version.empty() || written->At("metadata.resourceVersion").AsString() != version) {
    return "writes without the version that it has read";
  }
  if (written->At("spec.holderIdentity").AsString() != "me") return "writes for another";
  static_cast<void>(Answer(elector, actions.start.front().id, write.body));
  if (elector.lead_until() > kNow + absl::Seconds(10)) return "leads for too long";
  return "";
}

std::string FuzzKubeconfig(absl::string_view bytes) {
  static const MemoryFile file;
  file.Write(bytes);
  const ClientConfigSource source{.kubeconfig = file.path()};
  const absl::StatusOr<ClientConfig> config = LoadClientConfig(source);
  if (config.status() != LoadClientConfig(source).status()) return "two answers to one file";
  if (config.ok()) {
    if (!absl::StartsWith(config->server, "http://") &&
        !absl::StartsWith(config->server, "https://")) {
      return absl::StrCat("a server that is no URL: ", config->server);
    }
    const bool knows = !config->credentials.token.empty() || !config->credentials.password.empty();
    return knows && absl::StartsWith(config->server, "http://") ? "a credential over plain HTTP"
                                                                : "";
  }
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(bytes);
  Words words;
  if (documents.ok()) {
    for (const YamlDocument& document : *documents) Gather(document.value, false, words);
  }
  return ToldSecret(config.status().message(), words);
}

std::string FuzzExecCredential(absl::string_view bytes) {
  const ExecPluginConfig config{.command = "plugin",
                                .args = {},
                                .env = {},
                                .api_version = "client.authentication.k8s.io/v1",
                                .cluster_info = ""};
  const absl::StatusOr<ExecCredential> credential = ParseExecCredential(config, bytes);
  const absl::StatusOr<Json> json = Json::Parse(bytes);
  if (!credential.ok()) {
    Words words;
    if (json.ok()) Gather(Json::Object({{"token", *json}}), false, words);
    return ToldSecret(credential.status().message(), words);
  }
  if (!json.ok()) return "a credential that is no JSON";
  const Json& status = (*json)["status"];
  if (credential->token.Reveal() != status["token"].AsString()) return "another token";
  if (credential->key_pem.Reveal() != status["clientKeyData"].AsString()) return "another key";
  if (credential->token.empty() && credential->key_pem.empty()) return "neither token nor key";
  return "";
}

}  // namespace maniple
