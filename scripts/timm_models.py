#!/usr/bin/env python3
"""Writes vit/weights/configs/timm_models.json: what timm's architectures are built of.

usage: scripts/timm_models.py [--check]      needs timm; --check: only compares

A line for each name in timm's registry, also for those that it has renamed: the class, the
arguments that the name stands for, with some defaults of the class, and how pictures are prepared.
Layers have the names of their classes;
the epsilon of a norm layer that has one of its own is "norm_eps".
"""
import dataclasses
import functools
import importlib
import inspect
import json
import pathlib
import sys

import timm
import timm.models._registry as registry
import torch

PATH = pathlib.Path(__file__).parent.parent / "vit/weights/configs/timm_models.json"
MODULES = ("vision_transformer", "deit", "eva", "beit", "vision_transformer_relpos",
           "naflexvit")
ALWAYS = ("patch_size", "embed_dim", "depth", "num_heads", "global_pool", "qkv_bias")
PICTURES = ("input_size", "mean", "std", "interpolation", "crop_pct", "crop_mode")
CLASSES = ("VisionTransformer", "VisionTransformerDistilled", "Eva", "Beit",
           "VisionTransformerRelPos", "NaFlexVit")
# What the factory of a class takes for itself, or what changes no answer.
IDLE = ("pretrained_filter_fn", "feature_cfg", "pretrained_strict", "out_indices", "weight_init",
        "fix_init", "head_init_scale", "num_classes", "img_size", "strict_img_size")


class Built(Exception):
    pass


def plain(value):
    """A value as JSON has it; a class or function is its name."""
    if isinstance(value, functools.partial):
        return {"of": plain(value.func), **{k: plain(v) for k, v in value.keywords.items()}}
    if inspect.isclass(value) or callable(value):
        return value.__name__
    return list(value) if isinstance(value, tuple) else value


def arguments(cls, given):
    cfg = given.pop("cfg", None)
    if cfg:  # NaFlexVit's arguments in one object
        usual = type(cfg)()
        given |= {f.name: getattr(cfg, f.name) for f in dataclasses.fields(cfg)
                  if f.name in ALWAYS or getattr(cfg, f.name) != getattr(usual, f.name)}
    own = {k: v for k, v in given.items() if k not in IDLE and v is not None}
    defaults = inspect.signature(cls.__init__).parameters
    for key in ALWAYS:
        if key in defaults and key not in own:
            own[key] = defaults[key].default
    out = {key: plain(value) for key, value in own.items()}
    if isinstance(out.get("mlp_layer"), dict):
        assert out["mlp_layer"] == {"of": "GluMlp", "act_layer": "SiLU", "gate_last": False}
        out["mlp_layer"] = "SwiGLUPacked"
    if "act_layer" in out:
        out["act_layer"] = out["act_layer"].lower()
    norm = out.get("norm_layer")
    if isinstance(norm, dict):
        out["norm_layer"] = norm["of"]
        out["norm_eps"] = norm["eps"]
    return out


def pictures(model):
    """How they are prepared where a config does not say it."""
    cfg = timm.get_pretrained_cfg(model).to_dict()
    return {key: plain(cfg[key]) for key in PICTURES if key in cfg}


def lines():
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"timm.models.{name}")

        def build(cls, variant, pretrained, **given):
            raise Built(cls, given)

        module.build_model_with_cfg = build
        for model in timm.list_models(module=name):
            try:
                with torch.device("meta"):
                    timm.create_model(model)
                sys.exit(f"{model} is built by another function")
            except Built as built:
                cls, given = built.args
                if cls.__name__ not in CLASSES:
                    sys.exit(f"{model} is of a class that merge() in timm.c does not know")
                found[model] = {"class": cls.__name__, "args": arguments(cls, given),
                                "cfg": pictures(model)}
    for name in MODULES:
        for old, new in registry._module_to_deprecated_models[name].items():
            if new and timm.is_model_pretrained(new):
                found[old] = {**found[new.split(".")[0]], "cfg": pictures(new)}
    return [json.dumps({name: found[name]})[1:-1] for name in sorted(found)]


if __name__ == "__main__":
    text = "{\n" + ",\n".join(lines()) + "\n}\n"
    if "--check" in sys.argv[1:]:
        sys.exit(text != PATH.read_text())
    PATH.write_text(text)
