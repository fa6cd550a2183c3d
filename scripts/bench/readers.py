"""What scripts/bench-read runs; with a mode as its first argument it is one of the peers."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import turns

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build/bin"
TOKENS = 20
ROWS = [(precision, beams) for precision in ("f32", "bf16") for beams in (1, 4)]


# ---- a peer ----

def load(directory, precision):
    import torch
    import transformers
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    model = transformers.VisionEncoderDecoderModel.from_pretrained(directory, dtype=dtype).eval()
    side = model.config.encoder.image_size
    return model, torch.empty(1, 3, side, side, dtype=dtype).uniform_(-1, 1)


def generate(model, pixels, beams):
    """As many tokens as asked for, whatever they are."""
    import torch
    with torch.no_grad():
        return model.generate(pixels, num_beams=beams, do_sample=False, max_new_tokens=TOKENS,
                              min_new_tokens=TOKENS)


def generating(mode, directory, precision, beams):
    import torch
    model, pixels = load(directory, precision)
    if mode == "compile":
        model.encoder.forward = torch.compile(model.encoder.forward)
        model.decoder.forward = torch.compile(model.decoder.forward, dynamic=True)
    generate(model, pixels, beams), generate(model, pixels, beams)

    def work():
        start = time.perf_counter()
        generate(model, pixels, beams)
        return 1e3 * (time.perf_counter() - start)

    return work


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


# ---- rows ----

def measure(directory, precision, beams, modes, turns_):
    peers = [turns.Peer(mode, [sys.executable, "-W", "ignore", __file__, mode, directory, precision,
                               str(beams)]) for mode in modes]
    return turns.measure(f"read/{precision}/{beams}", lambda: ours(directory, precision, beams),
                         peers, turns_)


def measure_processes(directory, turns_):
    read = [BIN / "vit-read", "--model", directory, "--beams", "1", "--length", "21",
            f"{directory}/picture.png"]
    mine, theirs = [], []
    for _ in range(turns_):
        mine.append(process_ms(read))
        theirs.append(process_ms([sys.executable, "-W", "ignore", "-c", SCRIPT, directory]))
    return turns.result("process", mine, {"transformers": theirs})


def write_base(directory):
    sys.path.insert(0, str(ROOT / "scripts"))
    import check_readers
    check_readers.build_full(pathlib.Path(directory), cases=({},))


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
        turns.keep(results)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("eager", "compile"):
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        mode, directory, precision, beams = sys.argv[1:]
        turns.serve(lambda: generating(mode, directory, precision, int(beams)))
    else:
        main()
