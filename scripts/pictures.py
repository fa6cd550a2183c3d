"""The pictures of docs/pictures: run by scripts/pictures, which says how."""
import argparse
import gzip
import html
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("VIT_DATA", ROOT / "data"))
BIN = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin"
OUT = ROOT / "docs/pictures"
CIFAR_MODEL = ROOT / "models/cifar10.safetensors"
KINDS = ("table", "school")  # of tests/fixtures/photograph.py
CIFAR = 13  # the test picture shown: a horse
COLOURS = 128  # of a picture's palette, which keeps it small

sys.path.insert(0, str(ROOT / "tests" / "support"))
from chromium import Browser  # noqa: E402

STYLE = """body { margin: 0; padding: 10px; font: 14px/1.3 sans-serif }
body { width: 640px; background: #fff; color: #222 }
td { padding: 3px 6px; text-align: center } img { height: 168px; display: block }
td.maps img { image-rendering: pixelated }"""


def run(program, *arguments):
    return subprocess.run([BIN / program, *map(str, arguments)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def photographs(work):
    draw = ROOT / "tests/fixtures/photograph.py"
    subprocess.run([sys.executable, draw, DATA / "mnist", work, "1", *KINDS], check=True,
                   stdout=subprocess.DEVNULL)
    return [work / f"{kind}_000.jpg" for kind in KINDS]


def cifar(work):
    records = gzip.open(DATA / "cifar10/test_batch.bin.gz").read()
    pixels = np.frombuffer(records, np.uint8).reshape(-1, 3073)[CIFAR, 1:]
    Image.fromarray(pixels.reshape(3, 32, 32).transpose(1, 2, 0)).save(work / "cifar.png")
    return work / "cifar.png"


def row(work, picture, model):
    """A row of a table: the picture, what the network sees, its maps, and the answer."""
    maps = work / (picture.stem + ".maps.png")
    lines = run("vit-explain", "--model", model, "--method", "attention,relevance", "--head",
                "mean", "--json", "--out", maps, picture)
    answer = json.loads(lines.splitlines()[0])
    label, share = html.escape(answer["label"]), 100 * answer["probability"]
    return (f'<tr><td><img src="{picture.name}"></td><td class="maps"><img src="{maps.name}"></td>'
            f"<td><b>{label}</b><br>{share:.1f} %</td></tr>")


def small(path):
    """Fewer colours, and the file is a third."""
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def maps(browser, work, cifar_model):
    rows = [row(work, picture, "mnist") for picture in photographs(work)]
    if cifar_model:
        rows.append(row(work, cifar(work), cifar_model))
    (work / "maps.html").write_text(
        f'<meta charset="utf-8"><style>{STYLE}</style><table>{"".join(rows)}<tr>'
        "<td>the picture</td><td>as the network sees it · attention · relevance</td>"
        "<td>answer</td></tr></table>")
    page = browser.open(str(work / "maps.html"), 660, 100)
    page.shot(OUT / "maps.png", whole=True)


def explorer(browser, work):
    run("vit-explain", "--out", work / "page.html", photographs(work)[0])
    page = browser.open(str(work / "page.html"), 1100, 800)
    page.wait('document.title.includes(":")')
    page.shot(OUT / "page.png")


def training(browser, work, log):
    data = DATA / "mnist"
    if log:
        run("vit-report", log, "-o", work / "report.html", "--model", "mnist", "--data", data)
    else:
        run("vit-train", "--data", data, "--epochs", 3, "--out", work / "m.safetensors", "--report",
            work / "report.html")
    page = browser.open(str(work / "report.html"), 1100, 800)
    page.shot(OUT / "training.png")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--log")
    options.add_argument("--cifar", default=CIFAR_MODEL if CIFAR_MODEL.exists() else None)
    options.add_argument("--only", choices=("maps", "page", "training"))
    chosen = options.parse_args()
    OUT.mkdir(exist_ok=True)
    names = (chosen.only,) if chosen.only else ("maps", "page", "training")
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        work = pathlib.Path(folder)
        if "maps" in names:
            maps(browser, work, chosen.cifar)
        if "page" in names:
            explorer(browser, work)
        if "training" in names:
            training(browser, work, chosen.log)
    for name in names:
        small(OUT / f"{name}.png")
        print(f"docs/pictures/{name}.png: {(OUT / f'{name}.png').stat().st_size} bytes")


main()
