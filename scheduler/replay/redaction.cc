#include "scheduler/replay/redaction.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/replay/redaction_words.h"

namespace maniple {
namespace {

// The nature of a map's keys.
enum class Keys { kFields, kLabels, kAnnotations, kResources, kNames };

using Rename = std::function<std::string(absl::string_view piece)>;

Keys KeysOf(absl::string_view field) {
  for (const absl::string_view map : {"labels", "nodeSelector", "matchLabels", "nodeLabels"}) {
    if (field == map) return Keys::kLabels;
  }
  for (const absl::string_view map :
       {"requests", "limits", "allocatable", "capacity", "overhead", "minResources"}) {
    if (field == map) return Keys::kResources;
  }
  if (field == "minTaskMember") return Keys::kNames;  // of tasks
  return field == "annotations" ? Keys::kAnnotations : Keys::kFields;
}

// The end of the IPv4 address that begins there: four numbers with dots between them, or with
// hyphens behind "ip-", as AWS calls nodes. `from` where there is none.
size_t EndOfAddress(absl::string_view text, size_t from) {
  const char between = absl::EndsWith(text.substr(0, from), "ip-") ? '-' : '.';
  size_t at = from;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at == text.size() || text[at++] != between)) return from;
    const size_t begin = at;
    while (at < text.size() && absl::ascii_isdigit(text[at])) ++at;
    int number = 0;
    if (at - begin > 3 || !absl::SimpleAtoi(text.substr(begin, at - begin), &number) ||
        number > 255) {
      return from;
    }
  }
  return at < text.size() && absl::ascii_isalnum(text[at]) ? from : at;
}

std::string TextOf(absl::string_view text, const Rename& rename) {
  if (IsPublic(text)) return std::string(text);
  std::string out;
  size_t end_of_address = 0;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && absl::ascii_isalnum(text[end])) ++end;
    if (end == i) {
      // Characters beyond ASCII are dropped; they part pieces like separators.
      if (absl::ascii_isascii(text[i])) out += text[i];
      ++i;
      continue;
    }
    if (i >= end_of_address) end_of_address = EndOfAddress(text, i);
    const absl::string_view piece = text.substr(i, end - i);
    const bool stays = i >= end_of_address && IsPublicPiece(piece);
    out += stays ? std::string(piece) : rename(piece);
    i = end;
  }
  return out;
}

class Walker final {
 public:
  Walker(const absl::flat_hash_set<std::string>& kept_labels, const Rename& rename)
      : kept_labels_(kept_labels), rename_(rename) {}

  Json Walk(const Json& value, Keys keys) const {
    if (value.is_string()) {
      // A selector or a level names the label.
      return kept_labels_.contains(value.AsString()) ? value : TextOf(value.AsString(), rename_);
    }
    if (value.is_array()) {
      std::vector<Json> items;
      for (const Json& item : value.items()) items.push_back(Walk(item, Keys::kFields));
      return Json::Array(std::move(items));
    }
    if (!value.is_object()) return value;
    const bool asks_of_kept = keys == Keys::kFields && StaysWithValue(value["key"].AsString());
    std::vector<Json::Member> members;
    for (const Json::Member& member : value.members()) {
      if (asks_of_kept && member.first == "values") {
        members.push_back(member);
      } else {
        AddMember(member, keys, members);
      }
    }
    return Json::Object(std::move(members));
  }

 private:
  [[nodiscard]] bool StaysWithValue(absl::string_view label) const {
    return kept_labels_.contains(label) || TellsOfGpus(label);
  }
  void AddMember(const Json::Member& member, Keys keys, std::vector<Json::Member>& out) const {
    const auto& [key, value] = member;
    switch (keys) {
      case Keys::kFields:
        if (IsPrivateField(key)) return;
        out.emplace_back(IsIdentifier(key) ? key : TextOf(key, rename_),
                         IsPublicField(key) ? value : Walk(value, KeysOf(key)));
        return;
      case Keys::kNames:
      case Keys::kResources:
        out.emplace_back(TextOf(key, rename_), value);
        return;
      case Keys::kLabels: {
        const bool kept = kept_labels_.contains(key);
        out.emplace_back(kept ? key : TextOf(key, rename_),
                         StaysWithValue(key) ? value : Walk(value, Keys::kFields));
        return;
      }
      case Keys::kAnnotations:
        if (IsReadAnnotation(key)) out.emplace_back(key, AnnotationValue(value.AsString()));
        return;
    }
  }
  // Some annotations hold JSON.
  [[nodiscard]] Json AnnotationValue(const std::string& text) const {
    const absl::StatusOr<Json> inner = Json::Parse(text);
    const bool structured = inner.ok() && (inner->is_object() || inner->is_array());
    return structured ? Walk(*inner, Keys::kFields).Dump() : TextOf(text, rename_);
  }
  // Keys like names of fields; other keys were chosen by users.
  static bool IsIdentifier(absl::string_view key) {
    return !key.empty() && std::ranges::all_of(key, absl::ascii_isalpha);
  }

  const absl::flat_hash_set<std::string>& kept_labels_;
  const Rename& rename_;
};

// Only the served kind and the scope of its objects.
Json DefinitionWithoutWords(const Json& definition) {
  const Json& spec = definition["spec"];
  Json versions = Json::Array();
  for (const Json& version : spec["versions"].items()) {
    Json schema = Json::Object(
        {{"openAPIV3Schema",
          Json::Object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}})}});
    versions.Append(Json::Object({{"name", version["name"]},
                                  {"served", version["served"]},
                                  {"storage", version["storage"]},
                                  {"schema", std::move(schema)},
                                  {"subresources", version["subresources"]}}));
  }
  return Json::Object({{"apiVersion", definition["apiVersion"]},
                       {"kind", definition["kind"]},
                       {"metadata", Json::Object({{"name", definition["metadata"]["name"]}})},
                       {"spec", Json::Object({{"group", spec["group"]},
                                              {"names", spec["names"]},
                                              {"scope", spec["scope"]},
                                              {"versions", std::move(versions)}})}});
}

bool IsDefinition(const Json& object) {
  return object["kind"].AsString() == "CustomResourceDefinition";
}

// In the order of `rank` among those with the same letters: "c00", "c01", … "czz".
std::string NameAt(absl::string_view letters, size_t rank, size_t digits) {
  constexpr absl::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string name = absl::StrCat(letters, std::string(digits, '0'));
  for (size_t i = name.size(); i > letters.size(); --i, rank /= kDigits.size()) {
    name[i - 1] = kDigits[rank % kDigits.size()];
  }
  return name;
}

size_t DigitsFor(size_t names) {
  size_t digits = 1;
  for (size_t most = 36; most < names; most *= 36) ++digits;
  return digits;
}

}  // namespace

Redaction::Redaction(const std::vector<Json>& objects, const std::vector<std::string>& kept_labels)
    : hyper_nodes_(objects), kept_labels_(kept_labels.begin(), kept_labels.end()) {
  absl::flat_hash_set<std::string> found;
  const Rename collect = [&found](absl::string_view piece) {
    found.emplace(piece);
    return std::string();
  };
  const Walker walker(kept_labels_, collect);
  for (const Json& object : objects) {
    if (IsDefinition(object)) continue;
    const bool is_hyper_node = HyperNodeNames::IsHyperNode(object);
    walker.Walk(is_hyper_node ? hyper_nodes_.WithoutPatterns(object) : object, Keys::kFields);
  }
  std::vector<std::string> pieces(found.begin(), found.end());
  std::ranges::sort(pieces);
  // Public words keep their names, and their places among the others.
  const size_t digits = DigitsFor(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    names_[pieces[i]] = NameAt(LettersFor(pieces[i]), i, digits);
  }
}

Json Redaction::Of(const Json& object) const {
  if (IsDefinition(object)) return DefinitionWithoutWords(object);
  const Rename rename = [this](absl::string_view piece) {
    const auto name = names_.find(piece);
    return name == names_.end() ? std::string("unknown") : name->second;
  };
  const bool is_hyper_node = HyperNodeNames::IsHyperNode(object);
  return Walker(kept_labels_, rename)
      .Walk(is_hyper_node ? hyper_nodes_.WithoutPatterns(object) : object, Keys::kFields);
}

// A name may be a word that stays, and does so beside others, too.
std::string Redaction::NameOf(absl::string_view text) const {
  if (IsPublic(text)) return std::string(text);
  return absl::StrJoin(absl::StrSplit(text, '/'), "/",
                       [this](std::string* out, absl::string_view name) {
                         absl::StrAppend(out, Of(Json(name)).AsString());
                       });
}

std::vector<std::string> LabelsReadOfGpus(const GpuRules& rules) {
  std::vector<std::string> labels;
  for (const LabelKeys* keys :
       {&rules.product, &rules.family, &rules.memory, &rules.count, &rules.replicas,
        &rules.sharing_strategy, &rules.partition, &rules.mig_strategy, &rules.mig_config_state,
        &rules.driver_upgrade_state, &rules.fabric}) {
    labels.insert(labels.end(), keys->begin(), keys->end());
  }
  for (const LinkageRule& rule : rules.linkage) labels.push_back(rule.label);
  return labels;
}

}  // namespace maniple
