#!/usr/bin/env python3
"""`scripts/check-parity registry [--seed N] [--patches N] [NAME...]`: timm's registry.

Each network is saved by timm with random weights, two blocks deep, 16 features a head, for pictures
of its own size or of --patches patches a side. vit-classify answers as timm does, within 2e-5 of
the largest logit, also after its own advice (add "num_heads", ...) was followed; or it refuses.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests/fixtures"))
import published_models as published  # noqa: E402
from published_models import timm, torch  # noqa: E402

BOUND = 2e-5
MODULES = ("vision_transformer", "deit", "eva", "beit", "vision_transformer_relpos", "naflexvit")


def heads_of(model):
    block = model.blocks[0]
    block = block.attns[0] if hasattr(block, "attns") else block
    return getattr(block, "attn", block).num_heads


def save(name, directory, seed, patches):
    """Saves the network; returns (its logits for the picture, its number of heads)."""
    args = dict(pretrained=False, depth=2)
    if "sapiens2" in name:  # a number for each block
        args["num_kv_heads"] = (1, 1)
    with torch.device("meta"):
        plain = timm.create_model(name, **args)
    heads = heads_of(plain)
    if patches:
        stem = getattr(plain, "patch_embed", None)
        side = patches * (stem or plain.embeds).patch_size[0]
        args["pretrained_cfg_overlay"] = dict(input_size=(3, side, side))
        if stem:  # NaFlexVit's pictures have any size
            args["img_size"] = side
    model = timm.create_model(name, num_classes=7, embed_dim=16 * heads, **args)
    published.randomise(model, seed)
    timm.models.save_for_hf(model, directory, safe_serialization=True)
    config = json.loads((directory / "config.json").read_text())
    cfg = config["pretrained_cfg"]
    config["model_args"].pop("global_pool", None)  # it is beside them, too, as in timm's own files
    (directory / "config.json").write_text(json.dumps(config))
    with torch.no_grad():
        logits = model(published.timm_pipeline(cfg)(published.picture())[None])[0]
    return logits, heads


def answer(directory, picture):
    run = subprocess.run([ROOT / "build/bin/vit-classify", "--model", directory, "--json",
                          "--logits", picture], capture_output=True, text=True)
    return (json.loads(run.stdout)["logits"], "") if run.returncode == 0 else (None, run.stderr)


def advised(directory, message, heads):
    """Follows what the message says should be added to "model_args"; whether there was such."""
    keys = re.findall(r'add "(\w+)"', message)
    if "model_args" not in message or not keys:
        return False
    path = directory / "config.json"
    config = json.loads(path.read_text())
    config.setdefault("model_args", {}).update({k: heads for k in keys if k == "num_heads"})
    path.write_text(json.dumps(config))
    return True


def verdict(name, root, picture, options):
    """(exact, wrong, refused, ...; a line)"""
    directory = root / "model"
    directory.mkdir(exist_ok=True)
    for file in directory.iterdir():
        file.unlink()
    try:
        want, heads = save(name, directory, options.seed, options.patches)
    except Exception as error:  # a network that timm cannot make two blocks deep, or of that size
        return "not made", str(error)[:80]
    got, message = answer(directory, picture)
    advice = ""
    if got is None and advised(directory, message, heads):
        advice = ", after its advice"
        got, message = answer(directory, picture)
    if got is None:
        return "refused", message.strip() + advice
    share = max(abs(a - b) for a, b in zip(got, want.tolist(), strict=True)) / want.abs().max()
    return "exact" if share <= BOUND else "WRONG", f"{share:.1e}{advice}"


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--patches", type=int)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    names = options.names or [n for m in MODULES for n in timm.list_models(module=m)]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        picture = root / "picture.png"
        published.picture().save(picture)
        for name in names:
            kind, line = verdict(name, root, picture, options)
            counts[kind] += 1
            print(f"{name}: {kind}, {line}", flush=True)
    print(f"{len(names)} networks: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
