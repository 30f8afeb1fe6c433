// How sections of the configuration file are read: field by field, with every problem noted at its
// file, line and path, and fields that nobody asked for refused. Private to the readers of the
// configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"

namespace maniple {

// Collects problems, each with file, line and path; reading goes on so that one run shows them all.
// Borrows the document.
class Problems final {
 public:
  Problems(absl::string_view file, const YamlDocument& document)
      : file_(file), document_(document) {}

  void Add(const std::string& path, absl::string_view what);
  void Wrong(const std::string& path, absl::string_view expected, const Json& got);
  [[nodiscard]] absl::Status ToStatus() const;

 private:
  std::string file_;
  const YamlDocument& document_;
  std::vector<std::string> lines_;
};

// One map of the file: Read() once per known field, then Close() refuses what is left. Borrows map
// and problems.
class Section final {
 public:
  using Use = std::function<void(const Json&, const std::string& path)>;

  Section(const Json& map, std::string path, Problems& problems);

  void Read(absl::string_view key, const Use& use);
  // A map or list that has a reader of its own.
  template <typename Out>
  void Part(absl::string_view key,
            void (*read)(const Json&, const std::string& path, Problems&, Out&), Out& out) {
    Read(key, [&](const Json& v, const std::string& path) { read(v, path, problems_, out); });
  }
  // A map whose fields `use` reads; what it leaves is refused.
  void Map(absl::string_view key, const std::function<void(Section&)>& use);
  // Every field that is there, known or not, in the order of the file.
  void ReadAll(
      const std::function<void(const std::string& key, const Json&, const std::string& path)>& use);
  void String(absl::string_view key, std::string& out);
  void Bool(absl::string_view key, bool& out);
  void Int(absl::string_view key, int64_t least, int64_t most,
           const std::function<void(int64_t)>& set);
  // One of the words, each with its value: {{"Auto", kAuto}, {"Never", kNever}}.
  template <typename Value>
  void Word(absl::string_view key, const std::vector<std::pair<std::string, Value>>& words,
            Value& out) {
    std::vector<std::string> known;
    for (const auto& [word, value] : words) known.push_back(word);
    if (const std::optional<size_t> at = WordAt(key, known)) out = words[*at].second;
  }
  void Duration(absl::string_view key, absl::Duration& out);
  // `problem_of` says what is wrong with an item; "" = nothing.
  using ProblemOf = std::function<std::string(const std::string&)>;
  void Strings(absl::string_view key, std::vector<std::string>& out,
               const ProblemOf& problem_of = nullptr);
  void Wrong(const std::string& path, absl::string_view expected, const Json& got) {
    problems_.Wrong(path, expected, got);
  }
  void Close();

 private:
  [[nodiscard]] std::optional<size_t> WordAt(absl::string_view key,
                                             const std::vector<std::string>& words);
  [[nodiscard]] std::string Path(absl::string_view key) const;

  const Json& map_;
  std::string path_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace maniple
