#!/usr/bin/env python3
"""Writes where the files of a release come from: an in-toto Statement (v1) with SLSA provenance
(v1), in JSON.

usage: scripts/provenance.py VERSION DIRECTORY [SYSTEM...]     (scripts/release)

$REPOSITORY is the URI of the sources, such as git+https://HOST/OWNER/vit, $BUILDER one
of who builds. The same commit, files and tools give the same bytes.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main():
    version, place, systems = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    moment = int(os.environ.get("SOURCE_DATE_EPOCH") or said("git", "log", "-1", "--format=%ct"))
    subjects = [{"name": path.name,
                 "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
                for path in sorted(place.iterdir())]
    sbom = json.loads((place / f"vit-{version}.spdx.json").read_text())
    sources = [{"uri": os.environ.get("REPOSITORY", "git+file:///vit"),
                "digest": {"gitCommit": said("git", "rev-parse", "HEAD")}}]
    libraries = [{"uri": package["downloadLocation"], "name": package["name"],
                  "annotations": {"version": package["versionInfo"]}}
                 for package in sbom["packages"] if package["primaryPackagePurpose"] == "LIBRARY"]
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:vit:make-release",
                "externalParameters": {"version": version, "systems": systems},
                "internalParameters": {"compiler": said("cc", "--version").splitlines()[0]},
                "resolvedDependencies": sources + libraries,
            },
            "runDetails": {
                "builder": {"id": os.environ.get("BUILDER", "urn:vit:builder:by-hand")},
                "metadata": {"startedOn": when, "finishedOn": when},
            },
        },
    }
    json.dump(statement, sys.stdout, indent=1)
    print()


if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
    print(__doc__.strip())
    sys.exit(0 if sys.argv[1:] and sys.argv[1] in ("-h", "--help") else 2)
main()
