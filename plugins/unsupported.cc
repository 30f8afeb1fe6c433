// Unsupported: a request that this version cannot honour is refused with its path, never ignored.
#include "plugins/factories.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace maniple {
namespace {

class Unsupported final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "Unsupported"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput&,
                                                   const PodShape& shape) const override {
    const std::vector<std::string>& paths = shape.constraints.unsupported;
    if (paths.empty()) return nullptr;
    return absl::UnimplementedError(
        absl::StrCat(absl::StrJoin(paths, ", "), " is not supported by this version"));
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeUnsupported() { return std::make_unique<Unsupported>(); }

}  // namespace maniple
