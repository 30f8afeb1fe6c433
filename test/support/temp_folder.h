// A folder of its own for one test, which leaves with everything in it.
//
//   TempFolder folder;
//   config.token_file = folder.Write("token", "one");
#pragma once

#include <filesystem>
#include <string>

namespace maniple {

class TempFolder final {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string In(const std::string& name) const { return path_ / name; }
  // Makes the file, and folders on the way to it; its path.
  std::string Write(const std::string& name, const std::string& text) const;
  // One that may be run.
  std::string WriteProgram(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace maniple
