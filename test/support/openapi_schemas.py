"""JSON schemas for kubeconform, made of what a running API server publishes at /openapi/v3: its own kinds and those of its CRDs.

    location = write(documents(server.api), folder)   # for kubeconform -schema-location

Each kind gets one file that needs no other. They are strict: a field that no schema lists is refused, unless the schema says that
it keeps what it does not know.
"""

import json
from pathlib import Path

REFERENCE = "#/components/schemas/"
# Words that say what JSON Schema draft 4 says by them. Others explain, set defaults, or are rules only a server can follow.
PLAIN = ("type", "format", "required", "enum", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
         "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties")
# An embedded object has its apiVersion, kind and metadata without listing them.
OPEN = ("additionalProperties", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource")
INT_OR_STRING = {"anyOf": [{"type": "integer"}, {"type": "string"}]}


def documents(api):
    """{"apis/apps/v1": document}: of each group and version, none of the pages that only list groups.

    The URLs of the index carry a hash, and lead nowhere once a CRD has changed the document; without it one gets the newest.
    """
    return {path: api.must("GET", f"/openapi/v3/{path}") for path in api.must("GET", "/openapi/v3")["paths"] if group_version(path)}


def group_version(path):
    """("apps", "v1") of "apis/apps/v1", ("", "v1") of "api/v1", None of what is no group's."""
    parts = path.split("/")
    if parts[0] == "api" and len(parts) == 2:
        return "", parts[1]
    return (parts[1], parts[2]) if parts[0] == "apis" and len(parts) == 3 else None


def file_name(group, version, kind):
    """As the template of location() comes out: to kubeconform, the group of `apiVersion: v1` is v1."""
    return f"{group or version}_{version}_{kind.lower()}.json"


def location(folder):
    return f"{folder}/{{{{.Group}}}}_{{{{.ResourceAPIVersion}}}}_{{{{.ResourceKind}}}}.json"


def kinds(documents):
    """{file name: (name of the schema, the schemas beside it)}. Every group has its DeleteOptions; each document tells its own."""
    return {
        file_name(*group_version(path), own["kind"]): (name, document["components"]["schemas"])
        for path, document in documents.items()
        for name, schema in document.get("components", {}).get("schemas", {}).items()
        for own in schema.get("x-kubernetes-group-version-kind", ())
        if (own["group"], own["version"]) == group_version(path)
    }


def write(documents, folder):
    """One file a kind; the -schema-location that finds them."""
    for file, (name, schemas) in kinds(documents).items():
        (Path(folder) / file).write_text(json.dumps(standalone(name, schemas)))
    return location(folder)


def standalone(name, schemas):
    """The schema with everything that it refers to, however far away and in circles, under `definitions`."""
    definitions, wanted = {}, [name]
    while wanted:
        one = wanted.pop()
        if one not in definitions:
            definitions[one] = strict(schemas[one], wanted.append)
    return {"$schema": "http://json-schema.org/draft-04/schema#", "allOf": [reference(name)], "definitions": definitions}


def reference(name):
    return {"$ref": f"#/definitions/{name}"}


def strict(schema, refers, part=False):
    """The schema in the words of draft 4; `refers` is told each name that it refers to.

    A part, what stands in an allOf, anyOf, oneOf or not, may list some fields of many: only the whole refuses further ones.
    """
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REFERENCE)
        refers(name)
        return reference(name)

    def within(one, part=part):
        return strict(one, refers, part)

    made = {word: schema[word] for word in PLAIN if word in schema}
    if "properties" in schema:
        made["properties"] = {name: within(one) for name, one in schema["properties"].items()}
        if not part and not any(schema.get(word) for word in OPEN):
            made["additionalProperties"] = False
    for word in ("items", "additionalProperties"):
        if word in schema:
            made[word] = within(schema[word]) if isinstance(schema[word], dict) else schema[word]
    for word in ("allOf", "anyOf", "oneOf"):
        if word in schema:
            made[word] = [within(one, part=True) for one in schema[word]]
    if "not" in schema:
        made["not"] = within(schema["not"], part=True)
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        made.pop("type", None)
        made = {"allOf": [made, INT_OR_STRING]}
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") else made
