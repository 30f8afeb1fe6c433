#include "api/producers/hyper_node_reader.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/codec/decode_parts.h"
#include "api/producers/fields.h"
#include "api/validation/pattern.h"

namespace maniple {
namespace {

// The text of the one field of an exactMatch or a regexMatch.
std::string ReadMatched(const Cursor& match, absl::string_view name) {
  std::string text;
  ForMember(match, name, [&text](const Cursor& field) { text = field.Text(); });
  if (text.empty()) match.Refuse(absl::StrCat(name, " is missing"));
  return text;
}

std::string ReadPattern(const Cursor& match) {
  std::string pattern = ReadMatched(match, "pattern");
  const absl::StatusOr<Pattern> compiled = Pattern::Compile(pattern);
  if (!compiled.ok()) match.Refuse(compiled.status().message());
  return pattern;
}

void ReadMemberSelector(const Cursor& selector, HyperNodeMember& member) {
  int selectors = 0;
  for (const Cursor& field : selector.Members()) {
    if (field.key() == "exactMatch") {
      ++selectors;
      member.name = ReadMatched(field, "name");
    } else if (field.key() == "regexMatch") {
      ++selectors;
      member.pattern = ReadPattern(field);
    } else if (field.key() == "labelMatch") {
      ++selectors;
      member.labels = ReadLabelSelector(field);
      if (member.type != HyperNodeMember::Type::kNode) field.Refuse("selects nodes only");
    }
  }
  if (selectors == 1) return;
  selector.Refuse(absl::StrCat("must have one of exactMatch, regexMatch and labelMatch, has ",
                               selectors == 0 ? "none" : "several"));
}

HyperNodeMember ReadMember(const Cursor& item) {
  using Type = HyperNodeMember::Type;
  HyperNodeMember member;
  bool has_type = false, has_selector = false;
  ForMember(item, "type", [&](const Cursor& type) {
    has_type = true;
    member.type =
        ReadWord<Type>(type, {{"Node", Type::kNode}, {"HyperNode", Type::kHyperNode}}, Type::kNode);
  });
  ForMember(item, "selector", [&](const Cursor& selector) {
    has_selector = true;
    ReadMemberSelector(selector, member);
  });
  if (!has_type) item.Refuse("type is missing");
  if (!has_selector) item.Refuse("selector is missing");
  return member;
}

std::vector<HyperNodeMember> ReadMembers(const Cursor& list) {
  std::vector<HyperNodeMember> members;
  int patterns = 0;
  for (const Cursor& item : list.Items()) {
    HyperNodeMember member = ReadMember(item);
    if (member.name.empty() && ++patterns > kMostHyperNodePatterns) {
      list.Refuse(absl::StrCat("more than ", kMostHyperNodePatterns,
                               " members that are selected by pattern or labels"));
      return members;
    }
    // As Volcano has it, no labels select nobody.
    if (member.labels.has_value() && member.labels->requirements.empty()) continue;
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace

HyperNode ReadHyperNode(const Cursor& root) {
  HyperNode read;
  ForMember(root, "spec", [&read](const Cursor& spec) {
    for (const Cursor& field : spec.Members()) {
      if (field.key() == "tier") {
        read.tier = static_cast<int32_t>(field.Int({.least = 1, .most = kMostTiers}));
      }
      if (field.key() == "tierName") read.tier_name = field.Text();
      if (field.key() == "members") read.members = ReadMembers(field);
    }
  });
  if (read.tier == 0) root.Refuse("spec.tier: is missing");
  return read;
}

}  // namespace maniple
