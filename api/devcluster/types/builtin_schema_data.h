// The text that the table of built-in types is read from; see builtin_schema.h for the table
// itself.
//
// One message a paragraph: `Name: NUMBER=jsonName/TYPE …`; a field without a type is a string, one
// without a JSON name is inlined. TYPE is `*` for a pointer, `[` for a list or `{` for a map with
// string keys, then a letter (s string, i integer, b bool, d double, y bytes, q Quantity, T Time,
// M MicroTime, D Duration, I IntOrString, F FieldsV1, R RawExtension, L list of strings as one
// value) or the name of a message; `!` at the end marks a field that JSON shows even when empty.
// `@apiVersion: Kind …` names the kinds, `Kind=Message` where the names differ.
#pragma once

namespace maniple::devcluster {

extern const char kCoreSchema[];
extern const char kGroupSchema[];

}  // namespace maniple::devcluster
