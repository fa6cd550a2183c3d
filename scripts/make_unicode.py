#!/usr/bin/env python3
"""Writes the tables of vit/text/unicode (categories.inc, characters.inc, compatible.inc,
compatible_rows.inc, decompositions.inc): what Unicode says of characters, as Hugging Face's library
tokenizers has it, whose parts know different versions of Unicode. So what is asked is the library
itself, for every character. And entities.txt, HTML's names of Python. Needs tokenizers and regex.
usage: scripts/make_unicode.py
"""
import html.entities
import os
import unicodedata

import regex
from tokenizers import Regex, normalizers, pre_tokenizers

ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORIES = ["Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd",
              "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf",
              "Co"]  # as enum vit_category in unicode.h
ALTERNATING = 30  # Lu and Ll by turns, Lu at even codes; 31: at odd ones
GRAPHEMES = ["Other", "CR", "LF", "Control", "Extend", "ZWJ", "SpacingMark", "Prepend", "RI", "L",
             "V", "T", "LV", "LVT", "ExtPict"]


def matching(pattern):
    """The characters that a regular expression of tokenizers matches."""
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    found = set()
    for i in range(0, len(ALL), 4096):
        part = ALL[i:i + 4096]
        kept = set()
        for _, (start, end) in split.pre_tokenize_str("".join(map(chr, part))):
            kept.update(range(start, end))
        found.update(c for k, c in enumerate(part) if k not in kept)
    return found


def where(predicate):
    return {c for c in ALL if predicate(chr(c))}


def ranges(codes):
    out = []
    for c in sorted(codes):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def stretches(value):
    """[(first, last, value)] of every stretch of characters with the same value."""
    out = []
    for c, number in sorted(value.items()):
        if out and out[-1][1] == c - 1 and out[-1][2] == number:
            out[-1][1] = c
        else:
            out.append([c, c, number])
    return out


def category_of():
    """{character: number of its category}"""
    of = {}
    for number, name in enumerate(CATEGORIES[1:], 1):
        for c in matching(r"\p{%s}" % name):
            of[c] = number
    return of


def categories(of):
    assert {c for c, n in of.items() if n <= 5 and n > 0} == matching(r"\p{L}")
    plain = [of.get(c, 0) for c in range(0x110000)]
    out, c = [], 0
    while c < 0x110000:
        end = c
        while end + 1 < 0x110000 and {plain[end], plain[end + 1]} == {1, 2}:
            end += 1
        if end - c >= 4:
            upper = c if plain[c] == 1 else c + 1
            out.append((c, ALTERNATING + upper % 2))
            c = end + 1
            continue
        if not out or out[-1][1] != plain[c]:
            out.append((c, plain[c]))
        c += 1
    return [first << 5 | value for first, value in out]


def graphemes(category):
    """Stretches of characters whose class is not the usual one of their category."""
    usual = {"Cc": "Control", "Cf": "Extend", "Mn": "Extend", "Me": "Extend", "Mc": "SpacingMark",
             "Zl": "Control", "Zp": "Control"}  # as usual_classes in unicode.c
    usual = {CATEGORIES.index(c): GRAPHEMES.index(g) for c, g in usual.items()}
    of = {}
    for number, name in enumerate(GRAPHEMES):
        if name == "Other":
            continue
        known = r"\p{Extended_Pictographic}" if name == "ExtPict" else r"\p{GCB=%s}" % (
            "Regional_Indicator" if name == "RI" else name)
        one = regex.compile(known)
        for c in ALL:
            if one.match(chr(c)) and (name not in ("LV", "LVT")):
                of[c] = number
    return stretches({c: of.get(c, 0) for c in ALL
                      if of.get(c, 0) != usual.get(category.get(c, 0), 0)})


def lower():
    """[(first, last, step, difference)] of runs of characters."""
    f = normalizers.Lowercase()
    pairs = {}
    for c in ALL:
        text = f.normalize_str(chr(c))
        if text != chr(c):
            assert len(text) == 1 or c == 0x130, hex(c)
            if len(text) == 1:
                pairs[c] = ord(text) - c
    out = []
    for c, difference in sorted(pairs.items()):
        run = out[-1] if out else None
        if run and run[3] == difference and c - run[1] in (1, 2) and run[2] in (0, c - run[1]):
            run[1], run[2] = c, c - run[1]
        else:
            out.append([c, c, 0, difference])
    return [(first, last, max(step, 1), difference) for first, last, step, difference in out]


def combining():
    nfd = normalizers.NFD()
    known = {}
    for c in ALL:
        if unicodedata.combining(chr(c)):
            for text in ("a\u0345" + chr(c), "a" + chr(c) + "\u0300"):
                if nfd.normalize_str(text) != text:
                    known[c] = unicodedata.combining(chr(c))
    return known


def decompositions():
    """Canonical pairs and singles, compatibility runs, rows and their pool."""
    nfd, nfc, nfkd = normalizers.NFD(), normalizers.NFC(), normalizers.NFKD()
    pairs, singles, compatible = [], {}, {}
    for c in ALL:
        if 0xAC00 <= c < 0xAC00 + 11172:
            continue
        full = nfd.normalize_str(chr(c))
        if full != chr(c):
            parts = [int(x, 16) for x in unicodedata.decomposition(chr(c)).split()]
            assert len(parts) <= 2
            if len(parts) == 1:
                singles[c] = parts[0]
            else:
                pairs.append((c, *parts, nfc.normalize_str(full) == chr(c)))
        wide = nfkd.normalize_str(chr(c))
        if wide != full:
            compatible[c] = [ord(x) for x in wide]
    return pairs, singles, compatible


def runs(texts, pool):
    """[(first, last, where the first one's text stands in the pool)]"""
    out = []
    for c, to in sorted(texts.items()):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c, len(pool)])
        pool += to
    return out


def table(declaration, rows):
    """Rows of numbers, packed into lines of at most 100 columns."""
    text, line = f"static const {declaration} = {{\n", "   "
    for row in rows:
        item = " " + (row if isinstance(row, str) else
                      hex(row) if isinstance(row, int) else
                      "{" + ",".join(hex(x) if x >= 0 else str(x) for x in row) + "}") + ","
        if len(line) + len(item) > 100:
            text, line = text + line + "\n", "   "
        line += item
    return text + line + "\n};\n"


def write(name, comment, tables):
    path = os.path.join(os.path.dirname(__file__), "..", "vit", "text", "unicode", name)
    with open(path, "w") as f:
        f.write(f"/* {comment}\n * Written by scripts/make_unicode.py. */\n// clang-format off\n")
        f.write("\n".join(tables))


def entities():
    """Names of HTML's characters and their codes, sorted by bytes: name=hex hex"""
    path = os.path.join(os.path.dirname(__file__), "..", "vit", "text", "unicode", "entities.txt")
    with open(path, "w") as f:
        for name, text in sorted(html.entities.html5.items()):
            f.write(f"{name}={' '.join(f'{ord(c):X}' for c in text)}\n")


def sigma(before):
    return (before + "\u03a3").lower().endswith("\u03c2")


def properties():
    bert = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False,
                                      strip_accents=False, lowercase=False)
    split, digits = pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Digits(True)
    bert_accents = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False,
                                              strip_accents=True, lowercase=False)
    words = pre_tokenizers.Whitespace()
    accents, strip = normalizers.StripAccents(), normalizers.Strip()
    parts = lambda f, c: len(f.pre_tokenize_str("a" + c + "a"))
    # in the order of enum vit_characters: a set is nearly all characters of some categories
    sets = {
        "spaces": ("Zs Zl Zp", matching(r"\s")),
        "word": ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl Pc", where(lambda c: parts(words, c) == 1)),
        "accents": ("Mn Mc Me", where(lambda c: accents.normalize_str(c) == "")),
        "bert_accents": ("Mn", where(lambda c: bert_accents.normalize_str(c) == "")),
        "bert_removed": ("Cc Cf Co", where(lambda c: bert.normalize_str(c) == "")),
        "bert_punctuation": ("Pc Pd Ps Pe Pi Pf Po", where(lambda c: parts(split, c) == 3)),
        "numeric": ("Nd Nl No", where(lambda c: parts(digits, c) == 3)),
        "cased": ("Lu Ll Lt", where(lambda c: sigma("-" + c))),
        "case_ignorable": ("Lm Mn Me Sk Cf",
                           where(lambda c: sigma("A" + c) and not sigma("-" + c))),
    }
    assert sets["spaces"][1] == where(lambda c: strip.normalize_str(c) == "")
    of = category_of()
    write("categories.inc",
          "What kind a character is, and of which class of graphemes it is, if not of the\n"
          " * usual one of its kind; sorted.",
          [table("uint32_t categories[]", categories(of)),
           table("grapheme_run graphemes[]", graphemes(of))])
    tables, rows = [table("lower_run lower_runs[]", lower())], []
    for name, (names, codes) in sets.items():
        numbers = [CATEGORIES.index(n) for n in names.split()]
        exceptions = codes ^ {c for c, number in of.items() if number in numbers}
        tables.append(table(f"code_range {name}[]", ranges(exceptions)))
        rows.append("{%s,%s,VIT_COUNT(%s)}" % (hex(sum(1 << n for n in numbers)), name, name))
    write("characters.inc",
          "Lower-case letters; and sets of characters, each some categories except these\n"
          " * ranges, which are in the set if their category is not; sorted.",
          tables + [table("character_set sets[]", rows)])


def forms():
    pairs, singles, compatible = decompositions()
    order = sorted((i for i, p in enumerate(pairs) if p[3]), key=lambda i: pairs[i][1:3])
    single = {c: text for c, text in compatible.items() if len(text) == 1}
    several = {c: [x << 1 for x in text[:-1]] + [text[-1] << 1 | 1]  # the last one has bit 0
               for c, text in compatible.items() if len(text) > 1}
    pool, same, alike = [], [], []
    seconds = sorted({p[2] for p in pairs})
    halves = []
    wholes = runs({c: [first << 7 | seconds.index(second)] for c, first, second, _ in pairs},
                  halves)
    write("decompositions.inc",
          "Decompositions of characters, without Hangul: pairs, and codes of the same character;\n"
          " * the order of pairs that are composed, by both parts; the classes of combining marks.",
          [table("single_run wholes[]", wholes),
           table("uint32_t halves[]", halves),
           table("uint32_t seconds[]", seconds),
           table("uint16_t composed[]", order),
           table("single_run singles[]", runs({c: [to] for c, to in singles.items()}, same)),
           table("uint32_t single_pool[]", same),
           table("mark_range marks[]", stretches(combining()))])
    write("compatible.inc", "Characters that look like another one, wholly decomposed; sorted.",
          [table("single_run compatible_singles[]", runs(single, alike)),
           table("uint32_t compatible_single_pool[]", alike)])
    write("compatible_rows.inc", "Characters that look like several, wholly decomposed; sorted.",
          [table("single_run compatible_rows[]", runs(several, pool)),
           table("uint32_t compatible_pool[]", pool)])


entities()
forms()
properties()
