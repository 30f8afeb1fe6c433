// The corpora of CEL, schemas and manifests.
#include "test/fuzz/replay.h"
#include "test/fuzz/validation_targets.h"

namespace maniple {
namespace {

constexpr char kCelAlphabet[] = "self.has()allx,[]{}&|!=<>+-*/%?:'\"0123456789 \n";

INSTANTIATE_TEST_SUITE_P(
    Targets, FuzzReplay,
    ::testing::Values(FuzzSuite{"cel", FuzzCel, kCelAlphabet, 1000},
                      FuzzSuite{"schema", FuzzSchema, kJsonAlphabet, 800},
                      FuzzSuite{"manifest", FuzzManifest, kYamlAlphabet, 20, 20},
                      FuzzSuite{"formats", FuzzFormats, "0123456789.:-/abcdefTZhms=+", 3000}),
    FolderOf);

}  // namespace
}  // namespace maniple
