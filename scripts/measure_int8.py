"""How near answers in int8 are to those in float32, from running both.

usage: [BUILD=build] [VIT_DATA=DIR] [PYTHON=python3] scripts/measure-int8 [--write]

Of the shipped models, and of two models that are trained here on folders of pictures (some
minutes): the accuracy on all test pictures in both precisions, and the cosines between the features
of a picture, and between the last states of a token, in one and in the other. Of ViT-Ti/16, S and B
with random weights: the cosines. --write writes the table into docs/quantization.md.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import bench.table as table

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve() / "bin"
DATA = pathlib.Path(os.environ.get("VIT_DATA", ROOT / "data"))
DOCUMENT = ROOT / "docs/quantization.md"
MARKS = ("<!-- from here: scripts/measure-int8 -->\n", "<!-- to here -->\n")
COMPARED = 200  # pictures whose features and tokens are compared; of random networks fewer
RANDOM = {"ViT-Ti/16": (192, 3, 768), "ViT-S/16": (384, 6, 1536), "ViT-B/16": (768, 12, 3072)}
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def run(program, *options):
    return subprocess.run([BIN / program, *map(str, options)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


# ---- pictures ----


def bytes_of(path, offset):
    return np.frombuffer(gzip.open(DATA / path).read(), np.uint8, offset=offset)


def cifar10(name):
    rows = bytes_of(f"cifar10/{name}.bin.gz", 0).reshape(-1, 3073)
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]


def test_pictures(data):
    if data == "cifar10":
        return cifar10("test_batch")[0]
    return bytes_of(f"{data}/t10k-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1)


def write_picture(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width, channels = pixels.shape
    kind = 6 if channels == 3 else 5
    path.write_bytes(b"P%d %d %d 255\n" % (kind, width, height) + pixels.tobytes())


def write_pictures(folder, pictures):
    for i, pixels in enumerate(pictures):
        write_picture(folder / f"{i:05}.{'ppm' if pixels.shape[2] == 3 else 'pgm'}", pixels)


def smooth(random, side, cells):
    """Noise of [0, 1] whose grains are side / cells wide."""
    grid = random.random((cells + 1, cells + 1))
    at = np.linspace(0, cells, side, endpoint=False)
    i, f = at.astype(int), at % 1
    rows = grid[i] * (1 - f)[:, None] + grid[i + 1] * f[:, None]
    return rows[:, i] * (1 - f) + rows[:, i + 1] * f


LAND = {  # colour, grains, how much they show, stripes, roofs
    "water": ((40, 70, 110), 4, 30, 0, 0), "forest": ((45, 80, 45), 16, 70, 0, 0),
    "field": ((130, 120, 70), 6, 40, 25, 0), "orchard": ((95, 105, 60), 8, 40, 25, 0),
    "village": ((90, 100, 70), 8, 45, 0, 7), "town": ((110, 105, 100), 8, 45, 0, 25)}


def land(random, kind, side=64):
    """A made-up photograph from above."""
    colour, grains, contrast, stripes, roofs = LAND[kind]
    pixels = np.array(colour) + random.normal(0, 18, 3) + np.zeros((side, side, 1))
    pixels = pixels + contrast * (smooth(random, side, grains)[..., None] - .5) * 2
    if stripes:
        y, x = np.mgrid[:side, :side] / side
        angle, density = random.random() * np.pi, random.uniform(8, 14)
        wave = np.sin(2 * np.pi * density * (x * np.cos(angle) + y * np.sin(angle)))
        across = np.sin(2 * np.pi * density * (y * np.cos(angle) - x * np.sin(angle)))
        pixels += stripes * (wave * across if kind == "orchard" else wave)[..., None]
    for _ in range(random.poisson(roofs)):
        x, y = random.integers(0, side, 2)
        w, h = random.integers(side // 16, side // 6, 2)
        pixels[y:y + h, x:x + w] = random.uniform(60, 200) + random.normal(0, 15, 3)
    return np.clip(pixels + random.normal(0, 14, pixels.shape), 0, 255).astype(np.uint8)


def draw_land(folder):
    random = np.random.default_rng(1)
    for part, count in (("train", 300), ("test", 400)):
        for kind in LAND:
            write_pictures(folder / part / kind, (land(random, kind) for _ in range(count)))


def folder_of_cifar10(folder):
    for part, name, count in (("train", "data_batch_1", 500), ("test", "test_batch", 1000)):
        pictures, labels = cifar10(name)
        for label in range(6):
            write_pictures(folder / part / CLASSES[label], pictures[labels == label][:count])


# ---- both precisions ----


def accuracies(model, data):
    return [json.loads(run("vit-evaluate", "--model", model, "--data", data, "--json",
                           "--precision", precision)) for precision in ("f32", "int8")]


def cosines(model, pictures, what):
    """Of each picture, or of each picture's tokens."""
    with tempfile.TemporaryDirectory() as place:
        for precision in ("f32", "int8"):
            run("vit-classify", "--model", model, "--embed", *what, "--precision", precision,
                "--recursive", pictures, "--out", f"{place}/{precision}.npy")
        a, b = (np.load(f"{place}/{p}.npy").astype(np.float64) for p in ("f32", "int8"))
    return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def row(name, model, pictures, measured=None):
    cells = ["", "", ""]
    if measured:
        f32, int8 = measured
        cells = [f"{f32['images']:,}", f"{100 * f32['top1']:.2f} %", f"{100 * int8['top1']:.2f} %"]
    for what in ([], ["tokens"]):
        all_of = cosines(model, pictures, what)
        cells += [f"{all_of.mean():.5f}", f"{all_of.min():.5f}"]
    line = table.row((name, *cells))
    print(line, flush=True)
    return line


def shipped(place):
    for path in sorted((ROOT / "models").glob("*.safetensors")):
        pictures = place / path.stem
        write_pictures(pictures, test_pictures(path.stem)[:COMPARED])
        yield row(f"`{path.stem}`", path, pictures, accuracies(path, path.stem))


def trained(place):
    for name, make, epochs in (("drawn land use, 6 classes", draw_land, 6),
                               ("a folder of CIFAR-10, 6 classes", folder_of_cifar10, 5)):
        folder, model, some = (place / f"{make.__name__}{end}" for end in
                               ("", ".safetensors", "-some"))
        make(folder)
        run("vit-train", "--data", folder, "--epochs", epochs, "--out", model)
        for file in sorted((folder / "test").glob("*/*"))[::8][:COMPARED]:
            link_picture(some / f"{file.parent.name}-{file.name}", file)
        yield row(name, model, some, accuracies(model, folder))


def link_picture(path, file):
    path.parent.mkdir(exist_ok=True)
    os.link(file, path)


def random_weights(place):
    random = np.random.default_rng(2)
    write_pictures(place / "large", (land(random, kind, 224) for kind in LAND for _ in range(3)))
    for name, (dim, heads, mlp) in RANDOM.items():
        model = place / "random.safetensors"
        run("vit-bench", "model", "--image", 224, "--channels", 3, "--patch", 16, "--dim", dim,
            "--depth", 12, "--heads", heads, "--mlp", mlp, "--classes", 1000, "--model", model)
        yield row(f"{name}, random weights", model, place / "large")
        model.unlink()


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    lines = [table.head(("model", "test pictures", "right in float32", "in int8",
                         "cosine of features: mean", "lowest", "of tokens: mean", "lowest"))]
    print(lines[0], flush=True)
    with tempfile.TemporaryDirectory() as directory:
        for part in (shipped, trained, random_weights):
            lines += part(pathlib.Path(directory))
    if sys.argv[1:]:
        above, rest = DOCUMENT.read_text().split(MARKS[0])
        text = "\n".join(["", *lines, "", ""])
        DOCUMENT.write_text(above + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
