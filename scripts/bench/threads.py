"""One thread and several of vit-bench, taking turns: run by scripts/bench-threads."""
import argparse
import json
import statistics
import sys

import table
from peers import chosen_rows, run_ours

COLUMNS = ("work", "batch", "precision", "1 thread, ms", "{n} threads, ms", "times faster",
           "peak, GFLOP/s", "with {n}", "times")


def measure(row, options):
    """Medians over the turns; None where the processor lacks the precision."""
    runs = {1: [], options.threads: []}
    for _ in range(options.turns):
        for threads, results in runs.items():
            results.append(run_ours(row, threads))
            if not results[-1]:
                return None
    one, many = ({key: statistics.median(r[key] for r in results) for key in ("ms", "peak_gflops")}
                 for results in runs.values())
    return dict(row._asdict(), threads=options.threads, ms=one["ms"],
                ms_threads=many["ms"], ratio=one["ms"] / many["ms"], peak=one["peak_gflops"],
                peak_threads=many["peak_gflops"],
                peak_ratio=many["peak_gflops"] / one["peak_gflops"])


def line(r):
    return table.row((
        f"{r['kind']} {r['model']}", str(r["batch"]), r["precision"],
        table.number(r["ms"], 3 if r["ms"] < 10 else 1),
        table.number(r["ms_threads"], 3 if r["ms_threads"] < 10 else 1),
        table.number(r["ratio"], 2), table.number(r["peak"], 0),
        table.number(r["peak_threads"], 0), table.number(r["peak_ratio"], 2)))


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-threads", add_help=False)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.turns < 1 or options.threads < 2:
        parser.error("--turns must be at least 1, --threads at least 2")
    if not options.json:
        print(table.head([c.format(n=options.threads) for c in COLUMNS]), flush=True)
    results = []
    for row in chosen_rows(options.rows):
        result = measure(row, options)
        if result:
            results.append(result)
            print(json.dumps(result) if options.json else line(result), flush=True)
    if options.write and results:
        command = " ".join(["scripts/bench-threads", *sys.argv[1:]])
        table.keep("threads", options.threads, dict(command=command, turns=options.turns,
                                                    rows=results))
        table.write_document()


if __name__ == "__main__":
    main()
