#!/usr/bin/env python3
"""Tests that pages are whole: a field, a reason or a step of scenarios that is added and not written down fails one of these."""

import re
import sys
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "deploy")]
import reference  # noqa: E402
from producers import catalogue  # noqa: E402
from support.cases import run_unit_tests  # noqa: E402


def text_of(*patterns):
    return "".join(file.read_text() for pattern in patterns for file in sorted(ROOT.glob(pattern)))


class FieldsTest(unittest.TestCase):
    def fields(self):
        """(kind, path, schema) of everything that users may write."""
        for file in sorted((ROOT / "deploy/crds").glob("*.yaml")):
            crd = yaml.safe_load(file.read_text())
            spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
            for path, field, _ in reference.rows(spec, ""):
                yield crd["spec"]["names"]["kind"], path, field

    def test_each_is_described(self):
        self.assertEqual([f"{kind} {path}" for kind, path, field in self.fields() if not field.get("description")], [])

    def test_each_is_read(self):
        reader = text_of("api/codec/*.cc")
        self.assertEqual([f"{kind} {path}" for kind, path, _ in self.fields() if f'"{path.rsplit(".", 1)[-1]}"' not in reader], [])

    def test_each_is_tried_on_both_servers(self):
        samples = text_of("test/unit/data/crds/*/*.yaml")
        self.assertEqual([f"{kind} {path}" for kind, path, _ in self.fields()
                          if not re.search(rf"\b{path.rsplit('.', 1)[-1]}:", samples)], [])


class WordsTest(unittest.TestCase):
    def test_each_reason_is_told(self):
        source = (ROOT / "scheduler/report/reason.cc").read_text()
        names = re.findall(r'{WaitReason::k\w+, "(\w+)"', source)
        page = (ROOT / "deploy/api.md").read_text()
        page = page[page.index("\n## Reasons"):page.index("\n## Events")]
        self.assertEqual(sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)), sorted(names))

    def test_each_event_is_told(self):
        source = (ROOT / "scheduler/report/events.cc").read_text()
        names = re.findall(r'EventType::k\w+,\s+(?:lost \? )?"(\w+)"(?: : "(\w+)")?|WaitReason::k(\w+)', source)
        reporter = (ROOT / "scheduler/loop/serve/reporter.cc").read_text()
        cannot_start = reporter[reporter.index("bool CannotStart("):]
        names += [(name,) for name in re.findall(r"WaitReason::k(\w+)", cannot_start[:cannot_start.index("}")])]
        page = (ROOT / "deploy/api.md").read_text()
        page = page[page.index("\n## Events"):page.index("\n## PodGroup")]
        told = {name for row in re.findall(r"^\| (`[^|]*`) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
        self.assertEqual(told, {name for found in names for name in found if name})

    def test_each_step_of_scenarios_is_told(self):
        steps = re.findall(r'{"(\w+)", &Player::', (ROOT / "test/scenario/scenario.cc").read_text())
        page = (ROOT / "CONTRIBUTING.md").read_text()
        page = page[page.index("| step |"):page.index("With `mig:")]
        told = [step for row in re.findall(r"^\| (`[^|]*`) \|", page, re.MULTILINE) for step in re.findall(r"`(\w+)`", row)]
        self.assertEqual(sorted(told), sorted(steps))

    def test_each_producer_that_is_played_has_its_row(self):
        played = {producer.__name__ for producer in (*catalogue.STAGED, *catalogue.AT_ONCE, *catalogue.EMBEDDED_ONLY)}
        table = (ROOT / "deploy/producers.md").read_text().split("| Kind | Quorum | Played by |")[1].split("\n\n")[0]
        column = " ".join(row.split("|")[3] for row in table.splitlines() if row.startswith("| "))
        told = set(re.findall(r"`(\w+)`", column))
        self.assertEqual(sorted(told), sorted(played))


if __name__ == "__main__":
    sys.exit(run_unit_tests(sys.modules[__name__]))
