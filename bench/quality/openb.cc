#include "bench/quality/openb.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

constexpr int64_t kMostBytes = int64_t{256} << 20;

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  std::string text;
  std::array<char, 1 << 16> buffer;
  int got = 0;
  while ((got = gzread(file, buffer.data(), buffer.size())) > 0 && text.size() < kMostBytes) {
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  gzclose(file);
  if (got != 0) return absl::DataLossError(absl::StrCat(path, ": broken or far too long"));
  return text;
}

// Rows as fields by the names of the first line; rows may have fewer fields than that.
class Csv final {
 public:
  static absl::StatusOr<Csv> Read(const std::string& path,
                                  const std::vector<absl::string_view>& wanted) {
    Csv csv;
    csv.path_ = path;
    ASSIGN_OR_RETURN(csv.text_, ReadWhole(path));
    std::vector<absl::string_view> lines = absl::StrSplit(csv.text_, '\n', absl::SkipEmpty());
    for (absl::string_view& line : lines) line = absl::StripSuffix(line, "\r");
    if (lines.empty()) return absl::DataLossError(absl::StrCat(path, ": empty"));
    const std::vector<absl::string_view> header = absl::StrSplit(lines.front(), ',');
    for (const absl::string_view name : wanted) {
      const auto at = std::find(header.begin(), header.end(), name);
      csv.columns_.push_back(at == header.end() ? -1 : at - header.begin());
    }
    for (size_t i = 1; i < lines.size(); ++i) {
      csv.rows_.push_back(absl::StrSplit(lines[i], ','));
    }
    return csv;
  }

  [[nodiscard]] size_t size() const { return rows_.size(); }
  // "" where the row or the file has no such field.
  [[nodiscard]] absl::string_view At(size_t row, size_t column) const {
    const int64_t at = columns_[column];
    return at < 0 || at >= static_cast<int64_t>(rows_[row].size()) ? absl::string_view()
                                                                   : rows_[row][at];
  }
  [[nodiscard]] absl::StatusOr<int64_t> NumberAt(size_t row, size_t column, int64_t most) const {
    int64_t number = 0;
    if (absl::SimpleAtoi(At(row, column), &number) && number >= 0 && number <= most) return number;
    return absl::DataLossError(absl::StrCat(path_, " line ", row + 2, ": \"", At(row, column),
                                            "\" is not a number of 0..", most));
  }

 private:
  std::string path_, text_;
  std::vector<int64_t> columns_;
  std::vector<std::vector<absl::string_view>> rows_;
};

constexpr int64_t kMostUnits = int64_t{1} << 40;

uint64_t ModelsOf(absl::string_view spec, const OpenbCluster& cluster) {
  if (spec.empty()) return kAnyModel;
  uint64_t models = 0;
  for (const absl::string_view name : absl::StrSplit(spec, '|')) {
    const auto at = std::find(cluster.models.begin(), cluster.models.end(), name);
    if (at != cluster.models.end()) models |= uint64_t{1} << (at - cluster.models.begin());
  }
  return models;
}

absl::StatusOr<OpenbShape> ShapeAt(const Csv& csv, size_t row, const OpenbCluster& cluster) {
  OpenbShape shape;
  ASSIGN_OR_RETURN(shape.cpu, csv.NumberAt(row, 0, kMostUnits));
  ASSIGN_OR_RETURN(shape.memory, csv.NumberAt(row, 1, kMostUnits));
  ASSIGN_OR_RETURN(const int64_t gpus, csv.NumberAt(row, 2, kMostDevices));
  ASSIGN_OR_RETURN(const int64_t milli, csv.NumberAt(row, 3, kWholeGpu));
  shape.gpus = static_cast<int32_t>(gpus);
  shape.milli = gpus == 0 ? 0 : static_cast<int32_t>(milli);
  if (gpus > 0) shape.models = ModelsOf(csv.At(row, 4), cluster);
  return shape;
}

}  // namespace

int64_t OpenbCluster::gpu_milli() const {
  int64_t sum = 0;
  for (const OpenbNode& node : nodes) sum += int64_t{node.gpus} * kWholeGpu;
  return sum;
}

absl::StatusOr<OpenbCluster> ReadCluster(const std::string& path) {
  ASSIGN_OR_RETURN(const Csv csv, Csv::Read(path, {"cpu_milli", "memory_mib", "gpu", "model"}));
  OpenbCluster cluster;
  for (size_t row = 0; row < csv.size(); ++row) {
    OpenbNode node;
    ASSIGN_OR_RETURN(node.cpu, csv.NumberAt(row, 0, kMostUnits));
    ASSIGN_OR_RETURN(node.memory, csv.NumberAt(row, 1, kMostUnits));
    ASSIGN_OR_RETURN(const int64_t gpus, csv.NumberAt(row, 2, kMostDevices));
    node.gpus = static_cast<int32_t>(gpus);
    const std::string model(csv.At(row, 3));
    const auto at = std::find(cluster.models.begin(), cluster.models.end(), model);
    node.model = static_cast<uint32_t>(at - cluster.models.begin());
    if (at == cluster.models.end()) cluster.models.push_back(model);
    cluster.nodes.push_back(node);
  }
  if (cluster.models.size() > 64 || cluster.gpu_milli() == 0) {
    return absl::DataLossError(absl::StrCat(path, ": no GPUs, or more than 64 models"));
  }
  return cluster;
}

absl::StatusOr<OpenbList> ReadList(const std::string& path, const OpenbCluster& cluster) {
  ASSIGN_OR_RETURN(const Csv csv, Csv::Read(path, {"cpu_milli", "memory_mib", "num_gpu",
                                                   "gpu_milli", "gpu_spec"}));
  std::map<OpenbShape, uint32_t> ids;
  std::vector<OpenbShape> pods;
  for (size_t row = 0; row < csv.size(); ++row) {
    ASSIGN_OR_RETURN(const OpenbShape shape, ShapeAt(csv, row, cluster));
    ids.emplace(shape, 0);
    pods.push_back(shape);
  }
  OpenbList list;
  for (auto& [shape, id] : ids) {
    id = static_cast<uint32_t>(list.shapes.size());
    list.shapes.push_back(shape);
  }
  for (const OpenbShape& pod : pods) list.pods.push_back(ids[pod]);
  if (pods.empty()) return absl::DataLossError(absl::StrCat(path, ": no pods"));
  return list;
}

absl::StatusOr<std::vector<PublishedPoint>> ReadPublished(const std::string& path,
                                                          absl::string_view list,
                                                          absl::string_view policy) {
  ASSIGN_OR_RETURN(const Csv csv,
                   Csv::Read(path, {"workload", "policy", "arrived_pct", "alloc_pct_mean"}));
  std::vector<PublishedPoint> points;
  for (size_t row = 0; row < csv.size(); ++row) {
    if (csv.At(row, 0) != absl::StrCat("openb_pod_list_", list) || csv.At(row, 1) != policy) {
      continue;
    }
    PublishedPoint point;
    ASSIGN_OR_RETURN(const int64_t arrived, csv.NumberAt(row, 2, 1000));
    point.arrived = static_cast<int32_t>(arrived);
    if (!absl::SimpleAtod(csv.At(row, 3), &point.allocated)) {
      return absl::DataLossError(absl::StrCat(path, " line ", row + 2, ": no allocation"));
    }
    points.push_back(point);
  }
  if (points.empty()) {
    return absl::NotFoundError(absl::StrCat(path, ": nothing of ", policy, " on ", list));
  }
  return points;
}

}  // namespace maniple
