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
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "bench"))
import table  # noqa: E402
import turns  # noqa: E402

START, END, MOST = 0, 1, 80
BATCH = 32
# Data, records, how many times as long as --minutes says.
TASKS = {"numbers": ("numbers:en-de", 200000, 1), "strips": ("strips", 60000, 3)}
SIZES = {"strips": dict(dim=128, depth=2, decoder=2, heads=4, mlp=256),
         "numbers": dict(dim=96, depth=2, decoder=2, heads=4, mlp=192)}
FIGURES = "build/foil.json"
EVALUATED, OF_A_LENGTH = 500, 100
MARKS = 5  # of a curve


class Data:
    def __init__(self, name, train):
        with tempfile.TemporaryDirectory() as place:
            command = ["build/examples/export_texts", name, place, str(train), "10000"]
            facts = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if facts.returncode:  # it has said why
                sys.exit(1)
            self.height, self.width, self.words, self.signs = map(int, facts.stdout.split())
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


def labelled(targets):
    """What the decoder is given, and what it is to say; -100 behind the end of a text."""
    given, _ = padded([[START] + t for t in targets])
    right, after = padded([t + [END] for t in targets])
    return given, right.masked_fill(after, -100)


def loss_of(net, source, given, right):
    logits = net.decode(net.encode(*source), given)
    return F.cross_entropy(logits.transpose(1, 2), right, label_smoothing=0.1)


@torch.no_grad()
def write(net, source, count, most):
    """most: tokens, the end of a text among them."""
    memory = net.encode(*source)
    given = torch.full((count, 1), START)
    done = torch.zeros(count, dtype=torch.bool)
    while not done.all() and given.shape[1] <= most:
        next_ = net.decode(memory, given)[:, -1].argmax(-1)
        given = torch.cat((given, next_[:, None]), 1)
        done |= next_ == END
    rows = [row[1:].tolist() for row in given]
    return [row[:row.index(END)] if END in row else None for row in rows]


def length_of(data, row):
    """Of the source in tokens; of a strip its digits."""
    return len(row[1] if data.height else row[0])


def answers(net, data, numbers):
    """[(length, whether the whole text is right)] of these test records."""
    rows, told = data.parts["test"][0], []
    net.eval()
    for i in range(0, len(numbers), 100):
        some = numbers[i:i + 100]
        source, targets = data.batch("test", some)
        # A text that has not ended where the longest right one does is wrong.
        written = write(net, source, len(some), 1 + max(map(len, targets)))
        told += [(length_of(data, rows[n]), text == target)
                 for n, text, target in zip(some, written, targets)]
    net.train()
    return told


def evaluate(net, data, count):
    """Share of whole texts that are right, of `count` from all over the test part."""
    rows = data.parts["test"][0]
    told = answers(net, data, list(range(0, len(rows), max(1, len(rows) // count)))[:count])
    return sum(right for _, right in told) / len(told)


def evaluate_lengths(net, data, count):
    """{length: share}, of at most `count` texts of each length; of lengths with a tenth of that."""
    rows, of, right = data.parts["test"][0], collections.defaultdict(list), {}
    for n, row in enumerate(rows):
        if len(of[length_of(data, row)]) < count:
            of[length_of(data, row)].append(n)
    told = answers(net, data, [n for some in of.values() for n in some])
    for length in sorted(of):
        some = [fine for n, fine in told if n == length]
        if 10 * len(some) >= count:
            right[length] = sum(some) / len(some)
    return right


def optimiser_of(net):
    return torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05, fused=True)


def learn(net, optimiser, loss):
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1)
    optimiser.step()
    optimiser.zero_grad(set_to_none=False)


def batch_of(data, size, n):
    """The n-th of the training part, as loss_of takes it."""
    count = len(data.parts["train"][0])
    source, targets = data.batch("train", [i % count for i in range(n * size, (n + 1) * size)])
    return source, *labelled(targets)


def train(kind, task, data, seconds):
    """[[processor seconds, right], ...], what is right by length in the end, steps."""
    net, spent, n = network(kind, task, data), 0, 0
    curve, marks = [], [seconds * (i + 1) / MARKS for i in range(MARKS)]
    share, optimiser = 0, optimiser_of(net)
    while marks:
        begin = time.process_time()
        for group in optimiser.param_groups:
            group["lr"] = 2e-3 * min(1, share * 20, (1 - share) * 2)
        learn(net, optimiser, loss_of(net, *batch_of(data, BATCH, n)))
        n += 1
        spent += time.process_time() - begin
        share = min(1, spent / seconds)
        if spent >= marks[0]:
            marks.pop(0)
            right = evaluate(net, data, EVALUATED if not marks else EVALUATED // 5)
            curve.append([spent, right])
            print(json.dumps({"task": task, "network": kind, "seconds": round(spent), "steps": n,
                              "right": right}), flush=True)
    return dict(curve=curve, by_length=evaluate_lengths(net, data, OF_A_LENGTH), steps=n)


# ---- the plot ----

COLOURS = {"Transformer": "#d9480f", "GRU with attention": "#1c7ed6", "GRU": "#495057"}
WIDTH, HEIGHT = 300, 170


def panel(x, y, title, below, series, ticks):
    """series: {network: [(what, share)]}; ticks: of the axis below, its ends among them."""
    least, most = ticks[0], ticks[-1]

    def at(what, share):
        return x + WIDTH * (what - least) / (most - least), y + HEIGHT * (1 - share)

    out = [f'<text x="{x}" y="{y - 12}" font-weight="bold">{title}</text>',
           f'<text x="{x + WIDTH / 2}" y="{y + HEIGHT + 36}" text-anchor="middle">{below}</text>']
    for share in (0, 0.5, 1):
        level = at(least, share)[1]
        out += [f'<path d="M{x} {level}h{WIDTH}" stroke="#dee2e6"/>',
                f'<text x="{x - 6}" y="{level + 4}" text-anchor="end">{share * 100:.0f} %</text>']
    for tick in ticks:
        out.append(f'<text x="{at(tick, 0)[0]:.1f}" y="{y + HEIGHT + 18}" '
                   f'text-anchor="middle">{tick:.0f}</text>')
    for kind, points in series.items():
        places = [at(*point) for point in points]
        out.append('<polyline points="' + " ".join(f"{a:.1f},{b:.1f}" for a, b in places) +
                   f'" fill="none" stroke="{COLOURS[kind]}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{COLOURS[kind]}"/>'
                for a, b in places]
    return out


def draw(results, path):
    height = 50 + 260 * len(results)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" '
           'font-family="sans-serif" font-size="12" fill="#343a40">',
           f'<rect width="780" height="{height}" fill="#fff"/>']
    for i, kind in enumerate(KINDS):
        out += [f'<path d="M{60 + 190 * i} 20h24" stroke="{COLOURS[kind]}" stroke-width="2"/>',
                f'<text x="{90 + 190 * i}" y="24">{kind}</text>']
    for i, (task, of) in enumerate(results.items()):
        curves = {k: [[0, 0]] + v["curve"] for k, v in of.items()}
        lengths = {k: sorted((int(n), share) for n, share in v["by_length"].items())
                   for k, v in of.items()}
        # The last step of a network goes a little beyond its time.
        seconds = round(min(c[-1][0] for c in curves.values()))
        counts = [n for n, _ in next(iter(lengths.values()))]
        y = 74 + 260 * i
        out += panel(60, y, f"{task}: whole texts right", "seconds of training, of one processor",
                     curves, [0, seconds / 2, seconds])
        out += panel(450, y, f"{task}: in the end, by length", "digits" if task == "strips" else
                     "words of the source", lengths, range(counts[0], counts[-1] + 1))
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n</svg>\n")


# ---- speed: a step of vit-train and of PyTorch, in turns ----

STEPS = {"numbers": 60, "strips": 15}
BATCHES = {"numbers": 32, "strips": 64}  # of the presets
PRECISIONS = ("f32", "bf16")
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def events_of(log):
    """{event: its seconds}; a line that is being written is none yet."""
    events = {}
    if os.path.exists(log):
        with open(log) as lines:
            for line in lines:
                if line.endswith("\n"):
                    event = json.loads(line)
                    events[event["event"]] = event["seconds"]
    return events


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def seconds_of(command, log, clock):
    """From the start of a training to the end of its steps, where it is stopped; None where it
    fails."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        events = {}
        while "epoch" not in events and process.poll() is None:
            time.sleep(0.02)
            events = events_of(log)
        if "epoch" not in events:
            return None
        spent = processor_seconds(process)
        process.kill()
    return spent if clock == "processor" else events["epoch"] - events["start"]


def ours_ms(task, precision, threads, clock):
    """Milliseconds of a step of vit-train, by two trainings of different length; the preset of the
    data. None: the processor has no bfloat16."""
    name, size = TASKS[task][0], BATCHES[task]
    seconds = []
    with tempfile.TemporaryDirectory() as place:
        for n in (STEPS[task], 4 * STEPS[task]):
            log = os.path.join(place, f"{n}.jsonl")
            seconds.append(seconds_of(
                ["build/bin/vit-train", "--data", name, "--steps", str(n), "--batch", str(size),
                 "--threads", str(threads), "--precision", precision, "--val", "1", "--log", log,
                 "--out", os.path.join(place, "m.safetensors"), "--overwrite"], log, clock))
    if None in seconds:
        return None if precision == "bf16" else sys.exit(f"foil: vit-train fails on {name}")
    return 1e3 * (seconds[1] - seconds[0]) / (3 * STEPS[task])


def theirs(task, mode, precision, threads, clock):
    """A peer's work (scripts/bench/turns.py): the median of its steps, of batches that are
    prepared; each was seen once before, so that what is compiled is."""
    torch.set_num_threads(threads)
    name, size = TASKS[task][0], BATCHES[task]
    data = Data(name, STEPS[task] * size)
    net = network("Transformer", task, data)
    optimiser, forward = optimiser_of(net), loss_of
    if mode == "compile":
        forward = torch.compile(loss_of)
    batches = [batch_of(data, size, n) for n in range(STEPS[task])]
    now = CLOCKS[clock]

    def work():
        times = []
        for batch in batches:
            begin = now()
            with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
                loss = forward(net, *batch)
            learn(net, optimiser, loss)
            times.append(now() - begin)
        return 1e3 * statistics.median(times)

    work()
    return work


def speed(options):
    results = []
    modes = ("eager",) if options.quick else ("eager", "compile")
    for task in options.task or TASKS:
        for precision in PRECISIONS:
            peers = [turns.Peer(mode, [sys.executable, "-B", "-W", "ignore", __file__, "peer", task,
                                       mode, precision, str(options.threads), options.clock])
                     for mode in modes]
            results.append(turns.measure(
                f"train/{TASKS[task][0]}/{precision}",
                lambda: ours_ms(task, precision, options.threads, options.clock), peers,
                options.turns))
    if options.write:
        turns.keep(results, options.threads, turns.PROCESSOR_NOTE
                   if options.clock == "processor" else None)


# ---- the program ----


def curves(options):
    """A task that is not asked for keeps its figures."""
    torch.set_num_threads(options.threads)
    results = {}
    if options.task and os.path.exists(FIGURES):
        with open(FIGURES) as file:
            results = json.load(file)["tasks"]
    for task in options.task or TASKS:
        name, records, times = TASKS[task]
        data, results[task] = Data(name, records), {}
        for kind in KINDS:
            results[task][kind] = train(kind, task, data, 60 * times * options.minutes)
        with open(FIGURES, "w") as file:
            json.dump(dict(minutes=options.minutes, threads=options.threads,
                           machine=table.machine(options.threads), torch=torch.__version__,
                           evaluated=EVALUATED, tasks=results), file, indent=1)
            file.write("\n")
        draw(results, options.out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=("curves", "draw", "speed"), default="curves")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", default="docs/pictures/foil.svg")
    options = parser.parse_args()
    if options.what == "draw":
        with open(FIGURES) as file:
            draw(json.load(file)["tasks"], options.out)
    else:
        {"curves": curves, "speed": speed}[options.what](options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["peer"]:
        task, mode, precision, threads, clock = sys.argv[2:]
        turns.serve(lambda: theirs(task, mode, precision, int(threads), clock))
    else:
        main()
