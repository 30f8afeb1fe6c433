// The files of several runs. Fears: two configurations write into one file, so that the figures of
// the first are lost; a name that is a path leads to another folder.
#include "scheduler/cli/run_files.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace maniple::cli_run_files_test
