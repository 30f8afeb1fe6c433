#!/usr/bin/env python3
"""Lays out the image's root folder: programs, the libraries that they load, certificates, users, and what scanners read.

    deploy/image/rootfs.py ARCHITECTURE ROOT PROGRAM…

Contents come from packages as dpkg has installed them. A file that differs from its package's checksum is refused.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from libraries import Refused, closure, require_machine, run

CERTIFICATES = "/usr/share/ca-certificates/mozilla"
# The texts that the copyright files of packages name instead of repeating them.
LICENCES = "/usr/share/common-licenses"
# Their code is in the programs, as headers: whoever scans the image should know, and their licences ask to be told.
COMPILED_IN = ("libboost1.74-dev", "libcli11-dev", "rapidjson-dev")
# Scanners tell the distribution by these.
RELEASE_FILES = ("/usr/lib/os-release", "/etc/debian_version")

WRITTEN = {
    "etc/passwd": "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
                  "nonroot:x:65532:65532:nonroot:/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nnonroot:x:65532:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
LINKS = {"lib": "usr/lib", "lib64": "usr/lib64", "etc/os-release": "../usr/lib/os-release"}

# As distroless images have it: one file for each package, where scanners look for it.
STATUS = (
    "Package: ${Package}\nStatus: install ok installed\nSection: ${Section}\nInstalled-Size: ${Installed-Size}\n"
    "Maintainer: ${Maintainer}\nArchitecture: ${Architecture}\nSource: ${source:Package} (${source:Version})\n"
    "Version: ${Version}\nDescription: ${binary:Summary}\nHomepage: ${Homepage}\n"
)


class Package:
    """What dpkg knows of an installed package, and which of its files the image has."""

    def __init__(self, name):
        self.name = name
        status, self.stanza, error = run("dpkg-query", "--show", "--showformat", STATUS, name)
        if status:
            raise Refused(f"package {name}: {error.strip()}")
        self.sums = {}
        status, path, _ = run("dpkg-query", "--control-path", name, "md5sums")
        if status == 0 and path.strip():
            self.sums = dict(reversed(line.split(maxsplit=1)) for line in Path(path.strip()).read_text().splitlines())
        for line in run("dpkg-query", "--show", "--showformat", "${Conffiles}", name)[1].splitlines():
            path, checksum = line.split()[:2]
            self.sums[path.lstrip("/")] = checksum
        self.taken = []

    def take(self, path):
        """The bytes of a file that the package owns, as it was packed."""
        content = Path(path).read_bytes()
        name = path.lstrip("/")
        if name not in self.sums:
            raise Refused(f"{path}: package {self.name} has no checksum of it")
        if hashlib.md5(content, usedforsecurity=False).hexdigest() != self.sums[name]:
            raise Refused(f"{path}: changed since package {self.name} was installed")
        self.taken.append(f"{self.sums[name]}  {name}\n")
        return content


class Root:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.packages = {}

    def package(self, name):
        if name not in self.packages:
            self.packages[name] = Package(name)
        return self.packages[name]

    def path(self, place):
        path = self.folder / place.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, place, content, mode=0o644):
        path = self.path(place)
        path.write_bytes(content)
        path.chmod(mode)

    def link(self, place, target):
        path = self.path(place)
        if not path.is_symlink():
            path.symlink_to(target)

    def add_program(self, program):
        place = self.path(f"usr/bin/{Path(program).name}")
        subprocess.run(["strip", "--strip-unneeded", "-o", place, program], check=True)
        place.chmod(0o755)

    def add_library(self, library):
        file = library.file if library.file.startswith("/usr/") else f"/usr{library.file}"
        asked = library.asked if library.asked.startswith("/usr/") else f"/usr{library.asked}"
        if not self.path(file).exists():
            self.write(file, self.package(library.package).take(library.owned), os.stat(library.file).st_mode & 0o755)
        if asked != file:
            self.link(asked, os.path.relpath(file, os.path.dirname(asked)))

    def add_certificates(self):
        """Debian's own, one after the other: the machine's bundle may have more, from whoever set it up."""
        authority = self.package("ca-certificates")
        files = sorted(Path(CERTIFICATES).glob("*.crt"))
        if not files:
            raise Refused(f"{CERTIFICATES}: no certificates")
        bundle = b"".join(authority.take(str(file)).rstrip(b"\n") + b"\n" for file in files)
        authority.taken.clear()  # the bundle has their contents, the image not the files
        self.write("etc/ssl/certs/ca-certificates.crt", bundle)

    def add_licences(self):
        for file in sorted(Path(LICENCES).iterdir()):
            if file.is_symlink():
                self.link(str(file), os.readlink(file))
            else:
                self.write(str(file), self.package("base-files").take(str(file)))

    def add_package_data(self):
        for name in COMPILED_IN:
            self.package(name)
        for name, package in sorted(self.packages.items()):
            doc = f"/usr/share/doc/{name}/copyright"
            if not Path(doc).exists():
                raise Refused(f"{doc}: missing; an image needs the licence of package {name}")
            self.write(doc, Path(doc).read_bytes())
            self.write(f"var/lib/dpkg/status.d/{name}", package.stanza.encode())
            self.write(f"var/lib/dpkg/status.d/{name}.md5sums", "".join(sorted(package.taken)).encode())


def lay_out(architecture, folder, programs):
    for program in programs:
        require_machine(program, architecture)
    root = Root(folder)
    for place, target in LINKS.items():
        root.link(place, target)
    for place, text in WRITTEN.items():
        root.write(place, text.encode())
    for file in RELEASE_FILES:
        root.write(file, root.package("base-files").take(file))
    for library in closure(programs):
        root.add_library(library)
    root.add_certificates()
    root.add_licences()
    root.add_package_data()
    ours = Path(__file__).resolve().parents[2] / "LICENSE"
    root.write("usr/share/doc/maniple/copyright", ours.read_bytes())
    for program in programs:
        root.add_program(program)
    for folder, _, _ in os.walk(root.folder):
        os.chmod(folder, 0o755)


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        lay_out(sys.argv[1], sys.argv[2], sys.argv[3:])
    except Refused as refused:
        print(f"build.sh: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
