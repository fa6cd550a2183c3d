"""What scripts/bench-peers words runs: CLIP ViT-B/32 with random weights, in float32: a picture
beside 100 labels, from nothing and with all that is there, and features of 1,000 texts. With a mode
as its first argument it is one of the peers."""
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
TOGETHER = 50  # texts that a peer embeds at once, filled up to the longest
ROWS = ("process", "picture", "texts")
MODES = ("eager", "compile", "ort", "openvino")


def names():
    lines = (ROOT / "vit/weights/file/imagenet-1k.txt").read_text().splitlines()
    return [line.partition(" ")[2] for line in lines]


def texts():
    return [f"a photo of a {name}." for name in names()]


def timed(work):
    def run():
        start = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - start)

    work(), work()
    return run


# ---- peers ----

def quiet_transformers():
    import transformers
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def load(directory):
    return quiet_transformers().CLIPModel.from_pretrained(directory).eval()


def unit(x):
    return x / (x * x).sum(-1, keepdims=True) ** 0.5


def towers(model):
    """The two halves as modules of their own: pixels -> features, ids -> features."""
    import torch

    class Pictures(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, pixels):
            return unit(self.model.get_image_features(pixels).pooler_output)

    class Texts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids):
            return unit(self.model.get_text_features(ids).pooler_output)

    return Pictures(), Texts()


def export(directory):
    """pictures.onnx and texts.onnx."""
    import torch
    pictures, words = towers(load(directory))
    torch.onnx.export(pictures, (torch.zeros(1, 3, 224, 224),), f"{directory}/pictures.onnx",
                      input_names=["x"], output_names=["y"], opset_version=18, dynamo=False)
    ids = torch.full((2, 9), 49407)
    ids[:, 0] = 49406
    torch.onnx.export(words, (ids,), f"{directory}/texts.onnx", input_names=["x"],
                      output_names=["y"], opset_version=18, dynamo=False,
                      dynamic_axes={"x": {0: "texts", 1: "length"}, "y": {0: "texts"}})


def open_tower(mode, directory, which):
    """A function of an array or tensor that gives features as a NumPy array."""
    if mode == "ort":
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = len(os.sched_getaffinity(0))
        session = onnxruntime.InferenceSession(f"{directory}/{which}.onnx", options,
                                               providers=["CPUExecutionProvider"])
        return lambda x: session.run(None, {"x": x})[0]
    if mode == "openvino":
        import openvino
        core = openvino.Core()
        compiled = core.compile_model(
            core.read_model(f"{directory}/{which}.onnx"), "CPU",
            {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"})
        request = compiled.create_infer_request()
        return lambda x: request.infer([x])[0]
    import torch
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    tower = towers(load(directory))[which == "texts"]
    if mode == "compile":
        tower = torch.compile(tower, dynamic=which == "texts")

    def features(x):
        with torch.inference_mode():
            return tower(torch.from_numpy(x)).numpy()

    return features


def tokenizer_of(directory):
    return quiet_transformers().AutoTokenizer.from_pretrained(directory)


def embed(tower, tokenizer, lines):
    import numpy
    parts = [tokenizer(lines[at:at + TOGETHER], padding=True, truncation=True,
                       return_tensors="np")["input_ids"]
             for at in range(0, len(lines), TOGETHER)]
    return numpy.concatenate([tower(part) for part in parts])


def working(mode, directory, row):
    import numpy
    if row == "texts":
        tower, tokenizer, lines = open_tower(mode, directory, row), tokenizer_of(directory), texts()
        return timed(lambda: embed(tower, tokenizer, lines))
    tower = open_tower(mode, directory, "pictures")
    pixels = numpy.random.randn(1, 3, 224, 224).astype(numpy.float32)
    labels = unit(numpy.random.randn(100, 512).astype(numpy.float32))
    return timed(lambda: 100 * tower(pixels) @ labels.T)


def whole(mode, directory):
    """A process: from nothing to the probabilities."""
    import numpy
    from PIL import Image
    transformers = quiet_transformers()
    processor = transformers.AutoImageProcessor.from_pretrained(directory)
    pixels = processor(Image.open(f"{directory}/picture.jpg"), return_tensors="np")["pixel_values"]
    lines = pathlib.Path(f"{directory}/labels.txt").read_text().splitlines()
    if mode == "eager":  # both towers of one model
        import torch
        model, tokenizer = load(directory), tokenizer_of(directory)
        ids = tokenizer(lines, padding=True, return_tensors="pt")
        with torch.inference_mode():
            answer = model(pixel_values=torch.from_numpy(pixels), **ids)
        logits = answer.logits_per_image[0].numpy()
    else:
        labels = embed(open_tower(mode, directory, "texts"), tokenizer_of(directory), lines)
        logits = 100 * (open_tower(mode, directory, "pictures")(pixels) @ labels.T)[0]
    e = numpy.exp(logits - logits.max())
    print(lines[int(e.argmax())], e.max() / e.sum())


# ---- ours ----

def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench-peers: {command[0]}: {done.stderr[-400:]}")
    return done.stdout


def our_picture(directory):
    model = f"{directory}/words.safetensors"
    if not os.path.exists(model):
        run(BIN / "vit-convert", "--labels-file", f"{directory}/labels.txt", directory, model)
    objects = map(json.loads, run(BIN / "vit-bench", "infer", "--batch", 1, "--model", model,
                                  "--json").splitlines())
    return next(o["ms"] for o in objects if o["what"] == "infer")


def our_texts(directory):
    sys.path.insert(0, str(ROOT / "python"))
    import vit
    words, lines = vit.TextEncoder(directory), texts()
    return timed(lambda: words.embed(lines, unit=True))


def process_ms(*command):
    start = time.perf_counter()
    run(*command)
    return 1e3 * (time.perf_counter() - start)


# ---- rows ----

def measure_process(directory, modes, count):
    ours = [BIN / "vit-classify", "--model", directory, "--labels-file", f"{directory}/labels.txt",
            f"{directory}/picture.jpg"]
    modes = [mode for mode in modes if mode != "compile"]
    mine, theirs = [], {mode: [] for mode in modes}
    for _ in range(count):
        mine.append(process_ms(*ours))
        for mode in modes:
            theirs[mode].append(process_ms(sys.executable, "-W", "ignore", __file__, mode,
                                           directory, "process"))
    return turns.result("words/process", mine, theirs)


def measure(row, directory, modes, count):
    if row == "process":
        return measure_process(directory, modes, count)
    peers = [turns.Peer(mode, [sys.executable, "-W", "ignore", __file__, mode, directory, row])
             for mode in modes]
    ours = our_texts(directory) if row == "texts" else lambda: our_picture(directory)
    return turns.measure(f"words/{row}", ours, peers, count)


def make(directory):
    """The model, its labels, a picture, and its towers as ONNX."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import words_models
    words_models.clip_b32(directory)
    (directory / "labels.txt").write_text("\n".join(names()[:100]) + "\n")
    (directory / "picture.jpg").write_bytes((ROOT / "examples/photographed-nine.jpg").read_bytes())
    subprocess.run([sys.executable, "-W", "ignore", __file__, "export", directory], check=True,
                   stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", help=", ".join(ROWS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--model", help="a directory that an earlier run has made")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    modes = [mode for mode in MODES if mode != "compile" or not chosen.quick]
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(chosen.model or scratch)
        if not (directory / "texts.onnx").exists():
            directory.mkdir(exist_ok=True)
            make(directory)
        results = [measure(row, str(directory), modes, chosen.turns) for row in ROWS
                   if not chosen.rows or row in chosen.rows]
    if chosen.write:
        turns.keep(results, kind="words")


if __name__ == "__main__":
    if sys.argv[1:2] == ["export"]:
        export(sys.argv[2])
    elif sys.argv[1:2] and sys.argv[1] in MODES:
        mode, directory, row = sys.argv[1:]
        if row == "process":
            whole(mode, directory)
        else:
            turns.serve(lambda: working(mode, directory, row))
    else:
        main()
