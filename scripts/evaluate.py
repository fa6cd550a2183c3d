"""How accurate the shipped models are, from running them.

usage: [BUILD=build] scripts/evaluate

Measures every model of models/ on the test pictures of the data it was trained on (its recipe
names it), which vit-evaluate finds in $VIT_DATA or in data/; scripts/fetch-data downloads them.
When all were measured, writes
  docs/accuracy.md   a row a model
  models/NAME.md     its last part: what vit-evaluate says, with every class and how often answers
                     of a probability were right; what stands before it is written by hand
  models/NAME.json   what vit-classify --list says of it (docs/formats.md)
Only the speed is left out: that is in docs/performance.md.
"""
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / os.environ.get("BUILD", "build") / "bin"


USE_OF_THE_TEST_SET = textwrap.fill("""\
The recipe of `mnist-cct` is the best of three that were each measured on the test set once, so
that its figure is a little too high. Those of `fashion`, `cifar10` and `features` are each
from one run. `mnist`, of two recipes that were each measured on the test set once,
`fashion-plain` and `cifar10-plain` have the default seed, that of `lecture` was chosen by its
validation accuracy; their cards have the mean and the deviation of three.
""", 119)


def run(program, *options, check=True):
    return subprocess.run([PROGRAMS / program, *options], cwd=ROOT, check=check, text=True,
                          stdout=subprocess.PIPE).stdout


def machine():
    names = re.findall(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, " + \
        platform.system()


def row(name, architecture, data, m):
    """A model's row in the table."""
    return (f"| [{name}](../models/{name}.md) | {architecture} | "
            f"{m['images']:,} of {data} | {m['top1']:.2%} | "
            f"{m['top5']:.2%} | {m['loss']:.4f} | {m['ece']:.2%} | {m['brier']:.4f} | "
            f"{m['below_threshold']}, {m['below_threshold_wrong']} |").replace("%", " %")


def card(path, command, said):
    """The card with its last part, from the line that names the command on."""
    text = path.read_text(encoding="utf-8")
    before = text[:text.index("`vit-evaluate --model models/" + path.stem)]
    said = re.sub(r"^  time .*\n", "", said, flags=re.M)
    return f"{before}`{command}`:\n\n```\n{said.strip()}\n```\n"


def main():
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__.strip())
        return
    if len(sys.argv) > 1:
        sys.exit(f"evaluate: unexpected '{sys.argv[1]}' (see scripts/evaluate --help)")
    if not (PROGRAMS / "vit-evaluate").exists():
        sys.exit("evaluate: run make first")
    rows, files = [], {}
    listed = [json.loads(line) for line in
              run("vit-classify", "--list", "--json", check=False).splitlines()]
    architectures = {model["name"]: model["architecture"] for model in listed}
    for path in sorted((ROOT / "models").glob("*.safetensors")):
        name, model = path.stem, str(path.relative_to(ROOT))
        data = json.loads(run("vit-info", "--json", model))["recipe"]["data"]
        options = ["--model", model, "--data", data]
        m = json.loads(run("vit-evaluate", *options, "--json"))
        rows.append(row(name, architectures[name], data, m))
        files[path.with_suffix(".md")] = card(path.with_suffix(".md"),
                                              "vit-evaluate " + " ".join(options),
                                              run("vit-evaluate", *options))
        files[path.with_suffix(".json")] = json.dumps({
            "data": data, "images": m["images"], "top1": m["top1"],
            "model_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}) + "\n"
    files[ROOT / "docs/accuracy.md"] = "\n".join([
        "# Accuracy of the shipped models", "",
        "Written by `scripts/evaluate`, as is the last part of each model's card, which has every "
        "class.", "",
        *USE_OF_THE_TEST_SET.splitlines(), "",
        f"Machine: {machine()}. Program: {run('vit-evaluate', '--version').splitlines()[0]}.", "",
        "| model | architecture | test set | right (top-1) | among the five likeliest (top-5) | "
        "loss: mean "
        "cross-entropy | expected calibration error, 15 bins | Brier score | answers below the "
        "confidence threshold, wrong among them |",
        "|---|---|---|---|---|---|---|---|---|", *rows, ""])
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    print(files[ROOT / "docs/accuracy.md"], end="")


if __name__ == "__main__":
    main()
