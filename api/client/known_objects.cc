#include "api/client/known_objects.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "api/client/resource_version.h"

namespace maniple {
namespace {

constexpr absl::string_view kUuidShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// False when `text` is no UUID in its one canonical form (lower case), so that unpacking gives the
// same text back.
bool PackUuid(absl::string_view text, uint8_t (&out)[16]) {
  if (text.size() != kUuidShape.size()) return false;
  int digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (kUuidShape[i] == '-') {
      if (text[i] != '-') return false;
      continue;
    }
    const int value = HexValue(text[i]);
    if (value < 0) return false;
    uint8_t& byte = out[digits / 2];
    byte = static_cast<uint8_t>(digits % 2 == 0 ? value << 4 : byte | value);
    ++digits;
  }
  return true;
}

std::string UnpackUuid(const uint8_t (&packed)[16]) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(kUuidShape.size());
  int digits = 0;
  for (const char shape : kUuidShape) {
    if (shape == '-') {
      out += '-';
      continue;
    }
    const uint8_t byte = packed[digits / 2];
    out += kHex[digits % 2 == 0 ? byte >> 4 : byte & 15];
    ++digits;
  }
  return out;
}

// Kubernetes names are far shorter; a hostile one must not overflow the lengths.
absl::string_view Bounded(absl::string_view text) {
  return text.substr(0, std::numeric_limits<uint16_t>::max());
}

}  // namespace

KnownObjects::Header KnownObjects::HeaderOf(const Record& record) {
  Header header;
  std::memcpy(&header, record.get(), sizeof(header));
  return header;
}

void KnownObjects::SetSweep(const Record& record, uint32_t sweep) {
  std::memcpy(record.get() + offsetof(Header, sweep), &sweep, sizeof(sweep));
}

KnownObjects::Name KnownObjects::NameOf(const Record& record) {
  const Header header = HeaderOf(record);
  const char* text = record.get() + sizeof(Header);
  return {absl::string_view(text, header.namespace_length),
          absl::string_view(text + header.namespace_length, header.name_length)};
}

KnownObjects::Identity KnownObjects::IdentityOf(const Record& record) {
  const Header header = HeaderOf(record);
  const char* uid = record.get() + sizeof(Header) + header.namespace_length + header.name_length;
  Identity out;
  out.uid = header.uid_packed ? UnpackUuid(header.uid) : std::string(uid, header.uid_length);
  if (header.version != 0) {
    out.resource_version = absl::StrCat(header.version);
  } else {
    out.resource_version.assign(uid + header.uid_length, header.version_length);
  }
  return out;
}

KnownObjects::Record KnownObjects::MakeRecord(Name name, absl::string_view uid,
                                              absl::string_view version) {
  Header header;
  header.uid_packed = PackUuid(uid, header.uid);
  header.version = NumericVersion(version).value_or(0);
  const absl::string_view parts[] = {Bounded(name.namespace_name), Bounded(name.name),
                                     header.uid_packed ? absl::string_view() : Bounded(uid),
                                     header.version != 0 ? absl::string_view() : Bounded(version)};
  header.namespace_length = static_cast<uint16_t>(parts[0].size());
  header.name_length = static_cast<uint16_t>(parts[1].size());
  header.uid_length = static_cast<uint16_t>(parts[2].size());
  header.version_length = static_cast<uint16_t>(parts[3].size());
  size_t size = sizeof(Header);
  for (const absl::string_view part : parts) size += part.size();
  Record record(new char[size]);
  std::memcpy(record.get(), &header, sizeof(header));
  char* out = record.get() + sizeof(Header);
  for (const absl::string_view part : parts) {
    out = std::copy(part.begin(), part.end(), out);
  }
  return record;
}

size_t KnownObjects::HashRecord::operator()(Name name) const {
  return absl::Hash<std::pair<absl::string_view, absl::string_view>>()(
      {name.namespace_name, name.name});
}

std::optional<KnownObjects::Identity> KnownObjects::Find(Name name) const {
  const auto it = records_.find(name);
  if (it == records_.end()) return std::nullopt;
  return IdentityOf(*it);
}

void KnownObjects::Set(Name name, absl::string_view uid, absl::string_view resource_version) {
  Record record = MakeRecord(name, uid, resource_version);
  SetSweep(record, sweep_);
  if (const auto it = records_.find(NameOf(record)); it != records_.end()) records_.erase(it);
  records_.insert(std::move(record));
}

void KnownObjects::Erase(Name name) {
  if (const auto it = records_.find(name); it != records_.end()) records_.erase(it);
}

void KnownObjects::Touch(Name name) {
  if (const auto it = records_.find(name); it != records_.end()) SetSweep(*it, sweep_);
}

std::vector<KnownObjects::Forgotten> KnownObjects::EndSweep() {
  std::vector<Forgotten> out;
  for (auto it = records_.begin(); it != records_.end();) {
    const auto current = it++;
    if (HeaderOf(*current).sweep == sweep_) continue;
    const Name name = NameOf(*current);
    out.push_back(
        {std::string(name.namespace_name), std::string(name.name), IdentityOf(*current).uid});
    records_.erase(current);
  }
  std::sort(out.begin(), out.end(), [](const Forgotten& a, const Forgotten& b) {
    return std::tie(a.namespace_name, a.name) < std::tie(b.namespace_name, b.name);
  });
  return out;
}

void KnownObjects::ForgetVersions() {
  decltype(records_) kept;
  kept.reserve(records_.size());
  for (const Record& record : records_) {
    Record fresh = MakeRecord(NameOf(record), IdentityOf(record).uid, "");
    SetSweep(fresh, HeaderOf(record).sweep);
    kept.insert(std::move(fresh));
  }
  records_ = std::move(kept);
}

}  // namespace maniple
