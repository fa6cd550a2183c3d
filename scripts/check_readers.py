"""What scripts/check-readers runs."""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/fixtures"))
import torch  # noqa: E402
import make_readers as make  # noqa: E402

BUILD = ROOT / "build"
TIE = 2e-5  # of a score: closer ones differ by rounding alone


def random_case(seed):
    r = random.Random(seed)
    size = r.choice([16, 24, 32])
    kind = r.choice(["vit", "vit", "deit"])
    heads = r.choice([1, 2, 4])
    encoder = make.encoder_config(
        kind, size, hidden_size=heads * r.choice([4, 8, 12]), num_hidden_layers=r.choice([1, 2, 3]),
        num_attention_heads=heads, intermediate_size=r.randrange(8, 40),
        qkv_bias=kind == "deit" or r.random() < .5)
    tokenizer = r.choice(["bpe", "vocab", "xlmr", "gpt2"])
    vocabulary = make.TOKENIZERS[tokenizer][0] + r.choice([0, 0, 7])
    heads = r.choice([1, 2, 3])
    width = heads * r.choice([6, 8, 12])
    joined = {} if width == encoder.hidden_size or r.random() < .5 else {
        "cross_attention_hidden_size": encoder.hidden_size}
    ties = r.random() < .5
    if tokenizer == "gpt2":
        decoder = make.gpt2(vocabulary, n_embd=width, n_head=heads, n_layer=r.choice([1, 2, 3]),
                            n_inner=r.choice([None, 30]), tie_word_embeddings=ties)
    else:
        decoder = make.trocr(
            vocabulary, d_model=width, decoder_attention_heads=heads,
            decoder_layers=r.choice([1, 2, 3]), decoder_ffn_dim=r.randrange(8, 50),
            activation_function=r.choice(["gelu", "relu"]), scale_embedding=r.random() < .5,
            layernorm_embedding=r.random() < .5, tie_word_embeddings=ties,
            use_learned_position_embeddings=r.random() < .5, **joined)
    length = r.randrange(6, 30)
    generation = dict(max_length=length) if r.random() < .8 else {}
    generation |= dict(length_penalty=r.choice([1.0, 1.0, 0.0, 2.0, .6, -1.0]),
                       early_stopping=r.choice([False, False, True, "never"]),
                       no_repeat_ngram_size=r.choice([0, 0, 2, 3]), num_beams=r.choice([1, 3]))
    return dict(seed=seed, encoder=encoder, decoder=decoder, tokenizer=tokenizer,
                form=r.choice(["safetensors", "bin", "sharded"]), names=r.choice([4, 5]),
                age=r.choice(["old", "new"]), generation=generation, cases=make.BEAMS,
                ends=None if ties else r.randrange(4),
                processor=r.choice(["preprocessor", "processor"]))


def answer(directory, arguments):
    run = subprocess.run([BUILD / "bin/vit-read", "--model", directory, "--json", *arguments,
                          directory / "picture.png"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"check-readers: {run.stderr}")
    return json.loads(run.stdout)


def compare(directory, name):
    """How many answers are the same, are ties, and differ."""
    counts = [0, 0, 0]
    for case in json.loads((directory / "expected.json").read_text())["cases"]:
        got = answer(directory, case["arguments"])
        near = abs(got["score"] - case["score"]) <= TIE * max(1, abs(case["score"]))
        same = got["tokens"] == case["tokens"] and near
        counts[0 if same else 1 if near else 2] += 1
        if not same:
            print(f"{name} {' '.join(case['arguments'])}: {'tie' if near else 'DIFFERS'}\n"
                  f"  here         {got['score']:.7f} {got['tokens']}\n"
                  f"  transformers {case['score']:.7f} {case['tokens']}")
    return counts


def logits(directory):
    run = subprocess.run([BUILD / "tests/weights/test_readers"], cwd=ROOT, capture_output=True,
                         text=True, env=os.environ | {"VIT_READER": str(directory)})
    if run.returncode:
        print(run.stdout + run.stderr)
    return run.returncode == 0


def write_words(where, count):
    """A tokenizer of `count` words in place of a fixture's."""
    words = ["<s>", "<pad>", "</s>", "<unk>"] + [f"w{i}" for i in range(4, count)]
    (where / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    (where / "merges.txt").write_text("#version: 0.2\n")
    (where / "tokenizer_config.json").write_text(json.dumps(dict(
        tokenizer_class="RobertaTokenizer", clean_up_tokenization_spaces=True)))


def build_full(where, cases):
    """TrOCR-base as published, except for its weights."""
    encoder = make.encoder_config(size=384, hidden_size=768, num_hidden_layers=12, patch_size=16,
                                  num_attention_heads=12, intermediate_size=3072)
    decoder = make.trocr(50265, d_model=1024, decoder_layers=12, decoder_attention_heads=16,
                         decoder_ffn_dim=4096, max_position_embeddings=512,
                         cross_attention_hidden_size=768)
    make.build(where, 1, encoder, decoder, cases=cases, generation=dict(max_length=20),
               text=lambda ids: "".join(f"w{i}" for i in ids if i > 3))
    write_words(where, 50265)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full", action="store_true")
    chosen = parser.parse_args()
    torch.set_num_threads(os.cpu_count() if chosen.full else 1)
    fine, total, start = 0, [0, 0, 0], time.time()
    with tempfile.TemporaryDirectory() as scratch:
        numbers = [None] if chosen.full else range(chosen.seed, chosen.seed + chosen.models)
        for number in numbers:
            where = pathlib.Path(scratch) / "reader"
            if number is None:
                build_full(where, ({}, {"num_beams": 4}))
            else:
                make.build(where, **random_case(number))
            name = "TrOCR-base" if number is None else f"model {number}"
            same, counts = logits(where), compare(where, name)
            if not same:
                print(f"{name}: logits DIFFER")
            fine += same
            total = [a + b for a, b in zip(total, counts)]
            make.shutil.rmtree(where)
            if number is not None and number % 10 == 9:
                print(f"... {number + 1 - chosen.seed}: {total}", file=sys.stderr, flush=True)
    print(f"{len(numbers)} models: logits of {fine} within 2e-5 of the largest; of "
          f"{sum(total)} answers {total[0]} are the same, {total[1]} ties, {total[2]} differ "
          f"({time.time() - start:.0f} s)")
    sys.exit(0 if fine == len(numbers) and total[2] == 0 else 1)


if __name__ == "__main__":
    main()
