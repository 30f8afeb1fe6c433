#include "api/devcluster/rest/watch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "api/devcluster/store/event_form.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster {
namespace {

// A take stops here and goes on with the next one.
constexpr size_t kMaxTake = 1024 * 1024;
// Without timeoutSeconds a watch lives between one and two of these.
constexpr int64_t kMinTimeoutSeconds = 1800;

void AppendFrame(absl::string_view type, absl::string_view object, std::string& out) {
  absl::StrAppend(&out, "{\"type\":\"", type, "\",\"object\":", object, "}\n");
}

}  // namespace

struct Watches::Watch {
  ResourceType type;  // without its schema
  std::string namespace_name;
  ListOptions options;
  Form form;
  uint64_t position = 0;           // in the history of the storage
  std::vector<ObjectPtr> initial;  // still to be sent, as ADDED, before any change
  size_t initial_sent = 0;
  std::optional<uint64_t> initial_end;  // version of the bookmark that ends them
  std::optional<ApiError> failure;      // sent at once, then the stream ends
  bool ready = false;
  bool cut = false;
  bool bookmark_due = false;
  bool expired = false;
  bool sent_columns = false;
  absl::Time deadline = absl::InfiniteFuture();
  absl::Time next_bookmark = absl::InfiniteFuture();

  [[nodiscard]] bool InScope(const ObjectName& name) const {
    return namespace_name.empty() || name.namespace_name == namespace_name;
  }
  [[nodiscard]] bool Concerns(const Change& change) const {
    if (!InScope(change.name)) return false;
    return (change.kind != ChangeKind::kDeleted && options.Selects(*change.object)) ||
           (change.previous != nullptr && options.Selects(*change.previous));
  }
};

Watches::Watches(const Store& store, Random& random, absl::Duration bookmark_period)
    : store_(store), random_(random), bookmark_period_(bookmark_period) {}

Watches::~Watches() = default;

ApiOr<WatchId> Watches::Start(const ResourceRequest& request, ListOptions options, Form form,
                              absl::Time now) {
  const StorageId storage = request.type.storage;
  const uint64_t version = options.version.value_or(0);
  if (version > store_.version()) return TooLargeResourceVersion(version, store_.version());
  auto watch = std::make_unique<Watch>();
  watch->type = request.type;
  watch->type.schema = nullptr;
  watch->type.open_api_schema = Json();
  watch->namespace_name = request.path.namespace_name;
  watch->form = form;
  if (version == 0 || options.initial_events) {
    ListOptions everything;
    everything.labels = options.labels;
    everything.fields = options.fields;
    API_ASSIGN_OR_RETURN(ListPage page, ListObjects(store_, request, everything));
    watch->initial = std::move(page.objects);
    watch->position = store_.HistoryEnd(storage);
    if (options.initial_events) watch->initial_end = page.version;
  } else if (version < store_.HistoryFloor(storage)) {
    watch->failure = Expired(absl::StrCat("too old resource version: ", version, " (",
                                          store_.HistoryFloor(storage), ")"));
  } else {
    watch->position = store_.HistoryPositionAfter(storage, version);
  }
  const int64_t seconds = options.timeout_seconds.value_or(0);
  watch->deadline =
      now + absl::Seconds(seconds > 0
                              ? seconds
                              : kMinTimeoutSeconds +
                                    static_cast<int64_t>(random_.Below(kMinTimeoutSeconds)));
  if (options.bookmarks) watch->next_bookmark = now + bookmark_period_;
  watch->options = std::move(options);

  const WatchId id(next_id_++);
  Watch& placed = *watches_.emplace(id, std::move(watch)).first->second;
  by_storage_[storage].push_back(id);
  Schedule(id, placed);
  const bool has_output = placed.failure.has_value() || !placed.initial.empty() ||
                          placed.initial_end.has_value() ||
                          placed.position < store_.HistoryEnd(storage);
  if (has_output) MarkReady(id, placed);
  return id;
}

void Watches::MarkReady(WatchId id, Watch& watch) {
  watch.ready = true;
  ready_.insert(id);
}

void Watches::Schedule(WatchId id, Watch& watch) {
  deadlines_.emplace(std::min(watch.deadline, watch.next_bookmark), id);
}

void Watches::OnChange(const Change& change) {
  const auto it = by_storage_.find(change.storage);
  if (it == by_storage_.end()) return;
  for (const WatchId id : it->second) {
    Watch& watch = *watches_.at(id);
    if (watch.ready) continue;
    if (watch.Concerns(change)) {
      MarkReady(id, watch);
    } else {
      watch.position = store_.HistoryEnd(change.storage);
    }
  }
}

std::vector<WatchId> Watches::TakeReady() {
  std::vector<WatchId> out(ready_.begin(), ready_.end());
  ready_.clear();
  return out;
}

WatchOutput Watches::Take(WatchId id, absl::Time now) {
  Sink sink;
  const bool ended = Drain(id, now, sink);
  return {.bytes = std::move(sink.bytes), .ended = ended};
}

WatchEvents Watches::TakeEvents(WatchId id, absl::Time now) {
  WatchEvents output;
  Sink sink{.bytes = "", .events = &output.events};
  output.ended = Drain(id, now, sink);
  return output;
}

bool Watches::Drain(WatchId id, absl::Time now, Sink& out) {
  const auto it = watches_.find(id);
  if (it == watches_.end()) return true;
  Watch& watch = *it->second;
  ready_.erase(id);
  if (!watch.ready) return false;
  const StorageId storage = watch.type.storage;
  if (watch.failure.has_value()) {
    Json failure = ToJson(*watch.failure);
    if (out.events != nullptr) {
      out.events->push_back({.type = "ERROR", .object = std::move(failure)});
    } else {
      AppendFrame("ERROR", failure.Dump(), out.bytes);
    }
    watch.cut = true;
  }
  for (; !watch.cut && watch.initial_sent < watch.initial.size() && out.bytes.size() < kMaxTake;
       ++watch.initial_sent) {
    AppendObject(watch, "ADDED", watch.initial[watch.initial_sent], now, out);
  }
  const bool initial_done = watch.initial_sent == watch.initial.size();
  if (initial_done && !watch.cut) {
    watch.initial.clear();
    watch.initial_sent = 0;
    if (watch.initial_end.has_value()) AppendBookmark(watch, now, out);
    watch.initial_end.reset();
    while (watch.position < store_.HistoryEnd(storage) && out.bytes.size() < kMaxTake) {
      const Change* change = store_.ChangeAt(storage, watch.position);
      if (change == nullptr) {  // too slow: the history has moved on
        watch.cut = true;
        break;
      }
      AppendEvent(watch, *change, now, out);
      ++watch.position;
    }
  }
  const bool drained = initial_done && watch.position >= store_.HistoryEnd(storage);
  if (drained && watch.bookmark_due && !watch.cut) {
    AppendBookmark(watch, now, out);
    watch.bookmark_due = false;
  }
  if (watch.cut || (drained && watch.expired)) {
    Close(id);
    return true;
  }
  if (drained) {
    watch.ready = false;
  } else {
    MarkReady(id, watch);
  }
  return false;
}

void Watches::AppendEvent(Watch& watch, const Change& change, absl::Time now, Sink& out) const {
  if (!watch.InScope(change.name)) return;
  const bool is = change.kind != ChangeKind::kDeleted && watch.options.Selects(*change.object);
  const bool was = change.previous != nullptr && watch.options.Selects(*change.previous);
  if (!is && !was) return;
  if (is) {
    const absl::string_view type = was ? "MODIFIED" : "ADDED";
    return AppendObject(watch, type, change.object, now, out);
  }
  if (change.kind == ChangeKind::kDeleted) {
    return AppendObject(watch, "DELETED", change.object, now, out);
  }
  // It no longer matches: its last matching state, at the version of the change.
  Json last = *change.previous;
  last.Mutable("metadata").Set("resourceVersion", absl::StrCat(change.version));
  AppendObject(watch, "DELETED", ObjectPtr(std::move(last)), now, out);
}

void Watches::AppendObject(Watch& watch, absl::string_view type, const ObjectPtr& object,
                           absl::Time now, Sink& sink) const {
  const ObjectPtr shown = ShownAs(watch.type, object);
  if (sink.events != nullptr) {
    sink.events->push_back({.type = type, .object = *shown});
    return;
  }
  std::string& out = sink.bytes;
  switch (watch.form.form) {
    case ReplyForm::kJson:
    case ReplyForm::kYaml:
      return AppendFrame(type, shown.stored().Text(), out);
    case ReplyForm::kPartialMetadata:
      return AppendFrame(type, ToPartialMetadata(*shown).Dump(), out);
    case ReplyForm::kTable: {
      const Json* row = shown.get();
      const Json metadata =
          Json::Object({{"resourceVersion", (*shown)["metadata"]["resourceVersion"]}});
      Json table = ToTable(watch.type, absl::MakeConstSpan(&row, 1), metadata,
                           {.row_object = watch.form.row_object, .now = now});
      if (watch.sent_columns) table.Set("columnDefinitions", nullptr);
      watch.sent_columns = true;
      return AppendFrame(type, table.Dump(), out);
    }
  }
}

void Watches::AppendBookmark(Watch& watch, absl::Time now, Sink& out) const {
  const bool ends_initial = watch.initial_end.has_value();
  const uint64_t version = ends_initial ? *watch.initial_end : store_.version();
  Json metadata = Json::Object(
      {{"resourceVersion", Json(absl::StrCat(version))}, {"creationTimestamp", Json(nullptr)}});
  if (ends_initial) {
    metadata.Set("annotations", Json::Object({{"k8s.io/initial-events-end", Json("true")}}));
  }
  const auto bookmark = ObjectPtr(Json::Object({{"kind", Json(watch.type.kind)},
                                                {"apiVersion", Json(watch.type.api_version())},
                                                {"metadata", std::move(metadata)}}));
  AppendObject(watch, "BOOKMARK", bookmark, now, out);
}

void Watches::Close(WatchId id) {
  const auto it = watches_.find(id);
  if (it == watches_.end()) return;
  Watch& watch = *it->second;
  deadlines_.erase({std::min(watch.deadline, watch.next_bookmark), id});
  ready_.erase(id);
  std::erase(by_storage_[watch.type.storage], id);
  watches_.erase(it);
}

absl::Time Watches::NextDeadline() const {
  return deadlines_.empty() ? absl::InfiniteFuture() : deadlines_.begin()->first;
}

void Watches::OnTime(absl::Time now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const WatchId id = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    Watch& watch = *watches_.at(id);
    if (watch.options.bookmarks) watch.bookmark_due = true;
    if (watch.deadline <= now) {
      watch.expired = true;
      watch.deadline = absl::InfiniteFuture();
      watch.next_bookmark = absl::InfiniteFuture();
    } else {
      watch.next_bookmark = now + bookmark_period_;
    }
    Schedule(id, watch);
    MarkReady(id, watch);
  }
}

void Watches::OnTypesChanged(const TypeRegistry& types) {
  for (auto& [id, watch] : watches_) {
    const ResourceType& type = watch->type;
    if (!type.custom || types.Find(type.group, type.version, type.plural) != nullptr) continue;
    watch->expired = true;
    MarkReady(id, *watch);
  }
}

void Watches::CutAll() {
  for (auto& [id, watch] : watches_) {
    watch->cut = true;
    MarkReady(id, *watch);
  }
}

}  // namespace maniple::devcluster
