"""Draws good pictures and pictures with made defects, and measures how well vit-anomaly tells them.

usage: scripts/measure-anomaly [--seed N] [--good N] [--tested N] [--model M] [--size N]
                               [--keep DIR] [KIND...]

KIND: textures (grain, weave, tiles, stripes) and drawn objects (screw, bottle, board); default:
all.
Defects: a scratch, a blot, a missing part. For each kind: a bank of --good pictures, then --tested
good ones and as many with a defect; AUROC over pictures, AUROC over pixels (the map enlarged
bilinearly), false alarms at --alpha 0.05. --keep DIR: the pictures of one KIND stay there, in good,
clean and bad. Needs NumPy. Seeds of the tests are below 1000.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "vit-anomaly"
SIDE = 128
Y, X = np.mgrid[0:SIDE, 0:SIDE].astype(float)


def write_png(path, rgb):
    def chunk(kind, data):
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    rows = np.concatenate([np.zeros((rgb.shape[0], 1), np.uint8),
                           rgb.reshape(rgb.shape[0], -1)], axis=1)
    head = rgb.shape[1].to_bytes(4, "big") + rgb.shape[0].to_bytes(4, "big") + b"\x08\x02\0\0\0"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                     chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


def blur(a, times):
    for _ in range(times):
        for axis in (0, 1):
            a = (np.roll(a, 1, axis) + 2 * a + np.roll(a, -1, axis)) / 4
    return a


# ---- good pictures: grey values 0..1, then a tint ----

def grain(r):
    return .5 + 1.2 * blur(r.normal(0, 1, (SIDE, SIDE)), 6)


def weave(r):
    period, phase = 16, r.uniform(0, 16, 2)
    a = np.sin(2 * np.pi * (X + phase[0]) / period), np.sin(2 * np.pi * (Y + phase[1]) / period)
    return .5 + .2 * np.where(a[0] * a[1] > 0, a[0], a[1]) + r.normal(0, .02, X.shape)


def tiles(r):
    phase = r.integers(0, 32, 2)
    joint = ((X + phase[0]) % 32 < 3) | ((Y + phase[1]) % 32 < 3)
    return np.where(joint, .25, .7) + .3 * blur(r.normal(0, 1, X.shape), 8)


def stripes(r):
    angle = r.normal(.6, .03)
    wave = np.sin((X * np.cos(angle) + Y * np.sin(angle)) * .45 + r.uniform(0, 6))
    return .5 + .25 * wave + r.normal(0, .02, X.shape)


def placed(r):
    """Coordinates of an object that is turned and moved a little."""
    angle, dx, dy = r.normal(0, .05), r.normal(0, 2), r.normal(0, 2)
    x, y = X - SIDE / 2 - dx, Y - SIDE / 2 - dy
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


def screw(r):
    x, y = placed(r)
    shaft = (abs(x) < 8 + 3 * np.sin(y * .9)) & (y > -20) & (y < 48)
    head = (x ** 2 + (y + 32) ** 2 < 18 ** 2) & ~((abs(y + 32) < 3) & (abs(x) < 14))
    return np.where(shaft | head, .75, .15) + r.normal(0, .02, X.shape)


def bottle(r):
    x, y = placed(r)
    ring = np.sqrt(x ** 2 + y ** 2)
    return np.select([ring < 20, ring < 26, ring < 44, ring < 50], [.1, .8, .35, .65], .2) + \
        r.normal(0, .02, X.shape)


def board(r):
    x, y = placed(r)
    a = np.where((abs(x) < 52) & (abs(y) < 40), .35, .8)
    for cx in (-36, -12, 12, 36):
        for cy in (-22, 0, 22):
            a = np.where((abs(x - cx) < 7) & (abs(y - cy) < 5), .08, a)
            a = np.where(((x - cx) ** 2 + (y - cy - 9) ** 2) < 5, .9, a)
    return a + r.normal(0, .02, X.shape)


KINDS = {f.__name__: f for f in (grain, weave, tiles, stripes, screw, bottle, board)}
TINTS = {"grain": (1, .9, .75), "weave": (.8, .85, 1), "tiles": (1, .95, .9),
         "stripes": (1, .8, .6), "screw": (.9, .95, 1), "bottle": (.7, 1, .8), "board": (.6, 1, .6)}


# ---- defects: the picture and which pixels ----

def where(r, a, kind):
    """A place on the object, not on its background."""
    if kind in ("screw", "bottle", "board"):
        on = np.argwhere((X - SIDE / 2) ** 2 + (Y - SIDE / 2) ** 2 < 34 ** 2)
        if kind == "screw":
            on = np.argwhere((abs(X - SIDE / 2) < 6) & (abs(Y - SIDE / 2) < 40))
        return on[r.integers(len(on))]
    return r.integers(20, SIDE - 20, 2)


def scratch(r, a, kind):
    cy, cx = where(r, a, kind)
    angle, length, bend = r.uniform(0, np.pi), r.uniform(14, 28), r.normal(0, .01)
    u = (X - cx) * np.cos(angle) + (Y - cy) * np.sin(angle)
    v = -(X - cx) * np.sin(angle) + (Y - cy) * np.cos(angle) + bend * u ** 2
    mask = (abs(u) < length) & (abs(v) < 1.6)
    return np.where(mask, 1.0 if a[mask].mean() < .5 else 0.0, a), mask


def blot(r, a, kind):
    cy, cx = where(r, a, kind)
    angle = np.arctan2(Y - cy, X - cx)
    radius = r.uniform(6, 10) * (1 + .25 * np.sin(3 * angle + r.uniform(0, 6)))
    mask = (X - cx) ** 2 + (Y - cy) ** 2 < radius ** 2
    return np.where(mask, .4 * a + .6 * (0.0 if a[mask].mean() > .5 else 1.0), a), mask


def missing(r, a, kind):
    cy, cx = where(r, a, kind)
    w, h = r.uniform(8, 12, 2)
    mask = (abs(X - cx) < w) & (abs(Y - cy) < h)
    ground = .15 if kind == "screw" else .2 if kind == "bottle" else .35 if kind == "board" else .5
    return np.where(mask, ground + r.normal(0, .02, a.shape), a), mask


def picture(kind, seed, defect=None):
    r = np.random.default_rng(seed)
    a, mask = KINDS[kind](r), np.zeros((SIDE, SIDE), bool)
    if defect:
        changed, mask = defect(r, a, kind)
        mask &= abs(changed - a) > .05
        a = changed
    light = r.normal(1, .02)
    tinted = np.clip(a[..., None] * light * np.array(TINTS[kind]), 0, 1)
    return (tinted * 255).astype(np.uint8), mask


# ---- measured ----

def auroc(good, bad):
    both = np.concatenate([good, bad])
    order = np.argsort(both, kind="stable")
    ranks = np.empty(len(both))
    ranks[order] = np.arange(1, len(both) + 1)
    values, inverse, counts = np.unique(both, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[inverse]
    return (ranks[len(good):].sum() - len(bad) * (len(bad) + 1) / 2) / (len(good) * len(bad))


def enlarge(grid):
    """Bilinear, as torch's interpolate without align_corners."""
    def axis(n):
        at = np.clip((np.arange(SIDE) + .5) * n / SIDE - .5, 0, n - 1)
        low = np.minimum(at.astype(int), max(n - 2, 0))
        return low, at - low

    (y, fy), (x, fx) = axis(grid.shape[0]), axis(grid.shape[1])
    rows = grid[y] * (1 - fy)[:, None] + grid[np.minimum(y + 1, len(grid) - 1)] * fy[:, None]
    return rows[:, x] * (1 - fx) + rows[:, np.minimum(x + 1, grid.shape[1] - 1)] * fx


def draw(folder, kind, seeds, defects=(None,)):
    masks = []
    folder.mkdir()
    for i, seed in enumerate(seeds):
        rgb, mask = picture(kind, seed, defects[i % len(defects)])
        write_png(folder / f"{i:04}.png", rgb)
        masks.append(mask)
    return masks


def measure(kind, o):
    first = 1000 + 100000 * o.seed
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(o.keep or work)
        draw(work / "good", kind, range(first, first + o.good))
        clean = draw(work / "clean", kind, range(first + 20000, first + 20000 + o.tested))
        masks = draw(work / "bad", kind, range(first + 40000, first + 40000 + o.tested),
                     (scratch, blot, missing))
        options = ["--model", o.model] + (["--size", o.size] if o.size else [])
        subprocess.run([PROGRAM, "build", work / "good", "-o", work / "bank", *options], check=True,
                       stdout=subprocess.DEVNULL)
        answers = {}
        for part in ("clean", "bad"):
            lines = subprocess.run([PROGRAM, work / "bank", "--recursive", work / part, "--json"],
                                   check=True, text=True, stdout=subprocess.PIPE).stdout
            answers[part] = [json.loads(line) for line in lines.splitlines()]
    scores = {part: np.array([a["score"] for a in list_]) for part, list_ in answers.items()}
    maps = [enlarge(np.array(a["map"]).reshape(a["grid"]))
            for part in ("clean", "bad") for a in answers[part]]
    truth = np.concatenate([np.stack(clean), np.stack(masks)]).ravel()
    pixels = np.stack(maps).ravel()
    return (auroc(scores["clean"], scores["bad"]), auroc(pixels[~truth], pixels[truth]),
            sum(a["defect"] for a in answers["clean"]), sum(a["defect"] for a in answers["bad"]))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--good", type=int, default=60)
    p.add_argument("--tested", type=int, default=60)
    p.add_argument("--model", default="features")
    p.add_argument("--size")
    p.add_argument("--keep")
    p.add_argument("kinds", nargs="*", default=list(KINDS))
    o = p.parse_args()
    if o.keep and len(o.kinds) != 1:
        p.error("--keep DIR is for one KIND")
    if o.keep:
        pathlib.Path(o.keep).mkdir()
    print("| kind | image AUROC | pixel AUROC | false alarms | found |\n|---|---|---|---|---|")
    rows = []
    for kind in o.kinds or KINDS:
        image, pixel, false, found = measure(kind, o)
        rows.append((image, pixel))
        print(f"| {kind} | {image:.3f} | {pixel:.3f} | {false} of {o.tested} | "
              f"{found} of {o.tested} |", flush=True)
    image, pixel = np.mean(rows, axis=0)
    print(f"| mean | {image:.3f} | {pixel:.3f} | | |")


if __name__ == "__main__":
    main()
