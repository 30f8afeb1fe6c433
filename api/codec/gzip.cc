#include "api/codec/gzip.h"

#include <zlib.h>

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"

namespace maniple {
namespace {

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
      // A file may be several, one behind the other, as `cat` puts them together.
      if (state == Z_STREAM_END && stream_.avail_in > 0) state = inflateReset(&stream_);
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

}  // namespace

std::string Gzip(absl::string_view text) {
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

absl::StatusOr<std::string> Gunzip(absl::string_view bytes, size_t most_bytes) {
  return Inflater().All(bytes, most_bytes);
}

bool IsGzip(absl::string_view bytes) { return absl::StartsWith(bytes, "\x1f\x8b"); }

}  // namespace maniple
