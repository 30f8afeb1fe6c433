#!/usr/bin/env python3
"""The image: the same bytes each time, whole by its own digests, and its programs run with nothing but what a pod gives them.

    test/e2e/run_image.py           # around build/$PRESET/bin; parts are skipped, loudly, where nobody may change the root folder
    test/e2e/run_image.py TEXT      # only cases whose name contains TEXT

The last line is `N passed, M failed, K skipped`.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cases import on_servers, play_all  # noqa: E402
from support.control_plane import ROOT, RealControlPlane, build_folder  # noqa: E402
from support.image import (  # noqa: E402
    NAME, USER, Layout, Unpacked, build, files_of, must_build, sha256, why_it_cannot_run,
)
from support.scheduler import add_nodes, await_that, is_bound, pods_by_gang, submit  # noqa: E402

RELEASE = ROOT / "build" / "release" / "bin"
PROGRAMS = ("maniple-scheduler", "maniple")
MOST_MEGABYTES = "45"
EPOCH = 1700000000
# What one builder's surroundings have and another's have not.
ELSEWHERE = {"TZ": "Pacific/Chatham", "LC_ALL": "C.UTF-8", "GOMAXPROCS": "1", "SOURCE_DATE_EPOCH": str(EPOCH)}
STATUS = "/var/lib/dpkg/status.d/"
MACHINES = {"amd64": 62, "arm64": 183}  # as ELF numbers them
STRAY = {
    "stray.c": "int stray(void) { return 1; }\n",
    "main.c": "int stray(void);\nint main(void) { return stray(); }\n",
}


class Stage:
    """One image, made once for all cases, and a folder for what they make of it."""

    def __init__(self, folder):
        self.folder, self.out = Path(folder), Path(folder) / "image"
        must_build(build_folder(), self.out, environment={"SOURCE_DATE_EPOCH": str(EPOCH)})
        self.layout = Layout(self.out / f"{NAME}.oci")

    def empty(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def copied_programs(self, name):
        """In a folder, newer than those they are copied from."""
        folder = self.empty(name)
        for program in PROGRAMS:
            shutil.copyfile(build_folder() / program, folder / program)
            (folder / program).chmod(0o755)
        return folder

    def refused(self, binaries, *flags, environment=None):
        """What build.sh says; the image that was there before must not suffer."""
        before = files_of(self.out)
        status, output, error = build(binaries, self.out, *flags, environment=environment)
        assert status == 1, (status, output, error)
        assert files_of(self.out) == before, "the image of before was changed"
        return error


def another_builder_gets_the_same_bytes(stage):
    again = stage.folder / "again"
    must_build(stage.copied_programs("copies"), again, environment=ELSEWHERE, umask=0o077)
    first, second = files_of(stage.out), files_of(again)
    assert len(first) == 7, sorted(first)
    differ = sorted(path for path in first.keys() | second.keys() if first.get(path) != second.get(path))
    assert not differ, f"{differ}\n{told_apart(stage.out, again)}"


def told_apart(one, other):
    """A failure is rare, so that nobody is made to install what would explain it."""
    if not shutil.which("diffoscope"):
        return "with diffoscope installed, this would say where they differ"
    return subprocess.run(["diffoscope", "--exclude-directory-metadata=yes", one, other], capture_output=True, text=True).stdout[:4000]


def the_layout_is_whole_by_its_digests(stage):
    layout = stage.layout
    assert layout.entry["annotations"]["org.opencontainers.image.ref.name"] == version_of(layout)
    assert layout.config["rootfs"] == {"type": "layers", "diff_ids": [sha256(layout.layer)]}
    there = {path.name for path in (layout.folder / "blobs" / "sha256").iterdir()}
    assert there == layout.read, f"blobs that nobody names: {there - layout.read}"


def version_of(layout):
    return layout.config["config"]["Labels"]["org.opencontainers.image.version"]


def it_starts_the_scheduler_as_nobody_in_particular(stage):
    whole, config = stage.layout.config, stage.layout.config["config"]
    assert (config["User"], config["Entrypoint"]) == (f"{USER}:{USER}", ["/usr/bin/maniple-scheduler"]), config
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    assert (whole["os"], whole["architecture"], whole["created"]) == ("linux", machine, "2023-11-14T22:13:20Z"), whole
    assert stage.layout.entry["platform"] == {"os": "linux", "architecture": machine}, stage.layout.entry
    assert config["Env"] == ["PATH=/usr/bin"], "a pod names the programs without their folder"
    labels = {f"org.opencontainers.image.{name}" for name in ("title", "description", "version", "revision", "created", "licenses")}
    assert config["Labels"].keys() == labels, config["Labels"]


def the_archive_is_the_same_image_with_a_name(stage):
    with tarfile.open(stage.out / f"{NAME}.tar") as tar:
        content = {member.name: tar.extractfile(member).read() for member in tar if member.isreg()}
    [said] = json.loads(content.pop("manifest.json"))
    assert said["RepoTags"] == [f"{NAME}:{version_of(stage.layout)}"], said
    manifest = stage.layout.manifest
    assert sha256(content.pop(said["Config"])) == manifest["config"]["digest"]
    assert [sha256(content.pop(name)) for name in said["Layers"]] == [one["digest"] for one in manifest["layers"]]
    assert not content, f"files that are neither: {sorted(content)}"


def its_files_belong_to_root_and_nobody_else_may_write_them(stage):
    for name, member, _ in stage.layout.entries():
        assert (member.uid, member.gid, member.mtime) == (0, 0, EPOCH), (name, member.uid, member.gid, member.mtime)
        assert member.isdir() or member.isfile() or member.issym(), f"{name}: neither folder, file nor link"
        assert member.issym() or member.mode & 0o7022 == 0, f"{name}: mode {member.mode:o}"
        assert not name.startswith("/tmp"), name


def scanners_find_the_package_of_each_library(stage):
    files = {name: content for name, member, content in stage.layout.entries() if member.isfile()}
    sums = [line.split() for name, content in files.items() if name.endswith(".md5sums") for line in content.decode().splitlines()]
    packed = {"/" + path if path.startswith("usr/") else "/usr/" + path: checksum for checksum, path in sums}
    libraries = [name for name in files if ".so" in name]
    assert any("libgrpc++" in name for name in libraries) and any("ld-linux" in name for name in libraries), libraries
    for name in libraries:
        assert packed.get(name) == hashlib.md5(files[name]).hexdigest(), f"{name} is of no package, or another than was packed"
    for name in packages(files):
        assert files[f"/usr/share/doc/{name}/copyright"], f"{name} comes without its licence"


def packages(files):
    """{name: version}, as a scanner reads it."""
    stanzas = [content.decode() for name, content in files.items() if name.startswith(STATUS) and not name.endswith(".md5sums")]
    return {re.search("^Package: (.+)$", one, re.M)[1]: re.search("^Version: (.+)$", one, re.M)[1] for one in stanzas}


def its_programs_carry_nothing_for_debuggers(stage):
    files = {name: content for name, _, content in stage.layout.entries()}
    for program in PROGRAMS:
        copy = stage.empty(f"sections-{program}") / program
        copy.write_bytes(files[f"/usr/bin/{program}"])
        shown = subprocess.run(["readelf", "--wide", "--sections", copy], capture_output=True, text=True, check=True).stdout
        assert ".text" in shown and not re.search(r" \.(symtab|debug_\w+) ", shown), shown


def the_bill_lists_each_package_of_the_image(stage):
    bill = json.loads((stage.out / f"{NAME}.spdx.json").read_text())
    assert (bill["spdxVersion"], bill["dataLicense"], bill["creationInfo"]["created"]) == ("SPDX-2.3", "CC0-1.0", "2023-11-14T22:13:20Z")
    listed = {one["SPDXID"]: one for one in bill["packages"]}
    assert len(listed) == len(bill["packages"]), "an SPDXID is used twice"
    [(document, image)] = [(one["spdxElementId"], one["relatedSpdxElement"]) for one in bill["relationships"]
                           if one["relationshipType"] == "DESCRIBES"]
    assert document == bill["SPDXID"]
    assert "sha256:" + listed[image]["checksums"][0]["checksumValue"] == stage.layout.entry["digest"]
    contained = [one["relatedSpdxElement"] for one in bill["relationships"]
                 if (one["spdxElementId"], one["relationshipType"]) == (image, "CONTAINS")]
    assert {image, *contained} == listed.keys(), "a package is neither the image nor in it"
    debian = {one["name"]: one["versionInfo"] for one in listed.values() if one["SPDXID"].startswith("SPDXRef-deb-")}
    assert debian == packages({name: content for name, _, content in stage.layout.entries()})
    assert {"preact", "htm"} <= {one["name"] for one in listed.values()}, "what the page brings along is not listed"
    for one in listed.values():
        if one["name"] in debian:
            assert one["externalRefs"][0]["referenceLocator"].startswith("pkg:deb/debian/"), one
            assert "built from source package" in one["sourceInfo"], one


def what_cannot_be_an_image_is_refused_by_name(stage):
    assert "nowhere/maniple-scheduler: No such file" in stage.refused(stage.folder / "nowhere")
    foreign = stage.copied_programs("foreign")
    ours, other = ("amd64", "arm64") if os.uname().machine == "x86_64" else ("arm64", "amd64")
    for machine, said in ((MACHINES[other], other), (243, "ELF machine 243")):  # the last one is RISC-V
        with open(foreign / "maniple", "r+b") as program:
            program.seek(18)
            program.write(machine.to_bytes(2, "little"))
        line = f"{foreign}/maniple: built for {said}, but this machine is {ours}\n"
        error = stage.refused(foreign)
        assert error.endswith(line) and error.count("\n") == 1, error
    (foreign / "maniple").write_text("#!/bin/sh\n")
    assert "foreign/maniple: not an ELF program" in stage.refused(foreign)
    subprocess.run(["gcc", "-x", "c", "-o", foreign / "maniple", "-"], input="int main(void) { return 0; }", text=True, check=True)
    assert f'{foreign}: of two versions: maniple is "", maniple-scheduler is "' in stage.refused(foreign)
    assert re.search(r"the image has \d+ bytes compressed, more than 1 million", stage.refused(build_folder(), "--max-size", "1"))
    assert "--max-size large: not a number" in stage.refused(build_folder(), "--max-size", "large")


def a_library_of_no_package_is_refused_by_name(stage):
    folder = stage.copied_programs("stray")
    for name, text in STRAY.items():
        (folder / name).write_text(text)
    subprocess.run(["gcc", "-shared", "-o", "libstray.so", "stray.c"], cwd=folder, check=True)
    subprocess.run(["gcc", "-o", "maniple-scheduler", "main.c", "-L.", "-lstray", f"-Wl,-rpath,{folder}"], cwd=folder, check=True)
    assert f"{folder}/maniple-scheduler: loads {folder}/libstray.so, which no Debian package owns" in stage.refused(folder)
    (folder / "libstray.so").unlink()
    assert f"{folder}/maniple-scheduler: needs libstray.so, which this machine does not have" in stage.refused(folder)


def a_library_that_was_changed_is_refused_by_name(stage):
    known = stage.folder / "dpkg"
    subprocess.run(["cp", "--recursive", "--symbolic-link", "/var/lib/dpkg", known], check=True)
    [sums] = (known / "info").glob("zlib1g[:.]*md5sums")
    text = re.sub(r"^\w+(?=  .*/libz\.so)", "0" * 32, sums.read_text(), flags=re.MULTILINE)
    sums.unlink()
    sums.write_text(text)
    error = stage.refused(build_folder(), environment={"DPKG_ADMINDIR": str(known)})
    assert re.search(r"/libz\.so\.[0-9.]+: changed since package zlib1g was installed", error), error


def programs_of_the_release_make_a_small_one(stage):
    print("     ", " ".join(must_build(RELEASE, stage.folder / "release", "--max-size", MOST_MEGABYTES).split()))


def both_programs_run_with_nothing(stage):
    unpacked = Unpacked(stage.layout, stage.folder / "alone")
    for program in PROGRAMS:
        answer = unpacked.run(f"/usr/bin/{program}", "--version")
        assert answer == (0, f"{program} {version_of(stage.layout)}\n", ""), answer


def a_gang_is_bound_by_what_is_in_the_image(server, stage):
    unpacked = Unpacked(stage.layout, stage.folder / "in-cluster")
    give_credentials(server, unpacked.given)
    add_nodes(server.api, 2)
    log = server.folder / "image.log"
    scheduler = unpacked.start(log, "--kubeconfig", "/etc/maniple/kubeconfig", "--health", "127.0.0.1:0", "--leader-elect=false")
    try:
        await_that("it serves", lambda: "serving health" in log.read_text() or scheduler.require_alive(), seconds=10)
        require_nothing_to_spare(scheduler.child.pid)
        submit(server.api, "whole", members=4, gpus=4)
        await_that("4 of 4 pods are bound", lambda: sum(map(is_bound, pods_by_gang(server.api)["whole"])) == 4)
    except AssertionError as error:
        raise AssertionError(f"{error}; the log ends: {log.read_text()[-800:]}") from error
    finally:
        assert scheduler.stop() == 0, log.read_text()[-800:]


def give_credentials(server, folder):
    """The kubeconfig and what it names, as a pod's volume would have them."""
    (folder / "kubeconfig").write_text(server.kubeconfig.read_text().replace(f"{server.folder}/", "/etc/maniple/"))
    for name in ("ca.crt", "admin.crt", "admin.key"):
        shutil.copyfile(server.folder / name, folder / name)
        (folder / name).chmod(0o644)


def require_nothing_to_spare(pid):
    """No privileges, none to be had, and a root folder that nobody can write."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    ids = {name: status[name].split() for name in ("Uid", "Gid", "Groups")}
    assert ids == {"Uid": [str(USER)] * 4, "Gid": [str(USER)] * 4, "Groups": []}, ids
    rights = {name: int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    assert not any(rights.values()), rights
    assert status["NoNewPrivs"].strip() == "1", status["NoNewPrivs"]
    # Its own mounts: ID PARENT DEVICE ROOT PLACE OPTIONS …
    [root] = [line.split()[5] for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines() if line.split()[4] == "/"]
    assert "ro" in root.split(","), root


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [another_builder_gets_the_same_bytes, the_layout_is_whole_by_its_digests, it_starts_the_scheduler_as_nobody_in_particular,
             the_archive_is_the_same_image_with_a_name, its_files_belong_to_root_and_nobody_else_may_write_them,
             its_programs_carry_nothing_for_debuggers, scanners_find_the_package_of_each_library, the_bill_lists_each_package_of_the_image,
             what_cannot_be_an_image_is_refused_by_name, a_library_of_no_package_is_refused_by_name,
             a_library_that_was_changed_is_refused_by_name]
    skipped, why_not = 0, why_it_cannot_run()
    if all((RELEASE / program).exists() for program in PROGRAMS):
        cases.append(programs_of_the_release_make_a_small_one)
    else:
        print("SKIPPED, SIZE: cmake --preset release && cmake --build --preset release --target maniple-scheduler maniple")
        skipped += 1
    if why_not:
        print(f"SKIPPED, NOTHING OF THE IMAGE IS RUN: {why_not}")
        skipped += 2
    else:
        cases.append(both_programs_run_with_nothing)
    with tempfile.TemporaryDirectory(prefix="maniple-image-") as folder:
        stage = Stage(folder)
        plays = [(case.__name__, partial(case, stage)) for case in cases]
        if not why_not:
            on_real, lacking = on_servers((), RealControlPlane, (a_gang_is_bound_by_what_is_in_the_image,), (stage,))
            plays, skipped = plays + on_real, skipped + lacking
        return play_all(plays, skipped, wanted)


if __name__ == "__main__":
    sys.exit(main())
