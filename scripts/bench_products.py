"""Matrix products, ours and the libraries', shape by shape: run by scripts/bench-peers products.

usage: scripts/bench-peers products [--threads N] [--seconds S] [--write] [ROW ...]

ROW: MODEL/BATCH/PRECISION, such as vit-s16/8/f32. Ours is vit-bench gemm. The libraries', each in a
process of its own: oneDNN by PyTorch (F.linear and torch.mm; in bfloat16 all three matrices are),
OpenBLAS by numpy (float32), both with the result's memory given where they take it. Whole products:
all rows of the batch at once. --write puts the table into docs/performance.md.
"""
import argparse
import json
import os
import subprocess
import sys

import bench_peer
import bench_table
from bench_peers import KEYS

FORMS = {"y": "y = x W^T", "dx": "dx = dy W", "dW": "dW = dy^T x"}
LIBRARIES = {"f32": ("oneDNN", "OpenBLAS"), "bf16": ("oneDNN",)}
ROWS = [f"{model}/{batch}/{precision}"
        for model, batch in (("vit-ti16", 1), ("vit-ti16", 8), ("vit-s16", 1), ("vit-s16", 8),
                             ("vit-b16", 1), ("vit-b16", 8), ("cifar-d192", 128), ("p7-d64", 128))
        for precision in LIBRARIES]


def layers(model, batch):
    """(name, rows, inputs, outputs) of the linear layers, as vit-bench gemm has them."""
    image, patch, channels, dim, _, _, mlp, _ = bench_peer.MODELS[model]
    patches = (image // patch) ** 2
    rows = batch * (patches + 1)
    return (("patch", batch * patches, patch * patch * channels, dim), ("qkv", rows, dim, 3 * dim),
            ("proj", rows, dim, dim), ("fc1", rows, dim, mlp), ("fc2", rows, mlp, dim))


# ---- theirs, in a process of its own ----


def onednn(m, k, n, precision):
    import torch

    type_ = torch.bfloat16 if precision == "bf16" else torch.float32
    x, w, dy = (torch.randn(shape, dtype=type_) for shape in ((m, k), (n, k), (m, n)))
    dx, dw = torch.empty_like(x), torch.empty_like(w)
    return {"y": lambda: torch.nn.functional.linear(x, w), "dx": lambda: torch.mm(dy, w, out=dx),
            "dW": lambda: torch.mm(dy.t(), x, out=dw)}


def openblas(m, k, n, _):
    import numpy

    x, w, dy = (numpy.random.rand(*shape).astype("f") for shape in ((m, k), (n, k), (m, n)))
    y, dx, dw = numpy.empty_like(dy), numpy.empty_like(x), numpy.empty_like(w)
    return {"y": lambda: numpy.matmul(x, w.T, out=y), "dx": lambda: numpy.matmul(dy, w, out=dx),
            "dW": lambda: numpy.matmul(dy.T, x, out=dw)}


def peer(library, model, batch, precision, threads, seconds):
    if library == "oneDNN":
        import torch

        torch.set_num_threads(threads)
    for name, m, k, n in layers(model, batch):
        products = {"oneDNN": onednn, "OpenBLAS": openblas}[library](m, k, n, precision)
        ms = {form: bench_peer.median_ms(run, seconds) for form, run in products.items()}
        bench_peer.say(layer=name, ms=ms)


# ---- the comparison ----


def lines_of(command, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"bench-peers: failed with status {done.returncode}: {' '.join(command)}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def ours(model, batch, precision, threads):
    command = ["build/bin/vit-bench", "gemm", "--batch", str(batch), "--precision", precision,
               "--threads", str(threads), "--json"]
    for key, value in zip(KEYS, bench_peer.MODELS[model]):
        command += [f"--{key}", str(value)]
    return {line["shape"].rsplit(" ", 1)[0]: line for line in lines_of(command, threads)}


def theirs(model, batch, precision, options):
    """{library: {layer: {form: ms}}}"""
    result = {}
    for library in LIBRARIES[precision]:
        command = [sys.executable, "-B", __file__, "peer", library, model, str(batch), precision,
                   str(options.threads), str(options.seconds)]
        result[library] = {o["layer"]: o["ms"] for o in lines_of(command, options.threads)}
    return result


def cell(mine, rivals):
    """`share of the peak, ratio to the best rival`, with the rival's name where there are two."""
    best = min(rivals, key=rivals.get)
    which = f" {best}" if len(rivals) > 1 else ""
    return f"{mine['gflops'] / mine['peak_gflops']:.2f}, {rivals[best] / mine['ms']:.2f}{which}"


def measure(name, options):
    model, batch, precision = name.split("/")
    mine = ours(model, int(batch), precision, options.threads)
    others = theirs(model, int(batch), precision, options)
    for layer, m, k, n in layers(model, int(batch)):
        cells = (cell(mine[f"{layer} {text}"], {lib: ms[layer][form] for lib, ms in others.items()})
                 for form, text in FORMS.items())
        yield bench_table.row((f"{model} {layer}", batch, precision, f"{m} x {k} x {n}", *cells))


def write(path, lines, threads):
    command = " ".join(["scripts/bench-peers products", *sys.argv[1:]])
    text = bench_table.origin(command) + "\n\n" + "\n".join(lines) + "\n"
    bench_table.write(path, "scripts/bench-peers products", threads, text)


def main():
    if sys.argv[1:2] == ["peer"]:
        library, model, batch, precision, threads, seconds = sys.argv[2:]
        return peer(library, model, int(batch), precision, int(threads), float(seconds))
    parser = argparse.ArgumentParser(prog="scripts/bench-peers products", add_help=False)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"unknown row '{min(unknown)}': rows are {', '.join(ROWS)}")
    lines = [bench_table.head(("layer", "batch", "precision", "rows x in x out", *FORMS.values()))]
    print(lines[0])
    for name in options.rows or ROWS:
        for line in measure(name, options):
            lines.append(line)
            print(line, flush=True)
    if options.write:
        write("docs/performance.md", lines, options.threads)


if __name__ == "__main__":
    main()
