#!/usr/bin/env python3
"""Tests of the test tools: a tally that loses failures, or a comparison that sees none, would make everything look green."""

import contextlib
import http.client
import http.server
import json
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from types import SimpleNamespace

TEST = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST), str(TEST / "conformance")]
from differential import player, transcript  # noqa: E402
from sim import planted_bugs  # noqa: E402
from support import control_plane, fault_proxy, openapi_schemas, tally  # noqa: E402
from support.api_client import ApiClient  # noqa: E402
from support.cases import run_unit_tests  # noqa: E402
from support.faulty_server import FaultyServer  # noqa: E402
from support.shared_control_plane import SharedControlPlane, Store, coded, decoded  # noqa: E402


def differing(expected, actual):
    return [path for path, _, _ in transcript.differences(transcript.normalise(expected), transcript.normalise(actual))]


class TallyTest(unittest.TestCase):
    def count(self, entries, outputs):
        with tempfile.TemporaryDirectory() as folder:
            for name, cases in outputs.items():
                text = json.dumps({"testsuites": [{"name": "Suite", "testsuite": cases}]})
                (Path(folder) / f"{name}.json").write_text(text)
            junit = Path(folder) / "junit.xml"
            junit.write_text("<testsuite>" + "".join(entries) + "</testsuite>")
            totals, self.names = tally.tally(junit, folder)
            return totals

    def test_each_gtest_case_counts(self):
        broken = {"name": "B", "result": "COMPLETED", "failures": [{}]}
        cases = [{"result": "COMPLETED"}, broken, {"result": "SKIPPED"}, {"status": "NOTRUN"}]
        entry = '<testcase name="a" status="fail"><failure/></testcase>'
        self.assertEqual(self.count([entry], {"a": cases}), [1, 1, 2])
        self.assertEqual(self.names, ["a: Suite.B"])

    def test_a_crash_without_output_is_a_failure(self):
        self.assertEqual(self.count(['<testcase name="a" status="fail"><failure/></testcase>'], {}), [0, 1, 0])

    def test_a_failure_after_passed_cases_is_a_failure(self):
        entry = '<testcase name="a" status="fail"><failure message="Timeout"/></testcase>'
        self.assertEqual(self.count([entry], {"a": [{"result": "COMPLETED"}]}), [1, 1, 0])
        self.assertEqual(self.names, ["a, without a failed case: Timeout"])

    def test_a_test_that_is_no_gtest_counts_once(self):
        entries = ['<testcase name="a" status="run"/>', '<testcase name="b" status="notrun"><skipped/></testcase>']
        self.assertEqual(self.count(entries, {}), [1, 0, 1])

    def test_outputs_of_one_binary_started_twice_are_added(self):
        entry = '<testcase name="a" status="run"/>'
        self.assertEqual(self.count([entry], {"a": [{}], "a_1": [{}, {}]}), [3, 0, 0])


class TranscriptTest(unittest.TestCase):
    def test_a_changed_an_absent_and_an_added_field_are_seen(self):
        expected = {"body": {"spec": {"a": 1, "b": [1, 2]}}}
        actual = {"body": {"spec": {"a": 2, "b": [1], "c": True}}}
        self.assertEqual(differing(expected, actual), ["body.spec.a", "body.spec.b.length", "body.spec.c"])

    def test_true_is_not_one(self):
        self.assertEqual(differing({"ready": True}, {"ready": 1}), ["ready"])

    def test_what_must_differ_between_two_runs_does_not_count(self):
        def pod(number):
            uid = f"{number}0000000-0000-4000-8000-000000000000"
            metadata = {"uid": uid, "resourceVersion": str(number), "creationTimestamp": f"2026-01-01T00:00:0{number}Z"}
            return {"metadata": {**metadata, "managedFields": [number], "name": f"a-bcdf{number}", "generateName": "a-"}}

        self.assertEqual(differing(pod(1), pod(2)), [])

    def test_a_missing_time_counts(self):
        self.assertEqual(differing({"deletionTimestamp": "2026-01-01T00:00:00Z"}, {}), ["deletionTimestamp"])

    def test_prose_counts_only_where_users_rely_on_it(self):
        def failure(reason, message):
            return {"kind": "Status", "status": "Failure", "reason": reason, "message": message}

        self.assertEqual(differing(failure("NotFound", "x"), failure("NotFound", "y")), ["message"])
        self.assertEqual(differing(failure("Invalid", "x"), failure("Invalid", "y")), [])
        self.assertEqual(differing({"kind": "Event", "message": "x"}, {"kind": "Event", "message": "y"}), ["message"])

    def test_causes_are_compared_in_any_order(self):
        one, other = {"field": "a", "reason": "x"}, {"field": "b", "reason": "x"}
        self.assertEqual(differing({"causes": [one, other]}, {"causes": [other, one]}), [])

    def test_ages_of_a_table_do_not_count_but_other_cells_do(self):
        def table(*cells):
            return {"kind": "Table", "columnDefinitions": [{"name": "Name"}, {"name": "Age"}], "rows": [{"cells": [*cells]}]}

        self.assertEqual(differing(table("a", "1s"), table("a", "2m5s")), [])
        self.assertEqual(differing(table("a", "1s"), table("b", "1s")), ["rows[0].cells[0]"])

    def test_a_part_is_picked_by_name(self):
        body = {"resources": [{"name": "pods", "kind": "Pod"}, {"name": "nodes", "kind": "Node"}], "a.b": {"c": 1}}
        self.assertEqual(transcript.pick(body, "resources[name=nodes].kind"), "Node")
        self.assertEqual(transcript.pick(body, "a~b.c"), 1)
        self.assertIsNone(transcript.pick(body, "resources[name=none].kind"))


class PlayerTest(unittest.TestCase):
    def test_a_name_used_twice_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "topic.yaml").write_text("requests: [{id: a, send: GET /}, {id: a, send: GET /}]")
            with self.assertRaisesRegex(ValueError, "used twice: a"):
                player.load(folder)


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers with what it was asked; a watch says two lines, then ends."""

    protocol_version = "HTTP/1.1"
    asked = []

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        Upstream.asked.append((self.command, self.path))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if "watch=true" in self.path:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for _ in range(2):
                self.wfile.write(b"e\r\n" + b'{"type": "A"}\n' + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
            return
        raw = json.dumps({"asked": f"{self.command} {self.path}", "body": body, "agent": self.headers.get("User-Agent")}).encode()
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


class FaultProxyTest(unittest.TestCase):
    def setUp(self):
        Upstream.asked = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def proxy(self, *percent, seed=1):
        upstream = SimpleNamespace(folder=Path(self.folder.name), api=ApiClient("127.0.0.1", self.server.server_port))
        faulty = self.enterContext(FaultyServer(upstream, seed=seed, percent=percent, longest_delay=0.2))
        return faulty, ApiClient("127.0.0.1", int(faulty.url.rsplit(":", 1)[1]))

    def test_without_faults_it_passes_everything_on_over_one_connection(self):
        _, client = self.proxy("0")
        connection = client.connect(timeout=10)
        for index in range(20):
            connection.request("POST", f"/api/{index}?x=1", "y" * index * 5000, {"User-Agent": "me"})
            reply = json.loads(connection.getresponse().read())
            self.assertEqual(reply, {"asked": f"POST /api/{index}?x=1", "body": "y" * index * 5000, "agent": "me"})
        _, events = client.watch("/api?watch=true", 9, 5)
        self.assertEqual(events, [{"type": "A"}] * 2)

    def test_what_is_answered_by_the_proxy_never_reaches_the_server(self):
        for kind, code in (("conflict", 409), ("throttle", 429), ("error", 500), ("overload", 503)):
            _, client = self.proxy(f"{kind}=100")
            reply = client.request("POST", "/api")
            self.assertEqual((reply.status, reply.body["code"]), (code, code))
            self.assertEqual("retry-after" in reply.headers, code == 429)
        self.assertEqual(Upstream.asked, [])

    def test_a_read_has_no_conflict(self):
        _, client = self.proxy("conflict=100")
        self.assertEqual(client.request("GET", "/api").status, 200)

    def test_a_refused_request_does_not_arrive_and_a_lost_reply_does(self):
        for kind, arrives in (("refuse", 0), ("lose", 1)):
            faulty, client = self.proxy(f"{kind}=100")
            with self.assertRaises((OSError, http.client.HTTPException)):
                client.request("POST", "/api")
            self.assertEqual((len(Upstream.asked), faulty.counts()[kind]), (arrives, 1))

    def test_a_half_open_connection_says_nothing(self):
        _, client = self.proxy("hang=100")
        connection = client.connect(timeout=0.3)
        connection.request("GET", "/api")
        with self.assertRaises(TimeoutError):
            connection.getresponse()

    def test_a_reply_comes_late(self):
        _, client = self.proxy("delay=100")
        began = time.monotonic()
        self.assertEqual(client.request("GET", "/api").status, 200)
        self.assertGreater(time.monotonic() - began, 0.04)

    def test_a_watch_is_cut_inside_a_line(self):
        _, client = self.proxy("cut=100")
        connection = client.connect(timeout=5)
        connection.request("GET", "/api?watch=true")
        response = connection.getresponse()
        with self.assertRaises((OSError, http.client.HTTPException)) as failed:
            response.read()
        self.assertNotIn(b"\n", getattr(failed.exception, "partial", b""))

    def test_equal_seeds_mean_equal_fates_in_whatever_order(self):
        def fates(seed, order):
            shares = fault_proxy.Shares(seed, 1.0, fault_proxy.shares_of(["10"]))
            return {path: shares.draw(shares.dice("POST", path), fault_proxy.REQUEST_FAULTS) for path in order}

        paths = [f"/pods/{index}" for index in range(300)]
        self.assertEqual(fates(1, paths), fates(1, reversed(paths)))
        self.assertNotEqual(fates(1, paths), fates(2, paths))
        self.assertEqual(set(fates(1, paths).values()), {None, *fault_proxy.REQUEST_FAULTS})

    def test_shares_that_cannot_be_are_refused(self):
        for words in (["13"], ["nothing=1"], ["lose=-1"], ["lose=x"]):
            with self.assertRaises(ValueError):
                fault_proxy.shares_of(words)


class MutantsTest(unittest.TestCase):
    def test_each_planted_bug_can_still_be_planted(self):
        mutants = sorted((TEST / "sim" / "mutants").glob("*.mutant"))
        self.assertTrue(mutants)
        for mutant in mutants:
            self.assertTrue(planted_bugs.planted(TEST.parent, mutant))

    def test_a_bug_stands_for_words_that_are_there_once(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            (tree / "room" / "floor").mkdir(parents=True)
            (tree / "room" / "CMakeLists.txt").touch()
            (tree / "room" / "a.cc").write_text("int f() {\n  return 1;\n}\n")
            (tree / "room" / "floor" / "b.h").write_text("int g() { return 2; }\n")
            bug = tree / "x.mutant"
            for words, made in (
                ("room/gone.cc\n-return\n-    1;\n+return 3;\n", {"a.cc": "int f() {\n  return 3;\n}\n"}),
                ("room/a.cc\n-return 2;\n+\n-int f()\n+long f()\n", {"a.cc": "long f() {\n  return 1;\n}\n", "b.h": "int g() {  }\n"}),
            ):
                bug.write_text(words)
                self.assertEqual({path.name: text for path, text in planted_bugs.planted(tree, bug).items()}, made)
            for words in ("room/a.cc\n-return\n+\n", "room/a.cc\n-return 4;\n+\n", "room/a.cc\n+return 4;\n"):
                bug.write_text(words)
                with self.assertRaises(planted_bugs.CannotBePlanted):
                    planted_bugs.planted(tree, bug)


class FreePortsTest(unittest.TestCase):
    def test_no_port_is_given_out_twice_though_nobody_listens_yet(self):
        mine = [control_plane.free_ports(1)[0] for _ in range(500)]
        code = "from support import control_plane; print(*control_plane.free_ports(500))"
        others = subprocess.run([sys.executable, "-c", code], cwd=TEST, check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(len({*mine, *map(int, others)}), 1000)


class FakeEtcd:
    """Of etcd's gateway what a Store asks for."""

    def __init__(self, **values):
        self.revision, self.kept, self.written = 1, {}, []
        for key, value in values.items():
            self.put(key, value)

    def put(self, name, value):
        self.revision += 1
        self.kept[f"/registry/{name}"] = (value, self.revision)

    def must(self, _method, path, asked):
        if path == "/v3/kv/range":
            assert decoded(asked["key"]) == "/registry/" and decoded(asked["range_end"]) == "/registry0", "all keys, and no others"
            return {"kvs": [{"key": coded(key), "mod_revision": str(revision), **({} if asked.get("keys_only") else {"value": coded(value)})}
                            for key, (value, revision) in self.kept.items()]}
        assert path == "/v3/kv/txn" and len(asked["success"]) <= 128, "no more than a transaction takes"
        self.revision += 1
        for one in asked["success"]:
            if "request_put" in one:
                self.kept[decoded(one["request_put"]["key"])] = (decoded(one["request_put"]["value"]), self.revision)
            else:
                del self.kept[decoded(one["request_delete_range"]["key"])]
        return {"header": {"revision": str(self.revision)}}

    def values(self):
        return {key.removeprefix("/registry/"): value for key, (value, _) in self.kept.items()}


class FakeServer(contextlib.ExitStack):
    """What a SharedControlPlane asks of a control plane; its only program has ended once `ended` is 0."""

    def __init__(self):
        super().__init__()
        self.folder = Path(self.enter_context(tempfile.TemporaryDirectory()))
        self.audit_log, self.etcd, self.ended = None, FakeEtcd(**{"namespaces/default": "1"}), None
        self.children = [SimpleNamespace(child=SimpleNamespace(poll=lambda: self.ended))]

    def install_crds(self):
        self.etcd.put("apiextensions.k8s.io/customresourcedefinitions/ours", "1")

    def stop(self):
        self.close()


class SharedControlPlaneTest(unittest.TestCase):
    """The fear: what one case leaves behind decides the next one."""

    def setUp(self):
        self.shared = SharedControlPlane(FakeServer)
        self.addCleanup(self.shared.stop)

    def test_the_next_case_finds_it_empty(self):
        with self.shared as first:
            first.etcd.put("pods/left", "1")
            (first.folder / "scheduler.log").touch()
            (first.folder / "certificates").mkdir()
            left = control_plane.Process(["sleep", "1000"], first.folder / "log")
        self.assertIsNotNone(left.child.poll())
        with self.shared as second:
            self.assertIs(second, first)
            self.assertEqual(set(second.etcd.values()), {"namespaces/default", "apiextensions.k8s.io/customresourcedefinitions/ours"})
            self.assertEqual(list(second.folder.iterdir()), [])

    def test_after_a_case_that_failed_or_ended_a_program_it_is_another_one(self):
        with self.assertRaises(KeyError), self.shared as failed:
            raise KeyError
        with self.shared as ended:
            ended.ended = 0
        with self.shared as last:
            self.assertEqual(len({id(failed), id(ended), id(last)}), 3)
        self.assertFalse(failed.folder.exists() or ended.folder.exists())

    def test_the_store_is_as_it_was_whatever_a_case_did(self):
        etcd = FakeEtcd(same="1", edited="2", gone="3")
        store, before = Store(etcd), etcd.values()
        for _ in range(2):
            etcd.put("edited", "two")
            del etcd.kept["/registry/gone"]
            for index in range(300):
                etcd.put(f"pods/{index}", "new")
            self.assertEqual(len(store.restore()), 302)
            self.assertEqual(etcd.values(), before)
            self.assertEqual(store.restore(), [])

    def test_what_the_api_server_renews_is_left_to_it(self):
        etcd = FakeEtcd(**{"leases/kube-system/apiserver": "1"})
        store = Store(etcd)
        etcd.put("leases/kube-system/apiserver", "2")
        self.assertEqual(store.restore(), [])

    def test_objects_go_before_their_kind(self):
        etcd = FakeEtcd()
        store = Store(etcd)
        etcd.put("apiextensions.k8s.io/customresourcedefinitions/jobs.example.com", "kind")
        etcd.put("example.com/jobs/default/a", "object")
        self.assertEqual(store.restore()[-1].split("/")[-1], "jobs.example.com")


class OpenapiSchemasTest(unittest.TestCase):
    def test_only_what_lists_its_fields_refuses_others(self):
        listing = {"type": "object", "properties": {"a": {"type": "string"}}}
        keeping = {**listing, "x-kubernetes-preserve-unknown-fields": True}
        whole = {"type": "object", "properties": {"in": listing, "keeps": keeping, "any": {"type": "object"}}, "allOf": [listing]}
        made = openapi_schemas.strict(whole, self.fail)
        self.assertIs(made["additionalProperties"], False)
        self.assertIs(made["properties"]["in"]["additionalProperties"], False)
        for one in (made["properties"]["keeps"], made["properties"]["any"], made["allOf"][0]):
            self.assertNotIn("additionalProperties", one)

    def test_what_is_no_field_is_not_taken_for_one(self):
        """The schema of CustomResourceDefinitions has fields named $ref, properties and default."""
        fields = {"$ref": {"type": "string", "default": ""}, "default": {"nullable": True, "type": "string"}}
        made = openapi_schemas.strict({"properties": fields, "default": {}}, self.fail)
        text = {"type": "string"}
        self.assertEqual(made["properties"], {"$ref": text, "default": {"anyOf": [text, {"type": "null"}]}})
        self.assertNotIn("default", made)

    def test_a_schema_takes_all_that_it_refers_to_along_and_ends_in_circles(self):
        refer = {"allOf": [{"$ref": openapi_schemas.REFERENCE + "b"}]}
        schemas = {"a": {"properties": {"b": refer}}, "b": {"properties": {"b": refer}}, "c": {}}
        made = openapi_schemas.standalone("a", schemas)
        self.assertEqual(made["definitions"].keys(), {"a", "b"})
        self.assertEqual(made["definitions"]["b"]["properties"]["b"], {"allOf": [{"$ref": "#/definitions/b"}]})

    def test_files_are_named_as_kubeconform_asks_for_them(self):
        own = [{"group": "", "version": "v1", "kind": "Pod"}, {"group": "apps", "version": "v1", "kind": "Pod"}]
        document = {"components": {"schemas": {"p": {"x-kubernetes-group-version-kind": own}}}}
        found = openapi_schemas.kinds({"api/v1": document, "apis/apps/v1": document})
        self.assertEqual(found.keys(), {"v1_v1_pod.json", "apps_v1_pod.json"})
        self.assertIsNone(openapi_schemas.group_version("apis/apps"))


if __name__ == "__main__":
    sys.exit(run_unit_tests(sys.modules[__name__]))
