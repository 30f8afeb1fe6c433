#include "scheduler/report/node_view.h"

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

absl::string_view EffectName(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
  }
  return "";
}

}  // namespace

std::string TaintText(const Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":",
                      EffectName(taint.effect));
}

}  // namespace maniple
