#!/usr/bin/env python3
"""Plays the commands of README.md and of the tour with real processes and compares what they print with what the pages say.

    test/e2e/run_readme_tour.py            # with every kubectl that is there: 1.36 and 1.32 of test/controlplane/build.sh

The blocks of a page marked `console` are one shell session: `$ ` starts a command, which an indented line continues; what follows is its output.
There `…` alone on a line stands for any number of lines, elsewhere for any text. Ages, the width of columns and the names of
nodes may differ. Binaries come from build/$PRESET/bin; the quick start keeps its files in a folder of its own.
The last line is `N passed, M failed, K skipped`.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.control_plane import ROOT, build_folder, program  # noqa: E402

PAGES = ["README.md", "deploy/README.md"]
HOW_TO_ENABLE = "SKIPPED, NO KUBECTL: run test/controlplane/build.sh (needs Go)"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIES = "# another number every time"
MARK = "\x1e"
LONGEST = 120  # seconds for a page


@dataclass(frozen=True)
class Step:
    command: str
    output: list


def steps_of(page):
    """The commands of all console blocks, each with the lines that the page shows below it."""
    steps = []
    for block in BLOCK.findall((ROOT / page).read_text()):
        lines = block.splitlines()
        while lines:
            first = lines.pop(0)
            assert first.startswith("$ "), f"{page}: a console block starts with {first!r}, not with a command"
            command = [first[2:]]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            output = []
            while lines and not lines[0].startswith("$ "):
                output.append(lines.pop(0))
            steps.append(Step("\n".join(command), output))
    return steps


def plain(line):
    """A line without what may differ from run to run."""
    line = re.sub(r"\b\d+(s|m(\d+s)?|h(\d+m)?)(?=\s|$)", "AGE", line)
    line = re.sub(r"gpu-\d\d \(\d+\)", "NODE", line)
    return " ".join(line.split())


def pattern_of(output):
    """A regular expression over plain lines, each ended by a newline."""
    parts = []
    for line in output:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"\s*.*".join(re.escape(part) for part in map(str.strip, plain(line).split("…"))) + r"\n")
    return "".join(parts)


def agrees(step, printed):
    if VARIES in step.command:
        return re.fullmatch(r"\d+", printed.strip()) is not None and 1 <= int(printed) <= 64
    return re.fullmatch(pattern_of(step.output), "".join(plain(line) + "\n" for line in printed.splitlines())) is not None


class Places:
    """Where the paths of a page are in this run."""

    def __init__(self, folder):
        binaries = str(build_folder().relative_to(ROOT))
        self.pairs = [("$PWD/build/quickstart", folder), ("build/quickstart", folder), ("build/release/bin", binaries)]

    def here(self, command):
        for ours, actual in self.pairs:
            command = command.replace(ours, actual)
        return re.sub(r"^deploy/quickstart\.sh$", "deploy/quickstart.sh --no-build", command)

    def in_page(self, printed):
        for ours, actual in self.pairs[1:]:
            printed = printed.replace(actual, ours)
        return printed


def play(steps, kubectl):
    """What each step printed, both streams together; fewer than there are steps if the session ended early."""
    with tempfile.TemporaryDirectory(prefix="maniple-") as home:
        folder = f"{home}/quickstart"
        Path(home, "kubectl").symlink_to(kubectl)
        environment = {
            **{name: value for name, value in os.environ.items() if name != "KUBECONFIG"},
            **{"HOME": home, "PATH": f"{home}:{os.environ['PATH']}", "QUICKSTART": folder},
            "PRESET": build_folder().parent.name,
        }
        places = Places(folder)
        script = "exec 2>&1\n" + "".join(f"printf '{MARK}'\n{places.here(step.command)}\n" for step in steps)
        try:
            done = subprocess.run(["bash", "-c", script], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                  text=True, timeout=LONGEST)
        finally:
            subprocess.run(["deploy/quickstart.sh", "--stop"], cwd=ROOT, env=environment, check=False)
        return [places.in_page(printed) for printed in done.stdout.split(MARK)[1:]]


def report(page, step, printed, kubectl):
    """True when the page tells what happened."""
    first = step.command.splitlines()[0]
    if agrees(step, printed):
        print(f"ok    {kubectl.name}: {first}")
        return True
    shown = "\n".join(f"    | {line}" for line in step.output)
    said = "\n".join(f"    | {line}" for line in printed.splitlines())
    print(f"FAIL  {kubectl.name}: {first}\n  {page} shows:\n{shown}\n  it printed:\n{said}")
    return False


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped
    pages = {page: steps_of(page) for page in PAGES}
    kubectls = [one for one in (program("kubectl"), program("kubectl-1.32")) if one]
    results = []
    for kubectl in kubectls:
        for page, steps in pages.items():
            printed = play(steps, kubectl)
            printed += ["(the session ended before)"] * (len(steps) - len(printed))
            results += [report(page, step, one, kubectl) for step, one in zip(steps, printed)]
    if not kubectls:
        print(HOW_TO_ENABLE)
    passed, skipped = sum(results), 0 if kubectls else sum(map(len, pages.values()))
    print(f"{passed} passed, {len(results) - passed} failed, {skipped} skipped")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
