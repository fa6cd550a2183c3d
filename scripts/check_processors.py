"""What scripts/check-processors runs."""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers
from PIL import Image

CLASSIFY = pathlib.Path(__file__).resolve().parent.parent / "build/bin/vit-classify"
# the classes of vit/weights/configs/hugging_face.c, and the sides of what they make by default
SIDES = {"ViT": 224, "DeiT": 224, "Beit": 224, "CLIP": 224, "Bit": 224, "ConvNext": 384,
         "Siglip": 224, "DINOv3ViT": 224, "Tipsv2": 448}
BOUND = 2e-5  # of the largest logit


def network(directory, side):
    torch.manual_seed(side)
    model = transformers.ViTForImageClassification(transformers.ViTConfig(
        hidden_size=24, num_hidden_layers=1, num_attention_heads=3, intermediate_size=40,
        image_size=side, patch_size=side // 4, num_labels=5)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * .3 / max(1, parameter.shape[-1]) ** .5)
    model.save_pretrained(directory)
    return model


def random_keys(r, kind):
    """Keys of a file for a network of 32 x 32, most of which lead to that size."""
    side = r.choice([32, 32, 36, 40])
    keys = {"size": r.choice([side, {"height": side, "width": side}, {"shortest_edge": side},
                              {"height": side, "width": side + 3}])}
    for key, share, values in (
            ("crop_size", .7, [32, {"height": 32, "width": 32}]),
            ("do_center_crop", .6, [True, True, False]), ("resample", .3, [0, 1, 2, 3]),
            ("default_to_square", .2, [True, False]), ("do_rescale", .2, [True, False]),
            ("do_normalize", .2, [True, False]), ("rescale_factor", .2, [1 / 255, 1 / 127.5, .01]),
            ("crop_pct", .5 if kind == "ConvNext" else 0, [.875, .9, 1.0, .7])):
        if r.random() < share:
            keys[key] = r.choice(values)
    if r.random() < .5:
        keys |= {"image_mean": [.3, .4, .5], "image_std": [.2, .25, .3]}
    return keys


def theirs(model, name, keys, picture):
    """The library's logits, or why it gives none."""
    side = model.config.image_size
    try:
        pixels = getattr(transformers, name)(**keys)(picture, return_tensors="pt")["pixel_values"]
    except Exception as error:  # the library's own: any kind
        return f"{type(error).__name__}: {error}"
    if tuple(pixels.shape) != (1, 3, side, side):
        return f"pixels of shape {tuple(pixels.shape)}"
    with torch.no_grad():
        return model(pixels.float()).logits[0].numpy()


def ours(directory, name, keys, picture):
    (directory / "preprocessor_config.json").write_text(
        json.dumps({"image_processor_type": name} | keys))
    picture.save(directory / "picture.png")
    run = subprocess.run([CLASSIFY, "--model", directory, "--json", "--logits",
                          directory / "picture.png"], capture_output=True, text=True)
    if run.returncode:
        return run.stderr
    return np.array(json.loads(run.stdout)["logits"])


def compare(directory, model, name, keys, r):
    """"same"; "refused" where the library gives nothing that the network takes; "not supported"
    where that is said; or what is wrong."""
    size = r.randrange(20, 160), r.randrange(20, 160)
    picture = Image.fromarray(np.frombuffer(r.randbytes(3 * size[0] * size[1]),
                                            np.uint8).reshape(size[1], size[0], 3))
    want, got = theirs(model, name, keys, picture), ours(directory, name, keys, picture)
    if isinstance(want, str):
        return "refused" if isinstance(got, str) else f"answered, the library says: {want}"
    if isinstance(got, str):
        return "not supported" if "not supported" in got else f"refused: {got.strip()}"
    difference = np.abs(got - want).max() / np.abs(want).max()
    return "same" if difference <= BOUND else f"logits differ by {difference:.2g}"


def endings(kind):
    return [""] if kind in ("DINOv3ViT", "Tipsv2") else ["", "Pil"]


def main():
    parser = argparse.ArgumentParser(prog="check-processors")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    r, counts, wrong = random.Random(args.seed), {}, 0
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as root:
        places = {side: pathlib.Path(root) / str(side) for side in {32, *SIDES.values()}}
        models = {side: network(place, side) for side, place in places.items()}
        cases = [(SIDES[kind], kind, ending, {}) for kind in SIDES for ending in endings(kind)]
        for _ in range(args.cases):
            kind = r.choice(sorted(SIDES))
            cases.append((32, kind, r.choice(endings(kind)), random_keys(r, kind)))
        for side, kind, ending, keys in cases:
            name = f"{kind}ImageProcessor{ending}"
            said = compare(places[side], models[side], name, keys, r)
            is_right = said == "same" or (keys and said in ("refused", "not supported"))
            wrong += not is_right
            counts[said if is_right else "wrong"] = counts.get(said if is_right else "wrong", 0) + 1
            if not is_right:
                print(f"{name} {json.dumps(keys)}: {said}")
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
