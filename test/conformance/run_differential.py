#!/usr/bin/env python3
"""Plays the same requests to maniple-devcluster and to a real kube-apiserver and compares the answers field by field.

  test/conformance/run_differential.py                # against the real server, or its recorded answers without one
  test/conformance/run_differential.py --update       # records the real server's answers anew
  test/conformance/run_differential.py --only pods    # the topics or requests whose name contains a word
  test/conformance/run_differential.py --report FILE  # writes every difference, the intended ones too, as Markdown

Compared: status code, content type and body or watch events; not uids, times, versions, tokens, managedFields, nor the prose
of most errors. What differs on purpose is in differential/intended.yaml with its reason; an entry there that no longer
matches anything fails too. The last line is `N passed, M failed, K skipped`; a request is one case.
"""

import argparse
import fnmatch
import json
import sys
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from differential import player, transcript  # noqa: E402
from support import control_plane  # noqa: E402

REQUESTS = HERE / "differential" / "requests"
RECORDED = HERE / "differential" / "recorded"
INTENDED = HERE / "differential" / "intended.yaml"
# The real server of this comparison has no controllers and no kubelet either.
DEVCLUSTER_FLAGS = ("--no-controllers",)


def play_to(server, topics):
    with server:
        server.install_crds()
        return player.play(topics, server.api)


def read_recording(topics):
    recorded = {}
    for topic in topics:
        file = RECORDED / f"{topic}.json"
        for name, answer in (json.loads(file.read_text()) if file.exists() else {}).items():
            recorded[f"{topic}/{name}"] = answer
    return recorded


def write_recording(answers):
    RECORDED.mkdir(exist_ok=True)
    topics = {}
    for name, answer in answers.items():
        topic, request = name.split("/", 1)
        topics.setdefault(topic, {})[request] = answer
    for topic, requests in topics.items():
        (RECORDED / f"{topic}.json").write_text(json.dumps(requests, indent=1, sort_keys=True) + "\n")


class Intended:
    """The differences that are meant, each with its reason; knows which of them were seen."""

    def __init__(self, entries):
        self.entries = entries
        self.seen = set()

    def reason(self, request, path):
        for number, entry in enumerate(self.entries):
            if fnmatch.fnmatch(request, entry["request"]) and fnmatch.fnmatch(path, _literal(entry["path"])):
                self.seen.add(number)
                return entry["reason"]
        return None

    def unseen(self):
        return [entry for number, entry in enumerate(self.entries) if number not in self.seen]


def _literal(path):
    """Square brackets are part of a path, not of a pattern."""
    return path.replace("[", "[[]")


def shown(value):
    text = "absent" if value is None else json.dumps(value, sort_keys=True)
    return text if len(text) <= 160 else text[:157] + "…"


def compare(expected, actual, intended, report):
    """Prints what differs; the names of the requests with a difference nobody intended."""
    failed = []
    for name, answer in expected.items():
        wrong = False
        for path, want, have in transcript.differences(answer, actual.get(name, {})):
            reason = intended.reason(name, path)
            report.append((name, path, want, have, reason))
            if reason is None:
                print(f"DIFFERS {name}: {path}: real {shown(want)}, devcluster {shown(have)}")
                wrong = True
        if wrong:
            failed.append(name)
    return failed


def write_report(file, report, count):
    unintended = [row for row in report if row[4] is None]
    lines = [
        "# Differences between maniple-devcluster and kube-apiserver",
        "",
        f"{count} requests; {len({row[0] for row in unintended})} with differences nobody intended ({len(unintended)} fields).",
        "",
        "| request | field | real | devcluster | intended because |",
        "|---|---|---|---|---|",
    ]
    for name, path, want, have, reason in sorted(report, key=lambda row: (row[4] is not None, row[0])):
        cells = [name, path, shown(want), shown(have), reason or ""]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    Path(file).write_text("\n".join(lines) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="record the real server's answers")
    parser.add_argument("--only", default="", metavar="WORD", help="topics or requests whose name contains it")
    parser.add_argument("--binaries", metavar="DIR", help="where maniple-devcluster is; default build/$PRESET/bin")
    parser.add_argument("--report", metavar="FILE", help="write the differences as Markdown")
    return parser.parse_args()


def main():
    options = arguments()
    topics = player.load(REQUESTS)
    if options.only:
        # Requests of one topic build on each other, so a topic is played whole.
        topics = {
            topic: requests
            for topic, requests in topics.items()
            if any(options.only in f"{topic}/{request['id']}" for request in requests)
        }
    recorded = read_recording(topics)
    names = [f"{topic}/{request['id']}" for topic, requests in topics.items() for request in requests]
    assets = control_plane.assets()
    passed, failed, skipped = 0, [], 0

    if assets is None:
        if options.update:
            print(control_plane.HOW_TO_ENABLE, file=sys.stderr)
            return 2
        print(f"{control_plane.HOW_TO_ENABLE}; comparing with its recorded answers")
        skipped += len(names)
    else:
        real = play_to(control_plane.RealControlPlane(assets), topics)
        if options.update:
            write_recording(real)
            print(f"recorded {len(real)} answers")
            return 0
        # The recording must stay true, or those without a real server compare with fiction.
        for name in names:
            changed = list(transcript.differences(recorded.get(name), real[name]))
            for path, want, have in changed:
                print(f"RECORDING IS OLD {name}: {path}: recorded {shown(want)}, real {shown(have)}")
            if changed:
                failed.append(f"recording of {name}")
            else:
                passed += 1

    try:
        answers = play_to(control_plane.DevCluster(options.binaries, DEVCLUSTER_FLAGS), topics)
    except (FileNotFoundError, RuntimeError) as error:
        print(f"run_differential.py: {error}", file=sys.stderr)
        print(f"{passed} passed, {len(failed) + len(names)} failed, {skipped} skipped")
        return 1
    report, intended = [], Intended(yaml.safe_load(INTENDED.read_text()) or [])
    different = compare({name: recorded.get(name, {}) for name in names}, answers, intended, report)
    passed += len(names) - len(different)
    failed += different
    for entry in [] if options.only else intended.unseen():
        print(f"NO LONGER DIFFERS: {entry['request']}: {entry['path']} (remove it from {INTENDED.name})")
        failed.append(entry["request"])
    if options.report:
        write_report(options.report, report, len(names))
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
