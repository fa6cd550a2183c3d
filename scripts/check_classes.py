#!/usr/bin/env python3
"""`scripts/check-parity classes [--seed N] [--times N] [CLASS...]`: Hugging Face's classes.

Each network is made at random small sizes with random weights, and saved by the installed version
of transformers with its image processor. vit-classify answers as the class does, within 2e-5 of the
largest logit or feature; or it refuses.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers
from PIL import Image

from check_registry import BOUND, ROOT, published

TEXT = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2,
            vocab_size=30, max_position_embeddings=9, eos_token_id=29, bos_token_id=28)


def logits(model, x):
    return model(x).logits


def first(model, x):
    return model(x).last_hidden_state[:, 0]


def mean(model, x):
    return model(x).last_hidden_state.mean(1)


def pooled(model, x):
    out = model(x)  # an AIMv2 without "use_head" pools nothing: docs/weights.md
    return out.last_hidden_state.mean(1) if out.pooler_output is None else out.pooler_output


def image(model, x):
    found = model.get_image_features(x)
    return found if torch.is_tensor(found) else found.pooler_output


def embeds(model, x):
    return model(x).image_embeds


def unmasked(model, x):
    model.config.mask_ratio = 0.0  # the order of the patches is random, the class token's state not
    return getattr(model, "vit", model)(x).last_hidden_state[:, 0]


ACTS = ("gelu", "gelu", "gelu_new", "quick_gelu", "relu", "silu")
VIT = dict(qkv_bias=(True, False), hidden_act=ACTS, layer_norm_eps=(1e-12, 1e-6))
RATIO = dict(mlp_ratio=(2, 3), qkv_bias=(True, False))
SWIGLU = RATIO | dict(use_swiglu_ffn=(False, True))
DINOV3 = dict(num_register_tokens=(0, 1, 4), rope_theta=(100.0, 50.0), use_gated_mlp=(False, True),
              key_bias=(False,), hidden_act=("gelu", "silu"))
BIAS = dict(use_relative_position_bias=(True, False),
            use_absolute_position_embeddings=(True, False), use_mean_pooling=(True, False),
            layer_scale_init_value=(0.1,), qkv_bias=(True,))
CLIP = dict(hidden_act=("quick_gelu", "gelu"), layer_norm_eps=(1e-5, 1e-6))
SIGLIP = dict(hidden_act=("gelu_pytorch_tanh", "gelu"))
AIMV2 = dict(qkv_bias=(False,), mlp_bias=(False,), hidden_act=("silu",), use_head=(True, False))
MLCD = dict(hidden_act=("gelu", "quick_gelu"), layer_norm_eps=(1e-5, 1e-6))

# class: (of its config's keys the values that are drawn, processor, what is compared)
CLASSES = {
    "ViTForImageClassification": (VIT, "ViT", logits),
    "ViTModel": (VIT, "ViT", first),
    "ViTMAEModel": (VIT, "ViT", unmasked),
    "ViTMAEForPreTraining": (VIT | dict(decoder_hidden_size=(16,), decoder_num_attention_heads=(2,),
                                        decoder_num_hidden_layers=(1,),
                                        decoder_intermediate_size=(8,)), "ViT", unmasked),
    "ViTMSNForImageClassification": (VIT, "ViT", logits),
    "ViTMSNModel": (VIT, "ViT", first),
    "DeiTForImageClassification": (VIT, "DeiT", logits),
    "DeiTForImageClassificationWithTeacher": (VIT, "DeiT", logits),
    "DeiTModel": (VIT, "DeiT", first),
    "Dinov2ForImageClassification": (SWIGLU, "Bit", logits),
    "Dinov2Model": (SWIGLU, "Bit", first),
    "Dinov2WithRegistersForImageClassification":
        (SWIGLU | dict(num_register_tokens=(1, 4)), "Bit", logits),
    "Dinov2WithRegistersModel": (SWIGLU | dict(num_register_tokens=(1, 4)), "Bit", first),
    "DINOv3ViTModel": (DINOV3, "DINOv3ViT", first),
    "IJepaForImageClassification": (VIT, "ViT", logits),
    "IJepaModel": (VIT, "ViT", mean),
    "BeitForImageClassification": (BIAS, "Beit", logits),
    "Data2VecVisionForImageClassification": (BIAS, "Beit", logits),
    "PixioModel": (RATIO | dict(n_cls_tokens=(1, 3)), "Bit", pooled),
    "Tipsv2VisionModel": (SWIGLU | dict(num_register_tokens=(1,)), "Tipsv2", pooled),
    "Tipsv2Model": (SWIGLU | dict(num_register_tokens=(1,)), "Tipsv2", image),
    "Aimv2VisionModel": (AIMV2, "CLIP", pooled),
    "Aimv2Model": (AIMV2, "CLIP", image),
    "CLIPModel": (CLIP, "CLIP", image),
    "CLIPVisionModel": (CLIP, "CLIP", pooled),
    "CLIPVisionModelWithProjection": (CLIP, "CLIP", embeds),
    "CLIPForImageClassification": (CLIP, "CLIP", logits),
    "MetaClip2Model": (CLIP, "CLIP", image),
    "MetaClip2VisionModel": (CLIP, "CLIP", pooled),
    "MetaClip2VisionModelWithProjection": (CLIP, "CLIP", embeds),
    "MetaClip2ForImageClassification": (CLIP, "CLIP", logits),
    "SiglipModel": (SIGLIP, "Siglip", image),
    "SiglipVisionModel": (SIGLIP, "Siglip", pooled),
    "SiglipForImageClassification": (SIGLIP, "Siglip", logits),
    "MLCDVisionModel": (MLCD, "CLIP", pooled),
}


def config_of(kind, keys, r):
    """A config of the class with random sizes."""
    heads, patch, count = r.choice((2, 3, 4)), r.choice((4, 7, 8, 14)), r.choice((2, 3, 5))
    values = dict(hidden_size=heads * r.choice((8, 12)), num_attention_heads=heads,
                  num_hidden_layers=2, image_size=patch * count, patch_size=patch)
    if "mlp_ratio" not in keys:
        values["intermediate_size"] = r.randrange(8, 60)
    values |= {key: r.choice(choices) for key, choices in keys.items()}
    labels = dict(num_labels=r.randrange(3, 9)) if "ForImageClassification" in kind.__name__ else {}
    make = kind.config_class
    if "vision_config" not in getattr(make, "sub_configs", {}):
        more = dict(projection_dim=r.randrange(5, 20)) if "WithProj" in kind.__name__ else {}
        return make(**values, **more, **labels), values["image_size"]
    if "use_head" in values:
        values["use_head"] = True  # the class needs it
    text = dict(TEXT)
    if make.model_type == "tipsv2":  # both towers have the same width
        text |= dict(hidden_size=values["hidden_size"], num_attention_heads=heads)
    return make(vision_config=values, text_config=text, projection_dim=16, **labels), \
        values["image_size"]


def processor_of(name, side, r):
    kinds = [name + end for end in ("ImageProcessor", "ImageProcessorFast")
             if hasattr(transformers, name + end)]
    square = dict(height=side, width=side)
    keys = dict(size=square, crop_size=square)
    if name in ("CLIP", "Bit") and r.random() < .5:
        keys["size"] = dict(shortest_edge=side + r.randrange(3))
    return getattr(transformers, r.choice(kinds))(**keys)


def save(name, directory, picture, seed):
    """Saves a network of the class; returns its answer for the picture."""
    r = random.Random(f"{name} {seed}")
    keys, processor, compared = CLASSES[name]
    kind = getattr(transformers, name)
    config, side = config_of(kind, keys, r)
    model = published.randomise(kind(config), r.randrange(1 << 30))
    model.save_pretrained(directory)
    prepare = processor_of(processor, side, r)
    prepare.save_pretrained(directory)
    with torch.no_grad():
        x = prepare(Image.open(picture), return_tensors="pt")["pixel_values"]
        return compared(model, x)[0].numpy()


def answer(directory, picture, embeds):
    """(numbers, or None; what vit-classify says instead)"""
    run = subprocess.run([ROOT / "build/bin/vit-classify", "--model", directory, "--json",
                          "--embed" if embeds else "--logits", picture],
                         capture_output=True, text=True)
    key = "embedding" if embeds else "logits"
    return (json.loads(run.stdout)[key], "") if run.returncode == 0 else (None, run.stderr)


def verdict(name, root, picture, seed):
    directory = root / "model"
    directory.mkdir(exist_ok=True)
    for file in directory.iterdir():
        file.unlink()
    if not hasattr(transformers, name):
        return "not in this version", ""
    try:
        want = save(name, directory, picture, seed)
    except Exception as error:  # the library's own: any kind
        return "not made", f"{type(error).__name__}: {str(error)[:80]}"
    got, message = answer(directory, picture, CLASSES[name][2] is not logits)
    if got is None:
        return "refused", message.strip()
    if len(got) != len(want):
        return "WRONG", f"{len(got)} numbers, expected {len(want)}"
    share = np.abs(np.array(got) - want).max() / np.abs(want).max()
    return "exact" if share <= BOUND else "WRONG", f"{share:.1e}"


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--times", type=int, default=4, help="networks of each class")
    parser.add_argument("names", nargs="*", metavar="CLASS")
    options = parser.parse_args(arguments)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    table = (ROOT / "vit/weights/configs/hugging_face.c").read_text()
    types = {getattr(transformers, name).config_class.model_type for name in CLASSES}
    missing = set(re.findall(r'\{\.type = "([^"]+)"', table)) - types
    if missing:
        print("no class here has the \"model_type\"", *sorted(missing))
        return 1
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        pictures = [root / "picture.png", root / "picture.jpg"]  # the second is read row by row
        for picture in pictures:
            published.picture().save(picture)
        for name in options.names or CLASSES:
            for i in range(options.times):
                kind, line = verdict(name, root, pictures[i % 2], options.seed + i)
                counts[kind] += 1
                print(f"{name}: {kind} {line}", flush=True)
    print(f"transformers {transformers.__version__}, {len(options.names or CLASSES)} classes: " +
          ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
