#!/usr/bin/env python3
"""Writes a container image of the static vit-serve as an OCI archive, without Docker.

usage: scripts/image.py PROGRAM VERSION OUT [MODEL...]      (make image)

PROGRAM is the static `vit` of scripts/cross, all programs in one file. The image has it as
/bin/vit-serve, the models in /models, and nothing else: no shell, no library. User 65534 runs it;
it listens on port 8080. The same files and SOURCE_DATE_EPOCH (else the commit's time) give the
same bytes: the layer is not compressed, as compressors differ.

  skopeo copy oci-archive:OUT docker-daemon:vit-serve:VERSION
  podman load -i OUT
"""
import hashlib
import io
import json
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import time

USER = 65534  # nobody
PORT = 8080
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def tar_of(entries, when):
    """A tar of (path, bytes, or None for a directory), in this order, of root and of that time."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, content in entries:
            entry = tarfile.TarInfo(path)
            entry.mtime = when
            entry.mode = 0o755 if content is None or path.startswith("bin/") else 0o644
            entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            entry.size = 0 if content is None else len(content)
            tar.addfile(entry, None if content is None else io.BytesIO(content))
    return out.getvalue()


def config_of(layer, version, when):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    return {
        "created": created,
        "architecture": MACHINES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "ExposedPorts": {f"{PORT}/tcp": {}},
            "Env": ["VIT_MODELS=/models"],
            "Entrypoint": ["/bin/vit-serve"],
            "Cmd": ["--host", "0.0.0.0", "--port", str(PORT)],
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "vit-serve",
                "org.opencontainers.image.version": version,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": created, "created_by": "scripts/image.py"}],
    }


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def archive_of(program, version, models, when):
    """The image layout of OCI: blobs by their sha256, a manifest, and an index that names it."""
    blobs = {}

    def store(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}",
                "digest": f"sha256:{digest}", "size": len(data)}

    files = [("bin/", None), ("bin/vit-serve", program), ("models/", None)]
    files += [(f"models/{m.name}", m.read_bytes()) for m in sorted(models, key=lambda m: m.name)]
    layer = tar_of(files, when)
    config = store("config.v1+json", as_json(config_of(layer, version, when)))
    manifest = store("manifest.v1+json", as_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config, "layers": [store("layer.v1.tar", layer)]}))
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
    entries = [("blobs/", None), ("blobs/sha256/", None)]
    entries += [(f"blobs/sha256/{digest}", blobs[digest]) for digest in sorted(blobs)]
    entries += [("index.json", as_json({"schemaVersion": 2, "manifests": [manifest]})),
                ("oci-layout", as_json({"imageLayoutVersion": "1.0.0"}))]
    return tar_of(entries, when)


def time_of_commit():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], capture_output=True, text=True,
                          cwd=pathlib.Path(__file__).parent, check=True)
    return int(done.stdout)


def is_static(program):
    """Whether an ELF file asks for no interpreter (PT_INTERP), so that it runs in an empty root."""
    if program[:6] != b"\x7fELF\x02\x01":
        return False
    first = int.from_bytes(program[32:40], "little")
    size = int.from_bytes(program[54:56], "little")
    count = int.from_bytes(program[56:58], "little")
    kinds = [program[first + i * size:first + i * size + 4] for i in range(count)]
    return (3).to_bytes(4, "little") not in kinds


def main(words):
    if "--help" in words or "-h" in words:
        print(__doc__.strip())
        return 0
    if len(words) < 3:
        print("image.py: expected PROGRAM VERSION OUT [MODEL...] (--help)", file=sys.stderr)
        return 2
    name, version, out, *models = words
    try:
        program = pathlib.Path(name).read_bytes()
        if not is_static(program):
            print(f"image.py: {name} is no static program of Linux: scripts/cross static makes one",
                  file=sys.stderr)
            return 1
        data = archive_of(program, version, [pathlib.Path(m) for m in models],
                          time_of_commit())
        part = pathlib.Path(out + ".part")
        part.write_bytes(data)
        part.replace(out)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"image.py: {error}", file=sys.stderr)
        return 1
    print(f"{hashlib.sha256(data).hexdigest()}  {out} ({len(data) / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
