#!/bin/sh
# Every matrix that examples/lecture prints, computed here once more from the words' rows and the
# weights that it prints, in Python's floats: each formula of the lecture in its own few lines.
set -u
cd "$(dirname "$0")/../.." || exit 1
"${BUILD:-build}/examples/lecture" >"${TMPDIR:-/tmp}/lecture.$$" || exit 1
python3 - "${TMPDIR:-/tmp}/lecture.$$" <<'END'
import math
import re
import sys

text = open(sys.argv[1]).read()
printed, formulas = [], []
for block in re.findall(r"(?m)^(.+?)( = .*)?   \((\d+) x (\d+)\)\n((?: +.*\n)+)", text):
    rows = [[float(x) for x in line.split()] for line in block[4].splitlines()]
    assert len(rows) == int(block[2]) and all(len(r) == int(block[3]) for r in rows), block[0]
    printed.append((block[0], rows))
    formulas.append(block[0] + block[1])
at = 0


def given(symbol):
    """The next matrix, which nothing before it says."""
    global at
    name, rows = printed[at]
    assert name == symbol, f"matrix {at} is {name}, expected {symbol}"
    at += 1
    return rows


def same(symbol, want):
    got = given(symbol)
    for g, w in zip(sum(got, []), sum(want, []), strict=True):
        assert g == w or abs(g - w) < 6e-5, f"{formulas[at - 1]}: {got}, expected {want}"
    return want


def times(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def plus(a, b):
    return [[x + y for x, y in zip(r, s)] for r, s in zip(a, b)]


def softmax(a):
    e = [[math.exp(x) for x in row] for row in a]
    return [[x / sum(row) for x in row] for row in e]


def norm(a):
    out = []
    for row in a:
        mean = sum(row) / len(row)
        sigma = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row))
        out.append([(x - mean) / sigma for x in row])
    return out


def positions(n, d):
    return [[(math.sin, math.cos)[i % 2](p / 10000 ** ((i - i % 2) / d)) for i in range(d)]
            for p in range(n)]


def attention(x, memory, mask):
    heads = []
    for _ in range(2):
        wq, wk, wv = given("W^Q"), given("W^K"), given("W^V")
        q, k = same("Q", times(x, wq)), same("K", times(memory, wk))
        v = same("V", times(memory, wv))
        scores = [[s / math.sqrt(len(wq[0])) for s in row] for row in times(q, list(zip(*k)))]
        if mask:
            scores = [[s if j <= i else -math.inf for j, s in enumerate(row)]
                      for i, row in enumerate(scores)]
        heads.append(same("Z", times(same("P", softmax(same("S", scores))), v)))
    cat = same("cat", [a + b for a, b in zip(*heads)])
    return same("sum", plus(x, times(cat, given("W^O"))))


def feed_forward(x):
    w1, w2 = given("W_1"), given("W_2")
    f = same("F", [[max(0, a) for a in row] for row in times(x, w1)])
    return same("sum", plus(x, times(f, w2)))


def tokens(symbol):
    e = given("E")
    return same(symbol, plus(e, same("PE", positions(2, 4))))


x = tokens("X")
h = same("h", norm(attention(x, x, False)))
m = same("m", norm(feed_forward(h)))
y = tokens("Y")
h = same("h", norm(attention(y, y, True)))
h = same("h'", norm(attention(h, m, False)))
y = same("y", norm(feed_forward(h)))
p = same("p", softmax(same("logits", times(y, given("W")))))
assert at == len(printed) == 85, f"{at} of {len(printed)} matrices"
loss = float(re.search(r"loss = .* = ([\d.]+)", text).group(1))
assert abs(loss + (math.log(p[0][2]) + math.log(p[1][3])) / 2) < 6e-5, loss
assert text.count("-inf") == 2
END
status=$?
rm -f "${TMPDIR:-/tmp}/lecture.$$"
[ $status = 0 ] && echo "ok 1 - every matrix of the lecture's example" ||
    echo "not ok 1 - every matrix of the lecture's example"
echo "1..1"
