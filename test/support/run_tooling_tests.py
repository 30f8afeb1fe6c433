#!/usr/bin/env python3
"""Tests of the test tools: a tally that loses failures, or a comparison that sees none, would make everything look green."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

TEST = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST), str(TEST / "conformance")]
from differential import player, transcript  # noqa: E402
from support import tally  # noqa: E402


def differing(expected, actual):
    return [path for path, _, _ in transcript.differences(transcript.normalise(expected), transcript.normalise(actual))]


class TallyTest(unittest.TestCase):
    def count(self, entries, outputs):
        with tempfile.TemporaryDirectory() as folder:
            for name, cases in outputs.items():
                text = json.dumps({"testsuites": [{"testsuite": cases}]})
                (Path(folder) / f"{name}.json").write_text(text)
            junit = Path(folder) / "junit.xml"
            junit.write_text("<testsuite>" + "".join(entries) + "</testsuite>")
            return tally.tally(junit, folder)

    def test_each_gtest_case_counts(self):
        cases = [{"result": "COMPLETED"}, {"result": "COMPLETED", "failures": [{}]}, {"result": "SKIPPED"}, {"status": "NOTRUN"}]
        entry = '<testcase name="a" status="fail"><failure/></testcase>'
        self.assertEqual(self.count([entry], {"a": cases}), [1, 1, 2])

    def test_a_crash_without_output_is_a_failure(self):
        self.assertEqual(self.count(['<testcase name="a" status="fail"><failure/></testcase>'], {}), [0, 1, 0])

    def test_a_failure_after_passed_cases_is_a_failure(self):
        entry = '<testcase name="a" status="fail"><failure/></testcase>'
        self.assertEqual(self.count([entry], {"a": [{"result": "COMPLETED"}]}), [1, 1, 0])

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


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
