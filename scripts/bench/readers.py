"""What scripts/bench-read runs; with a mode as its first argument it is one of the peers."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import table

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build/bin"
TOKENS = 20
ROWS = [(precision, beams) for precision in ("f32", "bf16") for beams in (1, 4)]


# ---- a peer: a process that reads a line and answers with milliseconds ----

def load(directory, precision):
    import torch
    import transformers
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    model = transformers.VisionEncoderDecoderModel.from_pretrained(directory, dtype=dtype).eval()
    side = model.config.encoder.image_size
    return model, torch.zeros(1, 3, side, side, dtype=dtype)


def generate(model, pixels, beams):
    """So many tokens whatever they are."""
    import torch
    with torch.no_grad():
        return model.generate(pixels, num_beams=beams, do_sample=False, max_new_tokens=TOKENS,
                              min_new_tokens=TOKENS)


def peer(mode, directory, precision, beams):
    import torch
    try:
        model, pixels = load(directory, precision)
        pixels.uniform_(-1, 1)
        if mode == "compile":
            model.encoder.forward = torch.compile(model.encoder.forward)
            model.decoder.forward = torch.compile(model.decoder.forward, dynamic=True)
        generate(model, pixels, beams), generate(model, pixels, beams)
        print("ready", flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            generate(model, pixels, beams)
            print(1e3 * (time.perf_counter() - start), flush=True)
    except Exception as error:  # named with its reason
        print(f"failed: {str(error).splitlines()[0][:100]}", flush=True)


class Peer:
    def __init__(self, mode, directory, precision, beams):
        self.name, self.ms = mode, []
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, mode, directory, precision, str(beams)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.says = self.process.stdout.readline().strip() or "failed: ended"

    def turn(self):
        if self.says == "ready":
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            self.ms.append(float(self.process.stdout.readline()))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ---- ours ----

def ours(directory, precision, beams):
    """Milliseconds; None: the processor has no bfloat16."""
    run = subprocess.run([BIN / "vit-bench", "read", "--json", "--model", directory, "--beams",
                          str(beams), "--tokens", str(TOKENS), "--precision", precision],
                         capture_output=True, text=True)
    if run.returncode and precision == "bf16":
        return None
    if run.returncode:
        sys.exit(f"bench-read: {run.stderr}")
    return json.loads(run.stdout)["ms"]


# ---- processes: from nothing to the text ----

SCRIPT = """
import sys, torch
from PIL import Image
from transformers import AutoTokenizer, ViTImageProcessor, VisionEncoderDecoderModel
d = sys.argv[1]
model = VisionEncoderDecoderModel.from_pretrained(d).eval()
pixels = ViTImageProcessor.from_pretrained(d)(Image.open(d + "/picture.png").convert("RGB"),
                                              return_tensors="pt").pixel_values
with torch.no_grad():
    ids = model.generate(pixels, num_beams=1, max_new_tokens=20)
print(AutoTokenizer.from_pretrained(d).batch_decode(ids, skip_special_tokens=True)[0])
"""


def process_ms(command):
    start = time.perf_counter()
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"bench-read: {run.stderr[-400:]}")
    return 1e3 * (time.perf_counter() - start)


# ---- the table ----

def tell(row, mine, others):
    """others: [(name, its times, or why there are none)]. The row's figures, of which medians."""
    parts = [f"{name} {statistics.median(ms):.0f} ms" if isinstance(ms, list) and ms
             else f"{name} {ms or 'failed'}" for name, ms in others]
    times = [ms for _, ms in others if isinstance(ms, list) and ms]
    if not mine or mine[0] is None:
        print(f"{row:<24} no bfloat16 here; {', '.join(parts)}", flush=True)
        return None
    ratio = statistics.median(min(turn) / m for m, turn in zip(mine, zip(*times))) if times else 0
    print(f"{row:<24} {statistics.median(mine):.0f} ms; {', '.join(parts)}: {ratio:.2f} x",
          flush=True)
    return dict(row=row, ms=mine, ratio=ratio, peers=dict(others))


def measure(directory, precision, beams, modes, turns):
    peers = [Peer(mode, directory, precision, beams) for mode in modes]
    mine = []
    for _ in range(turns):
        mine.append(ours(directory, precision, beams))
        for p in peers:
            p.turn()
    for p in peers:
        p.close()
    return tell(f"read/{precision}/{beams}", mine, [(p.name, p.ms or p.says) for p in peers])


def measure_processes(directory, turns):
    read = [BIN / "vit-read", "--model", directory, "--beams", "1", "--length", "21",
            f"{directory}/picture.png"]
    mine, theirs = [], []
    for _ in range(turns):
        mine.append(process_ms(read))
        theirs.append(process_ms([sys.executable, "-W", "ignore", "-c", SCRIPT, directory]))
    return tell("process", mine, [("python", theirs)])


def write_base(directory):
    sys.path.insert(0, str(ROOT / "scripts"))
    import check_readers
    check_readers.build_full(pathlib.Path(directory), cases=({},))


def keep(rows):
    """In place of the same rows of an earlier run on such a machine."""
    import torch
    import transformers
    threads = len(os.sched_getaffinity(0))
    path = table.path_of("readers", threads)
    old = json.load(open(path))["rows"] if os.path.exists(path) else []
    names = {row["row"] for row in rows}
    table.keep("readers", threads, dict(
        command="scripts/bench-read --write", torch=torch.__version__,
        transformers=transformers.__version__,
        rows=sorted([row for row in old if row["row"] not in names] + rows,
                    key=lambda row: row["row"])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        directory = chosen.model or scratch
        if not chosen.model:
            write_base(directory)
        modes = ["eager"] if chosen.quick else ["eager", "compile"]
        for precision, beams in ROWS:
            if not chosen.rows or f"read/{precision}/{beams}" in chosen.rows:
                results.append(measure(directory, precision, beams, modes, chosen.turns))
        if not chosen.rows or "process" in chosen.rows:
            results.append(measure_processes(directory, chosen.turns))
    if chosen.write:
        keep([row for row in results if row])


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("eager", "compile"):
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        peer(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
