#!/usr/bin/env python3
"""`maniple simulate` as its user types it: traces, configurations side by side, files written, and what is wrong named.

    test/e2e/run_simulate.py

Binaries come from build/$PRESET/bin. The last line is `N passed, M failed, K skipped`.
"""

import csv
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.control_plane import ROOT, build_folder  # noqa: E402

HEAD = "apiVersion: config.maniple.dev/v1alpha1\nkind: SchedulerConfiguration\n"


def simulate(*arguments, text=None):
    done = subprocess.run([build_folder() / "maniple", "simulate", *map(str, arguments)], cwd=ROOT, input=text, capture_output=True,
                          text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def told(*arguments, text=None):
    status, output, error = simulate(*arguments, "-o", "json", text=text)
    assert status == 0, error
    return json.loads(output)["items"]


def write(folder, name, text):
    path = Path(folder, name)
    path.write_text(text)
    return path


def a_trace_from_standard_input_is_played(folder):
    [run] = told("-", "--nodes", "2:gpus=8", text="submit_s,duration_s,gpus,pods\n0,100,8,2\n10,50,8,2\n")
    assert run["gpus"] == 16 and run["all"]["ended"] == 2, run
    assert abs(run["all"]["waitSeconds"]["longest"] - 90) < 0.5, run


def two_configurations_stand_side_by_side_and_differ_as_they_should(folder):
    # Long ones hold six of eight GPUs, in turns; the large one needs all eight, and short ones keep coming.
    rows = ["submit_s,duration_s,gpus,name", "0,3000,4,first", "10,3600,8,large"]
    rows += [f"{20 + 600 * i},3500,4,small-{i}" for i in range(20)]
    trace = write(folder, "trace.csv", "\n".join(rows) + "\n")
    soon = write(folder, "soon.yaml", HEAD + "timeouts: {reservationAfter: 1m}\n")
    never = write(folder, "never.yaml", HEAD + "timeouts: {reservationAfter: 1000h}\n")
    jobs = Path(folder, "jobs.csv")
    plot = Path(folder, "load.svg")
    runs = told(trace, "--nodes", 1, "--run-times-known", "--config", soon, "--config", never, "--csv", jobs, "--plot", plot)
    assert [run["configuration"] for run in runs] == ["soon", "never"], runs

    def start_of(name, run):
        with open(Path(folder, f"jobs-{run}.csv"), newline="") as file:
            return float(next(row for row in csv.DictReader(file) if row["name"] == name)["start_s"])

    assert start_of("large", "soon") < 4000 < start_of("large", "never"), "room is held for the large one"
    xml.etree.ElementTree.parse(plot)


def queues_of_a_manifest_keep_their_quota(folder):
    trace = write(folder, "trace.csv", "submit_s,duration_s,gpus,queue\n" + "0,100,1,small\n" * 4)
    queue = write(folder, "queue.yaml", "apiVersion: scheduling.maniple.dev/v1alpha1\nkind: Queue\nmetadata: {name: small}\n"
                                        "spec: {quotas: [{resources: [{name: nvidia.com/gpu, nominal: 2}]}]}\n")
    [free] = told(trace, "--nodes", 1)
    [bound] = told(trace, "--nodes", 1, "--cluster", queue)
    assert free["all"]["waitSeconds"]["longest"] < 1, free
    assert abs(bound["all"]["waitSeconds"]["longest"] - 100) < 1, bound


def a_trace_and_its_figures_may_go_through_pipes(folder):
    trace = write(folder, "trace.csv", "submit_s,duration_s,gpus\n0,100,1\n")
    line = f'"{build_folder() / "maniple"}" simulate <(cat "{trace}") --nodes 1 --csv /dev/stdout | grep -c ^job-0'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0 and int(done.stdout) == 1, done
    kept = Path(folder, "kept.txt")
    line = f'"{build_folder() / "maniple"}" simulate "{trace}" --nodes 1 --csv /dev/stdout -o json > "{kept}"'
    subprocess.run(["bash", "-c", line], check=True, timeout=120, cwd=ROOT)
    assert "job-0" in kept.read_text() and '"waitSeconds"' in kept.read_text(), kept.read_text()


def what_is_wrong_is_named_in_one_line(folder):
    trace = write(folder, "trace.csv", "submit_s,duration_s,gpus\n0,100,1\n")
    broken = write(folder, "broken.csv", "submit_s,duration_s,gpus\n0,100,1\n0,soon,1\n")
    config = write(folder, "config.yaml", HEAD + "timeouts: {reservationAfter: soon}\n")
    for arguments, status, words in (
        ((trace,), 1, "on which nodes?"),
        ((trace, "--nodes", "many"), 1, '--nodes "many"'),
        ((broken, "--nodes", 1), 1, 'broken.csv: line 3, duration_s: "soon"'),
        ((Path(folder, "none.csv"), "--nodes", 1), 1, "none.csv: No such file"),
        ((trace, "--nodes", 1, "--config", config), 1, "timeouts.reservationAfter"),
        ((trace, "--nodes", 1, "--cluster", broken), 1, "broken.csv"),
        ((trace, "--nodes", 1, "--csv", Path(folder, "no", "such", "place")), 1, "place"),
        ((trace, "--nodes", 1, "--speed", "nan"), 1, "--speed"),
        ((trace, "--nodes", 1, "--quota", "some"), 2, "--quota"),
        ((trace, "--nodes", 1, "--speed", "0"), 2, "--speed"),
    ):
        got, output, error = simulate(*arguments)
        lines = [line for line in error.splitlines() if not line.startswith("note: ")]
        assert got == status and words in error and len(lines) == 1 and not output, (arguments, got, error)


CASES = [a_trace_from_standard_input_is_played, two_configurations_stand_side_by_side_and_differ_as_they_should,
         queues_of_a_manifest_keep_their_quota, a_trace_and_its_figures_may_go_through_pipes, what_is_wrong_is_named_in_one_line]


def main():
    passed = 0
    for case in CASES:
        name = case.__name__.replace("_", " ")
        try:
            with tempfile.TemporaryDirectory(prefix="maniple-") as folder:
                case(folder)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            print(f"FAIL  {name}: {error}")
        else:
            print(f"ok    {name}")
            passed += 1
    print(f"{passed} passed, {len(CASES) - passed} failed, 0 skipped")
    return 0 if passed == len(CASES) else 1


if __name__ == "__main__":
    sys.exit(main())
