"""What scripts/bench-peers prints, and the part of docs/performance.md that it writes."""
import datetime
import os
import re
import subprocess

MARKS = ("<!-- from here: written by {} --write, a part for every machine -->\n",
         "<!-- to here: {} -->\n")
MODES = ("eager", "compile", "eager-bf16", "compile-bf16", "ort")
COLUMNS = ("work", "batch", "precision", "ours, ms", "images/s", "of the peak", "best rival, ms",
           "which", "of the peak", "ratio (lowest to highest)", "must", "MiB, ours", "rival's")


def row(cells):
    return "| " + " | ".join(cells) + " |"


def head(columns):
    return row(columns) + "\n" + row("---" for _ in columns)


HEADER = head(COLUMNS)


def number(x, digits=1):
    return "" if x is None else f"{x:,.{digits}f}"


def must(result):
    if result["must"] is None:
        return ""
    return f"{result['must']} {'met' if result['ratio'] >= result['must'] else 'missed'}"


def line(r):
    return row((f"{r['kind']} {r['model']}", str(r["batch"]), r["precision"],
                number(r["ms"], 3 if r["ms"] < 10 else 1), number(r["images_per_second"]),
                number(r["share"], 2), number(r["best_ms"], 3 if r["best_ms"] < 10 else 1),
                r["best"], number(r["best_share"], 2),
                f"{r['ratio']:.2f} ({r['ratio_low']:.2f} to {r['ratio_high']:.2f})", must(r),
                number(r["resident_mib"], 0), number(r["best_mib"], 0)))


def all_modes(results):
    modes = [m for m in MODES if any(m in r["peers"] for r in results)]
    lines = [head(("work", "batch", "precision", *modes))]
    for r in results:
        times = (number(r["peers"].get(m), 2) for m in modes)
        lines.append(row((f"{r['kind']} {r['model']}", str(r["batch"]), r["precision"], *times)))
    return "\n".join(lines)


def with_avx2(pairs):
    lines = [head(("work", "batch", "ours with AVX2, ms", "of AVX2's peak", "to ours above",
                   "to the best rival"))]
    for r, ours in pairs:
        share = ours["gflops"] / ours["peak_gflops"]
        lines.append(row((f"{r['kind']} {r['model']}", str(r["batch"]), number(ours["ms"], 2),
                          number(share, 2), number(r["ms"] / ours["ms"], 2),
                          number(r["best_ms"] / ours["ms"], 2))))
    return "\n".join(lines)


def first_line(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.split("\n")[0]


def system():
    try:
        with open("/etc/os-release") as release:
            names = dict(line.rstrip().split("=", 1) for line in release if "=" in line)
        return names["PRETTY_NAME"].strip('"')
    except (OSError, KeyError):
        return os.uname().sysname


def machine(threads):
    """Virtual machines often hide the product's name; family and model tell generations apart."""
    try:
        with open("/proc/cpuinfo") as info:
            facts = [re.split(r"\s*:\s*", line.strip(), maxsplit=1) for line in info if ":" in line]
        facts = dict(reversed(facts))
        name = f"{facts['model name']} (family {facts['cpu family']}, model {facts['model']})"
    except (OSError, KeyError):
        name = os.uname().machine
    return f"{name}, {threads} thread{'s' * (threads != 1)}"


def origin(command):
    return f"`{command}`, commit {first_line('git', 'rev-parse', '--short', 'HEAD')}, " \
           f"{datetime.date.today()}"


def section(results, avx2, command, options):
    """Everything that was measured, with what is needed to measure it again."""
    first, versions = results[0], sorted({name for r in results for name in r["names"]})
    text = [f"{origin(command)}, {system()}, {first_line('cc', '--version')}; "
            f"{', '.join(versions)}; median of {options.turns} turns. Instruction set: "
            f"{first['cpu']}, float32 peak {first['peak_gflops']:.0f} GFLOP/s.\n",
            HEADER, *map(line, results),
            "\n#### Every rival, ms\n", all_modes(results)]
    if avx2:
        text += ["\n#### Without AVX-512\n",
                 "`VIT_CPU=avx2`, same processor, one measurement each; the rival keeps all its "
                 "instructions.\n", with_avx2(avx2)]
    return "\n".join(text) + "\n"


def write(path, what, threads, text):
    """Puts `text` between the marks of `what`, under the heading of this machine: in place of what
    was measured on such a machine before; what was measured on others stays."""
    begin, end = (mark.format(what) for mark in MARKS)
    with open(path) as file:
        above, rest = file.read().split(begin)
    part, below = rest.split(end)
    sections = dict(re.findall(r"^### (.*)\n\n((?:(?!### ).*\n)*)", part, re.MULTILINE))
    sections[machine(threads)] = text + "\n"
    part = "\n" + "".join(f"### {title}\n\n{body}" for title, body in sections.items())
    with open(path, "w") as file:
        file.write(above + begin + part + end + below)
