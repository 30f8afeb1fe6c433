#include "api/devcluster/rest/field_check.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/devcluster/types/builtin_schema.h"
#include "api/devcluster/types/names.h"
#include "api/validation/schema.h"

namespace maniple::devcluster {
namespace {

constexpr size_t kMaxDuplicates = 32;
constexpr ptrdiff_t kManyKeys = 32;

// Walks over a JSON text that is known to be well formed, keeping the keys of the open objects.
class DuplicateScan final {
 public:
  explicit DuplicateScan(absl::string_view text) : text_(text) {}

  std::vector<std::string> Run() {
    while (at_ < text_.size() && found_.size() < kMaxDuplicates) {
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        levels_.push_back({.is_object = c == '{', .seen = seen_.size()});
        ++at_;
      } else if (c == '}' || c == ']') {
        if (!levels_.empty()) {
          seen_.resize(levels_.back().seen);
          levels_.pop_back();
        }
        ++at_;
      } else if (c == ',') {
        if (!levels_.empty()) Next(levels_.back());
        ++at_;
      } else if (c == '"') {
        const absl::string_view raw = TakeString();
        if (!levels_.empty() && levels_.back().is_object && levels_.back().wants_key) Key(raw);
      } else {
        ++at_;
      }
    }
    return std::move(found_);
  }

 private:
  struct Level {
    bool is_object = false;
    bool wants_key = true;
    size_t index = 0;
    absl::string_view key = {};
    size_t seen = 0;  // where its keys begin in seen_
    std::unique_ptr<std::set<absl::string_view>> many = {};
  };
  static void Next(Level& level) {
    level.wants_key = true;
    ++level.index;
  }
  absl::string_view TakeString() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const size_t end = std::min(at_, text_.size());
    ++at_;
    return text_.substr(begin, end - begin);
  }
  void Key(absl::string_view raw) {
    Level& level = levels_.back();
    level.wants_key = false;
    level.key = raw;
    if (HasSeen(level, raw)) {
      found_.push_back(Path());
    } else {
      seen_.push_back(raw);
    }
  }
  // Most objects have few keys; those of one with very many are kept in order too.
  bool HasSeen(Level& level, absl::string_view key) {
    const auto begin = seen_.begin() + static_cast<ptrdiff_t>(level.seen);
    if (seen_.end() - begin < kManyKeys) return std::find(begin, seen_.end(), key) != seen_.end();
    if (level.many == nullptr) {
      level.many = std::make_unique<std::set<absl::string_view>>(begin, seen_.end());
    }
    return !level.many->insert(key).second;
  }
  std::string Path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (!level.is_object) {
        absl::StrAppend(&path, "[", level.index, "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".", level.key);
      }
    }
    return path;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  std::vector<Level> levels_;
  std::vector<absl::string_view> seen_;  // of the open objects, one after the other
  std::vector<std::string> found_;
};

}  // namespace

ApiOr<FieldValidation> ParseFieldValidation(const Query& query, absl::string_view options_kind) {
  const std::string& value = query.Get("fieldValidation");
  if (value.empty() || value == "Warn") return FieldValidation::kWarn;
  if (value == "Ignore") return FieldValidation::kIgnore;
  if (value == "Strict") return FieldValidation::kStrict;
  return InvalidOptions(options_kind, {NotSupportedValue("fieldValidation", value,
                                                         {"", "Ignore", "Strict", "Warn"})});
}

std::vector<std::string> DuplicateFields(absl::string_view text) {
  return DuplicateScan(text).Run();
}

std::vector<std::string> StrictProblems(const ResourceType& type, const Json& object,
                                        absl::string_view text) {
  std::vector<std::string> problems;
  for (const std::string& path : DuplicateFields(text)) {
    problems.push_back(absl::StrCat("duplicate field \"", path, "\""));
  }
  const std::vector<std::string> unknown =
      type.schema != nullptr ? type.schema->UnknownFields(object) : UnknownFields(object);
  for (const std::string& path : unknown) {
    problems.push_back(absl::StrCat("unknown field \"", path, "\""));
  }
  return problems;
}

}  // namespace maniple::devcluster
