"""What PyTorch reaches with a preset's network in the same time: run by scripts/bench-accuracy.

The network is what vit-convert --layout pytorch writes, with vit-train's own first weights, and
attention by F.scaled_dot_product_attention. The recipe is the preset's: its optimiser (AdamW, and
Muon for the same matrices), learning rate, schedule, clipping, moving average, shifts, mirroring.
The learning rate follows the time that has passed, so that the schedule ends when the time does.
"""
import argparse
import gzip
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F

DATA = pathlib.Path(os.environ.get("VIT_DATA", "data"))
KNOWN = {"batch", "epochs", "optimizer", "lr", "schedule", "warmup", "weight_decay", "clip", "ema",
         "label_smoothing", "shift", "edges", "flip", "flip_alternates"}


def idx(path, offset):
    return np.frombuffer(gzip.open(DATA / path).read(), np.uint8, offset=offset)


def pictures(data):
    """Training and test part: uint8 [n][channels][height][width], labels [n]."""
    if data == "cifar10":
        def part(names):
            rows = np.concatenate([idx(f"cifar10/{n}.bin.gz", 0).reshape(-1, 3073) for n in names])
            return torch.tensor(rows[:, 1:].reshape(-1, 3, 32, 32)), torch.tensor(rows[:, 0]).long()
        return part([f"data_batch_{i}" for i in range(1, 6)]), part(["test_batch"])

    def part(name):
        images = idx(f"{data}/{name}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
        labels = idx(f"{data}/{name}-labels-idx1-ubyte.gz", 8)
        return torch.tensor(images), torch.tensor(labels).long()
    return part("train"), part("t10k")


def attention(self, block, x):
    q, k, v = (self.heads(part) for part in block["attn"]["qkv"](x).chunk(3, dim=2))
    return block["attn"]["proj"](F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def network(data, preset):
    """The module with its first weights, and the recipe."""
    with tempfile.TemporaryDirectory() as place:
        model, directory = f"{place}/model.safetensors", f"{place}/pytorch"
        command = ["build/bin/vit-train", "--data", data, "--preset", preset, "--steps", "1/100000",
                   "--out", model]
        subprocess.run(command, check=True, capture_output=True)
        subprocess.run(["build/bin/vit-convert", model, directory, "--layout", "pytorch"],
                       check=True, capture_output=True)
        spec = importlib.util.spec_from_file_location("model", f"{directory}/model.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.VisionTransformer.attention = attention
        net = module.VisionTransformer.load(directory)
    with open(preset if preset.endswith(".json") else f"models/presets/{preset}.json") as file:
        recipe = json.load(file)["train"]
    return net.train(), recipe


class Muon:
    """As vit/train/step/muon.h has it."""

    def __init__(self, matrices, weight_decay):
        self.matrices, self.weight_decay = matrices, weight_decay
        self.momenta = [torch.zeros_like(p) for p in matrices]

    @torch.no_grad()
    def step(self, lr):
        for p, m in zip(self.matrices, self.momenta):
            m.mul_(.95).add_(p.grad)
            x = (p.grad + .95 * m).flatten(1)
            x = x / (x.norm() + 1e-30)
            wide = x.shape[0] < x.shape[1]
            x = x if wide else x.T
            for _ in range(5):
                a = x @ x.T
                x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
            x = (x if wide else x.T).reshape(p.shape)
            larger = max(p.flatten(1).shape)
            p.mul_(1 - lr * self.weight_decay).add_(x, alpha=-lr * .2 * larger ** .5)


def optimisers(net, recipe):
    """AdamW for all, or, with Muon, for all but the matrices between first layer and head."""
    weights = [(n, p) for n, p in net.named_parameters() if n.endswith("weight") and p.dim() > 1]
    inner = [p for n, p in weights[1:] if not n.startswith("head")
             and not n.startswith("attention_pool")] if recipe.get("optimizer") == "muon" else []
    kept, decay = {id(p) for p in inner}, {id(p) for _, p in weights}
    rest = [p for p in net.parameters() if id(p) not in kept]
    groups = [{"params": [p for p in rest if (id(p) in decay) == on],
               "weight_decay": recipe.get("weight_decay", .05) if on else 0}
              for on in (True, False)]
    return torch.optim.AdamW(groups, fused=True), Muon(inner, recipe.get("weight_decay", .05))


def rate(recipe, done):
    warmup = recipe.get("warmup", .05)
    if done < warmup:
        return done / warmup
    left = 1 - (done - warmup) / (1 - warmup)
    return left if recipe.get("schedule") == "linear" else .5 - .5 * math.cos(math.pi * left)


class Loader:
    def __init__(self, images, labels, net, recipe):
        self.shift = shift = recipe.get("shift", 0)
        mode = "reflect" if recipe.get("edges") == "reflect" else "constant"
        self.images = F.pad(images.float(), [shift] * 4, mode).byte() if shift else images
        self.labels, self.net, self.flip = labels, net, recipe.get("flip", False)
        self.side, self.batch, self.at, self.order = images.shape[2], recipe["batch"], 0, []

    def next(self):
        if self.at + self.batch > len(self.order):
            self.at, self.order = 0, torch.randperm(len(self.labels))
        i = self.order[self.at:self.at + self.batch]
        self.at += self.batch
        span = torch.arange(self.side)
        y, x = torch.randint(0, 2 * self.shift + 1, (2, len(i), 1)) + span
        if self.flip:
            mirrored = torch.rand(len(i)) < .5
            x[mirrored] = x[mirrored].flip(1)
        channels = torch.arange(self.images.shape[1])[None, :, None, None]
        batch = self.images[i[:, None, None, None], channels, y[:, None, :, None],
                            x[:, None, None, :]]
        return self.net.normalize(batch), self.labels[i]


def train(net, step, recipe, loader, seconds, bf16):
    adamw, muon = optimisers(net, recipe)
    average = [p.detach().clone() for p in net.parameters()]
    steps, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        lr = recipe["lr"] * rate(recipe, passed / seconds)
        images, labels = loader.next()
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = step(images)
        F.cross_entropy(logits.float(), labels,
                        label_smoothing=recipe.get("label_smoothing", .1)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), recipe.get("clip", 1))
        for group in adamw.param_groups:
            group["lr"] = lr
        adamw.step()
        muon.step(lr)
        net.zero_grad()
        decay = min(recipe.get("ema", 0), (1 + steps) / (10 + steps))
        with torch.no_grad():
            torch._foreach_lerp_(average, list(net.parameters()), 1 - decay)
        steps += 1
    with torch.no_grad():
        for p, mean in zip(net.parameters(), average):
            p.copy_(mean)
    return steps


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-accuracy")
    parser.add_argument("data", choices=("mnist", "fashion", "cifar10"))
    parser.add_argument("preset")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--mode", choices=("eager", "compile"), default="eager")
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
    options = parser.parse_args()
    torch.manual_seed(0)
    net, recipe = network(options.data, options.preset)
    beyond = sorted(set(recipe) - KNOWN)
    if beyond:
        parser.error(f"{options.preset}: not for {', '.join(beyond)} in a recipe")
    (images, labels), (tests, truths) = pictures(options.data)
    loader, bf16 = Loader(images, labels, net, recipe), options.precision == "bf16"
    step = torch.compile(net) if options.mode == "compile" else net
    if options.mode == "compile":  # its minute is not counted
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            step(loader.next()[0]).float().sum().backward()
        net.zero_grad()
    steps = train(net, step, recipe, loader, options.seconds, bf16)
    net.eval()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        answers = torch.cat([net(net.normalize(part)).argmax(1) for part in tests.split(500)])
        right = (answers == truths).sum().item()
    print(json.dumps(dict(data=options.data, preset=options.preset, mode=options.mode,
                          precision=options.precision, seconds=options.seconds, steps=steps,
                          images_per_second=round(steps * recipe["batch"] / options.seconds, 1),
                          test_top1=right / len(tests))))


if __name__ == "__main__":
    main()
