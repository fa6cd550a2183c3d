"""Areas of deletion and insertion curves over test pictures of MNIST: run by scripts/faithfulness,
which says how.
"""
import gzip
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("VIT_DATA", ROOT / "data")) / "mnist"
EXPLAIN = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin/vit-explain"
METHODS = ("attention", "rollout", "relevance", "gradcam", "gradient", "integrated", "occlusion",
           "random")
SIDE, START = 28, 16  # of a picture; where pixels begin in the file


def png(pixels):
    """A grey picture's file."""
    def part(kind, data):
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)
    rows = b"".join(b"\0" + pixels[y * SIDE:(y + 1) * SIDE] for y in range(SIDE))
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) +
            part(b"IEND", b""))


def write_pictures(folder, count):
    path = DATA / "t10k-images-idx3-ubyte.gz"
    pixels = gzip.open(path).read() if path.exists() else path.with_suffix("").read_bytes()
    names = []
    for i in range(count):
        at = START + i * SIDE * SIDE
        names.append(str(pathlib.Path(folder) / f"{i:05}.png"))
        pathlib.Path(names[-1]).write_bytes(png(pixels[at:at + SIDE * SIDE]))
    return names


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    areas = {method: {"deletion": [], "insertion": []} for method in METHODS}
    with tempfile.TemporaryDirectory() as folder:
        command = [EXPLAIN, "--threads", "1", "--faithfulness", "--json", "--method",
                   ",".join(METHODS)]
        done = subprocess.run(command + write_pictures(folder, count), stdout=subprocess.PIPE,
                              check=True, text=True)
    for line in map(json.loads, done.stdout.splitlines()):
        for kind, list_of in areas[line["method"]].items():
            list_of.append(line[kind]["area"])
    chance = areas["random"]["deletion"]
    print(f"{count} test pictures of MNIST, models/mnist.safetensors: means, and standard errors\n")
    print("| method | deletion | insertion | deletion below random's, of 100 pictures |")
    print("|---|---|---|---|")
    for method in sorted(METHODS, key=lambda m: statistics.mean(areas[m]["deletion"])):
        cells = [f"{statistics.mean(a):.3f} ± {statistics.stdev(a) / len(a)**.5:.3f}"
                 for a in areas[method].values()]
        below = sum(a < b for a, b in zip(areas[method]["deletion"], chance)) / count
        print(f"| {method} | {cells[0]} | {cells[1]} | {100 * below:.0f} |")


main()
