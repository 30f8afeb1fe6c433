// Who is a member of whom, where owners select their members by name, by pattern or by labels.
//
// Owned by a HyperNodeTree; scheduling thread. A member that is named need not be there; patterns
// and labels select among those that are. A change costs what it changes, but for these: an owner
// with patterns or labels looks at all who are there when it changes, and whoever comes, or has
// other labels that somebody asks about, is looked at by all such owners.
//
// Invariants:
//   1. MembersOf and OwnersOf say the same.
//   2. Of everybody who is there the labels are known that some owner has asked about.
#pragma once

#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/model/hyper_node.h"
#include "api/validation/pattern.h"

namespace maniple {

class MemberIndex final {
 public:
  using Names = absl::btree_set<std::string>;
  // All labels of one that is there.
  using LabelSource = absl::FunctionRef<StringMap(absl::string_view)>;

  // What the owner selects from now on; nothing: it is no owner any more. Returns who became its
  // member and who was one; in order. A pattern that is no regular expression selects nobody.
  std::vector<std::string> Select(absl::string_view owner,
                                  const std::vector<HyperNodeMember>& selectors,
                                  LabelSource labels_of);

  // It is there, with these labels.
  void Put(absl::string_view name, const StringMap& labels);
  void Remove(absl::string_view name);

  [[nodiscard]] const Names& OwnersOf(absl::string_view name) const;
  [[nodiscard]] const Names& MembersOf(absl::string_view owner) const;

 private:
  struct Selectors {
    Names names;
    std::vector<Pattern> patterns;
    std::vector<LabelSelector> labels;
  };
  [[nodiscard]] static bool Matches(const Selectors& selectors, absl::string_view name,
                                    const StringMap& labels);
  void AskAbout(const std::vector<LabelSelector>& selectors, LabelSource labels_of);
  [[nodiscard]] StringMap AskedOf(const StringMap& labels) const;
  void Link(absl::string_view owner, absl::string_view name);
  void Unlink(absl::string_view owner, absl::string_view name);

  Names asked_;                                            // keys of labels
  absl::flat_hash_map<std::string, StringMap> there_;      // with those of their labels
  absl::flat_hash_map<std::string, Selectors> selectors_;  // by owner
  Names by_pattern_, by_labels_;                           // owners that look for members
  absl::flat_hash_map<std::string, Names> owners_of_, members_of_;
};

}  // namespace maniple
