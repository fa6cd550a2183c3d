"""Few-shot heads on published networks against scikit-learn: small ViTs with random weights, as
Hugging Face (ViT, DINOv2, SigLIP) and timm save them, are taught drawn pictures by vit-train --head
ridge and logistic, and the logits of other pictures are compared with those of Ridge and
LogisticRegression on the features that transformers and timm compute. Prints the largest
difference of each, relative to the largest logit, and fails above 1e-5.

usage: scripts/check-teach

PYTHON (default python3) has PyTorch, timm, transformers and scikit-learn; BUILD (default build).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import timm
import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

transformers.utils.logging.disable_progress_bar()

SIDE = 32
CLASSES = 4
LIMIT = 1e-5
PROGRAMS = pathlib.Path(os.environ.get("BUILD", "build")) / "bin"
SMALL = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": SIDE,
         "patch_size": 8}


def spread(model):
    """random weights that make features of pictures differ"""
    torch.manual_seed(1)
    for name, p in model.named_parameters():
        torch.nn.init.normal_(p, 1 if "norm" in name and name.endswith("weight") else 0, .15)
    return model.eval()


def hugging_face(kind, config, features):
    def make(directory):
        model = spread(kind(config))
        model.save_pretrained(directory)
        (directory / "preprocessor_config.json").write_text(json.dumps(
            {"image_processor_type": "ViTImageProcessor", "do_resize": True, "do_rescale": True,
             "do_normalize": True, "size": {"height": SIDE, "width": SIDE}, "resample": 2,
             "image_mean": [.5] * 3, "image_std": [.5] * 3}))
        return lambda x: features(model(x))
    return make


def of_timm(name, **options):
    def make(directory):
        model = spread(timm.create_model(name, img_size=SIDE, **options))
        directory.mkdir()
        save_file(model.state_dict(), directory / "model.safetensors")
        (directory / "config.json").write_text(json.dumps(
            {"architecture": name, "num_classes": options["num_classes"],
             "model_args": {"img_size": SIDE, **{k: v for k, v in options.items()
                                                 if k != "num_classes"}},
             "pretrained_cfg": {"input_size": [3, SIDE, SIDE], "mean": [.5] * 3, "std": [.5] * 3,
                                "interpolation": "bilinear", "crop_pct": 1,
                                "num_classes": options["num_classes"]}}))
        return lambda x: model.forward_head(model.forward_features(x), pre_logits=True)
    return make


def networks():
    t = transformers
    plain = {"embed_dim": 48, "depth": 3, "num_heads": 4, "patch_size": 8, "num_classes": 0}
    return {
        "ViT of transformers": hugging_face(
            t.ViTModel, t.ViTConfig(**SMALL, intermediate_size=96),
            lambda out: out.last_hidden_state[:, 0]),
        "DINOv2 of transformers": hugging_face(
            t.Dinov2Model, t.Dinov2Config(**SMALL, mlp_ratio=2), lambda out: out.pooler_output),
        "SigLIP of transformers": hugging_face(
            t.SiglipVisionModel, t.SiglipVisionConfig(**SMALL, intermediate_size=96),
            lambda out: out.pooler_output),
        "ViT of timm": of_timm("vit_tiny_patch16_224", **plain),
    }


def draw(root, rng):
    """pictures of each class, of the network's size: a grating of its own direction and colour"""
    pixels, labels = [], []
    y, x = np.mgrid[:SIDE, :SIDE]
    for c in range(CLASSES):
        folder = root / f"class {c}"
        folder.mkdir(parents=True)
        colour = np.array([[1, .3, .3], [.3, 1, .3], [.3, .3, 1], [1, 1, .2]])[c]
        for i in range(12):
            t = c * .6 + rng.normal(0, .3)
            wave = np.sin((x * np.cos(t) + y * np.sin(t)) * rng.uniform(.4, .8) + rng.uniform(0, 6))
            a = 128 + 50 * wave[..., None] * colour + rng.normal(0, 40, (SIDE, SIDE, 3))
            a = np.clip(a, 0, 255).astype(np.uint8)
            Image.fromarray(a).save(folder / f"{i:02}.png")
            pixels.append(a)
            labels.append(c)
    x = torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2).float() / 255
    return (x - .5) / .5, np.array(labels)


def run(*words):
    done = subprocess.run([PROGRAMS / words[0], *words[1:]], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def theirs(head, strength, features, labels, others):
    scaler = StandardScaler().fit(features)
    x, z = scaler.transform(features), scaler.transform(others)
    if head == "ridge":
        targets = np.where(labels[:, None] == np.arange(CLASSES), 1., -1.)
        return Ridge(alpha=strength, solver="cholesky").fit(x, targets).predict(z)
    model = LogisticRegression(C=1 / strength, tol=1e-12, max_iter=100000).fit(x, labels)
    return model.decision_function(z)


def centred(head, logits):
    """the softmax does not see what all logits have in common"""
    return logits if head == "ridge" else logits - logits.mean(1, keepdims=True)


def main():
    worst = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        rng = np.random.default_rng(1)
        taught, labels = draw(scratch / "taught", rng)
        asked, _ = draw(scratch / "asked", rng)
        for name, make in networks().items():
            place = scratch / name.replace(" ", "-")
            with torch.no_grad():
                network = make(place)
                features, others = (network(x).double().numpy() for x in (taught, asked))
            for head in ("ridge", "logistic"):
                out = scratch / "head.safetensors"
                said = run("vit-train", "--data", scratch / "taught", "--init", place, "--head",
                           head, "--json", "--overwrite", "--out", out)
                answers = run("vit-classify", "--model", out, "--json", "--logits", "--recursive",
                              scratch / "asked")
                ours = centred(head, np.array([a["logits"] for a in answers]))
                strength = said[-1]["learnt"]["strength"]
                right = centred(head, theirs(head, strength, features, labels, others))
                off = np.abs(ours - right).max() / np.abs(right).max()
                worst = max(worst, off)
                print(f"{name:24} {head:9} strength {strength:<9.3g} difference {off:.1e}")
    if not worst <= LIMIT:
        sys.exit(f"check-teach: {worst:.1e} is more than {LIMIT:.0e}")


if __name__ == "__main__":
    main()
