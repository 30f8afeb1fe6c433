# Writes OUTPUT, a C++ source with the text of every manifest in CRDS (a list of files), so that no path is needed at run time.
#   cmake -DOUTPUT=… -DCRDS=a.yaml,b.yaml -P embed_crds.cmake
string(REPLACE "," ";" CRDS "${CRDS}")
set(source "#include \"api/validation/crds.h\"\n\nnamespace maniple {\n\n")
string(APPEND source "absl::Span<const EmbeddedCrd> EmbeddedCrds() {\n  static constexpr EmbeddedCrd kCrds[] = {\n")
foreach(crd IN LISTS CRDS)
  file(READ "${crd}" text)
  get_filename_component(name "${crd}" NAME)
  string(APPEND source "      {\"${name}\", R\"---yaml(${text})---yaml\"},\n")
endforeach()
string(APPEND source "  };\n  return kCrds;\n}\n\n}  // namespace maniple\n")
file(WRITE "${OUTPUT}" "${source}")
