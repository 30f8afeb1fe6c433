#include "api/base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "test/support/temp_folder.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  [[nodiscard]] std::string In(const std::string& name) const { return folder_.In(name); }

  const TempFolder folder_;
};

TEST_F(Files, AreReadAsTheyWereWritten) {
  const std::string bytes = std::string("a\0b\xff\n", 5) + std::string(200000, 'x');
  ASSERT_TRUE(WriteWholeFile(In("f"), bytes, FileAccess::kAll).ok());
  const absl::StatusOr<std::string> read = ReadWholeFile(In("f"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, bytes);
}

TEST_F(Files, OfTheOwnerAreReadByNobodyElse) {
  ASSERT_TRUE(WriteWholeFile(In("f"), "secret", FileAccess::kOwner).ok());
  struct stat info {};
  ASSERT_EQ(::stat(In("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

TEST_F(Files, ThatAreMissingOrFoldersAreErrorsWithThePath) {
  for (const std::string& path : {In("none"), folder_.path().string()}) {
    EXPECT_THAT(std::string(ReadWholeFile(path).status().message()), HasSubstr(path));
  }
}

TEST_F(Files, OfAFolderAreItsManifestsAtAnyDepth) {
  for (const char* name : {"b.yaml", "a/c.json", "a/d.yml", "a/e.txt"}) {
    std::filesystem::create_directories(std::filesystem::path(In(name)).parent_path());
    ASSERT_TRUE(WriteWholeFile(In(name), "x", FileAccess::kAll).ok());
  }
  EXPECT_THAT(*ManifestFilesAt(folder_.path().string()),
              ElementsAre(In("a/c.json"), In("a/d.yml"), In("b.yaml")));
  EXPECT_THAT(*ManifestFilesAt(In("a/e.txt")), ElementsAre(In("a/e.txt"))) << "named as it is";
  std::filesystem::create_symlink("loop.yaml", In("loop.yaml"));
  std::filesystem::create_symlink("nowhere", In("z.yaml"));
  EXPECT_THAT(*ManifestFilesAt(folder_.path().string()), ::testing::SizeIs(3)) << "of no file";
  std::filesystem::create_directory(In("empty"));
  for (const std::string& path : {In("empty"), In("none")}) {
    EXPECT_THAT(std::string(ManifestFilesAt(path).status().message()), HasSubstr(path));
  }
}

TEST_F(Files, OfMoreThanAGibibyteAreRefusedUnread) {
  ASSERT_TRUE(WriteWholeFile(In("f"), "x", FileAccess::kAll).ok());
  std::filesystem::resize_file(In("f"), uintmax_t{1} << 40);
  EXPECT_THAT(std::string(ReadWholeFile(In("f")).status().message()), HasSubstr("larger than"));
}

// The fear: somebody else guesses the name of a file in /tmp and lets it lead to one of ours.
TEST_F(Files, AreWrittenOverLinksAndNotThroughThem) {
  ASSERT_TRUE(WriteWholeFile(In("precious"), "kept", FileAccess::kAll).ok());
  std::filesystem::create_symlink(In("precious"), In("f"));
  std::filesystem::create_symlink(In("precious"), In("f.new"));
  ASSERT_TRUE(WriteWholeFile(In("f"), "secret", FileAccess::kOwner).ok());
  EXPECT_EQ(*ReadWholeFile(In("precious")), "kept");
  EXPECT_EQ(*ReadWholeFile(In("f")), "secret");
  EXPECT_FALSE(std::filesystem::is_symlink(In("f")));
}

// The fear: the file was there, everybody's to read, before the secret came into it.
TEST_F(Files, OfTheOwnerAreNotWrittenIntoWhatOthersCanRead) {
  ASSERT_TRUE(WriteWholeFile(In("f.new"), "left behind", FileAccess::kAll).ok());
  ASSERT_TRUE(WriteWholeFile(In("f"), "secret", FileAccess::kOwner).ok());
  struct stat info {};
  ASSERT_EQ(::stat(In("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

TEST_F(Files, ThatCannotBeWrittenLeaveNothingBehind) {
  EXPECT_FALSE(WriteWholeFile(In("none/f"), "x", FileAccess::kAll).ok());
  ASSERT_TRUE(std::filesystem::create_directory(In("taken")));
  EXPECT_FALSE(WriteWholeFile(In("taken"), "x", FileAccess::kAll).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

}  // namespace
}  // namespace maniple
