# Writes a source file that holds all files of a folder:
#   cmake -DFOLDER=… -DOUTPUT=… -P embed_assets.cmake
file(GLOB assets RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT assets)
set(arrays "")
set(table "")
set(number 0)
foreach(asset IN LISTS assets)
  file(READ ${FOLDER}/${asset} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const unsigned char kAsset${number}[] = {${bytes}};\n")
  string(APPEND table "      {\"${asset}\", {reinterpret_cast<const char*>(kAsset${number}), sizeof(kAsset${number})}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made by embed_assets.cmake.
#include \"scheduler/page/page_assets.h\"

namespace maniple {
namespace {
${arrays}}  // namespace

const std::vector<PageAsset>& PageAssets() {
  static const std::vector<PageAsset> assets = {
${table}  };
  return assets;
}

}  // namespace maniple
")
