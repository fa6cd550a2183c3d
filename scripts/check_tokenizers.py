#!/usr/bin/env python3
"""Compares the ids of vit's tokenizers with those of the libraries tokenizers, transformers and
sentencepiece, over random texts in many scripts. scripts/check-tokenizers says how to use it.

Vocabularies are trained here, on made-up words, to the sizes of the published ones."""
import argparse
import base64
import json
import os
import random
import struct
import subprocess
import sys
import unicodedata

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)
from tokenizers.pre_tokenizers import ByteLevel

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SCRIPTS = [
    "abcdefghijklmnopqrstuvwxyz",
    "aeiouéèüößñçåø",
    "абвгдежзийклмнопрстуфхцчшщыэюя",
    "αβγδεζηθικλμνξοπρσςτυφχψωάέή",
    "אבגדהוזחטיכלמנסעפצקרשת",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "अआइईउऊएऐओकखगघचजटडतदनपबमयरलवश"
    "सह्िाे",
    "กขคงจฉชซญดตถทธนบปผพฟมยรลวสหอ"
    "ะาิีุู",
    "가나다라마바사아자차카타파하한국어글",
    "あいうえおかきくけこさしすせそタワトマリン",
    "的一是不了人我在有他这中大来上国東京都",
    "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძ"
    "წჭხჯჰ",
    "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփք",
    "ကခဂငစဆဇညတထဒနပဖဗမယရလဝသဟအာိီုူ",
    "አበገደሀወዘየከለመነሰዐፈጸቀረሸተኀ",
    "ᄀᄂ다ᅢᆨᆫ",
    "ꙮѫѭѩѯѱѳѵ",
    "𐐀𐐁𐐨𐐩𐑀",
    "😀🐱🐶👩‍👩‍👧🇩🇪🏽❤️",
    "0123456789²³½Ⅷ٣४",
]
SPECIALS = {"clip": ["<|startoftext|>", "<|endoftext|>"],
            "roberta": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
            "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
            "gemma": ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]}


# ---- texts ----

def word(r):
    letters = r.choice(SCRIPTS[:3] if r.random() < 0.6 else SCRIPTS)
    return "".join(r.choice(letters) for _ in range(max(1, int(r.expovariate(0.22)))))


def corpus(lines, seed=1):
    r = random.Random(seed)
    words = [word(r) for _ in range(lines * 3)]
    for _ in range(lines):
        yield " ".join(words[min(int(r.paretovariate(0.7)) - 1, len(words) - 1)]
                       for _ in range(8)) + r.choice([".", "!", ", and", "?", " 12", "'s"])


ODD = [
    "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u200b", "\u200d", "\ufeff", "\u2028", "\u0000",
    "\u001c", "\u0085", "'s", "'ll", "'T", "\u0130", "\u1e9e", "\u03c2", "\u03a3", "\ufb01",
    "\u00c5", "e\u0301", "a\u0328\u0301", "\u0301", "\u2026", "\u201c", "\u201d", "\u00bf", "_",
    "<|endoftext|>", "</s>", "<mask>", "[SEP]", "<unk>", "&amp;", "  ", "   ", "\u2581", "\u2167",
    "\u00bd", "\u2460", "\u3300", "\u1100\u1161\u11a8", "\U0001f1e6", "\ufffd", "\ufdfa",
    "\u03a9", "K", "\u0345", "\u05b0", "\u0915\u094d\u0937", "\u0600", "\U0010ffff", "\ue000",
    "\u00c5\u00c9", "\u01c5", "\u017f", "\u00df",
]


BLOCKS = [(0x20, 0x3000), (0x20, 0x300), (0x300, 0x370), (0xA000, 0xD800), (0xF900, 0x10000),
          (0x10000, 0x20000), (0x1F300, 0x1FB00)]


def text(r, known):
    parts = []
    for _ in range(r.randint(0, 12)):
        kind = r.random()
        if kind < 0.35:
            w = r.choice(known)
            case = r.random()
            parts.append(w.upper() if case < 0.1 else w.capitalize() if case < 0.3 else w)
        elif kind < 0.5:
            parts.append(r.choice(ODD))
        elif kind < 0.75:
            parts.append(r.choice(" .,;:!?-()[]{}\"'/\\#@&*%$€0123456789"))
        elif kind < 0.9:
            parts.append(chr(r.randrange(*r.choice(BLOCKS))))
        else:
            parts.append(" ")
    return "".join(parts)


# ---- tokenizers ----

def save(t, directory):
    os.makedirs(directory, exist_ok=True)
    t.save(f"{directory}/tokenizer.json", pretty=False)


def write(directory, name, value):
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/{name}", "w") as f:
        f.write(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def slow_files(t, directory, config):
    model = json.loads(t.to_str())["model"]
    write(directory, "vocab.json", model["vocab"])
    merges = "".join(f"{a} {b}\n" for a, b in model["merges"])
    write(directory, "merges.txt", "#version: 0.2\n" + merges)
    write(directory, "tokenizer_config.json", config)


CLIP_SPLIT = (r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|"
              r"[^\s\p{L}\p{N}]+")
LLAMA_SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
               r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K_SPLIT = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
               r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
               r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|"
               r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def make_clip(directory, lines, size):
    t = Tokenizer(models.BPE(end_of_word_suffix="</w>", unk_token="<|endoftext|>"))
    t.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(CLIP_SPLIT), behavior="removed", invert=True),
         ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.ByteLevel()
    # as published: 256 bytes, 256 bytes that end a word, merges, two special tokens
    alphabet = sorted(ByteLevel.alphabet())
    t.train_from_iterator(corpus(lines), trainers.BpeTrainer(
        vocab_size=size - 2, end_of_word_suffix="</w>", initial_alphabet=alphabet,
        show_progress=False))
    model = json.loads(t.to_str())
    vocab, merges = model["model"]["vocab"], model["model"]["merges"]
    pieces = alphabet + [a + "</w>" for a in alphabet]
    merged = ["".join(m) for m in merges if "".join(m) not in pieces]
    merges = [m for m in merges if "".join(m) in merged][:size - 2 - len(pieces)]
    pieces = list(dict.fromkeys(pieces + ["".join(m) for m in merges])) + SPECIALS["clip"]
    t.model = models.BPE(vocab={p: i for i, p in enumerate(pieces)},
                         merges=[tuple(m) for m in merges], end_of_word_suffix="</w>",
                         unk_token="<|endoftext|>", continuing_subword_prefix="")
    t.add_special_tokens(SPECIALS["clip"])
    last = t.token_to_id("<|endoftext|>")
    t.post_processor = processors.RobertaProcessing(
        ("<|endoftext|>", last), ("<|startoftext|>", last - 1), False, False)
    save(t, directory)
    slow_files(t, directory + "_files", {"tokenizer_class": "CLIPTokenizer"})


def make_bytes(directory, lines, size):
    """RoBERTa's and GPT-2's, and other ways to cut before the same vocabulary."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(lines), trainers.BpeTrainer(
        vocab_size=size, special_tokens=SPECIALS["roberta"] + ["<|endoftext|>"],
        show_progress=False, initial_alphabet=ByteLevel.alphabet()))
    slow_files(t, f"{directory}/gpt2_files", {"tokenizer_class": "GPT2Tokenizer"})
    for name in ("gpt2", "llama", "o200k"):
        if name != "gpt2":
            split = LLAMA_SPLIT if name == "llama" else O200K_SPLIT
            t.pre_tokenizer = pre_tokenizers.Sequence(
                [pre_tokenizers.Split(Regex(split), "isolated"),
                 ByteLevel(add_prefix_space=False, use_regex=False)])
        save(t, f"{directory}/{name}")
    t.pre_tokenizer = ByteLevel(add_prefix_space=True)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    save(t, f"{directory}/roberta")
    slow_files(t, f"{directory}/roberta_files",
               {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True})


def make_wordpiece(directory, lines, size):
    for cased in (False, True):
        t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        t.normalizer = normalizers.BertNormalizer(lowercase=not cased)
        t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        t.decoder = decoders.WordPiece()
        t.train_from_iterator(corpus(lines), trainers.WordPieceTrainer(
            vocab_size=size, special_tokens=SPECIALS["bert"], show_progress=False))
        t.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]",
            special_tokens=[("[CLS]", t.token_to_id("[CLS]")), ("[SEP]", t.token_to_id("[SEP]"))])
        name = f"{directory}/bert_{'cased' if cased else 'uncased'}"
        save(t, name)
        vocab = sorted(t.get_vocab().items(), key=lambda item: item[1])
        write(name + "_files", "vocab.txt", "".join(f"{w}\n" for w, _ in vocab))
        write(name + "_files", "tokenizer_config.json",
              {"tokenizer_class": "BertTokenizer", "do_lower_case": not cased})


def make_gemma(directory, lines, size):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    special = SPECIALS["gemma"] + [f"<0x{b:02X}>" for b in range(256)]
    t.train_from_iterator((line.replace(" ", "▁") for line in corpus(lines)), trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, show_progress=False, max_token_length=16))
    model = json.loads(t.to_str())
    model["added_tokens"] = [a for a in model["added_tokens"] if a["content"] in SPECIALS["gemma"]]
    t = Tokenizer.from_str(json.dumps(model))
    t.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    t.post_processor = processors.TemplateProcessing(single="$A <eos>",
                                                     special_tokens=[("<eos>", 1)])
    save(t, directory)
    make_siglip2(f"{directory}_siglip2_files", json.loads(t.to_str()))


def make_siglip2(directory, model):
    """As SigLIP 2 is published: nothing becomes lower case, and runs of spaces and lines, and tags,
    are tokens that are found in texts."""
    model["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    vocab = model["model"]["vocab"]
    for text in ["<2mass>", "[@BOS@]", "<unused0>", "<start_of_turn>", "<table>", "<b>",
                 *("\n" * n for n in range(1, 5)), *("▁" * n for n in range(2, 6))]:
        vocab.setdefault(text, len(vocab))
        model["added_tokens"].append({
            "id": vocab[text], "content": text, "single_word": False, "lstrip": False,
            "rstrip": False, "normalized": False, "special": "turn" in text})
    write(directory, "tokenizer.json", model)
    write(directory, "tokenizer_config.json",
          {"tokenizer_class": "GemmaTokenizer", "add_bos_token": False, "add_eos_token": True,
           "do_lower_case": True, "padding_side": "right", "bos_token": "<bos>",
           "eos_token": "<eos>", "pad_token": "<pad>", "unk_token": "<unk>"})


def make_sentencepiece(directory, lines, size, **rules):
    os.makedirs(directory, exist_ok=True)
    for kind, more in (("unigram", {}), ("bpe", {"byte_fallback": True}),
                       ("plain", {"add_dummy_prefix": False, "remove_extra_whitespaces": False,
                                  "normalization_rule_name": "identity"})):
        more = {**rules, **more} if kind != "plain" else more
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=corpus(lines), model_prefix=f"{directory}/{kind}",
            vocab_size=min(size, 2000) if kind == "plain" else size, minloglevel=2,
            hard_vocab_limit=False, character_coverage=0.9999,
            model_type="bpe" if kind == "bpe" else "unigram", **more)
        os.remove(f"{directory}/{kind}.vocab")
    # XLM-R's, by its file and as a tokenizer.json; SigLIP's, which has </s> as 1, <unk> as 2
    path = f"{directory}/unigram.model"
    os.makedirs(f"{directory}/xlmr_files", exist_ok=True)
    with open(path, "rb") as f, open(f"{directory}/xlmr_files/sentencepiece.bpe.model", "wb") as to:
        to.write(f.read())
    write(f"{directory}/xlmr_files", "tokenizer_config.json",
          {"tokenizer_class": "XLMRobertaTokenizer"})
    sp = sentencepiece.SentencePieceProcessor(model_file=path)
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [(sp.id_to_piece(i), sp.get_score(i)) for i in range(3, len(sp))] + [("<mask>", 0.0)]
    t = Tokenizer(models.Unigram(pieces, 3, False))
    t.normalizer = normalizers.Precompiled(charsmap(path))
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁", "always")])
    t.decoder = decoders.Metaspace()
    t.add_special_tokens(SPECIALS["roberta"])
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    save(t, f"{directory}/xlmr")
    t.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.Strip(), normalizers.NFKC(),
         normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace("▁", "first")
    save(t, f"{directory}/first")
    os.makedirs(f"{directory}/siglip_files", exist_ok=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(line.lower() for line in corpus(lines)),
        model_prefix=f"{directory}/siglip_files/spiece", vocab_size=size, minloglevel=2,
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, hard_vocab_limit=False, pad_piece="<pad>", **rules)
    write(f"{directory}/siglip_files", "tokenizer_config.json",
          {"tokenizer_class": "SiglipTokenizer"})


def make_user(directory, lines, size, **rules):
    """Gemma's tokenizer.model is of this kind: BPE with pieces that are never cut."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=corpus(lines), model_prefix=f"{directory}/user", vocab_size=size,
        minloglevel=2, hard_vocab_limit=False, model_type="bpe", byte_fallback=True,
        user_defined_symbols=["<b>", "▁▁", "▁▁▁", "\n", "\n\n", "ab", "abc", "!?", "é",
                              "'s"],
        remove_extra_whitespaces=False, normalization_rule_name="identity", **rules)
    os.remove(f"{directory}/user.vocab")


def charsmap(path):
    """normalizer_spec.precompiled_charsmap of a model file."""
    def fields(data):
        at = 0
        def varint():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value
        while at < len(data):
            key = varint()
            if key & 7 == 0:
                varint()
                continue
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[at:at + size]
            at += size
    with open(path, "rb") as f:
        spec = dict(fields(f.read()))[3]
    return dict(fields(spec))[2]


def make_mixed(directory, lines, size):
    """Parts that the published ones above do not have."""
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.StripAccents(), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True),
         pre_tokenizers.Punctuation("contiguous")])
    t.train_from_iterator(corpus(lines), trainers.WordLevelTrainer(
        vocab_size=size, special_tokens=["[UNK]"], show_progress=False))
    t.add_tokens([AddedToken("the", single_word=True), AddedToken("абв", normalized=True),
                  AddedToken("Å", normalized=True), AddedToken("!!", rstrip=True)])
    save(t, f"{directory}/words")
    t = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="@@"))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.Prepend(">")])
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=False),
         pre_tokenizers.CharDelimiterSplit("-"), pre_tokenizers.Punctuation("merged_with_next")])
    t.train_from_iterator(corpus(lines), trainers.BpeTrainer(
        vocab_size=size, special_tokens=["[UNK]"], show_progress=False,
        continuing_subword_prefix="@@"))
    save(t, f"{directory}/prefix")


# ---- comparing ----

def program():
    path = f"{ROOT}/build/check_tokenizers_encode"
    flags = "-std=c17 -D_POSIX_C_SOURCE=200809L -O2 -fopenmp".split()
    libraries = subprocess.run(["pkg-config", "--libs", "libjpeg", "jansson", "zlib"], check=True,
                               capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", *flags, f"-I{ROOT}", "-o", path, f"{ROOT}/tests/text/encode.c",
                    f"{ROOT}/build/lib/libvit.a", *libraries, "-lm"], check=True)
    return path


def ours(encode, path, texts):
    data = b"".join(struct.pack("<I", len(b)) + b for b in (t.encode() for t in texts))
    run = subprocess.run([encode, path], input=data, capture_output=True)
    if run.returncode != 0:
        sys.exit(f"{path}: {run.stderr.decode()}")
    out, at = [], 0
    while at < len(run.stdout):
        count = struct.unpack_from("<I", run.stdout, at)[0]
        out.append(list(struct.unpack_from(f"<{count}I", run.stdout, at + 4)))
        at += 4 + 4 * count
    return out, float(run.stderr)


def theirs(path, texts):
    if path.endswith(".model"):
        return sentencepiece.SentencePieceProcessor(model_file=path).encode(texts)
    if path.endswith("_files"):
        os.environ["HF_HUB_OFFLINE"] = "1"
        import transformers
        transformers.logging.set_verbosity_error()
        with open(f"{path}/tokenizer_config.json") as f:
            config = json.load(f)
        t = getattr(transformers, config.pop("tokenizer_class")).from_pretrained(path, **config)
        return [t(x)["input_ids"] for x in texts]
    return [e.ids for e in Tokenizer.from_file(f"{path}/tokenizer.json").encode_batch(texts)]


NAMES = ["clip", "clip_files", "gpt2", "gpt2_files", "roberta", "roberta_files", "llama", "o200k",
         "bert_uncased", "bert_uncased_files", "bert_cased", "bert_cased_files", "gemma",
         "unigram.model", "bpe.model", "plain.model", "xlmr", "xlmr_files", "first", "siglip_files",
         "words", "prefix", "gemma_siglip2_files", "user.model"]


def make(directory, lines, sizes, **rules):
    """Makes tokenizers of all kinds; sizes: of CLIP's, RoBERTa's, BERT's, Gemma's, SentencePiece's
    and other vocabularies."""
    make_clip(f"{directory}/clip", lines, sizes[0])
    make_bytes(directory, lines, sizes[1])
    make_wordpiece(directory, lines, sizes[2])
    make_gemma(f"{directory}/gemma", lines, sizes[3])
    make_sentencepiece(directory, lines, sizes[4], **rules)
    make_mixed(directory, lines, sizes[5])
    make_user(directory, lines, sizes[4])


def made(directory, small):
    """Makes the tokenizers, unless they are there."""
    lines, scale = (3000, 40) if small else (60000, 1)
    if not os.path.exists(f"{directory}/made"):
        make(directory, lines, [n // scale for n in (49408, 50265, 30522, 256000, 32000, 80000)])
        write(directory, "made", "")
    return [f"{directory}/{name}" for name in NAMES]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--texts", type=int, default=100000)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--small", action="store_true")
    p.add_argument("--dir", default=f"{ROOT}/build/tokenizers")
    p.add_argument("--only", action="append")
    a = p.parse_args()
    encode, wrong = program(), 0
    paths = made(a.dir + ("_small" if a.small else ""), a.small)
    r = random.Random(a.seed)
    known = [w for line in corpus(300) for w in line.split(" ")]
    texts = [text(r, known) for _ in range(a.texts)]
    for path in paths:
        name = os.path.basename(path)
        if a.only and name not in a.only:
            continue
        mine, ms = ours(encode, path, texts)
        other = theirs(path, texts)
        bad = [i for i in range(len(texts)) if mine[i] != other[i]]
        print(f"{name:20} {len(texts)} texts, {len(bad)} differ; loaded in {ms:.1f} ms", flush=True)
        for i in bad[:5]:
            print(f"   {texts[i]!r}\n      ours   {mine[i]}\n      theirs {other[i]}")
        wrong += len(bad)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
