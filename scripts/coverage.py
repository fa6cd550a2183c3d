#!/usr/bin/env python3
"""Counts which lines and branches of folders the tests have reached, and compares that with what
they must reach. (make coverage)

usage: scripts/coverage.py BUILD FLOORS [FOLDER...]

BUILD has objects that were compiled with --coverage, and what running the tests has left there.
FLOORS, tests/coverage.txt, names folders with their least per cent of lines and branches, and lines
that do not count, with a reason. BUILD/missing.txt lists what was not reached. A branch is one of
the two ways on from a condition.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys


def read_floors(path):
    """[(folder, lines, branches)], and the expression of lines that do not count."""
    floors, left_out = [], []
    for line in pathlib.Path(path).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if len(words) > 3 and words[1].isdigit() and words[2].isdigit():
            floors.append((words[0], float(words[1]), float(words[2])))
        else:
            left_out.append(line.rsplit(": ", 1)[0])
    return floors, re.compile("|".join(left_out) or r"(?!)")


def count(build, folders):
    """{source: {line: count}}, {source: {line: [count of each way]}}, over all objects."""
    lines = collections.defaultdict(collections.Counter)
    ways = collections.defaultdict(dict)
    data = [str(p) for f in folders for p in sorted(pathlib.Path(build, "obj", f).rglob("*.gcno"))]
    said = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *data],
                          capture_output=True, text=True, check=True).stdout
    for text in said.splitlines():
        for file in json.loads(text)["files"]:
            name = file["file"]
            if not name.startswith(tuple(f + "/" for f in folders)):
                continue
            for line in file["lines"]:
                number = line["line_number"]
                lines[name][number] += line["count"]
                found = [b["count"] for b in line["branches"] if not b["throw"]]
                before = ways[name].get(number, [0] * len(found))
                if len(before) == len(found):
                    ways[name][number] = [a + b for a, b in zip(before, found)]
    return lines, ways


def main():
    build, floors_path, *only = sys.argv[1:]
    floors, left_out = read_floors(floors_path)
    floors = [f for f in floors if not only or f[0] in only]
    lines, ways = count(build, [floor[0] for floor in floors])
    missing, failed = [], not floors
    print(f"{'folder':16} {'lines':>16} {'branches':>16}")
    for folder, least_lines, least_ways in floors:
        reached, total = [0, 0], [0, 0]
        for name in sorted(lines):
            if not name.startswith(folder + "/"):
                continue
            source = pathlib.Path(name).read_text().splitlines()
            for number, times in sorted(lines[name].items()):
                if number > len(source) or left_out.search(source[number - 1]):
                    continue
                branches = ways[name].get(number, [])
                total[0] += 1
                reached[0] += times > 0
                total[1] += len(branches)
                reached[1] += sum(way > 0 for way in branches)
                gone = sum(way == 0 for way in branches)
                if times == 0 or gone:
                    what = "not reached" if times == 0 else f"{gone} of {len(branches)} ways"
                    missing.append(f"{name}:{number}: {what}: {source[number - 1].strip()}")
        shares = [100 * r / t if t else 0 for r, t in zip(reached, total)]
        low = shares[0] < least_lines or shares[1] < least_ways
        failed |= low
        print(f"{folder:16} {shares[0]:7.2f} of {total[0]:5} {shares[1]:7.2f} of {total[1]:5}"
              f"{'  BELOW the floor' if low else ''}")
    pathlib.Path(build, "missing.txt").write_text("".join(line + "\n" for line in missing))
    print(f"what was not reached: {build}/missing.txt, {len(missing)} lines")
    return 1 if failed else 0


if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
    print(__doc__.strip())
    sys.exit(0 if sys.argv[1:] and sys.argv[1] in ("-h", "--help") else 2)
sys.exit(main())
