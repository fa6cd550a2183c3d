"""Tables: what the bench scripts print, and the part of docs/performance.md made of their results.

Results are kept as JSON, scripts/bench/results/KIND-MACHINE.json, a row a line (KIND: peers,
texts, words; products and threads where they were measured with --write);
`python3 scripts/bench/table.py` writes the document's part from all that lie there.
"""
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import textwrap

RESULTS = os.path.join(os.path.dirname(__file__), "results")
DOCUMENT = os.path.join(os.path.dirname(__file__), "../../docs/performance.md")
MARKS = ("<!-- from here: scripts/bench/table.py, of scripts/bench/results -->\n",
         "<!-- to here -->\n")
COLUMNS = ("work", "batch", "precision", "ours, ms", "images/s", "of the peak", "best rival, ms",
           "which", "times as fast (lowest to highest)", "MiB, ours", "rival's")


def row(cells):
    return "| " + " | ".join(cells) + " |"


def head(columns):
    return row(columns) + "\n" + row("---" for _ in columns)


HEADER = head(COLUMNS)


def number(x, digits=1):
    return "" if x is None else f"{x:,.{digits}f}"


def milliseconds(x):
    return number(x, 3 if x < 10 else 1 if x < 100 else 0)


def ratio(r):
    return f"{r['ratio']:.2f} ({r['ratio_low']:.2f}-{r['ratio_high']:.2f})"


def line(r):
    """A row as bench-peers prints it."""
    return row((f"{r['kind']} {r['model']}", str(r["batch"]), r["precision"],
                milliseconds(r["ms"]), number(r["images_per_second"]), number(r["share"], 2),
                milliseconds(r["best_ms"]), r["best"], ratio(r), number(r["resident_mib"], 0),
                number(r["best_mib"], 0)))


# ---- what is kept ----


def first_line(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.split("\n")[0]


def commit():
    """What was measured; with + where files were changed since; "unknown" without git."""
    if not shutil.which("git"):
        return "unknown"
    changed = first_line("git", "status", "--porcelain", "--untracked-files=no", "vit", "Makefile")
    return first_line("git", "rev-parse", "--short=12", "HEAD") + "+" * (changed != "")


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


def path_of(kind, threads):
    slug = re.sub(r"[^a-z0-9]+", "-", machine(threads).lower()).strip("-")
    return os.path.join(RESULTS, f"{kind}-{slug}.json")


def earlier(kind, threads):
    """What was kept of an earlier run on such a machine; {} for nothing."""
    try:
        with open(path_of(kind, threads)) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def joined(old, new, keys):
    """The rows of an earlier run, new ones in place of those with the same values of keys."""
    def name(r):
        return tuple(r[key] for key in keys)

    newer = {name(r): r for r in new}
    return [newer.pop(name(r), r) for r in old] + list(newer.values())


def compact(facts):
    """JSON with a row a line."""
    rows = ",\n".join(json.dumps(r) for r in facts["rows"])
    others = json.dumps({k: v for k, v in facts.items() if k != "rows"})
    return f'{others[:-1]}, "rows": [\n{rows}]}}\n'


def keep(kind, threads, facts):
    """Writes a run's results, in place of an earlier one's on such a machine."""
    facts = dict(machine=machine(threads), date=str(datetime.date.today()), system=system(),
                 compiler=first_line("cc", "--version"), commit=commit(), **facts)
    os.makedirs(RESULTS, exist_ok=True)
    with open(path_of(kind, threads), "w") as file:
        file.write(compact(facts))


def results(kind):
    for path in sorted(glob.glob(os.path.join(RESULTS, f"{kind}-*.json"))):
        with open(path) as file:
            yield json.load(file)


# ---- the document ----


def half(r):
    """Ours, its share of the peak, and the ratio, of one precision."""
    if r is None:
        return ("", "", "")
    return (milliseconds(r["ms"]), number(r["share"], 2), f"{ratio(r)} {r['best']}")


def peers_table(run):
    """A row for each work and batch; of each precision that was measured three columns."""
    rows = {}
    for r in run["rows"]:
        rows.setdefault((r["kind"], r["model"], r["batch"]), {})[r["precision"]] = r
    found = {r["precision"] for r in run["rows"]}
    precisions = [p for p in ("f32", "bf16", "int8") if p in found]
    lines = [head(("work", "batch",
                   *(cell for p in precisions for cell in (f"{p}, ms", "of the peak",
                                                           "times as fast as"))))]
    for (kind, model, batch), of in rows.items():
        measured = [of.get(p) for p in precisions]
        lines.append(row((f"{kind} {model}", str(batch),
                          *(cell for r in measured for cell in half(r)))))
    return lines


def absent(run):
    """Who could not run, and why; each reason once."""
    reasons = {}
    for r in run["rows"]:
        for mode, why in r.get("absent", {}).items():
            reasons.setdefault((mode, why), r)
    return [f"Without {mode}: {why}." for mode, why in reasons]


def span(values):
    values = list(values)
    low, high = min(values), max(values)
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def products_line(run):
    parts = []
    for precision in ("f32", "bf16"):
        forms = [f for r in run["rows"] if r["precision"] == precision
                 for f in r["forms"].values()]
        if forms:
            parts.append(f"{precision} {span(f['share'] for f in forms)} of the peak and "
                         f"{span(f['ratio'] for f in forms)} times the better library "
                         f"({len(forms)} products)")
    return f"- Matrix products, {run['machine']}: {'; '.join(parts)}."


def threads_line(run):
    parts = []
    for name, chosen in (("training", lambda r: r["kind"] == "train"),
                         ("batches of answers", lambda r: r["kind"] == "infer" and r["batch"] > 1),
                         ("single pictures", lambda r: r["kind"] == "infer" and r["batch"] == 1)):
        ratios = [r["ratio"] for r in run["rows"] if chosen(r)]
        if ratios:
            parts.append(f"{name} {span(ratios)}")
    return f"- Two threads beside one, {run['machine']}: {'; '.join(parts)} times as fast."


WORKS = {"train": "training on {}, a step", "read": "TrOCR-base, 20 tokens, beams {}",
         "process": "TrOCR-base, process that loads it and reads",
         "words/process": "process: a picture file and 100 labels",
         "words/picture": "a picture beside 100 labels", "words/texts": "features of 1,000 texts"}
TITLES = {"texts": ("Models that write texts", "`scripts/foil speed --write`, "
                    "`scripts/bench-read --write`"),
          "words": ("Words, CLIP ViT-B/32", "`scripts/bench-peers words --write`")}


def texts_table(run):
    """Rows of scripts/bench-read, of scripts/foil speed and of words.py, what differs in precision
    side by side."""
    rows = {}
    for r in run["rows"]:
        parts = r["row"].split("/")  # train/strips/f32, read/f32/1, process
        precision = next((p for p in parts if p in ("f32", "bf16")), "f32")
        others = [p for p in parts[1:] if p != precision]
        work = WORKS.get(r["row"]) or WORKS[parts[0]].format(*others)
        rows.setdefault(work, {})[precision] = r
    precisions = [p for p in ("f32", "bf16") if any(p in of for of in rows.values())]
    lines = [head(("work", *(cell for p in precisions for cell in
                             (f"{p}, ms", "best rival, ms", "times as fast"))))]
    for work, of in sorted(rows.items(), reverse=True):
        cells = [(milliseconds(r["ms"]), f"{milliseconds(r['best_ms'])} {r['best']}", ratio(r))
                 if r else ("", "", "") for r in map(of.get, precisions)]
        lines.append(row((work, *(cell for part in cells for cell in part))))
    return lines


def wrapped(text):
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def texts_part(kind, run):
    title, commands = TITLES[kind]
    versions = {f"{k} {v}" for r in run["rows"] for k, v in r["versions"].items()}
    dates = sorted({r["date"] for r in run["rows"]})
    notes = sorted({r["note"] for r in run["rows"] if "note" in r})
    said = (f"{commands}, {', '.join(dates)}, {run['system']}, {', '.join(sorted(versions))}."
            + "".join(f" {note}" for note in notes))
    return ["", f"### {title}, {run['machine']}", "", wrapped(said), "", *texts_table(run)]


def commands(run):
    """What was run, when, and of which commit; a row that says nothing is the whole run's."""
    found = []
    for r in run["rows"]:
        of = r if "command" in r else run
        text = f"`{of['command']}`, {of['date']}"
        text += f", commit {of['commit']}" if "commit" in of else ""
        if text not in found:
            found.append(text)
    return "; ".join(found)


def document_part():
    lines = []
    for run in sorted(results("peers"), key=lambda run: run["rows"][0]["cpu"] != "avx2"):
        first = run["rows"][0]
        names = sorted({name for r in run["rows"] for name in r["names"]})
        said = (f"{commands(run)}, {run['system']}, {', '.join(names)}; "
                f"{first['cpu']}, float32 peak {first['peak_gflops']:.0f} GFLOP/s. "
                + " ".join([*run.get("notes", []), *absent(run)]))
        lines += ["", f"### {run['machine']}", "", wrapped(said), "", *peers_table(run)]
    for kind in TITLES:
        for run in results(kind):
            lines += texts_part(kind, run)
    lines += ["", *map(products_line, results("products")), *map(threads_line, results("threads"))]
    return "\n".join(lines).rstrip() + "\n\n"


def write_document():
    begin, end = MARKS
    with open(DOCUMENT) as file:
        above, rest = file.read().split(begin)
    text = above + begin + document_part() + end + rest.split(end)[1]
    with open(DOCUMENT, "w") as file:
        file.write(text)


if __name__ == "__main__":
    write_document()
