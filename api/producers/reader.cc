#include "api/producers/reader.h"

#include <utility>

namespace maniple {
namespace {

class Reader final : public ForeignReader {
 public:
  explicit Reader(ForeignKinds kinds) : kinds_(std::move(kinds)) {}
  [[nodiscard]] absl::string_view KindName(ResourceKind kind) const override {
    return kinds_.at(ForeignIndex(kind)).kind;
  }
  [[nodiscard]] ForeignObject Read(ResourceKind kind, const Cursor&) const override {
    return {.kind = static_cast<uint8_t>(kind)};
  }

 private:
  ForeignKinds kinds_;
};

}  // namespace

std::unique_ptr<const ForeignReader> MakeForeignReader(ForeignKinds kinds) {
  return std::make_unique<Reader>(std::move(kinds));
}

}  // namespace maniple
