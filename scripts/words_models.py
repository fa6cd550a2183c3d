"""CLIP and SigLIP of published sizes with random weights, as directories: for check_words.py and
scripts/bench/words.py. CLIP has its own vocabulary, from the package open_clip."""
import gzip
import json
import pathlib
import sys

import open_clip
import torch
import transformers

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/fixtures"))
import make_words  # noqa: E402
from published_models import randomise  # noqa: E402

LABELS = ["cat", "dog", "a red bus", "don't", "naïve café", "東京タワー", "🐱🐶",
          "house number 42", "the top of a mountain in the evening light", "tree", "кошка",
          "γάτα", "قطة", "บ้าน", "a photo of two people who walk along a beach", "x",
          "fire engine", "snow", "12 apples",
          "a drawing of a street at night, with a bicycle in front of a shop"]


def clip_tokenizer(directory):
    path = pathlib.Path(open_clip.__file__).parent / "bpe_simple_vocab_16e6.txt.gz"
    lines = gzip.open(path, "rt", encoding="utf-8").read().split("\n")[1:49152 - 256 - 2 + 1]
    merges = [tuple(line.split()) for line in lines]
    letters = list(open_clip.tokenizer.bytes_to_unicode().values())
    words = letters + [c + "</w>" for c in letters] + [a + b for a, b in merges]
    words += ["<|startoftext|>", "<|endoftext|>"]
    made = transformers.CLIPTokenizer(vocab={w: i for i, w in enumerate(words)}, merges=merges,
                                      model_max_length=77)
    made.save_pretrained(directory)
    return made


def unigram_tokenizer(directory):
    return make_words.unigram_tokenizer(directory)[0]


def prepare(model, bias):
    model = randomise(model, 7)
    with torch.no_grad():
        model.logit_scale.fill_(4.6)
        if bias:
            model.logit_bias.fill_(-12.0)
    return model


def hugging_face(directory, kind, **config):
    """Its model, its tokenizer and its image processor; the directory is written."""
    siglip = kind == "SiglipModel"
    head = getattr(transformers, kind)
    model = prepare(head(head.config_class(**config)), siglip)
    tokenizer = (unigram_tokenizer if siglip else clip_tokenizer)(directory)
    processor = (transformers.SiglipImageProcessor if siglip
                 else transformers.CLIPImageProcessor)()
    model.save_pretrained(directory)
    processor.save_pretrained(directory)
    return model, tokenizer, processor


def open_clip_model(directory, name):
    configs = pathlib.Path(open_clip.__file__).parent / "model_configs"
    cfg = json.loads((configs / f"{name}.json").read_text())
    siglip = "init_logit_bias" in cfg
    kind = open_clip.CustomTextCLIP if siglip else open_clip.CLIP
    model = kind(**{k: v for k, v in cfg.items() if k not in ("custom_text",)})
    model = prepare(model, siglip)
    tokenizer = (unigram_tokenizer if siglip else clip_tokenizer)(directory)
    mean, std = ((.5, .5, .5), (.5, .5, .5)) if siglip else (open_clip.OPENAI_DATASET_MEAN,
                                                            open_clip.OPENAI_DATASET_STD)
    mode = "squash" if siglip else "shortest"
    picture = open_clip.image_transform(cfg["vision_cfg"]["image_size"], is_train=False, mean=mean,
                                        std=std, interpolation="bicubic", resize_mode=mode)
    preprocess = dict(mean=list(mean), std=list(std), interpolation="bicubic", resize_mode=mode)
    state = {k: v for k, v in model.state_dict().items() if k != "attn_mask"}
    make_words.write(directory, dict(model_cfg=cfg, preprocess_cfg=preprocess),
                     "open_clip_config.json", state, None, {})
    return model, tokenizer, picture


def clip_b32(directory):
    return hugging_face(directory, "CLIPModel")
