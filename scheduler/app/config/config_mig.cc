#include "scheduler/app/config/config_mig.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/gpu/mig_profile.h"

namespace maniple {
namespace {

constexpr int64_t kMostGpus = 64;
constexpr int64_t kMostSlices = 16;  // of a GPU

bool IsLabelValue(const std::string& text) {
  const auto is_end = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); };
  return !text.empty() && text.size() <= 63 && is_end(text.front()) && is_end(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_end(c) || c == '.' || c == '-' || c == '_'; });
}

void ReadMode(Section& section, Problems& problems, MigReconfigure& out) {
  section.Read("reconfigure", [&](const Json& v, const std::string& path) {
    const std::string word = v.is_string() ? v.AsString() : "";
    if (word == "off") {
      out = MigReconfigure::kOff;
    } else if (word == "dryRun") {
      out = MigReconfigure::kDryRun;
    } else if (word == "on") {
      out = MigReconfigure::kOn;
    } else {
      problems.Wrong(path, "off, dryRun or on", v);
    }
  });
}

// A list of maps, each read by `read(section, path)`.
template <typename Read>
void ReadEach(const Json& list, const std::string& path, Problems& problems, Read read) {
  if (!list.is_array()) return problems.Wrong(path, "a list", list);
  for (size_t i = 0; i < list.items().size(); ++i) {
    const std::string at = absl::StrCat(path, "[", i, "]");
    Section section(list.items()[i], at, problems);
    read(section, at);
    section.Close();
  }
}

void ReadPart(Section& section, Problems& problems, MigConfigPart& out) {
  section.Int("count", 0, kMostGpus,
              [&](int64_t count) { out.gpus = static_cast<int32_t>(count); });
  section.Read("slices", [&](const Json& v, const std::string& path) {
    if (!v.is_object()) return problems.Wrong(path, "a map of profiles to counts", v);
    for (const auto& [profile, count] : v.members()) {
      const std::string at = absl::StrCat(path, ".", profile);
      if (!ParseMigProfile(profile).has_value()) {
        problems.Add(at, "is no name of a MIG profile");
      } else if (!count.is_int() || count.AsInt() < 1 || count.AsInt() > kMostSlices) {
        problems.Wrong(at, "how many of them each GPU has, 1 to 16", count);
      } else {
        out.slices.emplace_back(profile, static_cast<int32_t>(count.AsInt()));
      }
    }
  });
}

void ReadConfigs(const Json& list, const std::string& path, Problems& problems,
                 std::vector<MigConfig>& out) {
  ReadEach(list, path, problems, [&](Section& section, const std::string& at) {
    MigConfig config;
    section.String("name", config.name);
    section.String("model", config.model);
    section.Read("gpus", [&](const Json& v, const std::string& gpus) {
      ReadEach(v, gpus, problems, [&](Section& part, const std::string&) {
        config.parts.emplace_back();
        ReadPart(part, problems, config.parts.back());
      });
    });
    if (!IsLabelValue(config.name)) problems.Add(at + ".name", "must be the value of a label");
    if (config.parts.empty()) problems.Add(at + ".gpus", "needs at least one entry");
    const auto rests = std::count_if(config.parts.begin(), config.parts.end(),
                                     [](const MigConfigPart& part) { return !part.gpus; });
    if (rests > 1) problems.Add(at + ".gpus", "only one entry may be without a count");
    out.push_back(std::move(config));
  });
}

// Some GPU of the model, or of any, can be divided like that.
bool CanBe(const MigConfigPart& part, const std::string& model, const MigTables& tables) {
  const MigConfig alone{.name = "", .model = model, .parts = {{std::nullopt, part.slices}}};
  return std::any_of(tables.all().begin(), tables.all().end(),
                     [&](const MigTable& table) { return OfferOf(alone, table, 1).has_value(); });
}

void CheckConfigs(const std::string& path, const MigOptions& options, Problems& problems) {
  for (size_t i = 0; i < options.configs.size(); ++i) {
    const MigConfig& config = options.configs[i];
    const std::string at = absl::StrCat(path, "[", i, "]");
    if (!config.model.empty() && options.tables.OfModel(config.model) == nullptr) {
      std::string known;
      for (const MigTable& table : options.tables.all()) {
        absl::StrAppend(&known, known.empty() ? "" : ", ", table.model);
      }
      problems.Add(at + ".model", absl::StrCat("is not known; known are ", known));
      continue;
    }
    for (size_t p = 0; p < config.parts.size(); ++p) {
      if (CanBe(config.parts[p], config.model, options.tables)) continue;
      problems.Add(absl::StrCat(at, ".gpus[", p, "].slices"),
                   "no GPU that is known can be divided like that");
    }
  }
}

void ReadSlices(const Json& list, const std::string& path, Problems& problems, MigTable& out) {
  ReadEach(list, path, problems, [&](Section& section, const std::string& at) {
    MigSlice slice;
    section.String("profile", slice.profile);
    section.Int("size", 1, kMostSlices,
                [&](int64_t size) { slice.size = static_cast<int32_t>(size); });
    section.Int("max", 1, kMostGpus,
                [&](int64_t most) { slice.max_per_gpu = static_cast<int32_t>(most); });
    section.Read("starts", [&](const Json& v, const std::string& starts) {
      for (const Json& start : v.items()) {
        const bool good = start.is_int() && start.AsInt() >= 0 && start.AsInt() < kMostSlices;
        if (!good) problems.Wrong(starts, "numbers from 0 to 15", start);
        if (good) slice.starts.push_back(static_cast<int32_t>(start.AsInt()));
      }
      if (!v.is_array()) problems.Wrong(starts, "a list of numbers", v);
    });
    const std::optional<MigProfile> profile = ParseMigProfile(slice.profile);
    if (!profile.has_value()) return problems.Add(at + ".profile", "is no name of a MIG profile");
    slice.compute = profile->compute;
    slice.media = profile->wants_media();
    out.slices.push_back(std::move(slice));
  });
}

void ReadTables(const Json& list, const std::string& path, Problems& problems, MigTables& out) {
  ReadEach(list, path, problems, [&](Section& section, const std::string& at) {
    MigTable table;
    std::string product;
    section.String("model", table.model);
    section.String("product", product);
    section.Part("slices", ReadSlices, table);
    if (const absl::Status status = out.Put(std::move(table), product); !status.ok()) {
      problems.Add(at, status.message());
    }
  });
}

}  // namespace

void ReadMigConfig(const Json& map, const std::string& path, Problems& problems, MigOptions& out) {
  Section section(map, path, problems);
  ReadMode(section, problems, out.reconfigure);
  section.Duration("after", out.after);
  section.Duration("holdOff", out.hold_off);
  section.Duration("overdueAfter", out.overdue_after);
  bool defaults = true;
  section.Bool("defaultConfigs", defaults);
  out.defaults = defaults ? MigPlanInput::Defaults::kOffered : MigPlanInput::Defaults::kNotOffered;
  section.Part("tables", ReadTables, out.tables);
  section.Read("configs", [&](const Json& v, const std::string& at) {
    ReadConfigs(v, at, problems, out.configs);
    CheckConfigs(at, out, problems);
  });
  section.Close();
}

}  // namespace maniple
