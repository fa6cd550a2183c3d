"""Ours and the frameworks', taking turns: run by scripts/bench-peers, which explains the options.

Ours is vit-bench: whole training steps through the trainer and its loader, whole pictures through a
session of a model that was written to a file and loaded from it. The frameworks are rival.py, a
process for each. A turn is one measurement of each, one after the other. A time is the median of
the turns'; a ratio is of one turn, to whichever rival was fastest in it, and the median of these.
"""
import argparse
import collections
import contextlib
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import rival
import table

KEYS = ("image", "patch", "channels", "dim", "depth", "heads", "mlp", "classes")
Row = collections.namedtuple("Row", "kind model batch precision")
ROWS = (
    Row("train", "p14-d128", 128, "f32"),
    Row("train", "p14-d128", 128, "bf16"),
    Row("train", "p7-d64", 128, "f32"),
    Row("train", "p7-d64", 128, "bf16"),
    Row("train", "p4-d64", 128, "f32"),
    Row("train", "p4-d64", 128, "bf16"),
    Row("train", "cifar-d192", 128, "f32"),
    Row("train", "cifar-d192", 128, "bf16"),
    Row("train", "cifar-d384", 128, "f32"),
    Row("train", "cifar-d384", 128, "bf16"),
    Row("train", "vit-s16", 8, "f32"),
    Row("train", "vit-s16", 8, "bf16"),
    Row("infer", "p7-d64", 1, "f32"),
    Row("infer", "p7-d64", 256, "f32"),
    Row("infer", "cifar-d192", 1, "f32"),
    Row("infer", "cifar-d192", 256, "f32"),
    Row("infer", "vit-ti16", 1, "f32"),
    Row("infer", "vit-ti16", 8, "f32"),
    Row("infer", "vit-ti16", 1, "bf16"),
    Row("infer", "vit-ti16", 8, "bf16"),
    Row("infer", "vit-s16", 1, "f32"),
    Row("infer", "vit-s16", 8, "f32"),
    Row("infer", "vit-s16", 1, "bf16"),
    Row("infer", "vit-s16", 8, "bf16"),
    Row("infer", "vit-b16", 1, "f32"),
    Row("infer", "vit-b16", 8, "f32"),
    Row("infer", "vit-b16", 1, "bf16"),
    Row("infer", "vit-b16", 8, "bf16"),
    Row("infer", "vit-ti16", 1, "int8"),
    Row("infer", "vit-ti16", 8, "int8"),
    Row("infer", "vit-s16", 1, "int8"),
    Row("infer", "vit-s16", 8, "int8"),
    Row("infer", "vit-b16", 1, "int8"),
    Row("infer", "vit-b16", 8, "int8"),
)


def name_of(row):
    return f"{row.kind}/{row.model}/{row.batch}/{row.precision}"


# ---- ours ----


def sizes_of(model):
    return [part for key, value in zip(KEYS, rival.MODELS[model])
            for part in (f"--{key}", str(value))]


def our_model(model, directory):
    """A file with random weights, as a user has a model."""
    path = os.path.join(directory, f"{model}.safetensors")
    if not os.path.exists(path):
        command = ["build/bin/vit-bench", "model", *sizes_of(model), "--model", path]
        subprocess.run(command, check=True)
    return path


def our_command(row, threads, directory):
    command = ["build/bin/vit-bench", row.kind, "--batch", str(row.batch)]
    if row.kind == "infer" and directory:
        command += ["--model", our_model(row.model, directory)]
    else:
        command += sizes_of(row.model)
    if row.precision != "f32":
        command += ["--precision", row.precision]
    return [*command, "--threads", str(threads), "--json"]


def run_ours(row, threads, directory=None, cpu=None):
    """vit-bench's object, or None where it refuses: a processor without bfloat16."""
    command = our_command(row, threads, directory)
    environment = dict(os.environ, VIT_CPU=cpu) if cpu else None
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode == 2 and row.precision != "f32":
        return None
    if done.returncode != 0:
        sys.exit(f"bench-peers: failed with status {done.returncode}: {' '.join(command)}")
    objects = (json.loads(line) for line in done.stdout.splitlines())
    return next(o for o in objects if o["what"] == row.kind)


# ---- theirs ----


class Peer:
    """A framework's process; `failed` says why it takes no part."""

    def __init__(self, row, mode, threads, directory):
        self.mode, self.ms, self.mib, self.name, self.failed = mode, [], 0, None, None
        arguments = [row.kind, row.model, str(row.batch), mode, str(threads), directory]
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-W", "ignore", rival.__file__, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": "ended"}

    def wait(self):
        answer = self._answer()
        self.name, self.failed = answer.get("ready"), answer.get("failed")

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        answer = self._answer()
        self.failed = answer.get("failed")
        if not self.failed:
            self.ms.append(answer["ms"])
            self.mib = answer["mib"]

    def close(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


def modes_of(row, options):
    if row.precision == "int8":
        return ["openvino-int8"]
    modes = ["eager"] if options.quick else ["eager", "compile"]
    if row.kind == "infer":
        modes += ["openvino", "zentorch"]
    if row.precision == "bf16":
        return [f"{mode}-bf16" for mode in modes]
    return modes + ["ort"] * (row.kind == "infer")


@contextlib.contextmanager
def peers_of(row, options, directory):
    """All; started together, for compiling takes one core for a while."""
    peers = [Peer(row, mode, options.threads, directory) for mode in modes_of(row, options)]
    try:
        for peer in peers:
            peer.wait()
            if peer.failed:
                print(f"bench-peers: {name_of(row)} without {peer.mode}: {peer.failed}",
                      file=sys.stderr)
        yield peers
    finally:
        for peer in peers:
            peer.close()


# ---- a row ----


def measure(row, options, directory):
    """The row's result; None where we or all of them cannot."""
    with peers_of(row, options, directory) as peers:
        ours = []
        for _ in range(options.turns):
            ours.append(run_ours(row, options.threads, directory))
            running = [peer for peer in peers if not peer.failed]
            if not ours[-1] or not running:
                return None
            for peer in running:
                peer.turn(options.seconds)
    return result_of(row, ours, peers)


def result_of(row, ours, peers):
    whole = [peer for peer in peers if not peer.failed]
    if not whole:
        return None
    best = min(whole, key=lambda peer: statistics.median(peer.ms))
    ratios = [min(p.ms[i] for p in whole) / o["ms"] for i, o in enumerate(ours)]
    ms, theirs = statistics.median(o["ms"] for o in ours), statistics.median(best.ms)
    share = statistics.median(o["gflops"] / o["peak_gflops"] for o in ours)
    return dict(
        kind=row.kind, model=row.model, batch=row.batch, precision=row.precision, ms=ms,
        images_per_second=1e3 * row.batch / ms, share=share, cpu=ours[0]["cpu"],
        processor=ours[0]["processor"],
        peak_gflops=statistics.median(o["peak_gflops"] for o in ours),
        resident_mib=ours[-1].get("resident_mib"), best=best.mode, best_ms=theirs,
        best_mib=best.mib, ratio=statistics.median(ratios), ratio_low=min(ratios),
        ratio_high=max(ratios), peers={p.mode: statistics.median(p.ms) for p in whole},
        absent={p.mode: p.failed for p in peers if p.failed},
        names=sorted({p.name for p in whole}))


def chosen_rows(wanted):
    """The rows of which `wanted` has a part of the name; all where it is empty."""
    def chosen(row):
        parts = set(name_of(row).split("/"))
        return not wanted or any(set(w.split("/")) <= parts for w in wanted)

    return [row for row in ROWS if chosen(row)]


def measure_rows(options):
    results = []
    directory = tempfile.mkdtemp(prefix="bench-peers-")
    try:
        for row in chosen_rows(options.rows):
            result = measure(row, options, directory)
            if result:
                results.append(result)
                print(json.dumps(result) if options.json else table.line(result), flush=True)
            else:
                print(f"bench-peers: {name_of(row)}: not on this processor", file=sys.stderr)
    finally:
        shutil.rmtree(directory)
    return results


def measure_avx2(options, results):
    """Ours again with AVX2 alone: what a processor without AVX-512 would be offered."""
    if not results or results[0]["cpu"] == "avx2":
        return []
    rows = [row for row in chosen_rows(options.rows) if row.precision == "f32"]
    kept = ("ms", "gflops", "peak_gflops")
    return [dict(row._asdict(), **{key: o[key] for key in kept})
            for row in rows for o in [run_ours(row, options.threads, cpu="avx2")]]


# ---- the program ----


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench-peers", add_help=False)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.turns = options.turns or (1 if options.quick else 3)
    known = {part for row in ROWS for part in name_of(row).split("/")}
    for part in (part for r in options.rows for part in r.split("/")):
        if part not in known:
            parser.error(f"unknown row '{part}': rows are {', '.join(map(name_of, ROWS))}")
    if min(options.turns, options.threads) < 1:
        parser.error("--turns and --threads must be at least 1")
    return options


def write(options, results):
    """Keeps the results; where only some rows were asked for, beside those of an earlier run. Notes
    that a person wrote into the file stay."""
    facts = dict(command=" ".join(["scripts/bench-peers", *sys.argv[1:]]), turns=options.turns)
    run = dict(command=facts["command"], date=str(datetime.date.today()), commit=table.commit())
    facts["rows"] = [dict(r, **run) for r in results]
    facts["avx2"] = measure_avx2(options, results)
    old = table.earlier("peers", options.threads)
    if "notes" in old:
        facts["notes"] = old["notes"]
    if options.rows and old:
        first = {key: old[key] for key in run if key in old}
        old["rows"] = [dict(first, **r) for r in old["rows"]]
        for rows in ("rows", "avx2"):
            facts[rows] = table.joined(old[rows], facts[rows], Row._fields)
    table.keep("peers", options.threads, facts)
    table.write_document()


def main():
    options = arguments()
    if not options.json:
        print(table.HEADER, flush=True)
    results = measure_rows(options)
    if options.write and results:
        write(options, results)


if __name__ == "__main__":
    main()
