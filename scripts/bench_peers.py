"""Whole training steps, ours and PyTorch's, alternately: run by scripts/bench-peers.

A step is what the peer's user writes: forward, cross-entropy, backward, clipping of the gradient
norm at 1, fused AdamW, zeroing the gradients, on one batch that stays the same. Ours is
`vit-bench train`, which makes the same step through the public trainer. A turn is one measurement
of each; a figure is the median of the turns' medians.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

KEYS = ("image", "patch", "channels", "dim", "depth", "heads", "mlp", "classes")
MODELS = {
    "mnist-p14-d128": (28, 14, 1, 128, 6, 8, 256, 10),
    "mnist-p7-d64": (28, 7, 1, 64, 6, 8, 128, 10),
    "mnist-p4-d64": (28, 4, 1, 64, 6, 4, 128, 10),
    "cifar-p4-d192": (32, 4, 3, 192, 9, 3, 384, 10),
    "cifar-p4-d384": (32, 4, 3, 384, 7, 6, 1536, 10),
}
DEFAULT = list(MODELS)[:3]


class Block(nn.Module):
    def __init__(self, dim, heads, mlp):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim, 1e-6), nn.LayerNorm(dim, 1e-6)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        heads = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(heads.transpose(1, 2).reshape(b, t, d))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Network(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, mlp, classes):
        super().__init__()
        patches = (image // patch) ** 2
        self.patches = nn.Conv2d(channels, dim, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(torch.randn(1, patches + 1, dim) * 0.02)
        self.blocks = nn.Sequential(*(Block(dim, heads, mlp) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(dim, 1e-6), nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


def torch_step(shape, batch):
    image, _, channels, *_, classes = shape
    torch.manual_seed(0)
    net = Network(*shape).train()
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05, fused=True)
    x = torch.randn(batch, channels, image, image)
    y = torch.randint(0, classes, (batch,))

    def step():
        F.cross_entropy(net(x), y).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=False)

    return step


def median_ms(step, seconds):
    for _ in range(3):  # the first steps allocate
        step()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def our_ms(shape, batch, threads):
    command = ["build/bin/vit-bench", "train", "--batch", str(batch), "--threads", str(threads)]
    for key, value in zip(KEYS, shape):
        command += [f"--{key}", str(value)]
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench-peers: failed with status {done.returncode}: {' '.join(command)}")
    lines = (json.loads(line) for line in done.stdout.splitlines())
    return next(line["ms"] for line in lines if line["what"] == "train")


def compare(name, options):
    """Medians over the turns, in ms; the ratio's range says how far to trust them."""
    shape, ours, theirs = MODELS[name], [], []
    step = torch_step(shape, options.batch)
    for _ in range(options.turns):
        ours.append(our_ms(shape, options.batch, options.threads))
        theirs.append(median_ms(step, options.seconds))
    ratios = [b / a for a, b in zip(ours, theirs)]
    a, b = statistics.median(ours), statistics.median(theirs)
    return dict(model=name, batch=options.batch, threads=options.threads, turns=options.turns,
                torch=torch.__version__, ours_ms=round(a, 3), torch_ms=round(b, 3),
                ours_images_per_second=round(1e3 * options.batch / a, 1),
                torch_images_per_second=round(1e3 * options.batch / b, 1), ratio=round(b / a, 3),
                ratio_low=round(min(ratios), 3), ratio_high=round(max(ratios), 3))


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/bench-peers",
        description="Training steps of vit-bench and PyTorch eager float32, taking turns.")
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help=f"of {', '.join(MODELS)}; default: the first three")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--turns", type=int, default=3, help="measurements of each (default 3)")
    parser.add_argument("--seconds", type=float, default=3, help="PyTorch's time in one turn")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true", help="one object a line")
    options = parser.parse_args()
    for name in options.models:
        if name not in MODELS:
            parser.error(f"unknown model '{name}': one of {', '.join(MODELS)}")
    if min(options.batch, options.turns, options.threads) < 1:
        parser.error("--batch, --turns and --threads must be at least 1")
    return options


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    if not options.json:
        print(f"PyTorch {torch.__version__}, {options.threads} threads, batch {options.batch}, "
              f"median of {options.turns} turns\n\n"
              "| model | ours, ms | images/s | PyTorch, ms | images/s "
              "| ratio (lowest to highest) |\n|---|---|---|---|---|---|", flush=True)
    for name in options.models or DEFAULT:
        r = compare(name, options)
        if options.json:
            print(json.dumps(r), flush=True)
        else:
            print(f"| {name} | {r['ours_ms']:.1f} | {r['ours_images_per_second']:.0f} "
                  f"| {r['torch_ms']:.1f} | {r['torch_images_per_second']:.0f} "
                  f"| {r['ratio']:.2f} ({r['ratio_low']:.2f} to {r['ratio_high']:.2f}) |",
                  flush=True)


if __name__ == "__main__":
    main()
