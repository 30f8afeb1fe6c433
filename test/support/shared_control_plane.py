"""One real control plane for the cases of a suite, emptied between them: that takes a tenth of a second, a start takes eight.

What is emptied is the store itself: every key that was not there at first goes, and what was changed is as it was. The API server sees
these as writes of another API server. A case that fails, or ends a program of the control plane, costs the next one a fresh start.
"""

import atexit
import base64
import os
import secrets
import shutil
import signal
from contextlib import ExitStack

from support.control_plane import Process, await_true, read_crds

REGISTRY = "/registry/"
# What the API server itself renews.
ITS_OWN = ("/registry/leases/", "/registry/masterleases/")
# Last, so that objects of a kind go before the kind.
DEFINITIONS = "/registry/apiextensions.k8s.io/customresourcedefinitions/"
MOST_IN_ONE = 100  # etcd takes 128 operations in a transaction
ROLES = ("/registry/clusterrole", "/registry/role")
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def coded(text):
    return base64.b64encode(text.encode()).decode()


def decoded(text):
    return base64.b64decode(text).decode()


class Store:
    """All that an API server keeps in etcd, as it was when this was made."""

    def __init__(self, etcd):
        self.etcd = etcd
        self.first = {decoded(one["key"]): one for one in self._read()}

    def restore(self):
        """The keys that were put back or deleted."""
        now = {decoded(one["key"]): one for one in self._read(keys_only=True)}
        changed = [key for key, one in self.first.items() if key not in now or now[key]["mod_revision"] != one["mod_revision"]]
        added = [key for key in now if key not in self.first]
        keys = [key for key in changed + added if not key.startswith(ITS_OWN)]
        keys.sort(key=lambda key: (key.startswith(DEFINITIONS), key))
        for start in range(0, len(keys), MOST_IN_ONE):
            some = keys[start : start + MOST_IN_ONE]
            done = self.etcd.must("POST", "/v3/kv/txn", {"success": [self._restored(key) for key in some]})
            for key in some:
                if key in self.first:
                    self.first[key]["mod_revision"] = done["header"]["revision"]
        return keys

    def _read(self, **how):
        asked = {"key": coded(REGISTRY), "range_end": coded(REGISTRY[:-1] + chr(ord("/") + 1)), **how}
        return self.etcd.must("POST", "/v3/kv/range", asked).get("kvs", [])

    def _restored(self, key):
        if key in self.first:
            return {"request_put": {"key": coded(key), "value": self.first[key]["value"]}}
        return {"request_delete_range": {"key": coded(key)}}


def await_roles(server):
    """Until the API server decides by all roles and bindings that are written.

    It hears of each of their four kinds in the order of writes: once it knows one that is written now, it knows those before.
    """
    api, name, made = server.api, f"mark-{secrets.token_hex(8)}", []
    for scope, prefix in (("", "Cluster"), ("/namespaces/default", "")):
        role = {"metadata": {"name": name}, "rules": [{"apiGroups": ["maniple.test"], "resources": [f"{prefix}marks"], "verbs": ["get"]}]}
        binding = {"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": f"{prefix}Role", "name": name},
                   "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]}
        for kind, body in ((f"{prefix}role", role), (f"{prefix}rolebinding", binding)):
            path = f"{RBAC}{scope}/{kind.lower()}s"
            api.must("POST", path, body)
            made.append(f"{path}/{name}")

    def allowed(prefix, namespace):
        what = {"group": "maniple.test", "resource": f"{prefix}marks", "verb": "get", "namespace": namespace}
        review = {"spec": {"user": name, "resourceAttributes": what}}
        return api.must("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]

    await_true("roles", lambda: allowed("Cluster", "") and allowed("", "default"), server.children[-1], seconds=30)
    for path in made:
        api.must("DELETE", path)


class SharedControlPlane:
    """A context manager for one case after the other: the control plane that `make` makes, with our CRDs and nothing else."""

    def __init__(self, make):
        self.make, self.server = make, None
        atexit.register(self.stop)

    def __enter__(self):
        if self.server is None:
            self._start()
        self.others = len(Process.started)
        return self.server

    def __exit__(self, failure, *_):
        with ExitStack() as otherwise:
            otherwise.callback(self.stop)
            if not failure and all(child.child.poll() is None for child in self.children):
                self._empty()
                otherwise.pop_all()

    def _start(self):
        with ExitStack() as otherwise:
            server = otherwise.enter_context(self.make())
            server.install_crds()
            self.server, self.store, self.children = server, Store(server.etcd), list(server.children)
            self.files = set(server.folder.iterdir())
            otherwise.pop_all()

    def stop(self):
        if self.server is not None:
            self.server.stop()
        self.server = None

    def _empty(self):
        for left in Process.started[self.others :]:
            left.stop(signal.SIGKILL)
        self.server.children[:] = self.children
        for path in set(self.server.folder.iterdir()) - self.files:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        keys = self.store.restore()
        if any(key.startswith(DEFINITIONS) for key in keys):
            self.server.await_crds(read_crds())
        if any(key.startswith(ROLES) for key in keys):
            await_roles(self.server)
        if self.server.audit_log is not None:
            os.truncate(self.server.audit_log, 0)
