// GET: one object, a list, a watch.
#include "absl/strings/numbers.h"
#include "api/devcluster/rest/list.h"
#include "api/devcluster/rest/reply.h"
#include "api/devcluster/rest/rest.h"

namespace maniple::devcluster {
namespace {

ApiOr<ApiReply> Get(const RestContext& context, const ResourceRequest& request) {
  const Store& store = context.cluster.store;
  uint64_t version = 0;
  if (absl::SimpleAtoi(request.query.Get("resourceVersion"), &version) &&
      version > store.version()) {
    return TooLargeResourceVersion(version, store.version());
  }
  const ObjectPtr object = store.Get(request.type.storage, NameIn(request));
  if (object == nullptr) return NotFound(request.type, request.path.name);
  return ObjectReply(request, 200, object, context.cluster.now);
}

ApiOr<ApiReply> Watch(const RestContext& context, const ResourceRequest& request,
                      ListOptions options) {
  const Watches::Form form{.form = ParseAccept(request.http.accept),
                           .row_object = ParseRowObject(request.query.Get("includeObject"))};
  API_ASSIGN_OR_RETURN(const WatchId id, context.watches.Start(request, std::move(options), form,
                                                               context.cluster.now));
  ApiReply reply;
  reply.watch = id;
  return reply;
}

// The old way to watch one object: GET …/pods/x?watch=true.
ResourceRequest AsCollection(const ResourceRequest& request) {
  ResourceRequest collection = request;
  collection.path.name.clear();
  return collection;
}

}  // namespace

ApiOr<ApiReply> ServeRead(const RestContext& context, const ResourceRequest& request) {
  const bool named = !request.path.name.empty();
  const bool watch = request.path.watch || request.query.IsTrue("watch");
  if (named && !watch) return Get(context, request);
  API_ASSIGN_OR_RETURN(ListOptions options, ParseListOptions(request));
  options.watch = watch;
  if (named) {
    API_ASSIGN_OR_RETURN(options.fields,
                         FieldSelector::Parse("metadata.name=" + request.path.name, request.type));
    return Watch(context, AsCollection(request), std::move(options));
  }
  if (options.watch) return Watch(context, request, std::move(options));
  API_ASSIGN_OR_RETURN(const ListPage page, ListObjects(context.cluster.store, request, options));
  return ListReply(request, page, context.cluster.now);
}

}  // namespace maniple::devcluster
