// The files of several runs. Fears: two configurations write into one file, so that the figures of
// the first are lost; a name that is a path leads to another folder; a device of the machine
// becomes a file; hours of work end in a folder that is not there.
#include "scheduler/cli/run_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/support/temp_folder.h"

namespace maniple::cli_run_files_test {
namespace {

TEST(RunFiles, AFileIsNamedForItsRun) {
  EXPECT_EQ(FileOfRun("jobs.csv", "b"), "jobs-b.csv");
  EXPECT_EQ(FileOfRun("out/jobs.csv", "b"), "out/jobs-b.csv");
}

TEST(RunFiles, TwoRunsWriteTwoFiles) {
  const std::vector<std::string> runs = {"x",    "x.yaml", "a/x.yaml", "b/x.yaml",  "v1",
                                         "v1.1", "v1.2",   "a+x.yaml", "/a/x.yaml", "../x.yaml"};
  std::set<std::string> files;
  for (const std::string& run : runs) {
    const std::string file = FileOfRun("out/jobs.csv", run);
    EXPECT_TRUE(files.insert(file).second) << run << " writes " << file;
    EXPECT_EQ(file.rfind('/'), 3u) << file;
  }
}

TEST(RunFiles, StandardOutputIsOneForAllRuns) {
  EXPECT_EQ(FileOfRun("-", "b"), "-");
  EXPECT_EQ(FileOfRun("/dev/stdout", "b"), "/dev/stdout");
}

TEST(RunFiles, PipesAndLinksAreWrittenInto) {
  const TempFolder folder;
  const std::string file = folder.Write("target", "old"), link = folder.In("link");
  std::filesystem::create_symlink(file, link);
  ASSERT_TRUE(WriteRunFile(link, "new", FileAccess::kAll).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(*ReadWholeFile(file), "new");
  const std::string pipe = folder.In("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = *ReadWholeFile(pipe); });
  EXPECT_TRUE(WriteRunFile(pipe, "text", FileAccess::kAll).ok());
  reader.join();
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(RunFiles, WhatALinkLeadsToIsMadeForItsOwnerAlone) {
  const TempFolder folder;
  const std::string file = folder.In("to-come"), link = folder.In("link");
  std::filesystem::create_symlink(file, link);
  ASSERT_TRUE(WriteRunFile(link, "secret", FileAccess::kOwner).ok());
  EXPECT_EQ(*ReadWholeFile(file), "secret");
  EXPECT_EQ(std::filesystem::status(file).permissions() & std::filesystem::perms::mask,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(RunFiles, AFolderThatIsNotThereIsToldBeforeAnythingIsPlayed) {
  const TempFolder folder;
  EXPECT_FALSE(CheckRunFile(folder.In("none/x.csv")).ok());
  for (const std::string& file : {std::string(), std::string("-"), folder.In("x.csv")}) {
    EXPECT_TRUE(CheckRunFile(file).ok()) << file;
  }
}

}  // namespace
}  // namespace maniple::cli_run_files_test
