#include "test/support/temp_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "api/base/check.h"

namespace maniple {

TempFolder::TempFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "maniple-XXXXXX";
  CHECK(::mkdtemp(pattern.data()) != nullptr) << pattern << ": " << std::strerror(errno);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::Write(const std::string& name, const std::string& text) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file);
  out << text;
  CHECK(out.flush()) << file.string() << " cannot be written";
  return file;
}

std::string TempFolder::WriteProgram(const std::string& name, const std::string& text) const {
  const std::string file = Write(name, text);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

}  // namespace maniple
