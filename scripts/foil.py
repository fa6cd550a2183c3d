"""Transformer, recurrent network with attention and without, on strips and numbers: scripts/foil.

All see the same records in the same order, are trained by AdamW with a rising and falling learning
rate and label smoothing for the same processor time, and write greedily. The recurrent ones are
those of Sutskever et al. 2014 (the last state of the encoder is all that the decoder has)
and Luong et al. 2015 (it looks at all states, by scaled dot products).
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

START, END, MOST = 0, 1, 80
# Data, batch, records, how many times as long as --minutes says.
TASKS = {"numbers": ("numbers:en-de", 32, 200000, 1), "strips": ("strips", 64, 60000, 2)}
SIZES = {"strips": dict(dim=128, depth=2, decoder=2, heads=4, mlp=256),
         "numbers": dict(dim=96, depth=2, decoder=2, heads=4, mlp=192)}
FIGURES = "scripts/bench/results/foil.json"
EVALUATED = 500
MARKS = 5  # of a curve


class Data:
    def __init__(self, name, train):
        with tempfile.TemporaryDirectory() as place:
            command = ["build/examples/export_texts", name, place, str(train), str(EVALUATED * 20)]
            facts = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            self.height, self.width, self.words, self.signs = map(int, facts.split())
            self.parts = {part: self.read(place, part) for part in ("train", "test")}

    def read(self, place, part):
        with open(f"{place}/{part}.tsv") as lines:
            rows = [[[int(i) for i in side.split()] for side in line.rstrip("\n").split("\t")]
                    for line in lines]
        if not self.height:
            return rows, None
        with open(f"{place}/{part}.u8", "rb") as file:
            pixels = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
        return rows, pixels.view(-1, 1, self.height, self.width)

    def batch(self, part, numbers):
        """source (pictures, or ids padded by END, and where they are padded), target rows."""
        rows, pixels = self.parts[part]
        targets = [rows[i][1] for i in numbers]
        if pixels is not None:
            return ((pixels[numbers].float() / 255 - 0.0615) / 0.1765, None), targets
        return padded([rows[i][0] for i in numbers]), targets


def padded(texts):
    longest = max(map(len, texts))
    ids = torch.tensor([t + [END] * (longest - len(t)) for t in texts])
    lengths = torch.tensor([len(t) for t in texts])
    return ids, torch.arange(longest) >= lengths[:, None]


def sinusoids(n, dim):
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


class Tokens(nn.Module):
    """A picture's patches, by convolutions and max pooling, or a text's words: [B][s][D]."""

    def __init__(self, data, dim):
        super().__init__()
        self.pictures = data.height > 0
        if self.pictures:
            widths = [1, dim // 8, dim // 4, dim // 2, dim]
            self.convs = nn.Sequential(*(layer for a, b in zip(widths, widths[1:]) for layer in
                                         (nn.Conv2d(a, b, 3, 1, 1, bias=False), nn.ReLU(),
                                          nn.MaxPool2d(3, 2, 1))))
        else:
            self.table = nn.Embedding(data.words, dim)

    def forward(self, source):
        if not self.pictures:
            return self.table(source)
        return self.convs(source).permute(0, 3, 2, 1).flatten(1, 2)  # by columns


class Transformer(nn.Module):
    def __init__(self, data, dim, depth, decoder, heads, mlp):
        super().__init__()
        layer = dict(d_model=dim, nhead=heads, dim_feedforward=mlp, dropout=0, activation="gelu",
                     batch_first=True, norm_first=True)
        self.tokens, self.table = Tokens(data, dim), nn.Embedding(data.signs, dim)
        self.register_buffer("positions", sinusoids(MOST, dim))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), depth,
                                             nn.LayerNorm(dim), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**layer), decoder,
                                             nn.LayerNorm(dim))
        self.head = nn.Linear(dim, data.signs)

    def encode(self, source, mask):
        x = self.tokens(source)
        return self.encoder(x + self.positions[:x.shape[1]], src_key_padding_mask=mask), mask

    def decode(self, memory, given):
        x = self.table(given) + self.positions[:given.shape[1]]
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.head(self.decoder(x, memory[0], causal, memory_key_padding_mask=memory[1],
                                      tgt_is_causal=True))


class Recurrent(nn.Module):
    def __init__(self, data, attention, dim):
        super().__init__()
        wide = 2 * dim
        self.tokens, self.table = Tokens(data, dim), nn.Embedding(data.signs, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(dim, wide, batch_first=True)
        self.attention = attention
        self.mix = nn.Linear(2 * wide, wide) if attention else None
        self.head = nn.Linear(wide, data.signs)

    def encode(self, source, mask):
        x = self.tokens(source)
        if mask is None:
            states, last = self.encoder(x)
        else:
            packed = nn.utils.rnn.pack_padded_sequence(x, (~mask).sum(1), True, False)
            states, last = self.encoder(packed)
            states = nn.utils.rnn.pad_packed_sequence(states, True)[0]
        return states, mask, last.transpose(0, 1).flatten(1)[None].contiguous()

    def decode(self, memory, given):
        states, mask, last = memory
        h = self.decoder(self.table(given), last)[0]
        if self.attention:
            scores = h @ states.transpose(1, 2) / h.shape[-1] ** 0.5
            if mask is not None:
                scores = scores.masked_fill(mask[:, None], -torch.inf)
            h = torch.tanh(self.mix(torch.cat((h, scores.softmax(-1) @ states), -1)))
        return self.head(h)


def network(kind, task, data):
    torch.manual_seed(0)
    sizes = SIZES[task]
    if kind == "Transformer":
        return Transformer(data, **sizes)
    return Recurrent(data, kind == "GRU with attention", sizes["dim"])


KINDS = ("Transformer", "GRU with attention", "GRU")


def loss_of(net, source, targets):
    given, _ = padded([[START] + t for t in targets])
    right, after = padded([t + [END] for t in targets])
    logits = net.decode(net.encode(*source), given)
    return F.cross_entropy(logits.transpose(1, 2), right.masked_fill(after, -100),
                           label_smoothing=0.1)


@torch.no_grad()
def write(net, source, count):
    memory = net.encode(*source)
    given = torch.full((count, 1), START)
    done = torch.zeros(count, dtype=torch.bool)
    while not done.all() and given.shape[1] < MOST:
        next_ = net.decode(memory, given)[:, -1].argmax(-1)
        given = torch.cat((given, next_[:, None]), 1)
        done |= next_ == END
    rows = [row[1:].tolist() for row in given]
    return [row[:row.index(END)] if END in row else row for row in rows]


def length_of(data, row):
    """Of the source in tokens; of a strip its digits."""
    return len(row[1] if data.height else row[0])


def evaluate(net, data, count):
    right = collections.defaultdict(list)
    rows = data.parts["test"][0]
    spread = max(1, len(rows) // count)
    net.eval()
    numbers = list(range(0, len(rows), spread))[:count]
    for i in range(0, len(numbers), 100):
        some = numbers[i:i + 100]
        source, targets = data.batch("test", some)
        for n, text, target in zip(some, write(net, source, len(some)), targets):
            right[length_of(data, rows[n])].append(text == target)
    net.train()
    all_ = [r for some in right.values() for r in some]
    return sum(all_) / len(all_), {k: sum(v) / len(v) for k, v in sorted(right.items())}


def stepper(net, data, batch, rate, forward=None):
    """A function of a step's number: it trains."""
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05, fused=True)
    count = len(data.parts["train"][0])

    def step(n):
        numbers = [i % count for i in range(n * batch, (n + 1) * batch)]
        source, targets = data.batch("train", numbers)
        for group in optimiser.param_groups:
            group["lr"] = rate(n)
        loss = (forward or loss_of)(net, source, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1)
        optimiser.step()
        optimiser.zero_grad(set_to_none=False)

    return step


def train(kind, task, data, seconds):
    """[[processor seconds, right], ...], what is right by length in the end, steps."""
    net, batch, spent, n = network(kind, task, data), TASKS[task][1], 0, 0
    curve, marks = [], [seconds * (i + 1) / MARKS for i in range(MARKS)]
    share = [0]
    step = stepper(net, data, batch, lambda n: 2e-3 * min(1, share[0] * 20, (1 - share[0]) * 2))
    while marks:
        begin = time.process_time()
        step(n)
        n += 1
        spent += time.process_time() - begin
        share[0] = min(1, spent / seconds)
        if spent >= marks[0]:
            marks.pop(0)
            right, by_length = evaluate(net, data, EVALUATED if not marks else EVALUATED // 4)
            curve.append([spent, right])
            print(json.dumps({"task": task, "network": kind, "seconds": round(spent), "steps": n,
                              "right": right}), flush=True)
    return dict(curve=curve, by_length=by_length, steps=n)


# ---- the plot ----

COLOURS = {"Transformer": "#d9480f", "GRU with attention": "#1c7ed6", "GRU": "#868e96"}


def panel(x, y, title, below, series, most_x):
    width, height = 300, 170
    out = [f'<text x="{x}" y="{y - 10}" font-weight="bold">{title}</text>',
           f'<text x="{x + width / 2}" y="{y + height + 32}" text-anchor="middle">{below}</text>',
           f'<path d="M{x} {y}v{height}h{width}" fill="none" stroke="currentColor"/>']
    for share in (0, 0.5, 1):
        out.append(f'<text x="{x - 6}" y="{y + height * (1 - share) + 4}" text-anchor="end">'
                   f'{share * 100:.0f} %</text>')
    for at in (0, most_x / 2, most_x):
        out.append(f'<text x="{x + width * at / most_x}" y="{y + height + 16}" '
                   f'text-anchor="middle">{at:.0f}</text>')
    for kind, points in series.items():
        path = " ".join(f"{x + width * a / most_x:.1f},{y + height * (1 - b):.1f}"
                        for a, b in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[kind]}" '
                   'stroke-width="2"/>')
    return out


def draw(results, path):
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 560" '
           'font-family="sans-serif" font-size="12" color="#495057" fill="#495057">']
    for i, kind in enumerate(KINDS):
        out.append(f'<text x="{60 + 160 * i}" y="20" fill="{COLOURS[kind]}">{kind}</text>')
    for i, task in enumerate(results):
        curves = {k: [[0, 0]] + v["curve"] for k, v in results[task].items()}
        lengths = {k: sorted(v["by_length"].items()) for k, v in results[task].items()}
        y = 70 + 260 * i
        out += panel(60, y, f"{task}: whole texts right", "processor seconds of training", curves,
                     max(p[0] for c in curves.values() for p in c))
        out += panel(440, y, "in the end, by length", "digits" if task == "strips" else
                     "words of the source", lengths,
                     max(p[0] for c in lengths.values() for p in c))
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n</svg>\n")


# ---- speed ----


def ours_ms(task, threads, steps):
    """Milliseconds of a step of vit-train, between its events; the preset of the data."""
    times = []
    with tempfile.TemporaryDirectory() as place:
        for n in (steps, 3 * steps):
            log = os.path.join(place, f"{n}.jsonl")
            subprocess.run(["build/bin/vit-train", "--data", TASKS[task][0], "--steps", str(n),
                            "--batch", str(TASKS[task][1]), "--threads", str(threads), "--log", log,
                            "--out", os.path.join(place, "m.safetensors"), "--overwrite",
                            "--val", "1"], check=True, capture_output=True)
            events = [json.loads(line) for line in open(log)]
            first = next(e for e in events if e["event"] == "start")
            last = next(e for e in events if e["event"] == "epoch")
            times.append(last["seconds"] - first["seconds"])
    return 1e3 * (times[1] - times[0]) / (2 * steps)


def theirs_ms(task, data, mode, steps):
    net, batch = network("Transformer", task, data), TASKS[task][1]
    forward = torch.compile(loss_of, dynamic=True) if mode == "compiled" else None
    step, times = stepper(net, data, batch, lambda n: 1e-3, forward), []
    for n in range(steps + 5):
        begin = time.perf_counter()
        step(n)
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times[5:])


def speed(threads, modes):
    print("| training | batch | ours, ms a step | best of PyTorch, ms | which | times as fast |")
    print("|---|---|---|---|---|---|")
    for task, (name, batch, *_) in TASKS.items():
        data, theirs = Data(name, 40 * batch), {}
        for mode in modes:
            try:
                theirs[mode] = theirs_ms(task, data, mode, 20)
            except Exception as error:  # whatever a compiler may throw
                print(f"<!-- {mode}: {' '.join(str(error).split())[:120]} -->")
        ours, best = ours_ms(task, threads, 20), min(theirs, key=theirs.get)
        print(f"| {name} | {batch} | {ours:.1f} | {theirs[best]:.1f} | {best} | "
              f"{theirs[best] / ours:.2f} |", flush=True)


def keep(results, options):
    with open(FIGURES, "w") as file:
        json.dump(dict(minutes=options.minutes, threads=options.threads, torch=torch.__version__,
                       evaluated=EVALUATED, tasks=results), file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=("curves", "speed"), default="curves")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", default="docs/pictures/foil.svg")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.what == "speed":
        return speed(options.threads, ("eager",) if options.quick else ("eager", "compiled"))
    results = {}
    for task in options.task or TASKS:
        name, _, records, times = TASKS[task]
        data, results[task] = Data(name, records), {}
        for kind in KINDS:
            results[task][kind] = train(kind, task, data, 60 * times * options.minutes)
        keep(results, options)
        draw(results, options.out)


if __name__ == "__main__":
    main()
