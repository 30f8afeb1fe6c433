// GET: one object, a list, a watch.
#include "absl/strings/numbers.h"
#include "api/devcluster/rest/list.h"
#include "api/devcluster/rest/reply.h"
#include "api/devcluster/rest/rest.h"

namespace maniple::devcluster {
namespace {

ApiReply Get(const RestContext& context, const ResourceRequest& request) {
  const Store& store = context.cluster.store;
  uint64_t version = 0;
  if (absl::SimpleAtoi(request.query.Get("resourceVersion"), &version) &&
      version > store.version()) {
    return ErrorReply(TooLargeResourceVersion(version, store.version()));
  }
  const ObjectPtr object = store.Get(request.type.storage, NameIn(request));
  if (object == nullptr) return ErrorReply(NotFound(request.type, request.path.name));
  return ObjectReply(request, 200, object, context.cluster.now);
}

ApiReply Watch(const RestContext& context, const ResourceRequest& request, ListOptions options) {
  const Watches::Form form{.form = ParseAccept(request.http.accept),
                           .row_object = ParseRowObject(request.query.Get("includeObject"))};
  const ApiOr<WatchId> id =
      context.watches.Start(request, std::move(options), form, context.cluster.now);
  if (!id.ok()) return ErrorReply(id.error());
  ApiReply reply;
  reply.watch = *id;
  return reply;
}

// The old way to watch one object: GET …/pods/x?watch=true.
ResourceRequest AsCollection(const ResourceRequest& request) {
  ResourceRequest collection = request;
  collection.path.name.clear();
  return collection;
}

}  // namespace

ApiReply ServeRead(const RestContext& context, const ResourceRequest& request) {
  const bool named = !request.path.name.empty();
  const bool watch = request.path.watch || request.query.IsTrue("watch");
  if (named && !watch) return Get(context, request);
  ApiOr<ListOptions> options = ParseListOptions(request);
  if (!options.ok()) return ErrorReply(options.error());
  options->watch = watch;
  if (named) {
    const ApiOr<FieldSelector> one =
        FieldSelector::Parse("metadata.name=" + request.path.name, request.type);
    if (!one.ok()) return ErrorReply(one.error());
    options->fields = *one;
    return Watch(context, AsCollection(request), *std::move(options));
  }
  if (options->watch) return Watch(context, request, *std::move(options));
  const ApiOr<ListPage> page = ListObjects(context.cluster.store, request, *options);
  if (!page.ok()) return ErrorReply(page.error());
  return ListReply(request, *page, context.cluster.now);
}

}  // namespace maniple::devcluster
