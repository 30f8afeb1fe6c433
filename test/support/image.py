"""An image as deploy/image/build.sh leaves it: read by our own hands, unpacked, and run without a container runtime."""

import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

from support.control_plane import ROOT, Process

BUILD = ROOT / "deploy" / "image" / "build.sh"
NAME = "maniple-scheduler"
USER = 65532


def build(binaries, out, *flags, environment=None, umask=-1):
    """(status, stdout, stderr) of build.sh"""
    done = subprocess.run([BUILD, "--bin", binaries, "--out", out, *flags], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(environment or {})}, umask=umask)
    return done.returncode, done.stdout, done.stderr


def must_build(binaries, out, *flags, **how):
    status, output, error = build(binaries, out, *flags, **how)
    assert status == 0, error
    return output


def files_of(folder):
    """{path below the folder: digest of its bytes}"""
    return {str(path.relative_to(folder)): sha256(path.read_bytes()) for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def sha256(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Layout:
    """An OCI layout with one image of one layer. Every blob is checked against its digest and size when it is read."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.read = set()
        assert json.loads((self.folder / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
        self.index = json.loads((self.folder / "index.json").read_text())
        [self.entry] = self.index["manifests"]
        self.manifest = json.loads(self.blob(self.entry, "application/vnd.oci.image.manifest.v1+json"))
        self.config = json.loads(self.blob(self.manifest["config"], "application/vnd.oci.image.config.v1+json"))
        [entry] = self.manifest["layers"]
        self.layer = gzip.decompress(self.blob(entry, "application/vnd.oci.image.layer.v1.tar+gzip"))

    def blob(self, entry, kind):
        content = (self.folder / "blobs" / entry["digest"].replace(":", "/")).read_bytes()
        assert entry["mediaType"] == kind, entry
        assert (sha256(content), len(content)) == (entry["digest"], entry["size"]), entry
        self.read.add(entry["digest"].split(":")[1])
        return content

    def entries(self):
        """The layer's files, without the dot before each."""
        with tarfile.open(fileobj=io.BytesIO(self.layer)) as tar:
            for member in tar:
                yield member.name.removeprefix("."), member, tar.extractfile(member).read() if member.isfile() else b""


class Unpacked:
    """The image's root folder, run as a cluster would: read-only, as the image's user, without any capability.

    There is /proc, and besides what a pod mounts: a folder of files at /etc/maniple, room for sockets at /run/maniple.
    """

    MOUNTS = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount --bind "$2" "$1/etc/maniple"
mount -t tmpfs -o uid=65532,gid=65532,mode=0700 tmpfs "$1/run/maniple"
mount -t proc proc "$1/proc"
mount -o remount,bind,ro "$1/etc/maniple"
mount -o remount,bind,ro "$1"
root=$1
shift 2
exec capsh --no-new-privs --chroot="$root" --drop=all --groups= --gid=65532 --uid=65532 --shell="$1" -- "${@:2}"
"""

    def __init__(self, layout, folder):
        self.folder, self.given = Path(folder) / "rootfs", Path(folder) / "given"
        self.layout = layout
        self.given.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(layout.layer)) as tar:
            tar.extractall(self.folder)
        for place in ("etc/maniple", "run/maniple", "proc"):
            (self.folder / place).mkdir(parents=True)

    def command(self, program, *arguments):
        return ["unshare", "--mount", "bash", "-c", self.MOUNTS, "-", self.folder, self.given, program, *arguments]

    def environment(self):
        return {**dict(one.split("=", 1) for one in self.layout.config["config"]["Env"]),
                "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": "/run/maniple"}

    def run(self, program, *arguments):
        done = subprocess.run([str(one) for one in self.command(program, *arguments)], capture_output=True, text=True, timeout=30,
                              env=self.environment())
        return done.returncode, done.stdout, done.stderr

    def start(self, log, *arguments):
        """The image's entrypoint, as a Process."""
        return Process(self.command(*self.layout.config["config"]["Entrypoint"], *arguments), log, self.environment())


def why_it_cannot_run():
    """Empty where an unpacked image can be run on this machine."""
    if os.geteuid() != 0:
        return "only root may change its root folder"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", "mount --make-rprivate / && mount -t tmpfs tmpfs /mnt"],
                          capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""
