"""The resampler and Pillow's, taking turns: run by scripts/bench-resize."""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import time

import PIL
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BENCH = ROOT / "build/bin/vit-bench"
FILTERS = {"nearest": Image.Resampling.NEAREST, "box": Image.Resampling.BOX,
           "bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC,
           "lanczos": Image.Resampling.LANCZOS, "hamming": Image.Resampling.HAMMING}


def ours(size):
    """Milliseconds by filter, and the instruction set."""
    command = [BENCH, "resize", "--image", str(size), "--channels", "3", "--patch", str(size),
               "--json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [json.loads(line) for line in lines]
    return {line["what"]: line["ms"] for line in found}, found[0]["cpu"]


def theirs(image, size):
    times = {name: [] for name in FILTERS}
    for name, resample in FILTERS.items():
        for _ in range(7):
            start = time.perf_counter()
            image.resize((size, size), resample)
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(prog="bench-resize")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    image = Image.frombytes("RGB", (4000, 3000), random.Random(0).randbytes(36_000_000))
    turns = [(*ours(options.size), theirs(image, options.size)) for _ in range(options.turns)]
    print(f"4000x3000 -> {options.size}x{options.size}, ms: vit ({turns[0][1]}), "
          f"Pillow {PIL.__version__}")
    for name in FILTERS:
        vit = statistics.median(turn[0][name] for turn in turns)
        pillow = statistics.median(turn[2][name] for turn in turns)
        print(f"{name:10} {vit:8.2f} {pillow:8.2f}   {pillow / vit:5.1f} times as fast")


main()
