// A JSON text as one flat run of tokens that is reused from text to text: what the decoders of
// decode.h walk over.
//
// Nothing here recurses, so nesting costs heap only, and a bound on tokens limits that. Values of
// fields that no decoder reads (managedFields, env, images …) are passed over as raw bytes: they
// are checked for balanced brackets and closed strings, no more. Strings are as the text has them,
// escapes resolved; the decoders check the encoding of those they keep. Private to this room. One
// thread.
//
//   TapeReader reader;
//   Tape tape;
//   RETURN_IF_ERROR(reader.Read(text, tape));
//   const Token& root = tape.root();
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace maniple {

enum class TokenType : uint8_t { kNull, kBool, kNumber, kString, kKey, kArray, kObject };

struct Token {
  const char* text = nullptr;  // of a key, string or number; of a bool "true" or "false"
  uint32_t size = 0;           // bytes of text
  // Tokens of this value, itself included: `this + extent` is what comes after it.
  uint32_t extent = 1;
  TokenType type = TokenType::kNull;

  [[nodiscard]] absl::string_view view() const { return {text, size}; }
};

// Invariants:
//   1. A container is followed by its items, or by pairs of a kKey and a value,
//      up to `this + extent`.
//   2. Texts stay where they are until Clear, or until the text that was read is gone.
class Tape final {
 public:
  // More than any object that an API server stores can have.
  static constexpr size_t kMaxTokens = 2'000'000;

  void Clear();
  [[nodiscard]] bool empty() const { return tokens_.empty(); }
  [[nodiscard]] bool full() const { return tokens_.size() >= kMaxTokens; }
  [[nodiscard]] const Token& root() const { return tokens_.front(); }

  // REQUIRES: the text outlives the token.
  void Add(TokenType type, absl::string_view text);
  // A copy that stays until Clear.
  [[nodiscard]] absl::string_view Keep(absl::string_view text);
  void Open(TokenType type);
  void Close();

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };
  std::vector<Token> tokens_;
  std::vector<uint32_t> open_;  // indices of containers not yet closed
  std::vector<Chunk> chunks_;   // the last one is being filled
  size_t used_ = 0;             // of the last chunk
};

class TapeReader final {
 public:
  TapeReader();
  ~TapeReader();
  TapeReader(const TapeReader&) = delete;
  TapeReader& operator=(const TapeReader&) = delete;

  // Which fields are passed over: those that no decoder reads; or, in an object whose fields its
  // users name, those alone that the server keeps for itself.
  enum class Passing { kUnread, kManagedFields };

  // Exactly one JSON value with nothing but white space around it; else InvalidArgument with the
  // byte offset. The tape points into the text.
  absl::Status Read(absl::string_view text, Tape& tape, Passing passing = Passing::kUnread);

  // Reads an object into `head`, but hands over each element of its member "items" as soon as that
  // ends, in `item`, which is reused for the next.
  struct ListTapes {
    Tape& head;
    Tape& item;
    Passing passing = Passing::kUnread;
  };
  absl::Status ReadList(absl::string_view text, ListTapes tapes,
                        absl::FunctionRef<void(const Tape&)> on_item);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
