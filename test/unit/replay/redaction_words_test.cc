// The words that identify nobody. Fears: a label or annotation whose key a tenant chose survives in
// a snapshot that is handed on; so does a name that only begins like a word of the API; an amount
// or a key that decisions read is taken for a name, and renamed.
#include "scheduler/replay/redaction_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maniple::replay_redaction_words_test {
namespace {

TEST(RedactionWords, AmountsTimesAndWordsOfTheApiIdentifyNobody) {
  for (const char* text :
       {"", "30m", "8Gi", "0.5", "123456", "2h45m", "NotIn", "NoSchedule", "nvidia.com/gpu",
        "hugepages-2Mi", "topology.kubernetes.io/zone", "2026-01-01T12:00:00Z", "kubernetes.io/os",
        "scheduling.maniple.dev/queue", "system-node-critical"}) {
    EXPECT_TRUE(IsPublic(text)) << text;
  }
}

// Renamed, they would make another request of it, or an invalid one.
TEST(RedactionWords, WordsThatTheSchedulerReadsArePublic) {
  for (const char* text :
       {"nvlink", "tier-2", "metadata.name", "UnexpectedAdmissionError", "OutOfcpu",
        "OutOfnvidia.com/gpu", "NodeAffinity", "TopologyAffinityError"}) {
    EXPECT_TRUE(IsPublic(text)) << text;
  }
  EXPECT_FALSE(IsPublic("OutOfswordfish.com/npu"));
  EXPECT_FALSE(IsPublic("nvlink-swordfish"));
  EXPECT_FALSE(IsPublic("tier-swordfish"));
}

TEST(RedactionWords, NamesOfTenantsAreNotPublic) {
  for (const char* text : {"1234567", "swordfish", "swordfish.com/gpu", "fakenvidia.com/gpu",
                           "nvidia.com/gpu/swordfish", "nvidia.com", "nvidia.com/", "/nvidia.com",
                           "node-role.kubernetes.io/swordfish", "-5", "1swordfish", "8Swordfish",
                           "2026-01-01T12:00:00Z-swordfish", "notin", "NotIn "}) {
    EXPECT_FALSE(IsPublic(text)) << text;
  }
}

// The API leaves these parts of a key to users.
TEST(RedactionWords, AKeyOfWhichUsersChooseAPartIsNotPublic) {
  for (const char* text :
       {"node-restriction.kubernetes.io/swordfish", "a.node-restriction.kubernetes.io/swordfish",
        "container.apparmor.security.beta.kubernetes.io/swordfish",
        "container.seccomp.security.alpha.kubernetes.io/swordfish", "hugepages-swordfish",
        "hugepages-2Mi-swordfish", "nvidia.com/gpu for swordfish", "ray.io/swordfish:1"}) {
    EXPECT_FALSE(IsPublic(text)) << text;
    EXPECT_FALSE(IsReadAnnotation(text)) << text;
  }
}

TEST(RedactionWords, ADomainBelowAKnownOneIsKnownAndOneBesideItIsNot) {
  for (const char* domain : {"nvidia.com", "x-k8s.io", "karpenter.sh", "k8s.io", "ray.io"}) {
    EXPECT_TRUE(IsPublic(absl::StrCat(domain, "/a")));
    EXPECT_TRUE(IsPublic(absl::StrCat("b.", domain, "/a")));
    EXPECT_FALSE(IsPublic(absl::StrCat("b", domain, "/a")) &&
                 absl::string_view(domain) != "k8s.io");
    EXPECT_FALSE(IsPublic(absl::StrCat(domain, ".swordfish/a")));
  }
}

TEST(RedactionWords, OnlyShortNumbersArePublicPieces) {
  std::string digits;
  for (int length = 1; length <= 9; ++length) {
    digits += '7';
    EXPECT_EQ(IsPublicPiece(digits), length <= 6) << digits;
    EXPECT_EQ(IsPublic(digits), length <= 6) << digits;
  }
  EXPECT_FALSE(IsPublicPiece("12a"));
  EXPECT_TRUE(IsPublicPiece("launcher"));
}

// Words stay, and what takes the place of a name beside them must sort as the name did.
TEST(RedactionWords, LettersForAPieceSortAmongTheWordsAsThePieceDoes) {
  std::vector<std::string> words = {"default", "docker",   "io",       "library", "latest",
                                    "sha256",  "launcher", "worker",   "leader",  "driver",
                                    "exec",    "head",     "podgroup", "pg"};
  std::vector<std::string> pieces;
  for (const std::string& word : words) {
    EXPECT_TRUE(IsPublicPiece(word)) << word;
    for (const char* more : {"", "0", "z"}) {
      pieces.push_back(absl::StrCat(word.substr(0, word.size() - 1), more));
      if (*more != 0) pieces.push_back(absl::StrCat(word, more));
    }
  }
  for (char c = 'a'; c <= 'z'; ++c) pieces.emplace_back(1, c);
  for (const std::string& piece : pieces) {
    if (IsPublicPiece(piece)) continue;
    for (const char* digits : {"0", "xec", "zzz"}) {
      const std::string name = absl::StrCat(LettersFor(piece), digits);
      EXPECT_FALSE(IsPublicPiece(name)) << name;
      for (const std::string& word : words) {
        EXPECT_EQ(name < word, piece < word) << piece << " " << name << " " << word;
      }
    }
  }
}

TEST(RedactionWords, AnAnnotationOfAClientIsNotRead) {
  EXPECT_TRUE(IsReadAnnotation("scheduling.maniple.dev/queue"));
  EXPECT_TRUE(IsReadAnnotation("yunikorn.apache.org/task-groups"));
  EXPECT_FALSE(IsReadAnnotation("kubectl.kubernetes.io/last-applied-configuration"));
  EXPECT_FALSE(IsReadAnnotation("deployment.kubernetes.io/revision"));
  EXPECT_FALSE(IsReadAnnotation("swordfish"));
  EXPECT_FALSE(IsReadAnnotation("swordfish.com/a"));
}

TEST(RedactionWords, ADomainOfNvlinkTellsNothingOfTheGpusThemselves) {
  EXPECT_TRUE(TellsOfGpus("nvidia.com/gpu.product"));
  EXPECT_TRUE(TellsOfGpus("nvidia.com/mig.config.state"));
  EXPECT_FALSE(TellsOfGpus("nvidia.com/gpu.clique"));
  EXPECT_FALSE(TellsOfGpus("swordfish.com/gpu.product"));
}

}  // namespace
}  // namespace maniple::replay_redaction_words_test
