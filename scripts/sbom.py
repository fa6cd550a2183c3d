#!/usr/bin/env python3
"""Writes what a build consists of, as SPDX 2.3 in JSON: the program, the libraries in it with their
versions (from pkg-config), and the models that come with it with their hashes.

usage: scripts/sbom.py VERSION LIBRARY...      (make sbom)
LIBRARY is a name of pkg-config, or openmp.

The same commit and the same libraries give the same bytes.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

# What pkg-config does not know of a library: its licence, and how it is used.
LIBRARIES = {
    "stb": ("MIT OR Unlicense", "STATIC_LINK", "https://github.com/nothings/stb"),
    "libjpeg": ("IJG AND BSD-3-Clause AND Zlib", "DYNAMIC_LINK", "https://libjpeg-turbo.org"),
    "jansson": ("MIT", "DYNAMIC_LINK", "https://github.com/akheron/jansson"),
    "zlib": ("Zlib", "DYNAMIC_LINK", "https://zlib.net"),
    "libwebp": ("BSD-3-Clause", "DYNAMIC_LINK", "https://chromium.googlesource.com/webm/libwebp"),
    "libwebpdemux": ("BSD-3-Clause", "DYNAMIC_LINK",
                     "https://chromium.googlesource.com/webm/libwebp"),
    "libtiff-4": ("libtiff", "DYNAMIC_LINK", "https://libtiff.gitlab.io/libtiff"),
    "libheif": ("LGPL-3.0-or-later", "DYNAMIC_LINK", "https://github.com/strukturag/libheif"),
    "libmicrohttpd": ("LGPL-2.1-or-later", "DYNAMIC_LINK",
                      "https://gnu.org/software/libmicrohttpd"),
    "openmp": ("GPL-3.0-or-later WITH GCC-exception-3.1", "DYNAMIC_LINK", "https://gcc.gnu.org"),
}


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def package(name, version, licence, home, purpose="LIBRARY", **more):
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version,
            "downloadLocation": home, "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", "supplier": "NOASSERTION",
            "primaryPackagePurpose": purpose, **more}


def relation(one, kind, other):
    return {"spdxElementId": f"SPDXRef-{one}", "relationshipType": kind,
            "relatedSpdxElement": f"SPDXRef-{other}"}


def main():
    version, names = sys.argv[1], sys.argv[2:]
    commit = said("git", "rev-parse", "HEAD")
    moment = int(os.environ.get("SOURCE_DATE_EPOCH") or said("git", "log", "-1", "--format=%ct"))
    packages = [package("vit", version, "MIT", "NOASSERTION", purpose="APPLICATION")]
    relations = [relation("DOCUMENT", "DESCRIBES", "vit")]
    for name in names:
        licence, link, home = LIBRARIES[name]
        here = said(*(["gcc", "-dumpfullversion"] if name == "openmp" else
                      ["pkg-config", "--modversion", name]))
        packages.append(package(name, here, licence, home))
        relations.append(relation("vit", link, name))
    for model in sorted(pathlib.Path("models").glob("*.safetensors")):
        sums = [{"algorithm": "SHA256",
                 "checksumValue": hashlib.sha256(model.read_bytes()).hexdigest()}]
        packages.append(package(f"model-{model.stem}", version, "MIT", "NOASSERTION",
                                purpose="FILE", packageFileName=str(model), checksums=sums))
        relations.append(relation("vit", "CONTAINS", f"model-{model.stem}"))
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
               "name": f"vit-{version}",
               "documentNamespace": f"https://spdx.org/spdxdocs/vit-{version}-{commit}",
               "creationInfo": {"creators": ["Tool: scripts/sbom.py"],
                                "created": time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                                         time.gmtime(moment))},
               "packages": packages, "relationships": relations}, sys.stdout)
    print()


if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    print(__doc__.strip())
    sys.exit(0 if sys.argv[1:] and sys.argv[1] in ("-h", "--help") else 2)
main()
