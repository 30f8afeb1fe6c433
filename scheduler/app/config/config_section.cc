#include "scheduler/app/config/config_section.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/app/config/config_duration.h"

namespace maniple {
namespace {

// Whatever bytes a key or a value has.
std::string OnOneLine(absl::string_view text) {
  std::string line;
  for (const char byte : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(byte))) {
      absl::StrAppend(&line, "\\x", absl::Hex(static_cast<unsigned char>(byte), absl::kZeroPad2));
    } else {
      line += byte;
    }
  }
  return line;
}

std::string TypeName(const Json& value) {
  switch (value.type()) {
    case Json::Type::kNull:
      return "nothing";
    case Json::Type::kBool:
      return value.AsBool() ? "true" : "false";
    case Json::Type::kInt:
    case Json::Type::kDouble:
      return value.Dump();
    case Json::Type::kString:
      return absl::StrCat("\"", value.AsString().substr(0, 64), "\"");
    case Json::Type::kArray:
      return "a list";
    case Json::Type::kObject:
      return "a map";
  }
  return "something else";
}

}  // namespace

void Problems::Add(const std::string& path, absl::string_view what) {
  const int line = document_.LineOf(path);
  lines_.push_back(
      OnOneLine(absl::StrCat(file_, ":", line, ": ", path.empty() ? "" : path + ": ", what)));
}

void Problems::Wrong(const std::string& path, absl::string_view expected, const Json& got) {
  Add(path, absl::StrCat("expected ", expected, ", got ", TypeName(got)));
}

absl::Status Problems::ToStatus() const {
  if (lines_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(lines_, "\n"));
}

Section::Section(const Json& map, std::string path, Problems& problems)
    : map_(map), path_(std::move(path)), problems_(problems) {
  if (!map.is_object()) Wrong(path_, "a map", map);
}

void Section::Read(absl::string_view key, const Use& use) {
  known_.emplace_back(key);
  if (const Json* value = map_.Find(key)) use(*value, Path(key));
}

void Section::Map(absl::string_view key, const std::function<void(Section&)>& use) {
  Read(key, [&](const Json& v, const std::string& path) {
    Section section(v, path, problems_);
    use(section);
    section.Close();
  });
}

void Section::ReadAll(
    const std::function<void(const std::string& key, const Json&, const std::string& path)>& use) {
  for (const Json::Member& member : map_.members()) {
    known_.push_back(member.first);
    use(member.first, member.second, Path(member.first));
  }
}

void Section::String(absl::string_view key, std::string& out) {
  Read(key, [&](const Json& v, const std::string& path) {
    if (!v.is_string()) return Wrong(path, "a string", v);
    out = v.AsString();
  });
}

void Section::Bool(absl::string_view key, bool& out) {
  Read(key, [&](const Json& v, const std::string& path) {
    if (!v.is_bool()) return Wrong(path, "true or false", v);
    out = v.AsBool();
  });
}

void Section::Int(absl::string_view key, int64_t least, int64_t most,
                  const std::function<void(int64_t)>& set) {
  Read(key, [&](const Json& v, const std::string& path) {
    if (!v.is_int()) return Wrong(path, "an integer", v);
    if (v.AsInt() < least || v.AsInt() > most) {
      return problems_.Add(path, absl::StrCat(v.AsInt(), " is outside ", least, "..", most));
    }
    set(v.AsInt());
  });
}

std::optional<size_t> Section::WordAt(absl::string_view key,
                                      const std::vector<std::string>& words) {
  std::optional<size_t> at;
  Read(key, [&](const Json& v, const std::string& path) {
    const auto word = std::find(words.begin(), words.end(), v.is_string() ? v.AsString() : "");
    if (word == words.end()) {
      const std::vector<std::string> first(words.begin(), words.end() - 1);
      return Wrong(path, absl::StrCat(absl::StrJoin(first, ", "), " or ", words.back()), v);
    }
    at = static_cast<size_t>(word - words.begin());
  });
  return at;
}

void Section::Duration(absl::string_view key, absl::Duration& out) {
  Read(key, [&](const Json& v, const std::string& path) {
    if (!v.is_string()) return Wrong(path, "a duration such as 300ms or 10m", v);
    const absl::StatusOr<absl::Duration> parsed = ParseConfigDuration(v.AsString());
    if (!parsed.ok()) return problems_.Add(path, parsed.status().message());
    out = *parsed;
  });
}

void Section::Strings(absl::string_view key, std::vector<std::string>& out,
                      const ProblemOf& problem_of) {
  Read(key, [&](const Json& v, const std::string& path) {
    if (!v.is_array()) return Wrong(path, "a list of strings", v);
    out.clear();
    for (size_t i = 0; i < v.items().size(); ++i) {
      const Json& item = v.items()[i];
      const std::string at = absl::StrCat(path, "[", i, "]");
      if (!item.is_string() || item.AsString().empty()) {
        Wrong(at, "a string that is not empty", item);
        continue;
      }
      out.push_back(item.AsString());
      const std::string problem = problem_of != nullptr ? problem_of(out.back()) : "";
      if (!problem.empty()) problems_.Add(at, problem);
    }
  });
}

void Section::Close() {
  for (const Json::Member& member : map_.members()) {
    if (std::find(known_.begin(), known_.end(), member.first) == known_.end()) {
      problems_.Add(Path(member.first), "unknown field");
    }
  }
}

std::string Section::Path(absl::string_view key) const {
  return path_.empty() ? std::string(key) : absl::StrCat(path_, ".", key);
}

}  // namespace maniple
