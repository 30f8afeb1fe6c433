"""What a newcomer, a hurry or a hostile file does to the three programs: one clear line and a status, never a crash or a hang.

Each case takes the argument that the cases of run_end_to_end.py take, and needs no server. They stand in its list ALONE.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from support.control_plane import Process, await_true, build_folder, free_ports

NOBODY = ("--server", "http://127.0.0.1:1")  # an API server that refuses; the scheduler goes on trying
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\n"
POD_GROUP = "apiVersion: scheduling.maniple.dev/v1alpha1\nkind: PodGroup\nmetadata: {name: %s}\nspec: {minMember: 1}\n"


def run(program, *arguments, seconds=30, **how):
    """A finished process; whatever it takes longer counts as hanging."""
    where = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, **how}
    return subprocess.run([str(build_folder() / program), *map(str, arguments)], timeout=seconds,
                          env={**os.environ, "KUBECONFIG": "", "XDG_RUNTIME_DIR": "/nowhere"}, **where)


def refused(program, *arguments, says, lines=1, code=(1, 2)):
    """Ends by itself with such a code and says why in as many lines, without control characters."""
    done = run(program, *arguments)
    told = f"{program} {' '.join(map(str, arguments))[:200]}: status {done.returncode}: {done.stderr[:600]}"
    assert done.returncode in code, told
    assert done.stderr.count("\n") == lines and done.stderr.endswith("\n"), told
    assert says in done.stderr, told
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", done.stderr), repr(told)


@contextmanager
def running(folder, program, *arguments, until):
    """A process that has come as far as to log `until`."""
    process = Process([build_folder() / program, *arguments], Path(folder, f"{program}-{time.monotonic_ns()}.log"))
    try:
        await_true(until, lambda: until in process.log.read_text(), process, seconds=20)
        yield process
    finally:
        process.stop()


@contextmanager
def folder_of(files):
    with tempfile.TemporaryDirectory(prefix="maniple-") as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content if isinstance(content, bytes) else content.encode())
        yield Path(folder)


def folders_devices_and_missing_files_are_refused_in_one_line(_):
    with folder_of({"empty.yaml": "", "dashes.yaml": "---\n---\n"}) as here:
        (here / "inner").mkdir()
        for path, says in ((here / "none", "none"), (here / "inner", "inner"), (here / "empty.yaml" / "x", "x"), ("/dev/null", "/dev/null")):
            refused("maniple-scheduler", *NOBODY, "--config", path, says=says)
            refused("maniple-scheduler", "--kubeconfig", path, says=says)
            refused("maniple-devcluster", "--listen", "127.0.0.1:0", "--load", path, says=says)
            refused("maniple-devcluster", "--listen", "127.0.0.1:0", "--token-file", path, says=says)
            refused("maniple", "gangs", "--kubeconfig", path, says=says)
            refused("maniple", "validate", path, says=says, lines=2)
        for name in ("empty.yaml", "dashes.yaml"):
            refused("maniple-devcluster", "--listen", "127.0.0.1:0", "--load", here / name, says="holds no object")
            refused("maniple", "validate", here / name, says="holds no object", lines=2)
            refused("maniple-scheduler", *NOBODY, "--config", here / name, says="expected one document")
        for flag in ("--port-file", "--kubeconfig-out"):
            refused("maniple-devcluster", "--listen", "127.0.0.1:0", flag, here / "none" / "x", says="No such file or directory")
            refused("maniple-devcluster", "--listen", "127.0.0.1:0", flag, here / "inner", says="Is a directory")
        refused("maniple-devcluster", "--listen", "127.0.0.1:0", "--data-dir", here / "empty.yaml", says="Not a directory")


def a_configuration_beside_another_document_is_refused_by_validate_too(_):
    configuration = "apiVersion: config.maniple.dev/v1alpha1\nkind: SchedulerConfiguration\n"
    with folder_of({"two.yaml": f"{configuration}---\n{configuration}", "beside.yaml": CONFIG_MAP % "a" + "---\n" + configuration}) as here:
        for name in ("two.yaml", "beside.yaml"):
            refused("maniple-scheduler", *NOBODY, "--config", here / name, says="expected one document, found 2")
            refused("maniple", "validate", here / name, says="expected one document, found 2", lines=2, code=(1,))


def addresses_that_cannot_be_are_refused_in_one_line(_):
    long = "unix:/tmp/" + "x" * 120 + "/admin.sock"
    for address, says in ((long, "107 characters"), ("unix:", "names no path"), ("nonsense", "HOST:PORT"), ("127.0.0.1:99999", "0..65535"),
                          ("::1:80", "[ ]"), ("[::1:80", "[ ]")):
        refused("maniple-scheduler", *NOBODY, "--admin", address, says=says)
        refused("maniple", "gangs", "--admin", address, says=says)
    for address in ("nonsense", "127.0.0.1:99999", "127.0.0.1", "127.0.0.1:x"):
        for flag in ("--http", "--health"):
            refused("maniple-scheduler", *NOBODY, flag, address, says=f'{flag}: "{address}"')
        refused("maniple-devcluster", "--listen", address, says="HOST:PORT")
    refused("maniple-devcluster", "--listen", "300.1.1.1:0", says="cannot listen on 300.1.1.1:0")
    refused("maniple-scheduler", *NOBODY, "--health", "300.1.1.1:0", says="cannot listen on 300.1.1.1:0")
    for flag in ("-v=-1", "-v=6", "-v=x"):
        refused("maniple-devcluster", "--listen", "127.0.0.1:0", flag, says="-v")
        refused("maniple-scheduler", *NOBODY, flag, says="-v")


def a_folder_that_others_write_to_is_no_place_for_the_socket(_):
    with folder_of({}) as here:
        (here / "theirs").mkdir()
        (here / "theirs").chmod(0o777)
        (here / "link").symlink_to(here / "theirs")
        for folder, says in (("theirs", "may be written to by others (mode 0777)"), ("link", "is a symbolic link")):
            address = f"unix:{here}/{folder}/admin.sock"
            refused("maniple-scheduler", *NOBODY, "--admin", address, says=says)
            refused("maniple", "gangs", "--admin", address, says=says)
        if os.getuid() == 0:
            (here / "given").mkdir()
            os.chown(here / "given", 12345, 12345)
            refused("maniple-scheduler", *NOBODY, "--admin", f"unix:{here}/given/admin.sock", says="belongs to user 12345")
            refused("maniple", "gangs", "--admin", f"unix:{here}/given/admin.sock", says="belongs to user 12345")


def what_other_machines_reach_needs_tls_or_a_word(_):
    beyond = (*NOBODY, "--http", "0.0.0.0:0")
    refused("maniple-scheduler", *beyond, says="--http 0.0.0.0:0 is reached from other machines: give --tls-cert-file")
    refused("maniple-scheduler", *NOBODY, "--http", ":0", says="is reached from other machines")
    refused("maniple-scheduler", *beyond, "--http-insecure", "--tls-self-signed", says="exclude each other")
    with folder_of({}) as here:
        for word in ("--http-insecure", "--tls-self-signed"):
            with running(here, "maniple-scheduler", *beyond, word, "--admin", f"unix:{here}/s", until="schedules for"):
                pass


def mutual_tls_needs_all_its_files(_):
    with folder_of({"a.crt": "no certificate", "a.key": "no key"}) as here:
        admin = ("--admin", "127.0.0.1:0")
        refused("maniple-scheduler", *NOBODY, *admin, says="--client-ca-file")
        refused("maniple-scheduler", *NOBODY, "--tls-cert-file", here / "a.crt", says="are given together")
        refused("maniple-scheduler", *NOBODY, "--client-ca-file", here / "a.crt", says="--client-ca-file needs")
        refused("maniple-scheduler", *NOBODY, "--tls-cert-file", here / "a.crt", "--tls-private-key-file", here / "a.key", says="a.crt: no certificate in PEM form")
        refused("maniple-scheduler", *NOBODY, "--tls-cert-file", here / "none", "--tls-private-key-file", here / "a.key", says="none")
        refused("maniple", "gangs", *admin, says="speaks mutual TLS: give --certificate-authority")


def wrong_words_on_the_command_line_are_refused_in_one_line(_):
    for program in ("maniple-scheduler", "maniple-devcluster"):
        for word in ("--none", "none"):
            refused(program, word, says=word, code=(2,))
    for words, says in ((("gangz",), '"gangz" is no command'), (("--gangs",), '"--gangs" is no command'), ((), "subcommand"),
                        (("gangs", "--none"), '"--none" was not expected'), (("validate", "--none"), '"--none" was not expected'),
                        (("validate",), "FILE is required"), (("explain", "a", "b"), '"b" was not expected'), (("gangs", "-o", "xml"), "xml")):
        refused("maniple", *words, says=says, code=(2,))
    for server in ("ftp://x", "http://", "nonsense", "https://a b"):
        refused("maniple-scheduler", "--server", server, says="--server: is no http or https URL", code=(2,))
    refused("maniple-scheduler", "--server", "https://me:s3cr3t@example", says="--server: a URL with credentials", code=(2,))
    assert "s3cr3t" not in run("maniple-scheduler", "--server", "https://me:s3cr3t@example").stderr
    refused("maniple-scheduler", *NOBODY, "--scheduler-name", "", says="--scheduler-name", code=(2,))
    refused("maniple-scheduler", *NOBODY, "--leader-elect=perhaps", says="--leader-elect", code=(2,))
    for flag in ("--kubelet-start-delay", "--delete-delay"):
        for delay in ("soon", "-5s", "1", "", "inf"):
            refused("maniple-devcluster", "--listen", "127.0.0.1:0", flag, delay, says=f'{flag} "{delay}"', code=(2,))
    refused("maniple-devcluster", "--listen", "127.0.0.1:0", "--load", "", says='--load ""', code=(2,))


def a_wrong_value_in_a_manifest_is_named_with_its_line(_):
    group = "apiVersion: scheduling.maniple.dev/v1alpha1\nkind: PodGroup\nmetadata: {name: a}\nspec:\n  minMember: %s\n"
    for value in ("three", "-1", "0", "2147483648", "99999999999999999999", "1.5", '"3"', "true", "[1]"):
        with folder_of({"group.yaml": group % value}) as here:
            refused("maniple", "validate", here / "group.yaml", says="group.yaml:5: spec.minMember: ", lines=2, code=(1,))
    with folder_of({"kind.yaml": (group % 1).replace("PodGroup", "PodGruop"), "version.yaml": (group % 1).replace("v1alpha1", "v9"),
                    "twice.json": '{"apiVersion": "v1", "kind": "Pod", "kind": "Job"}', "binary.yaml": b"\x7fELF\0\0: \"\\q"}) as here:
        for name, says in (("kind.yaml", ":2: kind: "), ("version.yaml", ":1: apiVersion: "), ("twice.json", ':1: column 37: the key "kind" stands twice'),
                           ("binary.yaml", ":1: is no text")):
            refused("maniple", "validate", here / name, says=name + says, lines=2, code=(1,))


def a_configuration_with_a_second_document_is_refused(_):
    with folder_of({"both.yaml": "apiVersion: config.maniple.dev/v1alpha1\nkind: SchedulerConfiguration\nfoo: 1\n---\na: b\n"}) as here:
        refused("maniple", "validate", here / "both.yaml", says="expected one document, found 2", lines=2, code=(1,))


def what_somebody_listens_on_is_left_to_them(_):
    with folder_of({"file": ""}) as here:
        socket, port = f"unix:{here}/admin.sock", free_ports(1)[0]
        flags = (*NOBODY, "--admin", socket, "--http", f"127.0.0.1:{port}")
        with running(here, "maniple-scheduler", *flags, until="schedules for") as first:
            refused("maniple-scheduler", *NOBODY, "--admin", socket, says="another process does")
            refused("maniple-scheduler", *NOBODY, "--admin", f"127.0.0.1:{port}", says="would be open to everyone who connects: give --tls-cert-file")
            refused("maniple-scheduler", *NOBODY, "--admin", f"unix:{here}/b", "--http", f"127.0.0.1:{port}", says="Address already in use")
            refused("maniple-scheduler", *NOBODY, "--admin", f"unix:{here}/file", says="is no socket")
            refused("maniple-devcluster", "--listen", f"127.0.0.1:{port}", says="Address already in use")
            assert run("maniple", "version", "--admin", socket).returncode == 0
            refused("maniple", "gangs", "--admin", socket, says="is it still starting?")  # nobody has told it of the cluster
            first.stop(signal.SIGKILL)
        with running(here, "maniple-scheduler", *flags, until="schedules for"):  # what a killed one left behind is taken over
            assert run("maniple", "version", "--admin", socket).returncode == 0


def hostile_manifests_are_refused_in_one_line(_):
    files = {
        "open.yaml": "a: [1, 2", "deep.yaml": "a: " + "[" * 100_000, "blocks.yaml": "\n".join(" " * i + "a:" for i in range(3000)),
        "deep.json": '{"a":' * 100_000, "bytes.yaml": b"\xff\xfe\x00garbage\x80", "tabs.yaml": "a:\n\tb: c\n", "text.yaml": "just text", "list.yaml": "[]",
        "self.yaml": "a: &a [*a]", "twice.yaml": "kind: A\nkind: B\n",
        "bomb.yaml": "a0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]\n" for i in range(1, 20)),
    }
    with folder_of(files) as here:
        for name in files:
            refused("maniple", "validate", here / name, says=name, lines=2)
            refused("maniple-devcluster", "--listen", "127.0.0.1:0", "--load", here / name, says=name)
            refused("maniple-scheduler", "--kubeconfig", here / name, says=name)
            config = run("maniple-scheduler", *NOBODY, "--config", here / name)
            assert config.returncode == 2 and name in config.stderr, config
    names = {"unicode.yaml": CONFIG_MAP % "größe-日本", "control.yaml": CONFIG_MAP % '"a\\n\\e[31mred\\0"', "long.yaml": CONFIG_MAP % ("x" * 5000)}
    with folder_of(names) as here:
        for name in names:
            refused("maniple-devcluster", "--listen", "127.0.0.1:0", "--load", here / name, says="metadata.name")
    names = {"unicode.yaml": POD_GROUP % "größe-日本", "control.yaml": POD_GROUP % '"a\\n\\e[31mred\\0"', "long.yaml": POD_GROUP % ("x" * 5000)}
    with folder_of(names) as here:
        for name in names:
            refused("maniple", "validate", here / name, says="metadata.name", lines=2)
    for name in ("größe", "", "a\nb", "\x1b[31m", "x" * 5000):
        refused("maniple", "explain", name, "--admin", "unix:/nowhere/socket", says="no scheduler found")


def a_manifest_of_100000_lines_is_read(_):
    with folder_of({"big.yaml": "---\n".join(CONFIG_MAP % f"c-{i}" + "data:\n  k: v\n" for i in range(17_000))}) as here:
        assert (here / "big.yaml").read_text().count("\n") > 100_000
        assert run("maniple", "validate", here / "big.yaml").returncode == 0
        with running(here, "maniple-devcluster", "--listen", "127.0.0.1:0", "--load", here / "big.yaml", until="serving on"):
            pass


def closed_streams_and_broken_pipes_do_no_harm(_):
    with open("/dev/full", "w") as full:
        for program, *arguments in (("maniple", "--help"), ("maniple", "completion", "bash"), ("maniple-scheduler", "--help"),
                                    ("maniple-scheduler", "--version"), ("maniple-devcluster", "--help"), ("maniple-devcluster", "--version")):
            done = run(program, *arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
            assert done.returncode == 1 and done.stderr == f"{program}: standard output cannot be written\n", done
    piped = subprocess.run(["bash", "-c", f'set -o pipefail; "{build_folder() / "maniple"}" completion bash | head -n 1'], capture_output=True, text=True, timeout=30)
    assert piped.stdout.count("\n") == 1 and piped.stderr == "", piped
    with tempfile.TemporaryDirectory(prefix="maniple-") as folder:  # its log must not end up in a client's connection
        port = Path(folder, "port")
        closed = subprocess.Popen(["bash", "-c", f'exec "{build_folder() / "maniple-devcluster"}" --listen 127.0.0.1:0 -v 2 --port-file "{port}" <&- >&- 2>&-'])
        try:
            until = time.monotonic() + 20
            while not port.exists() and time.monotonic() < until:
                time.sleep(0.05)
            reply = subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port.read_text().strip()}; printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3; timeout 5 cat <&3"],
                                   capture_output=True, text=True, timeout=20)
            assert re.fullmatch(r"HTTP/1\.[01] 200 .*\n\nok", reply.stdout, re.DOTALL), reply.stdout
        finally:
            closed.terminate()
            assert closed.wait(20) == 0


def a_signal_at_any_moment_ends_them(_):
    with tempfile.TemporaryDirectory(prefix="maniple-") as folder:
        programs = (("maniple-scheduler", *NOBODY, "--admin", f"unix:{folder}/s"), ("maniple-devcluster", "--listen", "127.0.0.1:0", "--data-dir", folder),
                    ("maniple", "gangs", "--admin", "127.0.0.1:1"))
        for program, *arguments in programs:
            for kind in (signal.SIGINT, signal.SIGTERM):
                for delay in (0, 0.003, 0.01, 0.03, 0.1, 0.5):
                    process = Process([build_folder() / program, *arguments], Path(folder, "log"))
                    time.sleep(delay)
                    for _ in range(2):  # an impatient user asks twice
                        process.child.send_signal(kind)
                    status = process.child.wait(25)
                    assert status in (0, 1, -kind), (program, kind, delay, status)


ROUGH_HANDLING = (
    folders_devices_and_missing_files_are_refused_in_one_line,
    a_configuration_beside_another_document_is_refused_by_validate_too,
    addresses_that_cannot_be_are_refused_in_one_line,
    wrong_words_on_the_command_line_are_refused_in_one_line,
    a_wrong_value_in_a_manifest_is_named_with_its_line,
    a_configuration_with_a_second_document_is_refused,
    a_folder_that_others_write_to_is_no_place_for_the_socket,
    what_other_machines_reach_needs_tls_or_a_word,
    mutual_tls_needs_all_its_files,
    what_somebody_listens_on_is_left_to_them,
    hostile_manifests_are_refused_in_one_line,
    a_manifest_of_100000_lines_is_read,
    closed_streams_and_broken_pipes_do_no_harm,
    a_signal_at_any_moment_ends_them,
)
