#!/usr/bin/env python3
"""Writes models with vit-convert as users do, opens what it wrote in ONNX Runtime, PyTorch, timm
and transformers, and compares the logits: at most 2e-5 of the largest apart. TAP; what is for
a library that is not installed is only written, and the library skipped.

usage: tests/cli/export_peers.py [BUILD]     needs numpy; onnxruntime, torch, timm, transformers
The models: one of every preset, after two steps of training; the networks of
tests/fixtures/networks, whose logits PyTorch computed in double precision; random ones for every
other switch of a config.
"""
import importlib.util
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
BOUND = 2e-5
RNG = np.random.default_rng(3)
count, bad = 0, 0
unopened = {}  # files by layout whose library is not installed


def result(name, good, what=""):
    global count, bad
    count += 1
    bad += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}{f': {what}' if what else ''}", flush=True)


def skip(name, why):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {why}", flush=True)


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


onnxruntime, torch = library("onnxruntime"), library("torch")
timm = library("timm") if torch else None
transformers = library("transformers") if torch else None


# ---- files ----

def read_tensors(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    types = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}
    return metadata, {name: np.frombuffer(data[8 + size:][slice(*e["data_offsets"])],
                                          types[e["dtype"]]).reshape(e["shape"])
                      for name, e in header.items()}


def write_tensors(path, metadata, tensors):
    header, data = {"__metadata__": metadata}, b""
    for name, t in tensors.items():
        raw = np.ascontiguousarray(t, "<f4").tobytes()
        header[name] = dict(dtype="F32", shape=list(t.shape),
                            data_offsets=[len(data), len(data) + len(raw)])
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_png(path, pixels):
    """pixels: uint8 [height][width][channels]"""
    h, w, c = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = {b"IHDR": struct.pack(">IIBBBBB", w, h, 8, 0 if c == 1 else 2, 0, 0, 0),
             b"IDAT": zlib.compress(rows), b"IEND": b""}
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(p)) + k + p + struct.pack(">I", zlib.crc32(k + p))
        for k, p in parts.items()))


def program(name, *words):
    return subprocess.run([BUILD / "bin" / name, *map(str, words)], text=True,
                          capture_output=True, env=dict(os.environ, VIT_MODELS=""))


def write_model(path, config, tensors):
    """A model file whose pictures, of the network's size, are only normalised."""
    channels, (height, width) = config["channels"], config["image"]
    steps = [dict(op="grey" if channels == 1 else "rgb"),
             dict(op="resize", height=height, width=width, filter="bilinear"),
             dict(op="normalize", mean=[0.5, 0.4, 0.3][:channels], std=[0.5, 0.3, 0.2][:channels])]
    labels = [f"label {i}" for i in range(config["classes"])]
    write_tensors(path, {"format": "pt", "vit.config": json.dumps(config),
                         "vit.preprocessing": json.dumps(steps), "vit.labels": json.dumps(labels)},
                  tensors)


# ---- what the programs here compute ----

def ask(model, config):
    """Three pictures of the network's size: what it takes of them, and vit-classify's logits."""
    h, w = config["image"]
    metadata, _ = read_tensors(model)
    normalize = json.loads(metadata["vit.preprocessing"])[-1]
    pixels = RNG.integers(0, 256, (3, h, w, config["channels"]), np.uint8)
    names = [model.parent / f"picture{i}.png" for i in range(3)]
    for name, p in zip(names, pixels):
        write_png(name, p)
    features = model.with_suffix(".npy")
    backbone = config.get("head") == "none"
    answer = program("vit-classify", "--model", model, *names,
                     *(["--embed", "--out", features] if backbone else ["--json", "--logits"]))
    assert answer.returncode == 0, answer.stderr
    logits = np.load(features) if backbone else [json.loads(line)["logits"]
                                                 for line in answer.stdout.splitlines()]
    x = (pixels / 255 - np.array(normalize["mean"])) / np.array(normalize["std"])
    return x.transpose(0, 3, 1, 2).astype(np.float32), np.array(logits)


# ---- the libraries ----

def with_onnx(path, x, labels):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    assert json.loads(metadata["vit.labels"]) == labels, metadata
    assert json.loads(metadata["vit.preprocessing"])[-1]["op"] == "normalize", metadata
    run = lambda part: session.run(["logits"], {"pixel_values": part})[0]
    return np.concatenate([run(x[:1]), run(x[1:])])


def with_pytorch(path, x, labels):
    spec = importlib.util.spec_from_file_location("exported", path / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.VisionTransformer.load(path)
    assert model.labels == labels, model.labels
    with torch.no_grad():
        return model(torch.tensor(x)).numpy()


def with_timm(path, x, labels):
    model = timm.create_model(f"local-dir:{path}", pretrained=True).eval()
    with torch.no_grad():
        return model(torch.tensor(x)).numpy()


def with_hf(path, x, labels):
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    model, report = transformers.ViTForImageClassification.from_pretrained(
        path, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"], report
    assert [model.config.id2label[i] for i in range(len(labels))] == labels
    with torch.no_grad():
        return model.eval()(torch.tensor(x)).logits.numpy()


PEERS = {"onnx": (onnxruntime, with_onnx, ".onnx"), "pytorch": (torch, with_pytorch, "-pytorch"),
         "timm": (timm, with_timm, "-timm"), "hf": (transformers, with_hf, "-hf")}


def check(name, model, layout, x, want, labels, dtype="f32", bound=BOUND):
    found, run, ending = PEERS[layout]
    out = model.with_name(f"{model.stem}-{dtype}{ending}")
    written = program("vit-convert", model, out, "--layout", layout, "--dtype", dtype)
    title = f"{name} as {layout} {dtype}"
    if written.returncode != 0:
        result(title, False, written.stderr.strip())
    elif not found:
        result(f"{title} is written", out.exists())
        unopened[layout] = unopened.get(layout, 0) + 1
    else:
        got = run(out, x, labels)
        error = np.abs(got - want).max() / np.abs(want).max()
        result(title, got.shape == want.shape and error <= bound, f"{error:.1e}")


# ---- the models ----

def check_preset(preset, data, work):
    model = work / f"{preset}.safetensors"
    trained = program("vit-train", "--data", data, "--preset", preset, "--steps", 2, "--out", model,
                      *(["--set", "flip=false"] if data == "digits" else []))
    if trained.returncode != 0:
        result(f"preset {preset} trains", False, trained.stderr.strip())
        return
    metadata, tensors = read_tensors(model)
    config = json.loads(metadata["vit.config"])
    plain = config["stem"] == "linear" and config["head"] == "linear"
    layouts = ["onnx", "pytorch"] + ["timm", "hf"] * plain
    if plain:  # with whatever preparation of pictures it was trained with
        for layout in ("timm", "hf"):
            out = work / f"{preset}-as-is-{layout}"
            written = program("vit-convert", model, out, "--layout", layout)
            own = written.returncode == 0 and json.loads((out / "config.json").read_text())
            result(f"preset {preset} as {layout} without --force",
                   own and own["preprocessing"] == json.loads(metadata["vit.preprocessing"]),
                   written.stderr.strip())
    write_model(model, config, tensors)
    labels = [f"label {i}" for i in range(config["classes"])]
    x, want = ask(model, config)
    for layout in layouts:
        check(f"preset {preset}", model, layout, x, want, labels)


def make_folder(path, side):
    """Two classes of random coloured pictures."""
    for c in range(2):
        (path / f"class{c}").mkdir(parents=True)
        for i in range(12):
            write_png(path / f"class{c}" / f"{i}.png",
                      RNG.integers(0, 256, (side, side, 3), np.uint8))


def check_fixture(path, work):
    metadata, tensors = read_tensors(path)
    config = json.loads(metadata["config"])
    model = work / f"{path.stem}.safetensors"
    write_model(model, config, {k.removeprefix("param."): t for k, t in tensors.items()
                                if k.startswith("param.")})
    labels = [f"label {i}" for i in range(config["classes"])]
    x, want = np.ascontiguousarray(tensors["input"].transpose(0, 3, 1, 2)), tensors["logits"]
    if "keep" in tensors or len(x) < 3:  # logits in training; one picture is no batch
        x, want = ask(model, config)
    for layout in ("onnx", "pytorch"):
        check(path.stem, model, layout, x, want, labels)


# What the fixtures leave out.
SWITCHES = {
    "backbone": dict(head="none", classes=24),
    "no head bias": dict(head_bias=False),
    "odd heads": dict(head_dim=5),
    "pixel order, patch norm": dict(patch_order="pixel", patch_norm=True, patch_bias=False),
    "norm_pre": dict(norm_pre=True, patch_bias=False, activation="gelu_quick"),
    "mean with prefix": dict(pool="mean", class_token=True, pool_prefix=True, registers=2,
                             norm_before_pool=True, activation="gelu_tanh"),
    "map with prefix": dict(pool="map", class_token=True, pool_prefix=True, activation="relu"),
    "distilled": dict(pool="class_dist", registers=1, layer_scale=True),
    "SwiGLU, registers without positions": dict(gated=True, activation="silu", registers=3,
                                                prefix_positions=False, qk_norm=True),
    "sincos2d, post-norm": dict(positions="sincos2d", norm="post", final_norm=False),
    "conv stem, mlp head": dict(stem="conv", head="mlp", attention_scale="dim", norm_eps=1e-3),
}


def check_switches(name, changes, work):
    spec = importlib.util.spec_from_file_location(
        "class", ROOT / "vit/weights/export/pytorch_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    config = dict(image=[12, 8], channels=3, patch=4, dim=24, depth=2, heads=3, mlp=20, classes=5,
                  **{}) | changes
    shapes = module.VisionTransformer(config).state_dict()
    tensors = {k: RNG.normal(1 if "norm" in k and k.endswith("weight") else 0, 0.3, tuple(t.shape))
               for k, t in shapes.items()}
    model = work / f"{name.replace(' ', '-').replace(',', '')}.safetensors"
    write_model(model, config, tensors)
    x, want = ask(model, config)
    labels = [f"label {i}" for i in range(config["classes"])]
    for layout in ("onnx", "pytorch"):
        check(name, model, layout, x, want, labels)
        check(name, model, layout, x, want, labels, "f16", 5e-3)
        check(name, model, layout, x, want, labels, "bf16", 4e-2)


def main():
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        make_folder(work / "pictures", 32)
        for path in sorted((ROOT / "models/presets").glob("*.json")):
            if '"decoder"' in path.read_text():  # writes texts: no library's layout is written
                continue
            coloured = path.stem.startswith(("folder", "cifar10"))
            check_preset(path.stem, work / "pictures" if coloured else "digits", work)
        for path in sorted((ROOT / "tests/fixtures/networks").glob("*.safetensors")):
            check_fixture(path, work)
        for name, changes in SWITCHES.items():
            if torch:
                check_switches(name, changes, work)
    if not torch:
        skip(f"{len(SWITCHES)} random networks", "torch is not installed")
    for layout, files in unopened.items():
        skip(f"{files} files for {layout} are opened", "its library is not installed")
    print(f"1..{count}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
