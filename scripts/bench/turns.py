"""Peers that take turns with our programs, and rows of what they needed, each a process of its own.

A peer says "ready" or "failed: why"; then it answers each line of its standard input with the
milliseconds that its work took.
"""
import datetime
import importlib.metadata
import importlib.util
import os
import statistics
import subprocess
import sys

import table

PROCESSOR_NOTE = "Times of the processor, not of the clock: others used the machine as well."


def serve(make):
    """What a peer's process does; make() gives the work, a function that returns milliseconds."""
    try:
        work = make()
        print("ready", flush=True)
        for _ in sys.stdin:
            print(work(), flush=True)
    except Exception as error:  # whatever a framework or its compiler may throw
        print(f"failed: {' '.join(str(error).split())[:100]}", flush=True)


class Peer:
    def __init__(self, name, command):
        self.name, self.ms = name, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.says = self._line()

    def _line(self):
        return self.process.stdout.readline().strip() or "failed: ended"

    def turn(self):
        if self.says != "ready":
            return
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self._line()
        if answer.startswith("failed"):
            self.says, self.ms = answer, []
        else:
            self.ms.append(float(answer))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def result(row, mine, peers):
    """The row's figures, printed; peers: {name: its times, or why there are none}. None where we
    have none. A ratio is of one turn, ours to whoever was fastest in it."""
    times = {name: ms for name, ms in peers.items() if isinstance(ms, list)}
    says = [f"{name} {statistics.median(ms):.1f} ms" if name in times else f"{name} {ms}"
            for name, ms in peers.items()]
    if not mine or None in mine:
        print(f"{row:<20} no bfloat16 here; {', '.join(says)}", flush=True)
        return None
    if not times:
        print(f"{row:<20} {statistics.median(mine):.1f} ms; {', '.join(says)}", flush=True)
        return None
    ratios = [min(turn) / m for m, turn in zip(mine, zip(*times.values()))]
    best = min(times, key=lambda name: statistics.median(times[name]))
    print(f"{row:<20} {statistics.median(mine):.1f} ms; {', '.join(says)}: "
          f"{statistics.median(ratios):.2f} x ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)
    return dict(row=row, ms=statistics.median(mine), best=best,
                best_ms=statistics.median(times[best]), ratio=statistics.median(ratios),
                ratio_low=min(ratios), ratio_high=max(ratios), turns=mine, peers=peers)


def measure(row, ours, peers, turns):
    """ours: a function that gives milliseconds, or None; peers: of Peer, closed in the end."""
    mine = []
    for _ in range(turns):
        mine.append(ours())
        for peer in peers:
            peer.turn()
    for peer in peers:
        peer.close()
    return result(row, mine, {peer.name: peer.ms or peer.says for peer in peers})


def keep(rows, threads=None, note=None, kind="texts"):
    """In place of the same rows of an earlier run on such a machine, and in the document."""
    threads = threads or len(os.sched_getaffinity(0))
    versions = {name: importlib.metadata.version(package) for name, package in
                (("PyTorch", "torch"), ("transformers", "transformers"),
                 *((("ONNX Runtime", "onnxruntime"), ("OpenVINO", "openvino"))
                   if kind == "words" else ()))
                if importlib.util.find_spec(package)}
    old = table.earlier(kind, threads).get("rows", [])
    new = [dict(row, date=str(datetime.date.today()), versions=versions,
                **({"note": note} if note else {})) for row in rows if row]
    table.keep(kind, threads, dict(rows=table.joined(old, new, ("row",))))
    table.write_document()
