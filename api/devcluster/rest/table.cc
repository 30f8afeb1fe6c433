#include "api/devcluster/rest/table.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/devcluster/rest/json_path.h"
#include "api/devcluster/rest/table_columns.h"
#include "api/devcluster/types/resource_type.h"
#include "api/devcluster/types/time_text.h"

namespace maniple::devcluster {
namespace {

Json ColumnDefinition(absl::string_view name, absl::string_view type, absl::string_view format,
                      absl::string_view description, int64_t priority) {
  return Json::Object({{"name", Json(name)},
                       {"type", Json(type)},
                       {"format", Json(format)},
                       {"description", Json(description)},
                       {"priority", Json(priority)}});
}

Json NameDefinition() {
  return ColumnDefinition("Name", "string", "name", "Name of the object, unique in its namespace.",
                          0);
}

// One cell of a custom resource, of the type that its column declares.
Json CustomCell(const Json& column, const Json& object, absl::Time now) {
  const std::vector<const Json*> found = FindByJsonPath(object, column["jsonPath"].AsString());
  if (found.empty() || found[0]->is_null()) return Json();
  const std::string& type = column["type"].AsString();
  if (type == "date") return AgeSince(*found[0], now);
  if (type == "integer" || type == "number") return found[0]->is_number() ? *found[0] : Json();
  if (type == "boolean") return found[0]->is_bool() ? *found[0] : Json();
  std::string text;
  for (const Json* value : found) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    value->is_string() ? value->AsString() : value->Dump());
  }
  return Json(std::move(text));
}

struct Rows {
  Json definitions = Json::Array();
  Json rows = Json::Array();
};

Json Row(const Json& object, Json cells, RowObject row_object) {
  Json row = Json::Object({{"cells", std::move(cells)}});
  switch (row_object) {
    case RowObject::kMetadata:
      row.Set("object", ToPartialMetadata(object));
      break;
    case RowObject::kFull:
      row.Set("object", object);
      break;
    case RowObject::kNone:
      row.Set("object", nullptr);
      break;
  }
  return row;
}

Rows CustomRows(const ResourceType& type, absl::Span<const Json* const> objects,
                const TableOptions& options) {
  Rows out;
  out.definitions.Append(NameDefinition());
  const std::vector<Json>& columns = type.printer_columns.items();
  for (const Json& column : columns) {
    out.definitions.Append(ColumnDefinition(
        column["name"].AsString(), column["type"].AsString(), column["format"].AsString(),
        column["description"].AsString(), column["priority"].AsInt()));
  }
  for (const Json* object : objects) {
    Json cells = Json::Array({(*object)["metadata"]["name"]});
    for (const Json& column : columns) {
      cells.Append(CustomCell(column, *object, options.now));
    }
    out.rows.Append(Row(*object, std::move(cells), options.row_object));
  }
  return out;
}

Rows BuiltinRows(const ResourceType& type, absl::Span<const Json* const> objects,
                 const TableOptions& options) {
  Rows out;
  const absl::Span<const TableColumn> columns = ColumnsOf(type.group, type.kind);
  for (const TableColumn& column : columns) {
    const bool is_name = absl::string_view(column.name) == "Name";
    out.definitions.Append(
        ColumnDefinition(column.name, column.type, is_name ? "name" : "", "", column.priority));
  }
  for (const Json* object : objects) {
    Json cells = Json::Array();
    for (const TableColumn& column : columns) cells.Append(column.cell(*object, options.now));
    out.rows.Append(Row(*object, std::move(cells), options.row_object));
  }
  return out;
}

}  // namespace

RowObject ParseRowObject(absl::string_view include_object) {
  if (include_object == "None") return RowObject::kNone;
  if (include_object == "Object") return RowObject::kFull;
  return RowObject::kMetadata;
}

Json ToTable(const ResourceType& type, absl::Span<const Json* const> objects,
             const Json& list_metadata, const TableOptions& options) {
  Rows made = type.printer_columns.size() == 0 ? BuiltinRows(type, objects, options)
                                               : CustomRows(type, objects, options);
  Json metadata = Json::Object();
  for (const char* field : {"resourceVersion", "continue", "remainingItemCount"}) {
    if (const Json* value = list_metadata.Find(field)) metadata.Set(field, *value);
  }
  return Json::Object({{"kind", "Table"},
                       {"apiVersion", "meta.k8s.io/v1"},
                       {"metadata", std::move(metadata)},
                       {"columnDefinitions", std::move(made.definitions)},
                       {"rows", std::move(made.rows)}});
}

Json ToPartialMetadata(const Json& object) {
  return Json::Object({{"kind", "PartialObjectMetadata"},
                       {"apiVersion", "meta.k8s.io/v1"},
                       {"metadata", object["metadata"]}});
}

}  // namespace maniple::devcluster
