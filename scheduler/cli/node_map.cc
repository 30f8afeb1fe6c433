#include "scheduler/cli/node_map.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/base/amount.h"
#include "scheduler/app/answers/printing.h"

namespace maniple {
namespace {

constexpr absl::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// More units of a resource than this are told as a number.
constexpr int64_t kMostDrawn = 64;

// "" for whole GPUs, "1g.10gb" for MIG devices, else what comes after the vendor.
std::string ShortName(absl::string_view resource) {
  if (resource == "nvidia.com/gpu" || resource == "amd.com/gpu") return "";
  absl::string_view name = resource.substr(resource.find('/') + 1);
  absl::ConsumePrefix(&name, "mig-");
  return std::string(name);
}

// Which letter a gang has, in the order in which they are met.
class Legend final {
 public:
  char LetterOf(const std::string& gang) {
    const auto [it, is_new] = places_.try_emplace(gang, names_.size());
    if (is_new) names_.push_back(gang);
    return it->second < kLetters.size() ? kLetters[it->second] : '+';
  }

  [[nodiscard]] std::string Text() const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < std::min(names_.size(), kLetters.size()); ++i) {
      parts.push_back(absl::StrCat(kLetters.substr(i, 1), " ", names_[i]));
    }
    if (names_.size() > kLetters.size()) {
      parts.push_back(absl::StrCat("+ ", names_.size() - kLetters.size(), " more"));
    }
    return absl::StrJoin(parts, "  ");
  }

 private:
  std::map<std::string, size_t> places_;
  std::vector<std::string> names_;
};

// A scheduler of an older version tells only whether it is cordoned.
std::string ClosedText(const Json& node) {
  return node["schedulable"].AsBool() ? node["closed"].AsString() : "cordoned";
}

struct DrawnResource {
  std::string name;
  int64_t units = 0, taken = 0;
};

std::vector<DrawnResource> GpusOf(const Json& node) {
  std::vector<DrawnResource> out;
  for (const Json& resource : node["resources"].items()) {
    if (!resource["gpu"].AsBool()) continue;
    const int64_t units = Number(resource["allocatable"]);
    const int64_t free = Number(resource["free"]);
    if (units > 0 || free < 0) {
      out.push_back({.name = resource["name"].AsString(),
                     .units = units,
                     .taken = (Amount(units) - Amount(free)).units()});
    }
  }
  return out;
}

std::string Drawn(const Json& node, const DrawnResource& gpu, Legend& legend) {
  if (std::max(gpu.units, gpu.taken) > kMostDrawn) {
    return absl::StrCat(gpu.taken, " of ", gpu.units);
  }
  std::string cells;
  for (const Json& use : node["uses"].items()) {
    if (use["resource"].AsString() != gpu.name) continue;
    cells.append(static_cast<size_t>(std::max<int64_t>(0, Number(use["amount"]))),
                 legend.LetterOf(use["gang"].AsString()));
  }
  const auto size = static_cast<size_t>(gpu.units);
  const auto taken = static_cast<size_t>(std::max<int64_t>(0, gpu.taken));
  if (cells.size() < taken) cells.append(taken - cells.size(), '#');
  if (cells.size() < size) cells.append(size - cells.size(), '.');
  // More is held than there is: a device failed, or its plugin is away.
  if (cells.size() > size) cells.insert(size, "!");
  return cells;
}

std::string DomainOf(const Json& node) {
  std::vector<std::string> parts;
  for (const Json& value : node["path"].items()) {
    // The last level is often the node itself, which its line names.
    if (value.AsString() == node["name"].AsString()) continue;
    parts.push_back(value.AsString().empty() ? "?" : value.AsString());
  }
  return absl::StrJoin(parts, "/");
}

}  // namespace

std::string NodeMap(const Json& nodes) {
  std::map<std::string, std::vector<const Json*>> domains;
  size_t width = 0;
  for (const Json& node : nodes["items"].items()) {
    if (GpusOf(node).empty()) continue;
    domains[DomainOf(node)].push_back(&node);
    width = std::max(width, node["name"].AsString().size());
  }
  if (domains.empty()) return "no node has a GPU\n";
  Legend legend;
  std::string out;
  for (const auto& [domain, members] : domains) {
    Amount units, taken;  // what nodes say of themselves may be anything
    std::string lines;
    for (const Json* node : members) {
      std::vector<std::string> parts;
      for (const DrawnResource& gpu : GpusOf(*node)) {
        units += Amount(gpu.units);
        taken += Amount(gpu.taken);
        const std::string name = ShortName(gpu.name);
        parts.push_back(absl::StrCat(name, name.empty() ? "" : " ", Drawn(*node, gpu, legend)));
      }
      const std::string& name = (*node)["name"].AsString();
      const std::string closed = ClosedText(*node);
      absl::StrAppend(&lines, "  ", name, std::string(width - name.size() + 2, ' '),
                      absl::StrJoin(parts, "  "),
                      closed.empty() ? "" : absl::StrCat("  (", closed, ")"), "\n");
    }
    absl::StrAppend(&out, domain.empty() ? "all nodes" : domain, ": ", taken.units(), " of ",
                    units.units(), " taken\n", lines);
  }
  const std::string key = legend.Text();
  if (!key.empty()) absl::StrAppend(&out, key, "\n");
  return out;
}

}  // namespace maniple
