#!/usr/bin/env python3
"""Writes vit/weights/configs/hugging_face_models.json: what Hugging Face's configs leave out.

usage: scripts/hugging_face_models.py [--check]  needs transformers 5; --check: only compares

A line for each "model_type" in the table of hugging_face.c: the keys that are read here, with the
default of the type's class. A config that was saved has only what differs from that, if it is a
part of another one.
"""
import json
import pathlib
import re
import sys

import transformers

PATH = pathlib.Path(__file__).parent.parent / "vit/weights/configs/hugging_face_models.json"
CLASSES = PATH.with_name("hugging_face.c")
TYPES = dict.fromkeys(re.findall(r'\.(?:type|part|text) = "([^"]+)"', CLASSES.read_text()))
KEYS = ("image_size", "patch_size", "num_channels", "hidden_size", "num_hidden_layers",
        "num_attention_heads", "intermediate_size", "mlp_ratio", "hidden_act", "layer_norm_eps",
        "qkv_bias", "use_swiglu_ffn", "use_gated_mlp", "rope_theta",
        "use_absolute_position_embeddings", "use_relative_position_bias",
        "use_shared_relative_position_bias", "use_mean_pooling", "layer_scale_init_value",
        "projection_dim", "vision_use_head", "vocab_size", "max_position_embeddings",
        "projection_size", "eos_token_id", "n_cls_tokens", "rms_norm_eps", "mlp_bias", "use_head",
        "is_native", "rope_parameters", "num_key_value_groups")


def line(kind):
    config = transformers.AutoConfig.for_model(kind).to_dict()
    found = {key: config[key] for key in KEYS if config.get(key) is not None}
    return json.dumps({kind: found})[1:-1]


if __name__ == "__main__":
    text = "{\n" + ",\n".join(line(kind) for kind in TYPES) + "\n}\n"
    if "--check" in sys.argv[1:]:
        sys.exit(text != PATH.read_text())
    PATH.write_text(text)
