#include "scheduler/replay/snapshot_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/check.h"
#include "api/base/status_macros.h"
#include "api/codec/decode.h"

namespace maniple {
namespace {

constexpr char kKind[] = "ManipleSnapshot";
constexpr int kGzip = 16;  // added to the window's bits, asks zlib for gzip's head and sum
constexpr size_t kChunk = size_t{1} << 16;

class Inflater final {
 public:
  Inflater() { CHECK(inflateInit2(&stream_, MAX_WBITS + kGzip) == Z_OK); }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  absl::StatusOr<std::string> All(absl::string_view bytes, size_t most) {
    // zlib reads through a pointer that is not const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    std::array<char, kChunk> chunk;
    int state = Z_OK;
    while (state == Z_OK) {
      stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream_.avail_out = chunk.size();
      state = inflate(&stream_, Z_NO_FLUSH);
      out.append(chunk.data(), chunk.size() - stream_.avail_out);
      if (out.size() > most) {
        return absl::InvalidArgumentError(
            absl::StrCat("it unpacks to more than ", most >> 20, " MiB"));
      }
    }
    if (state == Z_STREAM_END) return out;
    return absl::InvalidArgumentError(state == Z_BUF_ERROR ? "it is cut off"
                                                           : "it is no gzip file, or is damaged");
  }

 private:
  z_stream stream_{};
};

std::string Deflated(absl::string_view text) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 8,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

absl::Status Wrong(size_t line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

absl::StatusOr<absl::Time> ReadHead(const Json& head) {
  if (head["kind"].AsString() != kKind) return Wrong(1, "it is no snapshot of Maniple's");
  const int64_t version = head["version"].AsInt();
  if (version > kSnapshotVersion) {
    return Wrong(1, absl::StrCat("it is of version ", version, ", and this program reads up to ",
                                 kSnapshotVersion));
  }
  const absl::StatusOr<absl::Time> at = ParseKubernetesTime(head["at"].AsString());
  if (version < 1 || !at.ok()) return Wrong(1, "its version or its time makes no sense");
  return *at;
}

}  // namespace

std::string PackSnapshot(const ClusterSnapshot& snapshot) {
  std::string text =
      Json::Object(
          {{"kind", kKind},
           {"version", kSnapshotVersion},
           {"at", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", snapshot.at, absl::UTCTimeZone())}})
          .Dump();
  for (const Json& object : snapshot.objects) absl::StrAppend(&text, "\n", object.Dump());
  const Json end = Json::Object({{"end", static_cast<int64_t>(snapshot.objects.size())}});
  absl::StrAppend(&text, "\n", end.Dump(), "\n");
  return Deflated(text);
}

absl::StatusOr<ClusterSnapshot> UnpackSnapshot(absl::string_view bytes, size_t most_bytes) {
  ASSIGN_OR_RETURN(const std::string text, Inflater().All(bytes, most_bytes));
  ClusterSnapshot snapshot;
  size_t line = 0;
  for (const absl::string_view words : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    ++line;
    absl::StatusOr<Json> value = Json::Parse(words);
    if (!value.ok()) return Wrong(line, value.status().message());
    if (line == 1) {
      ASSIGN_OR_RETURN(snapshot.at, ReadHead(*value));
    } else if (value->Has("end")) {
      const bool whole = (*value)["end"].AsInt() == static_cast<int64_t>(snapshot.objects.size());
      return whole ? absl::StatusOr<ClusterSnapshot>(std::move(snapshot))
                   : Wrong(line, "objects are missing");
    } else {
      snapshot.objects.push_back(*std::move(value));
    }
  }
  return absl::InvalidArgumentError("it is cut off: its last line is missing");
}

}  // namespace maniple
