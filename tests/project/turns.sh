#!/bin/sh
# scripts/bench: peers that take turns, the rows that are kept of them, and the table that is made
# of these; the tokenizer of the TrOCR-base that scripts/bench-read writes, in transformers.
. "$(dirname "$0")/../shell"

command -v python3 >/dev/null || { echo "ok 1 - turns # SKIP there is no python3"; exit 0; }
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

check "ratios are of one turn; who fails is named; rows stay until they are measured again" \
    python3 - "$tree" <<'END_OF_PYTHON'
import os
import sys

sys.path.insert(0, f"{sys.argv[1]}/scripts/bench")
import table
import turns


def peer(name, code):
    return turns.Peer(name, [sys.executable, "-c", f"""
import sys
sys.path.insert(0, {turns.__file__.rpartition('/')[0]!r})
import turns
{code}
"""])


table.RESULTS, table.DOCUMENT = "results", "document.md"
with open("document.md", "w") as file:
    file.write("above\n" + table.MARKS[0] + table.MARKS[1] + "below\n")
ours = iter((10, 20, 10))
peers = [peer("eager", "times = iter((40, 30, 90)); turns.serve(lambda: lambda: next(times))"),
         peer("compile", "times = iter((20, 90, 90)); turns.serve(lambda: lambda: next(times))"),
         peer("broken", "turns.serve(lambda: 1 / 0)"),
         peer("breaks", "times = iter((1,)); turns.serve(lambda: lambda: next(times))")]
row = turns.measure("train/strips/f32", lambda: next(ours), peers, 3)
assert (row["ratio"], row["ratio_low"], row["ratio_high"]) == (2, 1.5, 9), row
assert (row["ms"], row["best"], row["best_ms"]) == (10, "eager", 40), row
assert row["peers"]["broken"] == "failed: division by zero", row
assert row["peers"]["breaks"].startswith("failed"), row
assert turns.result("read/bf16/1", [None], {"eager": [1.0]}) is None
bf16 = turns.result("train/strips/bf16", [5.0], {"eager": [15.0]})
process = turns.result("process", [5.0], {"transformers": [20.0]})
turns.keep([row, bf16, None], 2)
turns.keep([process, turns.result("train/strips/f32", [2.0], {"eager": [8.0]})], 2)
assert len(os.listdir("results")) == 1
with open("document.md") as file:
    text = file.read()
assert text.startswith("above\n") and text.endswith("below\n")
lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
assert lines == [
    "| training on strips, a step | 2.000 | 8.000 eager | 4.00 (4.00-4.00) | 5.000 "
    "| 15.0 eager | 3.00 (3.00-3.00) |",
    "| TrOCR-base, process that loads it and reads | 5.000 | 20.0 transformers "
    "| 4.00 (4.00-4.00) |  |  |  |"], lines
END_OF_PYTHON

# A Python with transformers: VIT_PYTHON, or none.
if ${VIT_PYTHON:-python3} -c 'import timm, torchvision, transformers' 2>/dev/null; then
    check "transformers and vit-read read the words that are made for a large vocabulary" \
        "${VIT_PYTHON:-python3}" -W ignore - "$tree" <<'END_OF_PYTHON'
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, f"{sys.argv[1]}/scripts")
import check_readers
from transformers import AutoTokenizer

place = pathlib.Path("reader")
check_readers.make.build(place, 1, check_readers.make.encoder_config(), check_readers.make.trocr(
    400, cross_attention_hidden_size=16), cases=({},), text=str)
check_readers.write_words(place, 400)
read = subprocess.run(["vit-read", "--json", "--model", place, place / "picture.png"], check=True,
                      capture_output=True, text=True).stdout
answer = json.loads(read)
assert answer["tokens"] and max(answer["tokens"]) < 400
words = AutoTokenizer.from_pretrained(place).decode(answer["tokens"], skip_special_tokens=True)
assert words == answer["text"], (words, answer["text"])
END_OF_PYTHON
else
    skips "words of a large vocabulary" "no transformers: VIT_PYTHON"
fi
echo "1..$count"
