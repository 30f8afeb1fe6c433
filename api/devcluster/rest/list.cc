#include "api/devcluster/rest/list.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/devcluster/types/names.h"

namespace maniple::devcluster {
namespace {

constexpr absl::string_view kTooOld =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter.";

// Where the next page begins, and in which snapshot.
struct Position {
  uint64_t version = 0;
  ObjectName after;
};

std::string EncodePosition(const Position& position) {
  const Json token = Json::Object(
      {{"v", Json("meta.k8s.io/v1")},
       {"rv", Json(static_cast<int64_t>(position.version))},
       {"start", Json(absl::StrCat(position.after.namespace_name, "/", position.after.name))}});
  return absl::WebSafeBase64Escape(token.Dump());
}

ApiOr<Position> DecodePosition(absl::string_view token) {
  const ApiError bad = BadRequest("continue key is not valid: malformed");
  std::string text;
  if (!absl::WebSafeBase64Unescape(token, &text)) return bad;
  const absl::StatusOr<Json> parsed = Json::Parse(text);
  if (!parsed.ok() || !(*parsed)["rv"].is_int() || (*parsed)["rv"].AsInt() <= 0) return bad;
  const std::string& start = (*parsed)["start"].AsString();
  const size_t slash = start.find('/');
  if (slash == std::string::npos) return bad;
  return Position{.version = static_cast<uint64_t>((*parsed)["rv"].AsInt()),
                  .after = {start.substr(0, slash), start.substr(slash + 1)}};
}

ApiOr<int64_t> ParseCount(const Query& query, absl::string_view name) {
  const std::string& text = query.Get(name);
  int64_t value = 0;
  if (!text.empty() && !absl::SimpleAtoi(text, &value)) {
    return BadRequest(absl::StrCat("strconv.ParseInt: parsing \"", text, "\": invalid syntax"));
  }
  return value;
}

std::vector<StatusCause> WatchProblems(const Query& query) {
  std::vector<StatusCause> causes;
  constexpr absl::string_view kField = "resourceVersionMatch";
  const std::string& match = query.Get(kField);
  const bool initial = query.Has("sendInitialEvents");
  if (initial && match != "NotOlderThan") {
    causes.push_back(ForbiddenValue(
        kField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match.empty()) return causes;
  if (!initial) {
    causes.push_back(ForbiddenValue(
        kField,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (match != "NotOlderThan") {
    causes.push_back(NotSupportedValue(kField, match, {"NotOlderThan"}));
  }
  if (!query.Get("continue").empty()) {
    causes.push_back(
        ForbiddenValue(kField, "resourceVersionMatch is forbidden when continue is provided"));
  }
  return causes;
}

std::vector<StatusCause> ListProblems(const Query& query) {
  std::vector<StatusCause> causes;
  constexpr absl::string_view kField = "resourceVersionMatch";
  const std::string& match = query.Get(kField);
  const std::string& version = query.Get("resourceVersion");
  if (!match.empty()) {
    if (version.empty()) {
      causes.push_back(ForbiddenValue(
          kField, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (!query.Get("continue").empty()) {
      causes.push_back(
          ForbiddenValue(kField, "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (match != "Exact" && match != "NotOlderThan") {
      causes.push_back(NotSupportedValue(kField, match, {"Exact", "NotOlderThan", ""}));
    }
    if (match == "Exact" && version == "0") {
      causes.push_back(ForbiddenValue(
          kField, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
    }
  }
  if (query.Has("sendInitialEvents")) {
    causes.push_back(
        ForbiddenValue("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return causes;
}

// The objects at `version`; an exact name is looked up rather than searched for.
ApiOr<std::vector<ObjectPtr>> Snapshot(const Store& store, const ResourceRequest& request,
                                       const ListOptions& options, uint64_t version) {
  const StorageId storage = request.type.storage;
  const std::string* name = options.fields.ExactValue("metadata.name");
  const std::string& ns = request.path.namespace_name;
  const bool one = name != nullptr && (!ns.empty() || !request.type.namespaced());
  if (one && version == store.version()) {
    std::vector<ObjectPtr> found;
    if (ObjectPtr object = store.Get(storage, {ns, *name}); object != nullptr) {
      found.push_back(std::move(object));
    }
    return found;
  }
  std::optional<std::vector<ObjectPtr>> objects = store.ListAt(storage, version, ns);
  if (!objects.has_value()) {
    return options.continue_token.empty()
               ? Expired(absl::StrCat("The resourceVersion for the provided list is too old: ",
                                      version))
               : Expired(kTooOld);
  }
  return *std::move(objects);
}

ApiOr<uint64_t> VersionToServe(const Store& store, const ListOptions& options) {
  const uint64_t wanted = options.version.value_or(0);
  if (wanted > store.version()) return TooLargeResourceVersion(wanted, store.version());
  const bool exact = options.match == VersionMatch::kExact ||
                     (options.match == VersionMatch::kUnset && wanted != 0 && options.limit > 0);
  return exact ? wanted : store.version();
}

}  // namespace

bool ListOptions::Selects(const Json& stored) const {
  return (labels.empty() || labels.Matches(stored["metadata"]["labels"])) &&
         (fields.empty() || fields.Matches(stored));
}

ApiOr<ListOptions> ParseListOptions(const ResourceRequest& request) {
  const Query& query = request.query;
  ListOptions options;
  options.watch = query.IsTrue("watch");
  std::vector<StatusCause> causes = options.watch ? WatchProblems(query) : ListProblems(query);
  if (!causes.empty()) return InvalidOptions("ListOptions", std::move(causes));
  API_ASSIGN_OR_RETURN(options.labels, LabelSelector::Parse(query.Get("labelSelector")));
  API_ASSIGN_OR_RETURN(options.fields,
                       FieldSelector::Parse(query.Get("fieldSelector"), request.type));
  API_ASSIGN_OR_RETURN(options.limit, ParseCount(query, "limit"));
  if (query.Has("timeoutSeconds")) {
    API_ASSIGN_OR_RETURN(const int64_t seconds, ParseCount(query, "timeoutSeconds"));
    options.timeout_seconds = seconds;
  }
  options.continue_token = query.Get("continue");
  options.bookmarks = query.IsTrue("allowWatchBookmarks");
  options.initial_events = query.IsTrue("sendInitialEvents");
  const std::string& match = query.Get("resourceVersionMatch");
  if (match == "Exact") options.match = VersionMatch::kExact;
  if (match == "NotOlderThan") options.match = VersionMatch::kNotOlderThan;
  if (const std::string& version = query.Get("resourceVersion"); !version.empty()) {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(version, &number)) {
      const std::string why =
          absl::StrCat("resourceVersion: Invalid value: ", Json(version).Dump(),
                       ": strconv.ParseUint: parsing ", Json(version).Dump(), ": invalid syntax");
      // A watch says so without a reason.
      return options.watch ? ApiError{.code = 500, .message = why} : BadRequest(why);
    }
    options.version = number;
  }
  return options;
}

ApiOr<ListPage> ListObjects(const Store& store, const ResourceRequest& request,
                            const ListOptions& options) {
  Position position;
  if (!options.continue_token.empty()) {
    if (options.version.value_or(0) != 0) {
      return BadRequest("specifying resource version is not allowed when using continue");
    }
    API_ASSIGN_OR_RETURN(position, DecodePosition(options.continue_token));
    if (position.version > store.version()) return Expired(kTooOld);
  } else {
    API_ASSIGN_OR_RETURN(position.version, VersionToServe(store, options));
  }
  API_ASSIGN_OR_RETURN(std::vector<ObjectPtr> objects,
                       Snapshot(store, request, options, position.version));
  auto next = objects.begin();
  if (!options.continue_token.empty()) {
    next = std::partition_point(objects.begin(), objects.end(), [&](const ObjectPtr& object) {
      return NameOf(*object) <= position.after;
    });
  }
  // Limit is not heeded when any state will do: all of the cache is at hand.
  const bool any_state = options.version.has_value() && *options.version == 0;
  const size_t limit =
      options.limit > 0 && !any_state ? static_cast<size_t>(options.limit) : objects.size();
  ListPage page{.objects = {}, .version = position.version, .continue_token = {}, .remaining = {}};
  for (; next != objects.end(); ++next) {
    if (!options.Selects(**next)) continue;
    if (page.objects.size() == limit) {
      page.continue_token =
          EncodePosition({.version = position.version, .after = NameOf(*page.objects.back())});
      if (options.labels.empty() && options.fields.empty()) {
        page.remaining = objects.end() - next;
      }
      break;
    }
    page.objects.push_back(std::move(*next));
  }
  return page;
}

}  // namespace maniple::devcluster
