// The words of a cluster's objects that identify nobody. Pure functions of data.
#pragma once

#include "absl/strings/string_view.h"

namespace maniple {

// A word of an API, an amount, a time, a short number, or a label key or resource
// of a well-known project.
[[nodiscard]] bool IsPublic(absl::string_view text);
// A piece of a name: a short number, or a word that code puts beside names: "launcher", "latest".
[[nodiscard]] bool IsPublicPiece(absl::string_view piece);
// Letters for a name in place of the piece, which sort among the public words as the piece does,
// and with which none of these begins.
[[nodiscard]] absl::string_view LettersFor(absl::string_view piece);
// A label whose value is a model of GPU, or tells how a GPU is shared or divided.
[[nodiscard]] bool TellsOfGpus(absl::string_view label);
// An annotation that decisions look at.
[[nodiscard]] bool IsReadAnnotation(absl::string_view key);
// A field, at any depth, that no decision rests on: commands, free text, addresses.
[[nodiscard]] bool IsPrivateField(absl::string_view field);
// A field whose value is a word of an API, or of the configuration: "kind", "schedulerName".
[[nodiscard]] bool IsPublicField(absl::string_view field);

}  // namespace maniple
