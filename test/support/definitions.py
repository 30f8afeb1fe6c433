"""Definitions of other projects' kinds, with open schemas: what a stand-in for their controllers needs."""

from support.control_plane import CRDS, await_true


def open_definition(group, version, kind, plural, has_status):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        # Groups that Kubernetes keeps for itself want a word about why.
        "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in for tests"}},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
                          **({"subresources": {"status": {}}} if has_status else {})}],
        },
    }


def install_open(server, kinds):
    """`kinds`: (group, version, kind, plural, whether it has a status subresource). They are served when this returns."""
    for definition in (open_definition(*kind) for kind in kinds):
        server.api.must("POST", CRDS, definition)
    for group, version, _, plural, _ in kinds:
        path = f"/apis/{group}/{version}/{plural}"
        await_true(path, lambda: server.api.request("GET", path).status == 200, server.children[-1], seconds=30)
