#!/usr/bin/env python3
"""Checks figures of README and docs against what the programs say today.

usage: [BUILD=build] [VIT_DATA=DIR] scripts/claims [--all]

Every claim is a figure in a text, the command that makes it, and how far they may be apart.
Without --all those are checked that take seconds; with it also trainings of minutes, whose
results are the same bytes on every machine. A claim whose data are not there is skipped. Figures
that sum up a table of another text are compared with that table. Prints a line each; exits 1
where a figure is untrue, or is no longer where it was.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve() / "bin"
MODEL = str(ROOT / "models" / "mnist.safetensors")


def evaluate(name):
    """The command that measures the shipped model of that name on its data set."""
    model = str(ROOT / "models" / f"{name}.safetensors")
    return ["vit-evaluate", "--model", model, "--data", name, "--json"]


EVALUATE = evaluate("mnist")
INFO = ["vit-info", "--json", MODEL]
DIGITS = ["vit-train", "--data", "digits", "--json", "--out", "m.safetensors", "--overwrite"]
TEST = ("test_top1", 100)

# (file, pattern whose group is the figure, commands, (key of the last line of JSON, factor),
#  tolerance, minutes?)
CLAIMS = [
    ("README.md", r"`mnist`: ([\d.]+) % of MNIST's test", [EVALUATE], ("top1", 100), .005, False),
    ("README.md", r"`fashion`: ([\d.]+) % of Fashion", [evaluate("fashion")], ("top1", 100), .005,
     True),
    ("README.md", r"`cifar10`: ([\d.]+) % of CIFAR", [evaluate("cifar10")], ("top1", 100), .005,
     True),
    *[("docs/accuracy.md", r"\| \[mnist\](?:[^|]*\|){%d} ([\d.]+)" % column, [EVALUATE],
       (key, factor), tolerance, False)
      for column, key, factor, tolerance in [(3, "top1", 100, .005), (4, "top5", 100, .005),
                                             (5, "loss", 1, .00005), (6, "ece", 100, .005),
                                             (7, "brier", 1, .00005)]],
    ("models/mnist.md", r"ece +([\d.]+) %", [EVALUATE], ("ece", 100), .005, False),
    ("models/mnist.md", r"([\d,]+) parameters", [INFO], ("parameters", 1), 0, False),
    ("docs/presets.md", r"([\d.]+) %, `--data digits`", [DIGITS], TEST, .005, True),
    ("docs/presets.md", r"of which it saw none, ([\d.]+) %",
     [DIGITS, ["vit-evaluate", "--model", "./m.safetensors", "--data", "mnist", "--json"]],
     ("top1", 100), .005, True),
    ("docs/presets.md", r"([\d.]+) %, `--data mnist --steps 8174 --val 5000`",
     [["vit-train", "--data", "mnist", "--steps", "8174", "--val", "5000", "--json", "--out",
       "m.safetensors", "--overwrite"]], TEST, .005, True),
]

TIMES = r"\n\| KIND .*?\| ([\d.]+) \("  # the first ratio of a row of docs/performance.md: float32
TRAINED, ANSWERED = TIMES.replace("KIND", "train"), TIMES.replace("KIND", "infer")
PARITY = r"\| (\d\.\de-\d\d) \|"
NETWORKS = r"\| (\d+) \| \d\.\de-\d\d \|"

# (file, pattern whose group is the figure, file of the table, pattern of its figures, what is said)
SUMMARIES = [
    ("README.md", r"training is ([\d.]+) to", "docs/performance.md", TRAINED, min),
    ("README.md", r"training is [\d.]+ to ([\d.]+) times", "docs/performance.md", TRAINED, max),
    ("README.md", r"answers are ([\d.]+) to", "docs/performance.md", ANSWERED, min),
    ("README.md", r"answers are [\d.]+ to ([\d.]+) times", "docs/performance.md", ANSWERED, max),
    ("README.md", r"How exact: (\d+) networks", "docs/weights.md", NETWORKS, sum),
    ("README.md", r"by at most ([\d.e-]+) of", "docs/weights.md", PARITY, max),
]


def run(commands, directory, said={}):
    """The last line of the last one; None where its data are not there."""
    if str(commands) in said:
        return said[str(commands)]
    for command in commands:
        made = subprocess.run([BIN / command[0], *command[1:]], capture_output=True, text=True,
                              cwd=directory, stdin=subprocess.DEVNULL)
        if "not found: looked for" in made.stderr:
            return None
        if made.returncode != 0:
            sys.exit(f"claims: {' '.join(command)}: {made.stderr.strip()}")
    said[str(commands)] = json.loads(made.stdout.strip().splitlines()[-1])
    return said[str(commands)]


def check(claim, directory):
    """(a word, what the text says, what the programs say)"""
    name, pattern, commands, (key, factor), tolerance, _ = claim
    found = re.findall(pattern, (ROOT / name).read_text())
    if len(found) != 1:
        return "untrue", f"{len(found)} figures like {pattern}", "expected one"
    line = run(commands, directory)
    if line is None:
        return "skipped", found[0], "the data are not there"
    value = line[key] * factor
    true = abs(float(found[0].replace(",", "")) - value) <= tolerance + 1e-9
    return "holds" if true else "untrue", found[0], f"{value:.6g}"


def check_summary(summary):
    """The same, of a figure that sums up a table."""
    name, pattern, source, figures, fold = summary
    found = re.findall(pattern, (ROOT / name).read_text())
    table = [float(x) for x in re.findall(figures, (ROOT / source).read_text())]
    if len(found) != 1 or not table:
        return "untrue", f"{len(found)} figures like {pattern}", f"a table of {len(table)}"
    value = fold(table)
    return "holds" if float(found[0]) == value else "untrue", found[0], f"{value:.6g}"


def main():
    if sys.argv[1:] not in ([], ["--all"]):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    untrue = 0
    if os.environ.get("VIT_DATA"):
        os.environ["VIT_DATA"] = os.path.abspath(os.environ["VIT_DATA"])
    with tempfile.TemporaryDirectory() as directory:
        for claim in CLAIMS:
            if claim[-1] and len(sys.argv) == 1:
                continue
            word, text, value = check(claim, directory)
            untrue += word == "untrue"
            print(f"{word:8} {claim[0]}: {text}; {' && '.join(map(' '.join, claim[2]))}: {value}",
                  flush=True)
    for summary in SUMMARIES:
        word, text, value = check_summary(summary)
        untrue += word == "untrue"
        print(f"{word:8} {summary[0]}: {text}; {summary[4].__name__} of {summary[2]}: {value}")
    return 1 if untrue else 0


if __name__ == "__main__":
    sys.exit(main())
