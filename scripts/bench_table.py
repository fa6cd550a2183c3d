"""What scripts/bench-peers prints, and the part of docs/performance.md that it writes."""
import os
import subprocess

BEGIN = "<!-- from here to the end: written by scripts/bench-peers --write -->\n"
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


def section(results, avx2, command, options, date):
    """Everything that was measured, with what is needed to measure it again."""
    first, versions = results[0], sorted({name for r in results for name in r["names"]})
    text = [BEGIN, f"## {first['processor']}, {options.threads} threads, {date}\n",
            f"`{command}`, commit {first_line('git', 'rev-parse', '--short', 'HEAD')}, "
            f"{system()}, {first_line('cc', '--version')}; {', '.join(versions)}; "
            f"median of {options.turns} turns. Instruction set: {first['cpu']}, float32 peak "
            f"{first['peak_gflops']:.0f} GFLOP/s.\n",
            HEADER, *map(line, results),
            "\n### Every rival, ms\n", all_modes(results)]
    if avx2:
        text += ["\n### Without AVX-512\n",
                 "`VIT_CPU=avx2`, same processor, one measurement each; the rival keeps all its "
                 "instructions.\n", with_avx2(avx2)]
    return "\n".join(text) + "\n"


def write(path, results, avx2, command, options, date):
    """Replaces the file's last part and leaves what a person wrote above it."""
    with open(path) as file:
        above = file.read().split(BEGIN)[0]
    with open(path, "w") as file:
        file.write(above + section(results, avx2, command, options, date))
