"""What happened to every pod, from a watch of the test's own on the server itself: every nodeName change in the server's order."""

import http.client
import json
import threading
from collections import Counter, defaultdict

from support.scheduler import GPU, POD_GROUP


def gpus_of(one):
    return sum(int(c["resources"]["requests"].get(GPU, 0)) for c in one["spec"]["containers"])


class Ledger:
    """Follows all pods in a thread. `wrong` gathers sentences about what must never happen:

    a node with more GPUs given out than it has, at any version of the history; a pod bound twice, or moved.

    REQUIRES: every node has `gpus_per_node`; no pod is created bound.
    """

    def __init__(self, api, gpus_per_node):
        self.api, self.gpus_per_node = api, gpus_per_node
        self.lock = threading.Lock()
        self.pods = {}  # name → the newest object, of those that exist
        self.bound = {}  # uid → node, of every pod ever bound
        self.holding = {}  # uid → (node, GPUs) of those that take room now
        self.used = Counter()
        self.binds = 0
        self.deleted = []  # names, in order; taken by the test
        self.wrong = []
        self.stopping = False
        self.connection = None
        listing = self.api.must("GET", "/api/v1/pods")
        for one in listing["items"]:
            self._note("ADDED", one)
        self.version = listing["metadata"]["resourceVersion"]
        self.thread = threading.Thread(target=self._follow, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopping = True
        if self.connection is not None and self.connection.sock is not None:
            self.connection.sock.shutdown(2)
        self.thread.join(10)

    def _follow(self):
        while not self.stopping:
            try:
                self.connection = self.api.connect(timeout=None)
                path = f"/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion={self.version}"
                self.connection.request("GET", path, headers={"Accept": "application/json"})
                for line in self.connection.getresponse():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        self.wrong.append(f"the ledger lost its place: {event['object'].get('message')}")
                        return
                    with self.lock:
                        self._note(event["type"], event["object"])
                        self.version = event["object"]["metadata"]["resourceVersion"]
            except (OSError, ValueError, AttributeError, http.client.HTTPException):
                pass  # shut down, or cut: go on where it stopped

    def _note(self, kind, one):
        if kind == "BOOKMARK":
            return
        name, uid = one["metadata"]["name"], one["metadata"]["uid"]
        node = one["spec"].get("nodeName")
        if kind == "DELETED":
            self.pods.pop(name, None)
            self.deleted.append(name)
        else:
            self.pods[name] = one
        if node and uid not in self.bound:
            self.bound[uid] = node
            self.binds += 1
        elif self.bound.get(uid) != node:
            self.wrong.append(f"pod {name} ({uid}) was bound to {self.bound.get(uid)} and is on {node} now")
        ended = kind == "DELETED" or one.get("status", {}).get("phase") in ("Succeeded", "Failed")
        if ended and uid in self.holding:
            where, gpus = self.holding.pop(uid)
            self.used[where] -= gpus
        elif node and not ended and uid not in self.holding:
            self.holding[uid] = (node, gpus_of(one))
            self.used[node] += gpus_of(one)
            if self.used[node] > self.gpus_per_node:
                self.wrong.append(f"{node} gave out {self.used[node]} of {self.gpus_per_node} GPUs with {name}")

    def gangs(self):
        """{gang: [pod, …]} of the pods that exist."""
        with self.lock:
            found = defaultdict(list)
            for one in self.pods.values():
                found[one["metadata"].get("labels", {}).get(POD_GROUP, "")].append(one)
            return found

    def take_deleted(self):
        with self.lock:
            deleted, self.deleted = self.deleted, []
            return deleted
