"""The shared libraries that programs load, and the Debian package that each belongs to."""

import os
import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

# Debian's names, which are OCI's as well, and what the ELF header says (e_machine).
MACHINES = {"amd64": 62, "arm64": 183}


class Refused(Exception):
    """No image can be made of this; the text says of what, and why."""


class Library(NamedTuple):
    asked: str    # the path by which the loader asks for it
    file: str     # where it really is
    owned: str    # the same path as its package writes it
    package: str


def run(*command):
    # The builder's own LD_LIBRARY_PATH or LD_PRELOAD is nothing that the image has.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    done = subprocess.run(command, capture_output=True, text=True, env={**environment, "LC_ALL": "C"})
    return done.returncode, done.stdout, done.stderr


def require_machine(program, architecture):
    """Before anything of the program is run: ldd says nothing useful about a program of another machine."""
    if architecture not in MACHINES:
        raise Refused(f"architecture {architecture}: only {' and '.join(MACHINES)} are known")
    try:
        head = Path(program).read_bytes()[:20]
    except OSError as error:
        raise Refused(f"{program}: {error.strerror}") from error
    if len(head) < 20 or head[:4] != b"\x7fELF":
        raise Refused(f"{program}: not an ELF program")
    machine = struct.unpack_from("<H" if head[5] == 1 else ">H", head, 18)[0]
    if machine != MACHINES[architecture]:
        names = {number: name for name, number in MACHINES.items()}
        raise Refused(f"{program}: built for {names.get(machine, f'ELF machine {machine}')}, but this machine is {architecture}")


def asked_by(program):
    """Paths that the loader finds for the program, the loader itself among them."""
    status, output, error = run("ldd", str(program))
    if status:
        raise Refused(f"{program}: ldd: {(error or output).strip()}")
    lost = re.findall(r"^\s*(\S+) => not found", output, re.MULTILINE)
    if lost:
        raise Refused(f"{program}: needs {', '.join(lost)}, which this machine does not have")
    return re.findall(r"^\s*(?:\S+ => )?(/\S+) \(0x", output, re.MULTILINE)


def owners(files):
    """{file: (package, the path in the package)}. Of /usr/lib/x, packages of Debian 12 may still say /lib/x."""
    names = {name: file for file in files for name in (file, file.removeprefix("/usr"))}
    _, output, _ = run("dpkg-query", "--search", *sorted(names))
    found = {}
    for package, path in re.findall(r"^([a-z0-9][a-z0-9+.-]+)(?::[a-z0-9]+)?: (/.+)$", output, re.MULTILINE):
        if path in names:
            found[names[path]] = (package, path)
    return found


def closure(programs):
    """Every Library that the programs load, sorted."""
    needed = {}
    for program in programs:
        for asked in asked_by(program):
            needed.setdefault(asked, program)
    real = {asked: os.path.realpath(asked) for asked in needed}
    known = owners(set(real.values()))
    for asked, program in sorted(needed.items()):
        if real[asked] not in known:
            raise Refused(f"{program}: loads {asked}, which no Debian package owns")
        if "/glibc-hwcaps/" in asked:
            raise Refused(f"{program}: loads {asked}, which older processors than this machine's cannot run")
    return sorted(Library(asked, file, known[file][1], known[file][0]) for asked, file in real.items())
