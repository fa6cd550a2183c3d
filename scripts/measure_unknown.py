"""Measures how well the shipped models tell out-of-distribution pictures, for docs/reliance.md.

usage: scripts/measure-unknown [--part SHARE]

The models mnist, fashion and cifar10, each calibrated with half of its test pictures, and measured
with the other half against the test pictures of the other two sets (far). And (near) six classes of
CIFAR-10 against the other four: a ridge head on the features of `cifar10`, computed from training
pictures of six, whose features, to be fair, come from all ten. At most SHARE of each part's
pictures are taken. Needs NumPy. Data: $VIT_DATA or data/. At a rate of 1 % false alarms.
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin"
DATA = pathlib.Path(os.environ.get("VIT_DATA", ROOT / "data"))
SIX = (2, 3, 4, 5, 6, 7)  # the animals


def read(path):
    return gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()


def pictures_of(name, part):
    """Images [n][height][width][3] and labels of a part of a set."""
    if name == "cifar10":
        wanted = "test_batch.bin*" if part == "test" else "data_batch_*.bin*"
        raw = b"".join(read(p) for p in sorted((DATA / name).glob("**/" + wanted)))
        rows = np.frombuffer(raw, np.uint8).reshape(-1, 3073)
        return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]
    prefix = "t10k" if part == "test" else "train"
    images = read(next((DATA / name).glob(f"**/{prefix}-images*")))
    labels = read(next((DATA / name).glob(f"**/{prefix}-labels*")))
    grey = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28, 1)
    return np.repeat(grey, 3, axis=3), np.frombuffer(labels, np.uint8, offset=8)


class Arrays:
    """Parts of sets as .npz, which every program reads as they are."""
    def __init__(self, work, share):
        self.work, self.share, self.random = work, share, np.random.default_rng(0)

    def write(self, title, name, part, half=None, classes=None):
        path = self.work / f"{title}.npz"
        images, labels = pictures_of(name, part)
        chosen = np.random.default_rng(1).permutation(len(images))
        if half is not None:
            chosen = chosen[half::2]
        if classes is not None:
            chosen = chosen[np.isin(labels[chosen], classes)]
        chosen = np.sort(chosen[:max(1, int(len(chosen) * self.share))])
        images = images[chosen] if name == "cifar10" else images[chosen][..., :1]
        known = sorted(classes) if classes is not None else range(10)
        if len(known) == 4:
            labels, known = np.zeros_like(labels), [0]  # outliers: of no class that counts
        numbers = np.searchsorted(np.array(known), labels[chosen])
        both = {"test_images": images, "test_labels": numbers.astype(np.int64)}
        if part == "train":
            both = {"train_images": images, "train_labels": numbers.astype(np.int64)}
        np.savez(path, **both)
        return path


def run(*arguments):
    done = subprocess.run([BIN / arguments[0], *map(str, arguments[1:])], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(done.stdout) if "--json" in arguments else None


def row(kind, model, others, calibration, a):
    run("vit-evaluate", "--model", model, "--calibrate", a["one"], "--training", a["training"],
        "--outliers", others[1], "--calibration", calibration, "--json")
    m = run("vit-evaluate", "--model", model, "--data", a["other"], "--outliers", others[1],
            "--unknown", "0.01", "--calibration", calibration, "--json")
    figures = {s["score"]: s for s in m["scores"]}
    cells = [f"{100 * figures[s]['auroc']:.2f} / {100 * figures[s]['fpr95']:.1f}"
             for s in ("softmax", "energy", "knn", "mahalanobis")]
    print(f"| {kind} | {others[0]} | " + " | ".join(cells) + f" | {m['score']} | "
          f"{100 * m['data']['share']:.2f} % ({100 * m['data']['low']:.2f} to "
          f"{100 * m['data']['high']:.2f}) | {100 * m['outliers']['share']:.1f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=float, default=1, metavar="SHARE")
    o = parser.parse_args()
    print("| model | outliers | softmax | energy | knn | mahalanobis | chosen | false alarms | "
          "found |\n|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        arrays = Arrays(work, o.part)
        tests = {n: arrays.write(n + "-test", n, "test") for n in ("mnist", "fashion", "cifar10")}
        for name in tests:
            a = {"one": arrays.write(name + "-1", name, "test", 0),
                 "other": arrays.write(name + "-2", name, "test", 1),
                 "training": arrays.write(name + "-train", name, "train")}
            for other in tests:
                if other != name:
                    row(name, name, (other, tests[other]), work / "calibration", a)
        a = {"one": arrays.write("six-1", "cifar10", "test", 0, SIX),
             "other": arrays.write("six-2", "cifar10", "test", 1, SIX),
             "training": arrays.write("six-train", "cifar10", "train", None, SIX)}
        four = arrays.write("four", "cifar10", "test", None, (0, 1, 8, 9))
        head = work / "six.safetensors"
        run("vit-train", "--data", a["training"], "--head", "ridge", "--init", "cifar10", "--out",
            head)
        row("six animals", head, ("four vehicles", four), work / "calibration", a)


if __name__ == "__main__":
    main()
