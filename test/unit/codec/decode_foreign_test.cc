// Objects of producers in lists, on watch lines and alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"
#include "test/support/plain_foreign_reader.h"

namespace maniple::codec_decode_foreign_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ResourceKind kGang = ForeignResource(1);

class DecodeForeign : public ::testing::Test {
 protected:
  DecodedObject Single(absl::string_view members) {
    absl::StatusOr<DecodedObject> decoded =
        decoder_.Single(kGang, absl::StrCat(R"({"kind":"Gang",)", members, "}"));
    EXPECT_TRUE(decoded.ok()) << decoded.status();
    return *std::move(decoded);
  }

  std::string ProblemOf(absl::string_view members) {
    const DecodedObject decoded = Single(members);
    const auto* invalid = std::get_if<ObjectInvalid>(&decoded.what);
    return invalid == nullptr ? "" : invalid->problem;
  }

  const PlainForeignReader reader_{};
  Decoder decoder_{&reader_};
};

TEST_F(DecodeForeign, TheReaderFillsSpecAndPhaseAndTheDecoderTheRest) {
  const DecodedObject decoded =
      Single(R"("apiVersion":"other.example/v1","spec":{"queue":"a"},"status":{"phase":"Inqueue"},)"
             R"("metadata":{"name":"g","namespace":"n","uid":"u","resourceVersion":"7"})");
  const auto& object = std::get<ForeignObject>(std::get<Object>(decoded.what));
  EXPECT_EQ(object.spec.queue, "a");
  EXPECT_EQ(object.phase, "Inqueue");
  EXPECT_EQ(object.api_version, "other.example/v1");
  EXPECT_EQ(object.meta.name, "g");
  EXPECT_EQ(decoded.key, (ObjectKey{kGang, "n", "g"}));
  EXPECT_EQ(KindOf(std::get<Object>(decoded.what)), kGang);
  EXPECT_EQ(decoded.resource_version, "7");
}

TEST_F(DecodeForeign, NameAndNamespaceMustBeThere) {
  EXPECT_THAT(ProblemOf(R"("metadata":{"namespace":"n"})"), HasSubstr("metadata.name: is missing"));
  EXPECT_THAT(ProblemOf(R"("metadata":{"name":"g"})"), HasSubstr("metadata.namespace: is missing"));
}

TEST_F(DecodeForeign, WhatTheReaderRefusesIsToldWithPathAndName) {
  const DecodedObject decoded =
      Single(R"("metadata":{"name":"g","namespace":"n"},"spec":{"queue":5})");
  EXPECT_EQ(decoded.key.name, "g");
  EXPECT_THAT(std::get<ObjectInvalid>(decoded.what).problem, HasSubstr("spec.queue: "));
}

TEST_F(DecodeForeign, AListIsOneOfItsKindAndItsItemsMayNameNoVersion) {
  std::vector<std::string> versions;
  const auto list = [&](absl::string_view kind) {
    return decoder_
        .List(
            kGang,
            absl::StrCat(
                R"({"kind":")", kind,
                R"(","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"g",)",
                R"("namespace":"n"}}]})"),
            [&](const DecodedObject& item) {
              versions.push_back(std::get<ForeignObject>(std::get<Object>(item.what)).api_version);
            })
        .status();
  };
  EXPECT_TRUE(list("GangList").ok());
  EXPECT_THAT(versions, ElementsAre(""));
  EXPECT_THAT(std::string(list("PodList").message()), HasSubstr("expected a GangList"));
}

TEST_F(DecodeForeign, AWatchLineOfAnotherKindIsIgnored) {
  const auto line = [this](absl::string_view kind) {
    return decoder_.WatchLine(kGang,
                              absl::StrCat(R"({"type":"ADDED","object":{"kind":")", kind,
                                           R"(","metadata":{"name":"g","namespace":"n"}}})"));
  };
  EXPECT_TRUE(std::holds_alternative<WatchChange>(*line("Gang")));
  EXPECT_TRUE(std::holds_alternative<WatchIgnored>(*line("Pod")));
}

}  // namespace
}  // namespace maniple::codec_decode_foreign_test
