#!/usr/bin/env python3
"""Writes the image's bill of materials, SPDX 2.3 in JSON, from the package data that the image itself has.

    deploy/image/sbom.py ROOT VERSION MANIFEST_DIGEST SECONDS >FILE       # SECONDS: when it was made, since 1970

The same arguments give the same bytes.
"""

import json
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

PROGRAMS = ("maniple-scheduler", "maniple")
VENDORED = Path(__file__).resolve().parents[2] / "scheduler/page/web/vendor/README.md"
# Debian's short names of licences that SPDX knows. Others are told as a comment only.
SPDX_NAMES = {
    "Apache-2": "Apache-2.0", "Apache-2.0": "Apache-2.0", "BSD-2-clause": "BSD-2-Clause", "BSD-3-Clause": "BSD-3-Clause",
    "BSD-3-clause": "BSD-3-Clause", "BSL-1.0": "BSL-1.0", "Expat": "MIT", "ISC": "ISC", "MIT": "MIT", "MPL-2.0": "MPL-2.0",
    "Zlib": "Zlib", "curl": "curl", "zlib": "Zlib",
    "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-3": "GPL-3.0-only", "GPL-3+": "GPL-3.0-or-later",
    "LGPL-2": "LGPL-2.0-only", "LGPL-2+": "LGPL-2.0-or-later", "LGPL-2.1": "LGPL-2.1-only", "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-3": "LGPL-3.0-only", "LGPL-3+": "LGPL-3.0-or-later",
}
# What purl's specification wants encoded in a name or version.
ENCODED = str.maketrans({"+": "%2B", ":": "%3A", "~": "~"})
UNKNOWN = "NOASSERTION"


def stanza(text):
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)


def licences(root, name):
    """Debian's short names of the licences of the sources, if the copyright file is for machines (DEP-5)."""
    text = (root / "usr/share/doc" / name / "copyright").read_text(errors="replace")
    if not re.match(r"Format: \S+copyright-format/1", text):
        return []
    of_files = [one for one in re.split(r"\n\s*\n", text) if re.match(r"Files:(?!\s*debian/)", one)]
    return sorted({name for one in of_files for name in re.findall(r"^License: *(\S.*?) *$", one, re.MULTILINE)})


def declared(names):
    """Of several, nobody says which the binary package is under: its files come from some of the sources only."""
    known = {SPDX_NAMES.get(one, UNKNOWN) for one in names}
    return known.pop() if len(known) == 1 else UNKNOWN


def debian_package(root, fields, distribution):
    name, version = fields["Package"], fields["Version"]
    source, source_version = re.fullmatch(r"(\S+) \((.+)\)", fields["Source"]).groups()
    names = licences(root, name)
    package = {
        "SPDXID": "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "supplier": "Organization: Debian",
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": False,
        "sourceInfo": f"built from source package {source} {source_version}",
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": declared(names),
        "copyrightText": UNKNOWN,
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{name.translate(ENCODED)}@{version.translate(ENCODED)}?arch={fields['Architecture']}"
                                f"&distro={distribution}&upstream={source.translate(ENCODED)}%40{source_version.translate(ENCODED)}",
        }],
    }
    if fields.get("Homepage"):
        package["homepage"] = fields["Homepage"]
    if names:
        package["licenseComments"] = f"Debian's copyright file of source package {source} names: " + ", ".join(names)
    return package


def ours(name, version, purpose):
    return {
        "SPDXID": f"SPDXRef-{purpose.lower()}-{name}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": "Apache-2.0" if purpose == "APPLICATION" else UNKNOWN,
        "copyrightText": UNKNOWN,
        "primaryPackagePurpose": purpose,
    }


def vendored():
    """What the page brings along, by the table of its sources."""
    rows = re.findall(r"^\| (\S+) \| (\d\S*) \| (\S+) \|", VENDORED.read_text(), re.MULTILINE)
    return [{
        "SPDXID": "SPDXRef-npm-" + re.sub(r"[^A-Za-z0-9.-]", "-", name.removeprefix("@")),
        "name": name,
        "versionInfo": version,
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": licence,
        "copyrightText": UNKNOWN,
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:npm/{name.replace('@', '%40')}@{version}"}],
    } for name, version, licence in sorted(set(rows))]


def bill(root, version, digest, seconds):
    release = dict(line.split("=", 1) for line in (root / "usr/lib/os-release").read_text().splitlines() if "=" in line)
    distribution = f"{release['ID']}-{release['VERSION_ID']}".replace('"', "")
    stanzas = [stanza(file.read_text()) for file in sorted((root / "var/lib/dpkg/status.d").iterdir()) if file.suffix != ".md5sums"]
    image = ours("maniple-scheduler", version, "CONTAINER")
    image["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest.removeprefix("sha256:")}]
    inside = [ours(name, version, "APPLICATION") for name in PROGRAMS]
    inside += [debian_package(root, fields, distribution) for fields in stanzas] + vendored()
    document = "SPDXRef-DOCUMENT"

    def relation(one, kind, other):
        return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}

    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": document,
        "name": f"maniple-scheduler-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/maniple-scheduler-{version}-{digest.removeprefix('sha256:')}",
        "creationInfo": {
            "created": datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": [f"Tool: maniple-sbom-{version}"],
        },
        "packages": [image, *inside],
        "relationships": [relation(document, "DESCRIBES", image["SPDXID"]),
                          *(relation(image["SPDXID"], "CONTAINS", one["SPDXID"]) for one in inside)],
    }


def main():
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    json.dump(bill(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])), sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
