#!/usr/bin/env python3
"""Converts random networks with vit-convert, loads what it wrote with timm, transformers and
torchvision, and compares the logits with those of the network it began with.

usage: tests/cli/convert_peers.py [BUILD]      needs torch, timm, transformers, torchvision
Prints a row for each network and layout; exits 1 where names do not match or logits differ by more
than 2e-5 of the largest.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import timm
import torch
import torchvision
import transformers
from safetensors.torch import load_file, save_file

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
BOUND = 2e-5
SMALL = dict(img_size=48, patch_size=16, embed_dim=39, depth=2, num_heads=3, num_classes=7)
CFG = dict(input_size=[3, 48, 48], interpolation="bicubic", crop_pct=0.9, crop_mode="center",
           mean=[0.5, 0.5, 0.5], std=[0.5, 0.5, 0.5])

# What begins: timm's constructor, its arguments, and the layouts that have words for the network.
NETWORKS = {
    "plain": ("vit_base_patch16_224", {}, "timm hf torchvision npz"),
    "no qkv bias": ("vit_base_patch16_224", dict(qkv_bias=False), "timm hf"),
    "registers": ("vit_base_patch16_224", dict(reg_tokens=2, no_embed_class=True), "timm"),
    "mean, fc_norm": ("vit_base_patch16_224",
                      dict(global_pool="avg", class_token=False), "timm"),
    "mean, norm": ("vit_base_patch16_224",
                   dict(global_pool="avg", class_token=False, fc_norm=False), "timm npz"),
    "layer scale, qk norm": ("vit_base_patch16_224", dict(init_values=0.1, qk_norm=True), "timm"),
    "norm_pre": ("vit_base_patch16_224", dict(pre_norm=True), "timm"),
    "map": ("vit_base_patch16_224", dict(global_pool="map", class_token=False), "timm"),
    "gelu tanh": ("vit_base_patch16_224", dict(act_layer="gelu_tanh"), "timm hf npz"),
    "odd mlp": ("vit_base_patch16_224", dict(mlp_ratio=50 / 39), "timm hf torchvision npz"),
    "distilled": ("deit_base_distilled_patch16_224", {}, "timm hf"),
    "swiglu": ("vit_giant_patch14_dinov2", dict(mlp_ratio=80 / 39, init_values=0.1), "timm"),
    "wide": ("vit_base_patch16_224", dict(img_size=(32, 48)), "timm npz"),
    "grey": ("vit_base_patch16_224", dict(in_chans=1), "timm hf torchvision npz"),
}


def make(architecture, changes):
    torch.manual_seed(len(str(changes)))
    args = dict(SMALL, **changes)
    model = timm.create_model(architecture, **args).eval()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.15) if p.dim() > 1 else torch.nn.init.uniform_(p, 0.5, 1.5)
    return model, args


def write_timm(directory, architecture, model, args):
    directory.mkdir()
    save_file(model.state_dict(), directory / "model.safetensors")
    h, w = np.broadcast_to(args["img_size"], 2).tolist()
    args = {k: v for k, v in args.items() if k != "num_classes"}
    config = dict(architecture=architecture, num_classes=7, model_args=args,
                  pretrained_cfg=dict(CFG, input_size=[args.get("in_chans", 3), h, w]),
                  label_names=[f"label {i}" for i in range(7)])
    (directory / "config.json").write_text(json.dumps(config))
    return h, w


def convert(source, target, layout):
    subprocess.run([BUILD / "bin/vit-convert", source, target, "--layout", layout], check=True,
                   capture_output=True, text=True)


# ---- the libraries ----

def with_timm(directory, _):
    return timm.create_model(f"local-dir:{directory}", pretrained=True).eval()


def with_npz(directory, _):
    config = json.loads((directory / "config.json").read_text())
    model = timm.create_model(config["architecture"], num_classes=7, **config["model_args"])
    for p in model.parameters():
        torch.nn.init.constant_(p, float("nan"))
    model.load_pretrained(str(directory / "model.npz"))
    return model.eval()


def with_hf(directory, _):
    name = json.loads((directory / "config.json").read_text())["architectures"][0]
    model, report = getattr(transformers, name).from_pretrained(directory,
                                                                output_loading_info=True)
    wrong = [report[k] for k in ("missing_keys", "unexpected_keys", "mismatched_keys")]
    assert not any(wrong), wrong
    assert model.config.id2label[3] == "label 3"
    mean = transformers.AutoImageProcessor.from_pretrained(directory).image_mean
    assert list(mean) == [0.5] * model.config.num_channels, mean
    model.eval()
    return lambda x: model(x).logits


def with_torchvision(directory, args):
    model = torchvision.models.VisionTransformer(
        image_size=args["img_size"], patch_size=16, num_layers=2, num_heads=3, hidden_dim=39,
        mlp_dim=int(39 * args.get("mlp_ratio", 4)), num_classes=7)
    if args.get("in_chans", 3) != 3:
        model.conv_proj = torch.nn.Conv2d(args["in_chans"], 39, 16, 16)
    model.load_state_dict(load_file(directory / "model.safetensors"))
    return model.eval()


LOADERS = {"timm": with_timm, "hf": with_hf, "torchvision": with_torchvision, "npz": with_npz}


def compare(name, layout, model, work, args, size):
    out = work / f"{layout} {name}"
    convert(work / name, out, layout)
    with torch.no_grad():
        x = torch.randn(3, args.get("in_chans", 3), *size)
        want, got = model(x), LOADERS[layout](out, args)(x)
    error = float((got - want).abs().max() / want.abs().max())
    print(f"{name:22} {layout:12} {error:.1e}{'' if error <= BOUND else '  TOO MUCH'}")
    return error <= BOUND


def main():
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    good = True
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for name, (architecture, changes, layouts) in NETWORKS.items():
            model, args = make(architecture, changes)
            size = write_timm(work / name, architecture, model, args)
            for layout in layouts.split():
                good &= compare(name, layout, model, work, args, size)
    sys.exit(not good)


if __name__ == "__main__":
    main()
