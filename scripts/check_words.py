#!/usr/bin/env python3
"""What scripts/check-parity words runs: CLIP and SigLIP of their published base sizes, with random
weights: the logits of 20 labels beside three pictures. The bound is 2e-5 of the largest."""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch

import words_models
from make_words import ids_of, unit
from published_models import picture

BOUND = 2e-5
LABELS = words_models.LABELS


def pictures():
    """The one of the fixtures, a part of it, and it in another shape."""
    whole = picture()
    return [whole, whole.crop((3, 2, 40, 30)), whole.rotate(90, expand=True).resize((300, 471))]


def hugging_face(directory, kind, **config):
    model, tokenizer, processor = words_models.hugging_face(directory, kind, **config)
    length = model.config.text_config.max_position_embeddings
    texts = model.get_text_features(ids_of(tokenizer, LABELS, length)).pooler_output
    pixels = processor(pictures(), return_tensors="pt")["pixel_values"]
    bias = model.logit_bias if kind == "SiglipModel" else 0
    return model.logit_scale.exp() * unit(model.get_image_features(pixels).pooler_output) @ \
        unit(texts).T + bias


def open_clip(directory, name):
    model, tokenizer, prepare = words_models.open_clip_model(directory, name)
    bias = 0 if model.logit_bias is None else model.logit_bias
    texts = model.encode_text(ids_of(tokenizer, LABELS, model.context_length))
    images = model.encode_image(torch.stack([prepare(p) for p in pictures()]))
    return model.logit_scale.exp() * unit(images) @ unit(texts).T + bias


CASES = {
    "CLIP ViT-B/32": lambda d: hugging_face(d, "CLIPModel"),
    "SigLIP base/16, 224": lambda d: hugging_face(d, "SiglipModel"),
    "SigLIP 2 base/16, 224": lambda d: hugging_face(d, "SiglipModel",
                                                    text_config=dict(vocab_size=256000)),
    "OpenCLIP ViT-B-32": lambda d: open_clip(d, "ViT-B-32"),
    "OpenCLIP ViT-B-16-SigLIP": lambda d: open_clip(d, "ViT-B-16-SigLIP"),
    "OpenCLIP ViT-B-16-SigLIP2": lambda d: open_clip(d, "ViT-B-16-SigLIP2"),
}


def answers(directory):
    (directory / "labels.txt").write_text("".join(f"{label}\n" for label in LABELS))
    files = []
    for i, image in enumerate(pictures()):
        files.append(directory / f"picture-{i}.png")
        image.save(files[-1])
    run = subprocess.run([words_models.ROOT / "build/bin/vit-classify", "--model", directory,
                          "--labels-file", directory / "labels.txt", "--json", "--logits", *files],
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"check-parity: {directory}: {run.stderr.strip()}")
    return torch.tensor([json.loads(line)["logits"] for line in run.stdout.splitlines()])


def main():
    worst = 0
    for name, make in CASES.items():
        if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            with torch.no_grad():
                want = make(pathlib.Path(scratch))
            share = float((answers(pathlib.Path(scratch)) - want).abs().max() / want.abs().max())
        spread = float((want.max(1).values - want.min(1).values).min())
        print(f"{name:28} {share:.1e} of the largest logit, which differ by {spread:.1f}",
              flush=True)
        worst = max(worst, share)
    sys.exit(worst > BOUND)


if __name__ == "__main__":
    main()
