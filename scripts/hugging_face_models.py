#!/usr/bin/env python3
"""Writes vit/weights/configs/hugging_face_models.json: what Hugging Face's configs leave out.

usage: scripts/hugging_face_models.py [--check]  needs transformers 5; --check: only compares

A line for each "model_type": the keys that are read here, with the default of the type's class. A
config that was saved has only what differs from that, if it is a part of another one.
"""
import json
import pathlib
import sys

import transformers

PATH = pathlib.Path(__file__).parent.parent / "vit/weights/configs/hugging_face_models.json"
TYPES = ("vit", "vit_mae", "vit_msn", "ijepa", "deit", "dinov2", "dinov2_with_registers",
         "dinov3_vit", "mlcd_vision_model", "pixio", "tipsv2", "tipsv2_vision_model", "aimv2",
         "aimv2_vision_model",
         "beit", "data2vec-vision", "clip", "clip_text_model", "clip_vision_model", "metaclip_2",
         "metaclip_2_text_model", "metaclip_2_vision_model", "siglip", "siglip_text_model",
         "siglip_vision_model")
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
