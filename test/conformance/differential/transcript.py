"""What a server answered, made comparable: everything that must differ between two runs is replaced by a placeholder."""

import json
import re

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")
UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
HASH = re.compile(r"hash=[0-9A-Za-z]+")
ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
AGE = re.compile(r"^(\d+[smhdy])+$")
RANDOM_SUFFIX = re.compile(r"^[a-z0-9]{5}$")
VERSION_IN_PROSE = re.compile(r"((?:precondition|record) \(|resource version: |current: )\d+")

# The words a person reads are compared where kubectl users and scripts rely on them, and noted only elsewhere.
REASONS_WITH_EXACT_MESSAGE = {"NotFound", "AlreadyExists"}


def normalise(value, key=""):
    """The value with uids, times, versions, tokens and addresses replaced, and managedFields left out."""
    if isinstance(value, dict):
        plain = {name: normalise(inner, name) for name, inner in value.items() if name != "managedFields"}
        _name_generated(plain)
        _age_cells(plain)
        _sort_causes(plain)
        return plain
    if isinstance(value, list):
        return [normalise(inner, key) for inner in value]
    if isinstance(value, str):
        return _normalise_text(value, key)
    return value


def _normalise_text(text, key):
    if key == "resourceVersion" and text:
        return "<version>"
    if key == "continue" and text:
        return "<token>"
    if TIME.match(text):
        return "<time>"
    text = UID.sub("<uid>", text)
    text = HASH.sub("hash=<hash>", text)
    text = VERSION_IN_PROSE.sub(r"\1<version>", text)
    return ADDRESS.sub("<address>", text)


def _name_generated(metadata):
    prefix, name = metadata.get("generateName"), metadata.get("name")
    if isinstance(prefix, str) and isinstance(name, str) and name.startswith(prefix):
        if RANDOM_SUFFIX.match(name[len(prefix) :]):
            metadata["name"] = prefix + "<random>"


def _sort_causes(details):
    """The order of the causes of an error follows Go's maps."""
    if isinstance(details.get("causes"), list):
        details["causes"].sort(key=lambda cause: json.dumps(cause, sort_keys=True))


def _age_cells(table):
    """The ages in a Table depend on when the test ran; later events of a watch do not say which column is Age."""
    if table.get("kind") != "Table":
        return
    for row in table.get("rows") or []:
        row["cells"] = ["<age>" if isinstance(cell, str) and AGE.match(cell) else cell for cell in row.get("cells") or []]
    for column in table.get("columnDefinitions") or []:
        column.pop("description", None)


def pick(value, path):
    """The part of a value at `a.b[name=pods].c`; None where there is none."""
    for step in re.findall(r"\[[^\]]*\]|[^.\[\]]+", path):
        if step.startswith("["):
            field, wanted = step[1:-1].split("=", 1)
            items = value if isinstance(value, list) else []
            value = next((one for one in items if isinstance(one, dict) and one.get(field) == wanted), None)
        else:
            value = value.get(step.replace("~", ".")) if isinstance(value, dict) else None
    return value


def differences(expected, actual, path=""):
    """(path, expected, actual) for each field in which two normalised values differ; None stands for absent."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in sorted(expected.keys() | actual.keys()):
            if name == "message" and not _message_matters(expected):
                continue
            yield from differences(expected.get(name), actual.get(name), f"{path}.{name}" if path else name)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}.length", len(expected), len(actual)
        for place, (one, other) in enumerate(zip(expected, actual)):
            yield from differences(one, other, f"{path}[{place}]")
    elif expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        yield path, expected, actual


def _message_matters(expected):
    is_failure = expected.get("kind") == "Status" and expected.get("status") == "Failure"
    is_cause = "field" in expected or expected.get("reason", "").startswith("FieldValue")
    if is_failure:
        return expected.get("reason") in REASONS_WITH_EXACT_MESSAGE
    return not is_cause
