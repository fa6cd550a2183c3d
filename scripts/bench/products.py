"""Matrix products, ours and the libraries', shape by shape: run by scripts/bench-peers products.

usage: scripts/bench-peers products [--threads N] [--seconds S] [--write] [ROW ...]

ROW: MODEL/BATCH/PRECISION, such as vit-s16/8/f32. Ours is vit-bench gemm. The libraries', each in a
process of its own: oneDNN by PyTorch (F.linear and torch.mm; in bfloat16 all three matrices are),
OpenBLAS by numpy (float32), both with the result's memory given where they take it. Whole products:
all rows of the batch at once. --write keeps the figures in scripts/bench/results.
"""
import argparse
import json
import os
import subprocess
import sys

import rival
import table
from peers import KEYS

FORMS = {"y": "y = x W^T", "dx": "dx = dy W", "dW": "dW = dy^T x"}
LIBRARIES = {"f32": ("oneDNN", "OpenBLAS"), "bf16": ("oneDNN",)}
ROWS = [f"{model}/{batch}/{precision}"
        for model, batch in (("vit-ti16", 1), ("vit-ti16", 8), ("vit-s16", 1), ("vit-s16", 8),
                             ("vit-b16", 1), ("vit-b16", 8), ("cifar-d192", 128), ("p7-d64", 128))
        for precision in LIBRARIES]


def layers(model, batch):
    """(name, rows, inputs, outputs) of the linear layers, as vit-bench gemm has them."""
    image, patch, channels, dim, _, _, mlp, _ = rival.MODELS[model]
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
        ms = {form: rival.median_ms(run, seconds) for form, run in products.items()}
        rival.say(layer=name, ms=ms)


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
    for key, value in zip(KEYS, rival.MODELS[model]):
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


def figures(mine, rivals):
    best = min(rivals, key=rivals.get)
    return dict(share=mine["gflops"] / mine["peak_gflops"], ratio=rivals[best] / mine["ms"],
                best=best)


def measure(name, options):
    """An object for every layer."""
    model, batch, precision = name.split("/")
    mine = ours(model, int(batch), precision, options.threads)
    others = theirs(model, int(batch), precision, options)
    for layer, m, k, n in layers(model, int(batch)):
        forms = {form: figures(mine[f"{layer} {text}"],
                               {lib: ms[layer][form] for lib, ms in others.items()})
                 for form, text in FORMS.items()}
        yield dict(model=model, layer=layer, batch=int(batch), precision=precision,
                   shape=f"{m} x {k} x {n}", forms=forms)


def line(r):
    cells = (f"{f['share']:.2f}, {f['ratio']:.2f} {f['best']}" for f in r["forms"].values())
    return table.row((f"{r['model']} {r['layer']}", str(r["batch"]), r["precision"], r["shape"],
                      *cells))


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
    print(table.head(("layer", "batch", "precision", "rows x in x out", *FORMS.values())))
    results = []
    for name in options.rows or ROWS:
        for result in measure(name, options):
            results.append(result)
            print(line(result), flush=True)
    if options.write:
        command = " ".join(["scripts/bench-peers products", *sys.argv[1:]])
        table.keep("products", options.threads, dict(command=command, rows=results))
        table.write_document()


if __name__ == "__main__":
    main()
