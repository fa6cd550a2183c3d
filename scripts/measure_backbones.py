"""How good the features of networks are on pictures of kinds that none of them has seen: draws sets
of 96 x 96 pixels by seed (satellite-like views, line drawings, textures, cells under a microscope,
pages, landscapes), 40 pictures of each class for the test, and teaches each network with 5 and 10
of each class (vit-train --head ridge). Prints the accuracy of the test pictures: the mean of the
draws, and the lowest and the highest.

usage: scripts/measure-backbones [--draws N] [--sets A,B] [--size N] [--keep DIR] MODEL...

MODEL: a shipped model's name, a file or a directory. --keep: where the pictures stay; those that
are there already are not drawn again. VIT_DATA (default data) adds MNIST, if it is there. PYTHON
has numpy and Pillow; BUILD (default build), THREADS (default 2).
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
from PIL import Image, ImageDraw

S = 96
NUMBERS = (5, 10)
TEST = 40


class Pen:
    """Random numbers, and what all sets are drawn with."""

    def __init__(self, *seed):
        self.rng = np.random.default_rng(seed)

    def below(self, low, high):
        return int(self.rng.integers(low, high))

    def between(self, low, high):
        return self.rng.uniform(low, high)

    def one(self, *choices):
        return choices[self.below(0, len(choices))]

    def shade(self, rgb, by=12):
        return tuple(int(v + self.rng.normal(0, by)) for v in rgb)

    def noise(self, scale, channels=3):
        """[S][S][channels], smooth, -.5 to .5"""
        side = max(2, S // scale)
        a = self.rng.normal(0, 1, (side, side, channels))
        a = ((a - a.min()) / (np.ptp(a) + 1e-9) * 255).astype(np.uint8)
        rows = [Image.fromarray(a[..., c]).resize((S, S), Image.BICUBIC) for c in range(channels)]
        return np.stack([np.asarray(r, float) for r in rows], -1) / 255 - .5

    def ground(self, rgb, amplitude=25, scale=6, spread=18):
        """a surface of about this colour, as an array"""
        colour = np.array(rgb, float) + self.rng.normal(0, spread, 3)
        return (colour + self.noise(scale) * amplitude * 2 + self.rng.normal(0, 6, (S, S, 3)))

    def waves(self, low, high):
        """radians along a random direction"""
        y, x = np.mgrid[:S, :S]
        k, t = self.between(low, high), self.between(0, 3.1)
        return k * (x * np.cos(t) + y * np.sin(t))

    def two_colours(self, a):
        a = (a - a.min()) / (np.ptp(a) + 1e-9)
        first, second = self.rng.integers(20, 235, (2, 3))
        return picture(first + a[..., None] * (second - first) + self.rng.normal(0, 5, (S, S, 3)))

    def paper(self, low=235):
        image = Image.new("RGB", (S, S), tuple(int(v) for v in self.rng.integers(low, 256, 3)))
        return image, ImageDraw.Draw(image)

    def dark(self):
        return tuple(int(v) for v in self.rng.integers(0, 110, 3))


def picture(a):
    return Image.fromarray(np.clip(a, 0, 255).astype(np.uint8))


def corners(n, x, y, r, turn):
    return [(x + r * np.cos(turn + 2 * np.pi * i / n), y + r * np.sin(turn + 2 * np.pi * i / n))
            for i in range(n)]


# ---- satellite-like: ground from above ----

def forest(p):
    image = picture(p.ground((40, 80, 40)))
    draw = ImageDraw.Draw(image)
    for _ in range(220):
        x, y, r, g = p.below(0, S), p.below(0, S), p.below(2, 6), p.below(50, 110)
        draw.ellipse([x - r, y - r, x + r, y + r], fill=(int(g * .5), g, int(g * .45)))
    return image


def water(p):
    return picture(p.ground((40, 70, 110), 10, 12) +
                   8 * np.sin(p.waves(.1, .5) + p.between(0, 6))[..., None])


def fields(p):
    image = picture(p.ground((120, 120, 60)))
    draw = ImageDraw.Draw(image)
    xs, ys = (sorted(p.rng.integers(0, S, p.below(2, 5)).tolist() + [0, S]) for _ in range(2))
    for a, b in zip(xs, xs[1:]):
        for c, e in zip(ys, ys[1:]):
            colour = p.one((130, 140, 60), (90, 120, 50), (160, 140, 90), (110, 90, 60))
            draw.rectangle([a, c, max(a, b - 1), max(c, e - 1)], fill=p.shade(colour))
    return picture(np.asarray(image, float) + p.noise(8) * 20 + p.rng.normal(0, 6, (S, S, 3)))


def houses(p):
    image = picture(p.ground((90, 110, 80)))
    draw = ImageDraw.Draw(image)
    for _ in range(p.below(12, 30)):
        x, y, w, h = p.below(0, S), p.below(0, S), p.below(6, 14), p.below(6, 14)
        colour = p.one((160, 80, 60), (150, 150, 150), (110, 70, 60), (190, 180, 170))
        draw.rectangle([x, y, x + w, y + h], fill=colour, outline=(60, 60, 60))
    return image


def road(p):
    image = picture(p.ground(p.one((90, 110, 70), (130, 120, 90))))
    draw = ImageDraw.Draw(image)
    t, off, width = p.between(0, 3.14), p.between(-25, 25), p.below(6, 16)
    c, s = np.cos(t), np.sin(t)
    x, y = S / 2 - s * off, S / 2 + c * off
    line = [(x - c * S, y - s * S), (x + c * S, y + s * S)]
    draw.line(line, fill=(110, 110, 115), width=width)
    draw.line(line, fill=(220, 220, 210), width=1)
    return image


def desert(p):
    bend = p.noise(14, 1)[..., 0] * 6
    return picture(p.ground((200, 170, 120), 15, 10) +
                   14 * np.sin(p.waves(.25, .6) + bend)[..., None])


# ---- line drawings ----

def outline(points):
    def draw_outline(p):
        image, draw = p.paper()
        at = points(p, p.between(36, 60), p.between(36, 60), p.between(18, 32), p.between(0, 6.3))
        draw.line(at, fill=p.dark(), width=p.below(1, 5))
        return image
    return draw_outline


def polygon(n):
    def points(_, x, y, r, turn):
        at = corners(n, x, y, r, turn)
        return at + at[:1]
    return outline(points)


def ellipse(p, x, y, r, turn):
    flat = p.between(.7, 1)
    at = [(x + r * np.cos(t), y + flat * r * np.sin(t)) for t in np.linspace(0, 2 * np.pi, 60)]
    return at


def star(_, x, y, r, turn):
    far, near = corners(5, x, y, r, turn), corners(5, x, y, r * .45, turn + np.pi / 5)
    at = [q for pair in zip(far, near) for q in pair]
    return at + at[:1]


def spiral(_, x, y, r, turn):
    return [(x + r * k / 100 * np.cos(turn + k / 8), y + r * k / 100 * np.sin(turn + k / 8))
            for k in range(100)]


def cross(_, x, y, r, turn):
    a, b, c, d = corners(4, x, y, r, turn)
    return [a, c, (x, y), b, d]


# ---- textures in two colours ----

def checks(p):
    t, k = p.between(0, 3.1), p.between(.25, .6)
    y, x = np.mgrid[:S, :S]
    return p.two_colours(np.sign(np.sin(k * (x * np.cos(t) + y * np.sin(t))) *
                                 np.sin(k * (y * np.cos(t) - x * np.sin(t)))))


def dots(p):
    k, a, b = p.between(.3, .6), p.between(0, 6), p.between(0, 6)
    y, x = np.mgrid[:S, :S]
    return p.two_colours((np.sin(k * x + a) * np.sin(k * y + b) > .5).astype(float))


def clouds(p):
    return p.two_colours(p.noise(20, 1)[..., 0] + .6 * p.noise(10, 1)[..., 0] +
                         .3 * p.noise(4, 1)[..., 0])


def bricks(p):
    h = p.below(8, 16)
    y, x = np.mgrid[:S, :S]
    return p.two_colours((((x + (y // h % 2) * h) % (2 * h) < 2) | (y % h < 2)).astype(float))


# ---- cells under a microscope ----

def slide(p):
    image = picture(p.ground(p.one((225, 205, 215), (215, 220, 230), (230, 225, 205)), 12, 10, 8))
    return image, ImageDraw.Draw(image)


def stain(p):
    return p.shade(p.one((150, 70, 140), (110, 80, 160), (180, 90, 110)), 15)


def round_cells(p):
    image, draw = slide(p)
    colour, kernel = stain(p), p.dark()
    for _ in range(p.below(8, 16)):
        x, y, r = p.below(0, S), p.below(0, S), p.below(6, 12)
        draw.ellipse([x - r, y - r, x + r, y + r], fill=colour)
        k = r * p.between(.25, .45)
        draw.ellipse([x - k, y - k, x + k, y + k], fill=kernel)
    return image


def rods(p):
    image, draw = slide(p)
    colour = stain(p)
    for _ in range(p.below(18, 40)):
        x, y, t, r = p.below(0, S), p.below(0, S), p.between(0, 3.14), p.between(4, 8)
        draw.line([(x - r * np.cos(t), y - r * np.sin(t)), (x + r * np.cos(t), y + r * np.sin(t))],
                  fill=colour, width=4)
    return image


def chains(p):
    image, draw = slide(p)
    colour, r = stain(p), p.below(2, 4)
    for _ in range(p.below(4, 8)):
        x, y, t = p.between(0, S), p.between(0, S), p.between(0, 6.3)
        for _ in range(p.below(6, 14)):
            draw.ellipse([x - r, y - r, x + r, y + r], fill=colour)
            t += p.between(-.5, .5)
            x, y = x + 2 * r * np.cos(t), y + 2 * r * np.sin(t)
    return image


def clusters(p):
    image, draw = slide(p)
    colour = stain(p)
    for _ in range(p.below(2, 5)):
        cx, cy = p.between(10, S - 10), p.between(10, S - 10)
        for _ in range(p.below(15, 30)):
            x, y, r = cx + p.rng.normal(0, 8), cy + p.rng.normal(0, 8), p.between(2, 4)
            draw.ellipse([x - r, y - r, x + r, y + r], fill=colour)
    return image


def threads(p):
    image, draw = slide(p)
    colour = stain(p)
    for _ in range(p.below(4, 9)):
        x, y, t, at = p.between(0, S), p.between(0, S), p.between(0, 6.3), []
        for _ in range(40):
            at.append((x, y))
            t += p.between(-.4, .4)
            x, y = x + 3 * np.cos(t), y + 3 * np.sin(t)
        draw.line(at, fill=colour, width=2)
    return image


def sickles(p):
    image, draw = slide(p)
    colour = stain(p)
    for _ in range(p.below(9, 18)):
        x, y, r, t = p.below(0, S), p.below(0, S), p.below(7, 12), p.below(0, 360)
        draw.arc([x - r, y - r, x + r, y + r], t, t + p.below(110, 170), fill=colour, width=4)
    return image


# ---- pages ----

def lines_of_text(draw, p, left, top, right, bottom, ink):
    for y in range(top, bottom, 5):
        x, end = left, right if p.below(0, 5) else left + (right - left) // 2
        while x < end:
            w = p.below(3, 11)
            draw.line([x, y, min(x + w, end), y], fill=ink, width=2)
            x += w + 2


def text(p):
    image, draw = p.paper()
    lines_of_text(draw, p, p.below(6, 14), p.below(6, 20), S - p.below(6, 14), S - 8, p.dark())
    return image


def columns(p):
    image, draw = p.paper()
    ink, top, middle = p.dark(), p.below(6, 20), S // 2 + p.below(-4, 5)
    lines_of_text(draw, p, 7, top, middle - 5, S - 8, ink)
    lines_of_text(draw, p, middle + 5, top, S - 7, S - 8, ink)
    return image


def table(p):
    image, draw = p.paper()
    ink, rows, cells = p.dark(), p.below(4, 9), p.below(3, 6)
    x0, y0, x1, y1 = p.below(4, 14), p.below(4, 24), S - p.below(4, 14), S - p.below(4, 24)
    for i in range(rows + 1):
        y = y0 + (y1 - y0) * i // rows
        draw.line([x0, y, x1, y], fill=ink)
    for i in range(cells + 1):
        x = x0 + (x1 - x0) * i // cells
        draw.line([x, y0, x, y1], fill=ink)
    for i in range(rows):
        for k in range(cells):
            x, y = x0 + (x1 - x0) * k // cells + 3, y0 + (y1 - y0) * (2 * i + 1) // (2 * rows)
            draw.line([x, y, x + p.below(2, 10), y], fill=ink, width=2)
    return image


def bars(p):
    image, draw = p.paper()
    ink, colour, n = p.dark(), tuple(p.rng.integers(30, 200, 3).tolist()), p.below(4, 9)
    draw.line([10, 8, 10, S - 12, S - 6, S - 12], fill=ink)
    for i in range(n):
        x = 14 + (S - 24) * i / n
        draw.rectangle([x, S - 13 - p.below(6, 66), x + (S - 24) / n - 3, S - 13], fill=colour)
    return image


def curve(p):
    image, draw = p.paper()
    ink, colour = p.dark(), tuple(p.rng.integers(30, 200, 3).tolist())
    draw.line([10, 8, 10, S - 12, S - 6, S - 12], fill=ink)
    y = np.cumsum(p.rng.normal(0, 1, 40))
    y = S - 18 - (y - y.min()) / (np.ptp(y) + 1e-9) * 60
    draw.line([(12 + 2 * i, v) for i, v in enumerate(y)], fill=colour, width=p.below(1, 3))
    return image


def photo_page(p):
    image, draw = p.paper()
    inside = picture(p.ground(tuple(p.rng.integers(60, 190, 3)), 40, 12)).crop((0, 0, 60, 40))
    x, y = p.below(6, 30), p.below(6, 20)
    image.paste(inside, (x, y))
    lines_of_text(draw, p, 8, y + 46, S - 8, S - 6, p.dark())
    return image


# ---- landscapes ----

def sky(p, colour):
    """a sky over all of the picture, brighter towards the horizon"""
    shade = np.linspace(-25, 25, S)[:, None, None]
    return p.ground(colour, 8, 16) + shade


def ridge(p, rough, low, high):
    """[S]: how high the land is"""
    x = np.arange(S)
    y = sum(p.between(.3, 1) / k * np.sin(k * x / S * 2 * np.pi * p.between(.5, 1) +
                                         p.between(0, 6)) for k in rough)
    return p.between(low, high) + 10 * y


def land(p, above, height, colour, amplitude=20, scale=5):
    inside = np.arange(S)[:, None] > S - height[None, :]
    return np.where(inside[..., None], p.ground(colour, amplitude, scale), above)


def sea(p):
    y, _ = np.mgrid[:S, :S]
    a = land(p, sky(p, (150, 185, 220)), np.full(S, p.between(30, 60)), (50, 95, 130), 8, 3)
    return picture(a + 5 * np.sin(y * p.between(.8, 1.6))[..., None])


def mountains(p):
    a = land(p, sky(p, (160, 185, 215)), ridge(p, (1, 2, 5, 9), 45, 65), (120, 120, 130))
    return picture(land(p, a, ridge(p, (2, 3, 7), 15, 28), (70, 85, 70)))


def meadow(p):
    a = land(p, sky(p, (140, 185, 230)), ridge(p, (1,), 35, 55), (100, 150, 60), 18, 4)
    image = picture(a)
    draw = ImageDraw.Draw(image)
    colour = p.one((230, 210, 60), (220, 80, 90), (240, 240, 240))
    for _ in range(p.below(15, 40)):
        x, y = p.below(0, S), p.below(62, S)
        draw.ellipse([x - 1, y - 1, x + 1, y + 1], fill=colour)
    return image


def town(p):
    image = picture(sky(p, p.one((170, 185, 205), (210, 170, 140))))
    draw = ImageDraw.Draw(image)
    x = 0
    while x < S:
        w, h, grey = p.below(8, 20), p.below(20, 72), p.below(50, 130)
        draw.rectangle([x, S - h, x + w, S], fill=p.shade((grey, grey, grey), 8))
        for wy in range(S - h + 4, S - 3, 6):
            for wx in range(x + 2, x + w - 2, 5):
                if p.below(0, 3):
                    draw.rectangle([wx, wy, wx + 1, wy + 2], fill=(225, 210, 150))
        x += w + p.below(0, 3)
    return image


def night(p):
    image = picture(p.ground((18, 22, 45), 6, 20, 6))
    draw = ImageDraw.Draw(image)
    for _ in range(p.below(40, 90)):
        x, y, v = p.below(0, S), p.below(0, S), p.below(140, 256)
        draw.point((x, y), fill=(v, v, v))
    x, y, r = p.below(15, S - 15), p.below(12, 40), p.below(5, 10)
    draw.ellipse([x - r, y - r, x + r, y + r], fill=(235, 232, 210))
    return picture(land(p, np.asarray(image, float), ridge(p, (1, 3), 10, 25), (12, 14, 18), 4))


def sunset(p):
    image = picture(sky(p, (225, 140, 80)))
    draw = ImageDraw.Draw(image)
    x, y, r = p.below(20, S - 20), p.below(40, 62), p.below(7, 13)
    draw.ellipse([x - r, y - r, x + r, y + r], fill=(255, 235, 160))
    return picture(land(p, np.asarray(image, float), ridge(p, (1, 2), 22, 34), (70, 45, 50), 10))


SETS = {
    "satellite": {f.__name__: f for f in (forest, water, fields, houses, road, desert)},
    "drawings": {"circle": outline(ellipse), "triangle": polygon(3), "square": polygon(4),
                 "hexagon": polygon(6), "star": outline(star), "spiral": outline(spiral),
                 "cross": outline(cross)},
    "textures": {"stripes": lambda p: p.two_colours(np.sin(p.waves(.3, .9))), "checks": checks,
                 "dots": dots, "clouds": clouds, "bricks": bricks,
                 "grain": lambda p: p.two_colours(p.rng.normal(0, 1, (S, S)))},
    "microscope": {f.__name__: f for f in (round_cells, rods, chains, clusters, threads, sickles)},
    "pages": {f.__name__: f for f in (text, columns, table, bars, curve, photo_page)},
    "landscapes": {f.__name__: f for f in (sea, mountains, meadow, town, night, sunset)},
}


def draw_set(root, kinds, seed):
    """writes root/train/CLASS/N.png and root/test/CLASS/N.png"""
    for i, (name, draw) in enumerate(sorted(kinds.items())):
        pen = Pen(seed, i)
        for part, count in (("train", max(NUMBERS)), ("test", TEST)):
            folder = root / part / name
            folder.mkdir(parents=True)
            for k in range(count):
                draw(pen).save(folder / f"{k:02}.png")


def idx(name, skip):
    path = pathlib.Path(os.environ.get("VIT_DATA", "data")) / name
    for file, how in ((path, open), (path.with_name(path.name + ".gz"), gzip.open)):
        if file.exists():
            with how(file, "rb") as f:
                return np.frombuffer(f.read(), np.uint8)[skip:]
    return None


def published_set(root, name, seed):
    """the same of pictures of MNIST or Fashion-MNIST, chosen by seed; False: it is not there"""
    rng = np.random.default_rng((seed, 1))
    for part, prefix, count in (("train", "train", max(NUMBERS)), ("test", "t10k", TEST)):
        pixels = idx(f"{name}/{prefix}-images-idx3-ubyte", 16)
        labels = idx(f"{name}/{prefix}-labels-idx1-ubyte", 8)
        if pixels is None or labels is None:
            return False
        pixels = pixels.reshape(-1, 28, 28)
        for c in range(10):
            folder = root / part / str(c)
            folder.mkdir(parents=True)
            for k, i in enumerate(rng.permutation(np.flatnonzero(labels == c))[:count]):
                Image.fromarray(pixels[i]).save(folder / f"{k:02}.png")
    return True


def make(root, name, seed):
    """the folder of a set, drawn if it is not there; None: its data are absent"""
    folder = root / f"{name}-{seed}"
    if folder.exists():
        return folder
    unfinished = folder.with_name(folder.name + ".part")
    if name in SETS:
        draw_set(unfinished, SETS[name], seed)
    elif not published_set(unfinished, name, seed):
        return None
    return unfinished.rename(folder)


def with_fewer(folder, number, scratch):
    """a folder of links: the first pictures of each class, and the test part"""
    out = scratch / f"{folder.name}-{number}"
    if not out.exists():
        for c in sorted((folder / "train").iterdir()):
            (out / "train" / c.name).mkdir(parents=True)
            for file in sorted(c.iterdir())[:number]:
                (out / "train" / c.name / file.name).symlink_to(file.resolve())
        (out / "test").symlink_to((folder / "test").resolve())
    return out


def accuracy(model, folder, scratch, options):
    program = pathlib.Path(os.environ.get("BUILD", "build")) / "bin/vit-train"
    run = subprocess.run(
        [program, "--data", folder, "--init", model, "--head", "ridge", "--json", "--overwrite",
         "--out", scratch / "taught.safetensors", "--threads", os.environ.get("THREADS", "2"),
         *options], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(run.stderr)
    return json.loads(run.stdout.splitlines()[-1])["test_top1"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sets", default=",".join((*SETS, "mnist")))
    parser.add_argument("--size")
    parser.add_argument("--keep")
    parser.add_argument("models", nargs="+")
    given = parser.parse_args()
    options = ["--size", given.size] if given.size else []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        root = pathlib.Path(given.keep) if given.keep else scratch / "sets"
        root.mkdir(parents=True, exist_ok=True)
        print("| set | of each class | " + " | ".join(given.models) + " |")
        print("|---|---" + "|---" * len(given.models) + "|")
        sums = np.zeros((len(NUMBERS), len(given.models)))
        rows = 0
        for name in given.sets.split(","):
            folders = [make(root, name, seed) for seed in range(1, given.draws + 1)]
            if None in folders:
                continue
            rows += 1
            for n, number in enumerate(NUMBERS):
                row = f"| {name} | {number} |"
                for m, model in enumerate(given.models):
                    got = [100 * accuracy(model, with_fewer(f, number, scratch), scratch, options)
                           for f in folders]
                    sums[n, m] += np.mean(got)
                    row += f" {np.mean(got):.1f} ({min(got):.1f} to {max(got):.1f}) |"
                print(row, flush=True)
        for n, number in enumerate(NUMBERS):
            print(f"| mean | {number} | " + " | ".join(f"{v / rows:.1f}" for v in sums[n]) + " |")


if __name__ == "__main__":
    main()
